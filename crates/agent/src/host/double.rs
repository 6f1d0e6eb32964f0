//! A host for tests of frontends: answers what only reads, passes every other command to the test, and emits what the
//! test wants.

use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::contract::*;
use crate::conversation::{TurnEnd, TurnEvent};
use crate::message::{ChatMessage, Usage};

const SOON: Duration = Duration::from_secs(10);

/// What it answers; a test may change it.
pub(crate) struct Answers {
    pub(crate) agents: Vec<AgentSummary>,
    pub(crate) settings: Vec<AgentSettings>,
    pub(crate) messages: Vec<ChatMessage>,
    pub(crate) sessions: Vec<SessionSummary>,
    /// The error of the next `New`.
    pub(crate) refuses: Option<String>,
    /// A turn that was resumed runs: prompts wait for its end.
    pub(crate) is_resumed: bool,
    /// What happens to the next new agent before anyone hears of it.
    pub(crate) at_once: Vec<Occurred>,
}

pub(crate) struct HostDouble {
    pub(crate) handle: HostHandle,
    pub(crate) answers: Arc<Mutex<Answers>>,
    subscribers: Arc<Mutex<Vec<UnboundedSender<HostEvent>>>>,
    heard: Receiver<HostCommand>,
}

pub(crate) fn status_of(agent: AgentId, settings: &AgentSettings) -> AgentSummary {
    AgentSummary {
        agent,
        name: settings.name.clone().unwrap_or_else(|| format!("agent-{}", agent.0)),
        cwd: settings.cwd.clone().unwrap_or_else(|| PathBuf::from("/w")),
        mode: settings.mode.unwrap_or_default(),
        model: settings.model.clone().unwrap_or_else(|| "script/demo".to_owned()),
        busy: false,
        waiting: 0,
        messages: 2,
        usage: Usage { input: 10, output: 5 },
        context_percent: Some(12),
        session: settings.resume.clone().unwrap_or_else(|| format!("s{}", agent.0)),
    }
}

impl HostDouble {
    pub(crate) fn start() -> HostDouble {
        let (commands, mut received) = unbounded_channel();
        let answers = Arc::new(Mutex::new(Answers {
            agents: Vec::new(),
            settings: Vec::new(),
            messages: Vec::new(),
            sessions: Vec::new(),
            refuses: None,
            is_resumed: false,
            at_once: Vec::new(),
        }));
        let subscribers = Arc::<Mutex<Vec<UnboundedSender<HostEvent>>>>::default();
        let (pass, heard) = mpsc::channel();
        let (answering, subscribed) = (Arc::clone(&answers), Arc::clone(&subscribers));
        thread::spawn(move || {
            while let Some(command) = received.blocking_recv() {
                if let HostCommand::Subscribe { events } = command {
                    subscribed.lock().unwrap().push(events);
                    continue;
                }
                let mut answers = answering.lock().unwrap();
                if matches!(command, HostCommand::New { .. }) {
                    let agent = Some(AgentId(answers.settings.len() as u64 + 1));
                    for what in std::mem::take(&mut answers.at_once) {
                        let event = HostEvent { agent, what };
                        subscribed.lock().unwrap().retain(|events| events.send(event.clone()).is_ok());
                    }
                }
                if let HostCommand::Prompt { agent, .. } = &command
                    && !answers.is_resumed
                {
                    let what = Occurred::Shown(TurnEvent::Prompted);
                    let event = HostEvent { agent: Some(*agent), what };
                    subscribed.lock().unwrap().retain(|events| events.send(event.clone()).is_ok());
                }
                if let Some(command) = answers.answer(command) {
                    let _ = pass.send(command);
                }
            }
        });
        HostDouble { handle: HostHandle::new(commands), answers, subscribers, heard }
    }

    /// The next command that is not only a question.
    #[track_caller]
    pub(crate) fn next(&self) -> HostCommand {
        self.heard.recv_timeout(SOON).expect("no command")
    }

    /// The next command, if one comes in a moment.
    pub(crate) fn next_within(&self, patience: Duration) -> Option<HostCommand> {
        self.heard.recv_timeout(patience).ok()
    }

    /// Waits for a prompt.
    #[track_caller]
    pub(crate) fn prompted(&self) -> (AgentId, String) {
        match self.next() {
            HostCommand::Prompt { agent, text } => (agent, text),
            other => panic!("no prompt: {other:?}"),
        }
    }

    pub(crate) fn emit(&self, agent: AgentId, what: Occurred) {
        self.send(HostEvent { agent: Some(agent), what });
    }

    pub(crate) fn show(&self, agent: AgentId, shown: TurnEvent) {
        self.emit(agent, Occurred::Shown(shown));
    }

    pub(crate) fn send(&self, event: HostEvent) {
        self.subscribers.lock().unwrap().retain(|events| events.send(event.clone()).is_ok());
    }

    pub(crate) fn end(&self, agent: AgentId, end: TurnEnd, text: &str) {
        let usage = Usage { input: 3, output: 2 };
        self.show(agent, TurnEvent::Ended { end, text: text.to_owned(), usage });
    }
}

impl Answers {
    fn answer(&mut self, command: HostCommand) -> Option<HostCommand> {
        match command {
            HostCommand::New { settings, reply } => {
                if let Some(error) = self.refuses.take() {
                    let _ = reply.send(Err(error));
                    return None;
                }
                let agent = AgentId(self.settings.len() as u64 + 1);
                self.agents.push(status_of(agent, &settings));
                self.settings.push(settings);
                let _ = reply.send(Ok(agent));
            }
            HostCommand::Status { reply } => drop(reply.send(self.agents.clone())),
            HostCommand::Messages { reply, .. } => drop(reply.send(Ok(self.messages.clone()))),
            HostCommand::Sessions { reply } => drop(reply.send(Ok(self.sessions.clone()))),
            HostCommand::SystemPrompt { reply, .. } => drop(reply.send(Ok("You are an agent.".to_owned()))),
            HostCommand::Tools { reply, .. } => {
                let tool = ToolSummary { name: "read_file".to_owned(), description: "Reads.".to_owned() };
                let _ = reply.send(Ok(vec![tool]));
            }
            HostCommand::Providers { reply } => {
                let provider = |id: &str, has_key| ProviderSummary {
                    id: id.to_owned(),
                    name: id.to_uppercase(),
                    has_key,
                    default_model: "demo".to_owned(),
                    models: vec!["demo".to_owned(), "other".to_owned()],
                };
                let _ = reply.send(vec![provider("script", true), provider("anthropic", false)]);
            }
            HostCommand::SetModel { agent, model, reply } => {
                let known = ["script", "demo", "other", "script/demo", "script/other"];
                let _ = reply.send(if known.contains(&model.as_str()) {
                    let model = model.rsplit('/').next().unwrap_or_default();
                    let whole = format!("script/{}", if model == "script" { "demo" } else { model });
                    self.with(agent, |status| status.model.clone_from(&whole));
                    Ok(whole)
                } else {
                    Err(format!("there is no model {model}"))
                });
            }
            HostCommand::SetMode { agent, mode } => {
                self.with(agent, |status| status.mode = mode);
                return Some(HostCommand::SetMode { agent, mode });
            }
            other => return Some(other),
        }
        None
    }

    fn with(&mut self, agent: AgentId, change: impl FnOnce(&mut AgentSummary)) {
        if let Some(status) = self.agents.iter_mut().find(|status| status.agent == agent) {
            change(status);
        }
    }
}
