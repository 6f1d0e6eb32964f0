//! Agents of all dialects behind one small trait: they propose changes, receive the outcomes, lose the hub and propose
//! again, each as its dialect does. Unlike the agents that tests drive step by step, these survive any loss.

mod gemini;
mod hosted;
mod hosted_process;
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
    /// An agent that the hub hosts.
    Acp,
}

impl Dialect {
    pub const ALL: [Dialect; 7] = [
        Dialect::Claude,
        Dialect::Nexus3,
        Dialect::Clio,
        Dialect::Ppxai,
        Dialect::Gemini,
        Dialect::Own,
        Dialect::Acp,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Dialect::Claude => "claude",
            Dialect::Nexus3 => "nexus3",
            Dialect::Clio => "clio",
            Dialect::Ppxai => "ppxai",
            Dialect::Gemini => "gemini",
            Dialect::Own => "linkspan",
            Dialect::Acp => "acp",
        }
    }

    /// Whether the agent itself writes what was accepted, if it is told the text.
    pub fn agent_writes(self) -> bool {
        matches!(self, Dialect::Claude | Dialect::Gemini | Dialect::Acp)
    }
}

/// The content that an agent proposes for a file.
#[derive(Debug, Clone)]
pub struct ProposedChange {
    pub path: String,
    /// The content that the agent believes the file has; `None` if it believes that there is no file.
    pub before: Option<String>,
    pub after: String,
}

/// The outcome that an agent receives for one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProposalOutcome {
    /// With the text, where the dialect sends it.
    Accepted {
        path: String,
        text: Option<String>,
    },
    Rejected {
        path: String,
    },
    /// Not decided; without a path, for all changes of the request.
    Failed {
        path: Option<String>,
        why: String,
    },
}

/// An agent that has been connected. When dropped, it disconnects without a message, as if it was killed.
pub trait Proposer: Send {
    /// Proposes these changes together, without waiting. A message that can no longer be sent is lost.
    fn propose(&mut self, changes: &[ProposedChange]);

    /// The next outcome; `None` if none arrives in time, or the hub is lost.
    fn hear(&mut self, patience: Duration) -> Option<ProposalOutcome>;

    /// Its connection has ended.
    fn has_lost_the_hub(&self) -> bool;

    /// Connects again and repeats these proposals, as its dialect does. Returns whether it is connected.
    fn come_back(&mut self, world: &World, port: u16, changes: &[ProposedChange]) -> bool;

    /// Reads nothing and answers no ping until thawed, as a stopped process would.
    fn freeze(&self);

    fn thaw(&self);

    /// Shuts the connection down; the agent stays alive and keeps what it received.
    fn cut_off(&mut self);
}

/// Connects to a window; `None` if there is none, or it rejects the agent.
pub fn connect(dialect: Dialect, world: &World, port: u16) -> Option<Box<dyn Proposer>> {
    Some(match dialect {
        Dialect::Claude | Dialect::Nexus3 | Dialect::Clio => {
            Box::new(websocket::WebSocketAgent::connect(dialect, world, port)?)
        }
        Dialect::Ppxai => Box::new(ppxai::PpxaiAgent::connect(port)?),
        Dialect::Gemini => Box::new(gemini::GeminiAgent::connect(world, port)?),
        Dialect::Own => Box::new(own::HubAgent::connect(world)?),
        Dialect::Acp => Box::new(hosted::HostedAgent::connect(world)?),
    })
}

/// A connection on which half a message was sent.
#[derive(Debug)]
pub enum HalfOpen {
    Port(TcpStream),
    Socket(UnixStream),
    Process(hosted_process::HostedProcess),
}

impl HalfOpen {
    pub fn to(dialect: Dialect, world: &World, port: u16) -> HalfOpen {
        if dialect == Dialect::Own {
            let mut socket = UnixStream::connect(world.socket()).unwrap();
            socket.write_all(b"Content-Length: 100\r\n\r\n{\"jsonrpc\"").unwrap();
            return HalfOpen::Socket(socket);
        }
        if dialect == Dialect::Acp {
            let process = super::eventually("the agent is started", || hosted::half_open(world));
            return HalfOpen::Process(process);
        }
        let mut socket = TcpStream::connect(("127.0.0.1", port)).unwrap();
        socket.write_all(format!("GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgr").as_bytes()).unwrap();
        HalfOpen::Port(socket)
    }

    pub fn cut_off(&self) {
        let _ = match self {
            HalfOpen::Port(socket) => socket.shutdown(std::net::Shutdown::Both),
            HalfOpen::Socket(socket) => socket.shutdown(std::net::Shutdown::Both),
            HalfOpen::Process(process) => {
                process.cut_off();
                Ok(())
            }
        };
    }
}

/// The object in a file, if it is there and whole.
fn file(path: &std::path::Path) -> Option<Value> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// The smallest edit: the first line that differs, counted from 0.
fn line_edit(before: &str, after: &str) -> Option<(usize, String, String)> {
    let pairs = before.lines().zip(after.lines()).enumerate();
    let mut differing = pairs.filter(|(_, (old, new))| old != new);
    let (line, (old, new)) = differing.next()?;
    Some((line, old.to_owned(), new.to_owned()))
}

/// That edit in the form of Clio and ppxai.
fn edit(before: &str, after: &str) -> Value {
    let (line, old, new) = line_edit(before, after).expect("the change is in one line");
    let place = |character: usize| serde_json::json!({ "line": line, "character": character });
    let range = serde_json::json!({ "start": place(0), "end": place(old.len()) });
    serde_json::json!({ "range": range, "oldText": old, "newText": new })
}
