//! A foreign web site on this machine: it answers every request with the same page, and records the requests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use super::DEADLINE;

pub struct ForeignSite {
    pub port: u16,
    heard: Arc<Mutex<Vec<String>>>,
}

impl ForeignSite {
    pub fn serving(page: impl Into<String>) -> ForeignSite {
        ForeignSite::with_head(page, "Content-Type: text/html; charset=utf-8\r\n")
    }

    /// With these lines in the head of each answer.
    pub fn with_head(page: impl Into<String>, head: &'static str) -> ForeignSite {
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
        ForeignSite { port, heard }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    /// Each request as its head and body.
    pub fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }
}

/// A page that attacks the address of the browser page in every way, and leaves the results in `all`.
pub fn attack_on_page(against: &str, secret: &str, review: &str) -> String {
    attack(include_str!("attacks/attack.html"), against).replace("SECRET", secret).replace("REVIEW", review)
}

/// A page that attacks a port for agents.
pub fn attack_on_agents_port(against: &str) -> String {
    attack(include_str!("attacks/endpoints.html"), against)
}

fn attack(page: &str, against: &str) -> String {
    page.replace("ATTEMPTS", include_str!("attacks/attempts.js")).replace("VICTIM", against)
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
