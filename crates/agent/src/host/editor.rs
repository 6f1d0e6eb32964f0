//! The one editor of the process: connecting in the background, and what it reports.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use linkspan_client::{Candidate, EditorEvent, Surroundings, discover};
use tokio::sync::oneshot;

use super::contract::{AgentId, Occurred};
use super::event_loop::{HostLoop, Message};

/// While the editor is lost, how often to look whether it is back. The bridge reconnects by itself, but does not say so.
const LOOK: Duration = Duration::from_millis(500);
/// Then only a turn looks again.
const LOOKS: u32 = 120;

/// What the bridge's threads report.
#[derive(Debug)]
pub(super) enum EditorMessage {
    /// Look whether it is connected.
    Look,
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
}

impl EditorState {
    /// Whether to connect by ourselves.
    pub(super) fn is_wanted(&self) -> bool {
        !self.unwanted
    }
}

impl HostLoop {
    /// Connects in the background, so that nobody waits for it.
    pub(super) fn watch_editor(&mut self) {
        let config = self.setup.config.ide;
        self.editor.unwanted = !config.enabled || !config.auto_connect;
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
                    let _ = messages.send(Message::Editor(EditorMessage::Look));
                }
            }
        });
        let _ = thread::Builder::new().name("linkspan-events".to_owned()).spawn(move || {
            for event in events {
                if messages.send(Message::Editor(EditorMessage::Event(event))).is_err() {
                    return;
                }
            }
        });
    }

    pub(super) fn editor_changed(&mut self, message: EditorMessage) {
        match message {
            EditorMessage::Look => self.look_at_editor(),
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
            let _ = messages.send(Message::Editor(EditorMessage::LookAgain { left }));
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
        let mention = match lines {
            Some((first, last)) => {
                format!("@{}:{}-{}", path.display(), first.saturating_add(1), last.saturating_add(1))
            }
            None => format!("@{}", path.display()),
        };
        let agent = self.last_used.or_else(|| self.agents.keys().next().copied());
        if let Some(agent) = agent.and_then(|agent: AgentId| self.agents.get_mut(&agent)) {
            agent.mentioned.push(mention);
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
        let (bridge, messages, cwd) =
            (Arc::clone(&self.setup.bridge), self.messages.clone(), self.setup.cwd.clone());
        tokio::task::spawn_blocking(move || {
            let found = find(&cwd, which.as_deref());
            let which = found.and_then(|candidate| {
                bridge.connect(&candidate).map_err(|error| error.to_string()).map(|_| candidate.editor)
            });
            let _ = messages.send(Message::Editor(EditorMessage::Connected { which, reply }));
        });
    }

    pub(super) fn disconnect_editor(&mut self) {
        self.editor.unwanted = true;
        let (bridge, messages) = (Arc::clone(&self.setup.bridge), self.messages.clone());
        tokio::task::spawn_blocking(move || {
            bridge.disconnect();
            let _ = messages.send(Message::Editor(EditorMessage::Look));
        });
    }
}

fn find(cwd: &std::path::Path, which: Option<&str>) -> Result<Candidate, String> {
    let surroundings = Surroundings::of_this_process(cwd).map_err(|error| error.to_string())?;
    let found = discover(&surroundings);
    let Some(which) = which else {
        let none = || match found.candidates.first() {
            Some(candidate) => {
                format!("no editor can be used; {} was found, but: {:?}", candidate.editor, candidate.verdict)
            }
            None => {
                "no editor was found: open this folder in one that has Linkspan, or run `linkspan doctor`"
                    .to_owned()
            }
        };
        return found.best().cloned().ok_or_else(none);
    };
    let wanted = which.to_lowercase();
    let fits = |candidate: &&Candidate| {
        candidate.editor.to_lowercase().contains(&wanted) || format!("{:?}", candidate.wire).contains(which)
    };
    let usable = found.candidates.iter().filter(|candidate| candidate.is_usable());
    usable.clone().find(fits).cloned().ok_or_else(|| {
        let names: Vec<_> = usable.map(|candidate| candidate.editor.as_str()).collect();
        if names.is_empty() {
            format!("there is no editor `{which}`, and no other")
        } else {
            format!("there is no editor `{which}`; there is {}", names.join(", "))
        }
    })
}
