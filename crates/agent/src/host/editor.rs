//! The one editor of the process: connecting in the background, and what it reports.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use linkspan_client::discover::{CandidateVerdict, ppxai_bridge};
use linkspan_client::http::LoopbackUrl;
use linkspan_client::{Candidate, EditorEvent, Surroundings, discover};
use tokio::sync::oneshot;

use super::contract::{AgentId, EditorSummary, Occurred};
use super::event_loop::{HostLoop, LoopMessage};
use crate::context::mention_of;
use crate::conversation::TurnEvent;

/// While the editor is lost, how often to look whether it is back. The bridge reconnects by itself, but does not say so.
const LOOK: Duration = Duration::from_millis(500);
/// Then only a turn looks again.
const LOOKS: u32 = 120;

/// How long an interrupted turn waits for the first attempt.
const FIRST_ATTEMPT: Duration = Duration::from_secs(5);
/// Between the looks of turns.
const LOOK_INTERVAL: Duration = Duration::from_secs(2);

/// What the bridge's threads report.
#[derive(Debug)]
pub(super) enum EditorMessage {
    /// Look whether it is connected.
    Look,
    /// The first attempt to connect is over, or has taken too long.
    Tried,
    /// As the bridge received it.
    Event(EditorEvent),
    /// The user's request to connect has its answer.
    Connected { which: Result<String, String>, reply: oneshot::Sender<Result<String, String>> },
    /// Look for an editor that was lost.
    LookAgain { left: u32 },
}

/// What the frontends were told.
#[derive(Debug, Default)]
pub(super) struct EditorState {
    /// The name of the connected one.
    pub(super) name: Option<String>,
    /// The user disconnected, and does not want another one.
    unwanted: bool,
    /// The first attempt to connect is over.
    is_tried: bool,
    /// Agents whose interrupted turns continue then: a change that was pending is asked about in the editor again.
    resume: Vec<AgentId>,
    /// When a turn looked for one.
    looked: Option<Instant>,
}

impl EditorState {
    /// Whether a turn should look for an editor now: looking takes some milliseconds.
    pub(super) fn wants_look(&mut self) -> bool {
        if self.unwanted || self.looked.is_some_and(|looked| looked.elapsed() < LOOK_INTERVAL) {
            return false;
        }
        self.looked = Some(Instant::now());
        true
    }
}

impl HostLoop {
    /// Connects in the background, so that nobody waits for it.
    pub(super) fn watch_editor(&mut self) {
        let config = self.setup.config.ide;
        self.editor.unwanted = !config.enabled || !config.auto_connect;
        self.editor.is_tried = self.editor.unwanted;
        if !config.enabled {
            return;
        }
        let (bridge, messages) = (Arc::clone(&self.setup.bridge), self.messages.clone());
        let events = bridge.events();
        let cwd = (!self.editor.unwanted).then(|| self.setup.cwd.clone());
        // Without the threads there is no editor, as without an editor.
        let _ = thread::Builder::new().name("linkspan-editor".to_owned()).spawn({
            let messages = messages.clone();
            move || {
                if let Some(cwd) = cwd {
                    let _ = bridge.auto_connect(&cwd);
                    let _ = messages.send(LoopMessage::Editor(EditorMessage::Tried));
                }
            }
        });
        let _ = thread::Builder::new().name("linkspan-events".to_owned()).spawn(move || {
            for event in events {
                if messages.send(LoopMessage::Editor(EditorMessage::Event(event))).is_err() {
                    return;
                }
            }
        });
    }

    /// Continues an agent's interrupted turn, once it is known whether there is an editor.
    pub(super) fn resume_with_editor(&mut self, agent: AgentId) {
        if self.editor.is_tried {
            return self.resume(agent);
        }
        self.editor.resume.push(agent);
        let messages = self.messages.clone();
        tokio::spawn(async move {
            tokio::time::sleep(FIRST_ATTEMPT).await;
            let _ = messages.send(LoopMessage::Editor(EditorMessage::Tried));
        });
    }

    pub(super) fn editor_changed(&mut self, message: EditorMessage) {
        match message {
            EditorMessage::Look => self.look_at_editor(),
            EditorMessage::Tried => {
                self.look_at_editor();
                self.editor.is_tried = true;
                for agent in std::mem::take(&mut self.editor.resume) {
                    self.resume(agent);
                }
            }
            EditorMessage::Event(EditorEvent::Closed) => {
                self.look_at_editor();
                self.look_again(LOOKS);
            }
            EditorMessage::LookAgain { left } => {
                self.look_at_editor();
                if self.editor.name.is_none() && left > 0 {
                    self.look_again(left - 1);
                }
            }
            EditorMessage::Event(EditorEvent::Mentioned { path, lines }) => self.mentioned(&path, lines),
            EditorMessage::Event(_) => self.look_at_editor(),
            EditorMessage::Connected { which, reply } => {
                if which.is_ok() {
                    self.editor.unwanted = false;
                }
                self.look_at_editor();
                let _ = reply.send(which);
            }
        }
    }

    fn look_again(&self, left: u32) {
        let messages = self.messages.clone();
        tokio::spawn(async move {
            tokio::time::sleep(LOOK).await;
            let _ = messages.send(LoopMessage::Editor(EditorMessage::LookAgain { left }));
        });
    }

