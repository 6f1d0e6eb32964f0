//! Many agents and windows of one hub, all in one thread: how they connect, and what they send.

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

use super::connection::{self, FrameSender, LoadEvent};
use crate::agent::{Agent, BenchDialect};
use crate::bench_hub::{AgentEndpoint, BenchHub};
use crate::frame::{TEXT, masked};

/// A longer wait never ends.
pub(crate) const ANSWER_DEADLINE: Duration = Duration::from_secs(60);

/// Agents that connect at the same time.
const TOGETHER: usize = 16;

pub(crate) struct Crowd {
    pub(crate) windows: Vec<LoadWindow>,
    pub(crate) agents: Vec<LoadAgent>,
    pub(crate) events: UnboundedReceiver<LoadEvent>,
    event_sender: UnboundedSender<LoadEvent>,
}

pub(crate) struct LoadWindow {
    pub(crate) folder: PathBuf,
    pub(crate) endpoint: AgentEndpoint,
    pub(crate) sender: FrameSender,
}

pub(crate) struct LoadAgent {
    pub(crate) window: usize,
    pub(crate) dialect: BenchDialect,
    pub(crate) sender: FrameSender,
}

impl Crowd {
    pub(crate) fn new() -> Crowd {
        let (event_sender, events) = unbounded_channel();
        Crowd { windows: Vec::new(), agents: Vec::new(), events, event_sender }
    }

    pub(crate) fn event_sender(&self) -> UnboundedSender<LoadEvent> {
        self.event_sender.clone()
    }

    /// Attaches windows until there are `count`, each with its own folder.
    pub(crate) async fn windows_to(&mut self, hub: &BenchHub, count: usize) -> Result<()> {
        let socket = hub.socket()?;
        while self.windows.len() < count {
            let number = self.windows.len();
            let folder = hub.workspace().join(format!("w{number}"));
            fs::create_dir_all(&folder)?;
            let (input, output) = UnixStream::connect(&socket).await?.into_split();
            let joining = connection::window(input, output, &folder, number, self.event_sender());
            let attached =
                timeout(ANSWER_DEADLINE, joining).await.context("the window waits for the hub")??;
            let endpoint = hub.endpoint(attached.port)?;
            self.windows.push(LoadWindow { folder, endpoint, sender: attached.sender });
        }
        Ok(())
    }

    /// Connects agents until there are `count`, spread over the windows and with alternating dialects.
    pub(crate) async fn agents_to(&mut self, count: usize) -> Result<()> {
        while self.agents.len() < count {
            let next = self.agents.len()..count.min(self.agents.len() + TOGETHER);
            let coming: Vec<_> = next
                .map(|number| {
                    let window = number % self.windows.len();
                    let round = number / self.windows.len();
                    let dialect =
                        if round.is_multiple_of(2) { BenchDialect::Claude } else { BenchDialect::Nexus3 };
                    let endpoint = self.windows.get(window).map(|window| window.endpoint.clone());
                    let coming =
                        spawn_blocking(move || Agent::introduced(&endpoint.context("no window")?, dialect));
                    (number, window, dialect, coming)
                })
                .collect();
            for (number, window, dialect, coming) in coming {
                let stream = coming.await?.with_context(|| format!("agent {number}"))?.into_stream();
                let sender = connection::agent(stream, number, self.event_sender())?;
                self.agents.push(LoadAgent { window, dialect, sender });
            }
        }
        Ok(())
    }

    pub(crate) async fn next(&mut self) -> Result<LoadEvent> {
        let event = timeout(ANSWER_DEADLINE, self.events.recv()).await;
        event.context("nothing was received for a minute")?.context("everyone is disconnected")
    }
}

/// A tool call with its own id, so that many can be open at once.
pub(crate) fn call(id: u64, name: &str, arguments: &serde_json::Value) -> Vec<u8> {
    let params = json!({ "name": name, "arguments": arguments });
    let message = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
    masked(TEXT, message.to_string().as_bytes())
}

/// A change with its own tab name.
pub(crate) fn propose(id: u64, path: &str, text: &str) -> Vec<u8> {
    let tab = format!("change {id}");
    let arguments = json!({
        "old_file_path": path, "new_file_path": path, "new_file_contents": text, "tab_name": tab,
    });
    call(id, "openDiff", &arguments)
}

/// A decision whose request id is the number of the review, so that its answer can be matched.
pub(crate) fn decide(review: &str, revision: u32, accept: bool) -> Vec<u8> {
    let verdict = if accept { Verdict::Accept } else { Verdict::Reject { reason: None } };
    let number = review.trim_start_matches('r').parse().unwrap_or_default();
    let decision = Decision { verdict, comments: Vec::new(), write_here: false };
    let decided = ReviewDecided { review: review.to_owned(), revision, digest: None, decision };
    encode(&Message::request(RequestId::Number(number), &decided).to_bytes())
}
