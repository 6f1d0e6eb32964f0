//! A hub whose page is served, and requests like those of a browser.

use serde_json::{Value, json};

pub use super::raw_http::with;
use super::raw_http::{exchange, head, upgrade};
use super::{Agent, HubSocket, World, eventually};

/// A hub whose page is served.
pub struct PageServer {
    pub port: u16,
    pub secret: String,
    pub world: World,
}

/// A browser that has a session.
pub struct PageSession {
    pub port: u16,
    pub cookie: String,
}

pub fn serve_page() -> PageServer {
    serve_page_in(World::new())
}

pub fn serve_page_in(world: World) -> PageServer {
    world.run(&["hub", "start"]).ok();
    let (port, secret) = link(&world);
    PageServer { port, secret, world }
}

pub fn ask(world: &World, method: &str) -> Value {
    HubSocket::connect(world).request(method, json!({}))
}

/// The port and the secret of a fresh link.
#[track_caller]
pub fn link(world: &World) -> (u16, String) {
    let answer = ask(world, "page/link");
    let link = &answer["result"];
    let port = u16::try_from(link["port"].as_u64().unwrap_or_else(|| panic!("{answer}"))).unwrap();
    let url = link["url"].as_str().unwrap();
    let secret = url.strip_prefix(&format!("http://127.0.0.1:{port}/#")).unwrap();
    assert_eq!(link["expiresInSeconds"], 600);
    (port, secret.to_owned())
}

/// The lines that every request has.
pub fn plain(port: u16) -> Vec<String> {
    vec![format!("Host: 127.0.0.1:{port}"), "Connection: close".into()]
}

pub fn own(port: u16) -> String {
    format!("Origin: http://127.0.0.1:{port}")
}

pub fn body_lines(port: u16, body: &str) -> Vec<String> {
    let mut lines = plain(port);
    lines.extend([own(port), "Content-Type: application/json".into()]);
    lines.push(format!("Content-Length: {}", body.len()));
    lines
}

pub fn offer(port: u16, secret: &str) -> String {
    let body = json!({ "secret": secret }).to_string();
    exchange(port, &(head("POST /session HTTP/1.1", &body_lines(port, &body)) + &body))
}

pub fn cookie(said: &str) -> Option<String> {
    let line = said.lines().find_map(|line| line.strip_prefix("set-cookie: "))?;
    Some(line.split(';').next()?.to_owned())
}

pub fn status(said: &str) -> u16 {
    said.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or_else(|| panic!("{said:?}"))
}

impl PageServer {
    pub fn get(&self, path: &str) -> String {
        exchange(self.port, &head(&format!("GET {path} HTTP/1.1"), &plain(self.port)))
    }

    pub fn refused(&self, name: &str) -> u64 {
        self.world.status()["refused"][name].as_u64().unwrap_or(0)
    }

    #[track_caller]
    pub fn refuses(&self, code: u16, name: &str, bytes: &str) {
        let before = self.refused(name);
        let said = exchange(self.port, bytes);
        assert_eq!(status(&said), code, "{name}: {bytes}\n{said}");
        eventually("it is counted", || (self.refused(name) == before + 1).then_some(()));
        assert!(!said.to_lowercase().contains("access-control"), "{said}");
        assert!(!said.to_lowercase().contains("set-cookie"), "{said}");
    }

    #[track_caller]
    pub fn sign_in(&self) -> PageSession {
        PageSession::with(self.port, &link(&self.world).1)
    }
}

impl PageSession {
    #[track_caller]
    pub fn with(port: u16, secret: &str) -> PageSession {
        let said = offer(port, secret);
        assert_eq!(status(&said), 204, "{said}");
        PageSession { port, cookie: cookie(&said).unwrap() }
    }

    pub fn session(&self) -> u16 {
        let lines = with(&plain(self.port), format!("Cookie: other=1; {}", self.cookie));
        status(&exchange(self.port, &head("GET /session HTTP/1.1", &lines)))
    }

    #[track_caller]
    pub fn open(&self) -> Agent {
        let origin = format!("http://127.0.0.1:{}", self.port);
        Agent::open_at(self.port, "/socket", &[("Origin", &origin), ("Cookie", &self.cookie)]).unwrap()
    }

    pub fn handshake(&self) -> Vec<String> {
        let more = [own(self.port), format!("Cookie: {}", self.cookie)];
        upgrade(self.port).into_iter().chain(more).collect()
    }
}