    /// Tells the frontends if the editor came or went.
    pub(super) fn look_at_editor(&mut self) {
        let connection = self.setup.bridge.connection().filter(|connection| connection.is_connected());
        let name = connection.map(|connection| connection.candidate().editor.clone());
        if name == self.editor.name {
            return;
        }
        self.editor.name.clone_from(&name);
        match name {
            Some(name) => self.emit(None, Occurred::EditorConnected { name }),
            None => self.emit(None, Occurred::EditorLost),
        }
    }

    /// The user pointed at a file in the editor: it goes with the next prompt of the agent that was used last.
    fn mentioned(&mut self, path: &std::path::Path, lines: Option<(u32, u32)>) {
        let mention = mention_of(path, lines);
        let agent = self.last_used.or_else(|| self.agents.keys().next().copied());
        if let Some(agent) = agent.and_then(|agent: AgentId| self.agents.get_mut(&agent)) {
            let (id, line) = (agent.id, format!("From the editor, with your next prompt: {mention}"));
            agent.mentioned.push(mention);
            self.emit(Some(id), Occurred::Shown(TurnEvent::Info(line)));
        }
    }

    /// Connects to an editor by name or URL, or to the best one.
    pub(super) fn connect_editor(
        &mut self,
        which: Option<String>,
        reply: oneshot::Sender<Result<String, String>>,
    ) {
        if !self.setup.config.ide.enabled {
            let _ = reply.send(Err(
                "editors are switched off: set `enabled = true` under [ide] in agent.toml".to_owned(),
            ));
            return;
        }
        let (bridge, messages) = (Arc::clone(&self.setup.bridge), self.messages.clone());
        let surroundings = self.setup.surroundings.clone();
        tokio::task::spawn_blocking(move || {
            let found = find(&surroundings, which.as_deref());
            let which = found.and_then(|candidate| {
                bridge.connect(&candidate).map_err(|error| error.to_string()).map(|_| candidate.editor)
            });
            let _ = messages.send(LoopMessage::Editor(EditorMessage::Connected { which, reply }));
        });
    }

    /// Asks the editor itself for its folders: what was found when it was connected may no longer be true.
    pub(super) fn editor_status(&self, reply: oneshot::Sender<Option<EditorSummary>>) {
        let connection = self.setup.bridge.connection().filter(|connection| connection.is_connected());
        tokio::task::spawn_blocking(move || {
            let summary = connection.map(|connection| {
                let Candidate { editor, wire, folders, .. } = connection.candidate();
                EditorSummary {
                    name: editor.clone(),
                    address: format!("http://127.0.0.1:{}", wire.port()),
                    protocol: wire.dialect(),
                    folders: connection.workspace_folders().unwrap_or_else(|_| folders.clone()),
                }
            });
            reply.send(summary)
        });
    }

    pub(super) fn disconnect_editor(&mut self) {
        self.editor.unwanted = true;
        let (bridge, messages) = (Arc::clone(&self.setup.bridge), self.messages.clone());
        tokio::task::spawn_blocking(move || {
            bridge.disconnect();
            let _ = messages.send(LoopMessage::Editor(EditorMessage::Look));
        });
    }
}

/// An editor by its name, by the address of its server, or the best one.
fn find(surroundings: &Surroundings, which: Option<&str>) -> Result<Candidate, String> {
    let found = discover(surroundings);
    let Some(which) = which else {
        return match (found.best(), found.candidates.first()) {
            (Some(best), _) => Ok(best.clone()),
            (None, Some(other)) => Err(format!("no editor can be used. {}", why_not(other))),
            (None, None) => {
                Err("no editor was found: open this folder in one, or run `linkspan doctor`".to_owned())
            }
        };
    };
    if which.contains("://") {
        let url: LoopbackUrl =
            which.parse().map_err(|error| format!("{which} cannot be an editor: {error}"))?;
        let same_port = found.candidates.into_iter().find(|candidate| candidate.wire.port() == url.port());
        return usable(same_port.unwrap_or_else(|| ppxai_bridge(Some(&url), surroundings)));
    }
    let wanted = which.to_lowercase();
    let mut fits: Vec<_> =
        found.candidates.iter().filter(|found| found.editor.to_lowercase().contains(&wanted)).collect();
    fits.sort_by_key(|candidate| !candidate.is_usable());
    match fits.first() {
        Some(candidate) => usable((*candidate).clone()),
        None => {
            // One editor may be found in several ways.
            let names: BTreeSet<_> =
                found.candidates.iter().map(|candidate| candidate.editor.as_str()).collect();
            let others = if names.is_empty() {
                "no other either".to_owned()
            } else {
                Vec::from_iter(names).join(", ")
            };
            Err(format!("no editor `{which}` was found; there is {others}"))
        }
    }
}

fn usable(candidate: Candidate) -> Result<Candidate, String> {
    if candidate.is_usable() { Ok(candidate) } else { Err(why_not(&candidate)) }
}

fn why_not(candidate: &Candidate) -> String {
    let editor = &candidate.editor;
    match &candidate.verdict {
        CandidateVerdict::Usable => format!("{editor} can be used"),
        CandidateVerdict::Not(reason) => format!("{editor} cannot be used: {reason}. {}", reason.remedy()),
    }
}
