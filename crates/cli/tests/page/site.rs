//! A web site of somebody else, on this machine: it serves the one page it was given, whatever is asked for, and
//! remembers what it is told.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use crate::support::*;

pub(crate) struct Site {
    pub(crate) port: u16,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Site {
    pub(crate) fn serving(page: impl Into<String>) -> Site {
        Site::with_head(page, "Content-Type: text/html; charset=utf-8\r\n")
    }

    /// With these lines in the head of each answer.
    pub(crate) fn with_head(page: impl Into<String>, head: &'static str) -> Site {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (port, page) = (listener.local_addr().unwrap().port(), page.into());
        let heard = Arc::<Mutex<Vec<String>>>::default();
        let remembered = Arc::clone(&heard);
        // Ends with the process: a test has one of its own.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (page, remembered) = (page.clone(), Arc::clone(&remembered));
                thread::spawn(move || serve(stream, &page, head, &remembered));
            }
        });
        Site { port, heard }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    /// Each request as its head and body.
    pub(crate) fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }
}

/// An attacker's page, with what such pages share.
pub(crate) fn attacking(page: &str) -> String {
    page.replace("ATTEMPTS", include_str!("attempts.js"))
}

fn serve(stream: TcpStream, page: &str, head: &str, heard: &Mutex<Vec<String>>) -> Option<()> {
    stream.set_read_timeout(Some(DEADLINE)).ok()?;
    let mut reader = BufReader::new(stream);
    let mut request = String::new();
    while !request.ends_with("\r\n\r\n") {
        if reader.read_line(&mut request).ok()? == 0 {
            return None;
        }
    }
    let lower = request.to_lowercase();
    let length = lower.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()?.parse().ok());
    let mut body = vec![0; length.unwrap_or_default()];
    reader.read_exact(&mut body).ok()?;
    request += &String::from_utf8_lossy(&body);
    heard.lock().unwrap().push(request);
    let head =
        format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n{head}\r\n", page.len());
    reader.get_mut().write_all((head + page).as_bytes()).ok()
}

#[test]
fn a_browser_shows_what_a_site_serves_and_the_site_hears_what_it_asks() {
    let Some(browser) = Browser::start() else { return };
    let site = Site::serving("<title>t</title><p id=a>one</p><script>console.error('bad')</script>");
    let page = browser.page();
    assert_eq!(page.goto(&site.url()), Ok(200));
    assert_eq!(page.text("#a"), "one");
    assert_eq!(page.attribute("p", "id").as_deref(), Some("a"));
    assert_eq!(page.evaluate("fetch('/x', { method: 'POST', body: 'told' }).then(r => r.status)"), 200);
    assert!(site.heard().iter().any(|heard| heard.starts_with("POST /x ") && heard.ends_with("told")));
    assert_eq!(page.complaints(), ["bad"]);
    assert!(page.requests().contains(&format!("{}x", site.url())));
}
