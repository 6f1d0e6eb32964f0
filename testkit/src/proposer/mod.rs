//! Agents of all dialects behind one small trait: they ask for changes, hear what became of them, lose the hub and ask
//! again, each as its dialect does. Unlike the agents that tests drive step by step, these bear any loss.

mod gemini;
mod own;
mod ppxai;
mod websocket;

use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use serde_json::Value;

use super::World;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dialect {
    Claude,
    Nexus3,
    Clio,
    Ppxai,
    Gemini,
    Own,
}

impl Dialect {
    pub const ALL: [Dialect; 6] =
        [Dialect::Claude, Dialect::Nexus3, Dialect::Clio, Dialect::Ppxai, Dialect::Gemini, Dialect::Own];

    pub fn name(self) -> &'static str {
        match self {
            Dialect::Claude => "claude",
            Dialect::Nexus3 => "nexus3",
            Dialect::Clio => "clio",
            Dialect::Ppxai => "ppxai",
            Dialect::Gemini => "gemini",
            Dialect::Own => "linkspan",
        }
    }

    /// Whether the agent itself writes what was accepted.
    pub fn agent_writes(self) -> bool {
        matches!(self, Dialect::Claude | Dialect::Gemini)
    }
}

/// What an agent wants a file to hold.
#[derive(Debug, Clone)]
pub struct Wanted {
    pub path: String,
    /// What it believes the file to hold; nothing if it believes that there is none.
    pub before: Option<String>,
    pub after: String,
}

/// What it is told of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    /// With the text, where the dialect says it.
    Accepted {
        path: String,
        text: Option<String>,
    },
    Rejected {
        path: String,
    },
    /// Nobody decided; without a path, about none of what was asked for together.
    Failed {
        path: Option<String>,
        why: String,
    },
}

/// An agent that came in once. Dropped, it is gone without a word, as one that was killed.
pub trait Proposer: Send {
    /// Asks for these changes, together, and waits for nothing. What it cannot say any more is lost.
    fn propose(&mut self, changes: &[Wanted]);

    /// What it is told next; nothing if nothing comes in time, or it has lost the hub.
    fn hear(&mut self, patience: Duration) -> Option<Told>;

    /// Its connection has ended.
    fn has_lost_the_hub(&self) -> bool;

    /// Connects again and asks for these once more, as its dialect does. Whether it came in.
    fn come_back(&mut self, world: &World, port: u16, changes: &[Wanted]) -> bool;

    /// Reads nothing and answers no ping until thawed, as a stopped process would.
    fn freeze(&self);

    fn thaw(&self);

    /// The connection is shut down under it; it lives, and has what it heard.
    fn cut_off(&mut self);
}

/// Comes to a window; `None` if it is not there, or does not let it in.
pub fn connect(dialect: Dialect, world: &World, port: u16) -> Option<Box<dyn Proposer>> {
    Some(match dialect {
        Dialect::Claude | Dialect::Nexus3 | Dialect::Clio => {
            Box::new(websocket::WebSocketAgent::connect(dialect, world, port)?)
        }
        Dialect::Ppxai => Box::new(ppxai::PpxaiAgent::connect(port)?),
        Dialect::Gemini => Box::new(gemini::GeminiAgent::connect(world, port)?),
        Dialect::Own => Box::new(own::HubAgent::connect(world)?),
    })
}

/// A connection whose agent has said half a word.
#[derive(Debug)]
pub enum HalfOpen {
    Port(TcpStream),
    Socket(UnixStream),
}

impl HalfOpen {
    pub fn to(dialect: Dialect, world: &World, port: u16) -> HalfOpen {
        if dialect == Dialect::Own {
            let mut socket = UnixStream::connect(world.socket()).unwrap();
            socket.write_all(b"Content-Length: 100\r\n\r\n{\"jsonrpc\"").unwrap();
            return HalfOpen::Socket(socket);
        }
        let mut socket = TcpStream::connect(("127.0.0.1", port)).unwrap();
        socket.write_all(format!("GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgr").as_bytes()).unwrap();
        HalfOpen::Port(socket)
    }

    pub fn cut_off(&self) {
        let _ = match self {
            HalfOpen::Port(socket) => socket.shutdown(std::net::Shutdown::Both),
            HalfOpen::Socket(socket) => socket.shutdown(std::net::Shutdown::Both),
        };
    }
}

/// The object in a file, if it is there and whole.
fn file(path: &std::path::Path) -> Option<Value> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// The least edit that is one line: the first line that differs, as places from 0 count.
fn line_edit(before: &str, after: &str) -> Option<(usize, String, String)> {
    let pairs = before.lines().zip(after.lines()).enumerate();
    let mut differing = pairs.filter(|(_, (old, new))| old != new);
    let (line, (old, new)) = differing.next()?;
    Some((line, old.to_owned(), new.to_owned()))
}

/// That edit as Clio and ppxai write it.
fn edit(before: &str, after: &str) -> Value {
    let (line, old, new) = line_edit(before, after).expect("the change is in one line");
    let place = |character: usize| serde_json::json!({ "line": line, "character": character });
    let range = serde_json::json!({ "start": place(0), "end": place(old.len()) });
    serde_json::json!({ "range": range, "oldText": old, "newText": new })
}
