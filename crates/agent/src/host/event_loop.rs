//! The loop of the host: one task that owns all agents. Requests, tools and files are elsewhere and come back as messages.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

use super::agent::Agent;
use super::change_questions::ChangeQuestions;
use super::contract::{AgentId, HostCommand, HostEvent, Occurred};
use super::editor::EditorState;
use super::prompt_context::SystemPrompt;
use super::start::HostSetup;
use crate::conversation::{Event, Record, ToolTable};
use crate::message::ToolResult;
use crate::models::{ModelError, ModelEvent};

/// How long tools may take to end when the host does.
const QUIT_TIME: Duration = Duration::from_secs(3);

/// What comes back from other tasks and threads.
#[derive(Debug)]
pub(super) enum LoopMessage {
    /// A model streamed, or failed.
    Model { agent: AgentId, request: u64, event: Result<ModelEvent, ModelError> },
    /// A tool is done.
    ToolDone { agent: AgentId, result: ToolResult },
    /// The system prompt and the tools as they are now.
    Context { agent: AgentId, prompt: SystemPrompt, tools: ToolTable },
    /// The mentions in the first of an agent's prompts were read.
    Prompt { agent: AgentId, attachments: Vec<String> },
    /// The time of a wake has come.
    Tick { agent: AgentId },
    /// About a running tool, for its session.
    Record { agent: AgentId, record: Record, saved: SyncSender<()> },
    /// For the frontends.
    Emit(HostEvent),
    /// The editor, by the bridge.
    Editor(super::editor::EditorMessage),
}

/// Everything the host owns.
pub(super) struct HostLoop {
    pub(super) setup: HostSetup,
    pub(super) agents: BTreeMap<AgentId, Agent>,
    pub(super) next_agent: u64,
    /// Who got the last prompt.
    pub(super) last_used: Option<AgentId>,
    pub(super) subscribers: Vec<UnboundedSender<HostEvent>>,
    pub(super) messages: UnboundedSender<LoopMessage>,
    inbox: Option<UnboundedReceiver<LoopMessage>>,
    pub(super) questions: Arc<ChangeQuestions>,
    pub(super) editor: EditorState,
    started: Instant,
    quits_at: Option<Instant>,
}

impl HostLoop {
    pub(super) fn new(setup: HostSetup) -> HostLoop {
        let (messages, inbox) = mpsc::unbounded_channel();
        let emit = messages.clone();
        let questions = ChangeQuestions::new(move |event| {
            let _ = emit.send(LoopMessage::Emit(event));
        });
        HostLoop {
            setup,
            agents: BTreeMap::new(),
            next_agent: 1,
            last_used: None,
            subscribers: Vec::new(),
            messages,
            inbox: Some(inbox),
            questions,
            editor: EditorState::default(),
            started: Instant::now(),
            quits_at: None,
        }
    }

    /// Runs until it is told to quit, or nobody is left who could.
    pub(super) async fn run(mut self, mut commands: UnboundedReceiver<HostCommand>) {
        let Some(mut inbox) = self.inbox.take() else { return };
        self.watch_editor();
        while !self.is_over() {
            tokio::select! {
                // The user first: a model may stream faster than all of it is passed on.
                biased;
                command = commands.recv(), if self.quits_at.is_none() => match command {
                    Some(HostCommand::Quit) | None => self.quit(),
                    Some(command) => self.command(command),
                },
                Some(message) = inbox.recv() => self.receive(message),
                () = until(self.quits_at) => break,
            }
        }
        self.setup.bridge.disconnect();
    }

    fn is_over(&self) -> bool {
        self.quits_at.is_some() && self.agents.values().all(|agent| agent.running.is_empty())
    }

    fn quit(&mut self) {
        self.quits_at = Some(Instant::now() + QUIT_TIME);
        self.save_pool();
        for agent in self.agents.keys().copied().collect::<Vec<_>>() {
            if let Some(agent) = self.agents.get_mut(&agent) {
                agent.prompts.clear();
            }
            self.handle(agent, Event::Cancel);
        }
    }

    fn receive(&mut self, message: LoopMessage) {
        match message {
            LoopMessage::Model { agent, request, event: Ok(event) } => {
                self.handle(agent, Event::Model { request, event });
            }
            LoopMessage::Model { agent, request, event: Err(error) } => {
                self.handle(agent, Event::ModelFailed { request, error });
            }
            LoopMessage::ToolDone { agent, result } => {
                if let Some(agent) = self.agents.get_mut(&agent) {
                    agent.running.remove(&result.call_id);
                }
                self.handle(agent, Event::ToolDone { result });
            }
            LoopMessage::Context { agent, prompt, tools } => self.context_is_ready(agent, prompt, tools),
            LoopMessage::Prompt { agent, attachments } => self.prompt_is_ready(agent, attachments),
            LoopMessage::Tick { agent } => self.handle(agent, Event::Tick),
            LoopMessage::Record { agent, record, saved } => {
                // What runs goes on without it; the next record that matters stops the turn.
                self.save(agent, &record);
                let _ = saved.send(());
            }
            LoopMessage::Emit(event) => self.emit(event.agent, event.what),
            LoopMessage::Editor(message) => self.editor_changed(message),
        }
    }

    /// Passes an event to an agent's conversation, and carries out what it wants.
    pub(super) fn handle(&mut self, agent: AgentId, event: Event) {
        let now = self.started.elapsed();
        let Some(found) = self.agents.get_mut(&agent) else { return };
        // A prompt that came while the host quits would start another turn.
        if self.quits_at.is_some() && matches!(event, Event::Prompt { .. }) {
            return;
        }
        let actions = found.conversation.handle(now, event);
        self.carry_out(agent, actions);
    }

    /// Continues an agent's interrupted turn.
    pub(super) fn resume(&mut self, agent: AgentId) {
        let now = self.started.elapsed();
        let Some(found) = self.agents.get_mut(&agent) else { return };
        let actions = found.conversation.resume(now);
        self.carry_out(agent, actions);
    }

    pub(super) fn emit(&mut self, agent: Option<AgentId>, what: Occurred) {
        let event = HostEvent { agent, what };
        self.subscribers.retain(|subscriber| subscriber.send(event.clone()).is_ok());
    }
}

async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment.into()).await,
        None => std::future::pending().await,
    }
}
