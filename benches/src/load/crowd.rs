//! Many agents and many windows around one hub, all in one thread: how they come, and what they say.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use linkspan_editor_api::{Decision, Message, RequestId, ReviewDecided, Verdict, encode};
use serde_json::json;
use tokio::net::UnixStream;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::line::{self, Heard, Speak};
use crate::agent::{Agent, Dialect};
use crate::frame::{TEXT, masked};
use crate::world::{Door, World};

/// Whoever waits longer than this for anything waits for ever.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Agents that come at the same time.
const TOGETHER: usize = 16;

pub(crate) struct Crowd {
    pub(crate) windows: Vec<WindowSeat>,
    pub(crate) agents: Vec<AgentSeat>,
    pub(crate) heard: UnboundedReceiver<Heard>,
    hear: UnboundedSender<Heard>,
}

pub(crate) struct WindowSeat {
    pub(crate) folder: PathBuf,
    pub(crate) door: Door,
    pub(crate) speak: Speak,
}

pub(crate) struct AgentSeat {
    pub(crate) window: usize,
    pub(crate) dialect: Dialect,
    pub(crate) speak: Speak,
}

impl Crowd {
    pub(crate) fn new() -> Crowd {
        let (hear, heard) = unbounded_channel();
        Crowd { windows: Vec::new(), agents: Vec::new(), heard, hear }
    }

    pub(crate) fn hear(&self) -> UnboundedSender<Heard> {
        self.hear.clone()
    }

    /// Windows up to so many, each with a folder of its own.
    pub(crate) async fn windows_to(&mut self, world: &World, count: usize) -> Result<()> {
        let socket = world.socket()?;
        while self.windows.len() < count {
            let number = self.windows.len();
            let folder = world.workspace().join(format!("w{number}"));
            fs::create_dir_all(&folder)?;
            let (input, output) = UnixStream::connect(&socket).await?.into_split();
            let joining = line::window(input, output, &folder, number, self.hear());
            let attached = timeout(PATIENCE, joining).await.context("the window waits for the hub")??;
            let door = world.door(attached.port)?;
            self.windows.push(WindowSeat { folder, door, speak: attached.speak });
        }
        Ok(())
    }

    /// Agents up to so many, in turn over the windows and with the dialects in turn.
    pub(crate) async fn agents_to(&mut self, count: usize) -> Result<()> {
        while self.agents.len() < count {
            let next = self.agents.len()..count.min(self.agents.len() + TOGETHER);
            let coming: Vec<_> = next
                .map(|number| {
                    let window = number % self.windows.len();
                    let round = number / self.windows.len();
                    let dialect = if round.is_multiple_of(2) { Dialect::Claude } else { Dialect::Nexus3 };
                    let door = self.windows.get(window).map(|window| window.door.clone());
                    let coming =
                        spawn_blocking(move || Agent::introduced(&door.context("no window")?, dialect));
                    (number, window, dialect, coming)
                })
                .collect();
            for (number, window, dialect, coming) in coming {
                let stream = coming.await?.with_context(|| format!("agent {number}"))?.into_stream();
                let speak = line::agent(stream, number, self.hear())?;
                self.agents.push(AgentSeat { window, dialect, speak });
            }
        }
        Ok(())
    }

    pub(crate) async fn next(&mut self) -> Result<Heard> {
        let heard = timeout(PATIENCE, self.heard.recv()).await;
        heard.context("nothing was heard for a minute")?.context("everybody is gone")
    }
}

/// A call of a tool with an id of its own, so that many may be under way.
pub(crate) fn call(id: u64, name: &str, arguments: &serde_json::Value) -> Vec<u8> {
    let params = json!({ "name": name, "arguments": arguments });
    let message = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
    masked(TEXT, message.to_string().as_bytes())
}

/// A change under a name of its own.
pub(crate) fn propose(id: u64, path: &str, text: &str) -> Vec<u8> {
    let tab = format!("change {id}");
    let arguments = json!({
        "old_file_path": path, "new_file_path": path, "new_file_contents": text, "tab_name": tab,
    });
    call(id, "openDiff", &arguments)
}

/// A person's word, by which the answer to it is known again.
pub(crate) fn decide(review: &str, revision: u32, accept: bool) -> Vec<u8> {
    let verdict = if accept { Verdict::Accept } else { Verdict::Reject { reason: None } };
    let number = review.trim_start_matches('r').parse().unwrap_or_default();
    let decision = Decision { verdict, comments: Vec::new(), write_here: false };
    let decided = ReviewDecided { review: review.to_owned(), revision, digest: None, decision };
    encode(&Message::request(RequestId::Number(number), &decided).to_bytes())
}
