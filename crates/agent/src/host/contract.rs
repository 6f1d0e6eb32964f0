//! What a frontend can ask of the host, and what it is told.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use linkspan_client::confirm::{ConfirmQuestion, TerminalAnswer};
use tokio::sync::{mpsc, oneshot};

use crate::conversation::{Answer, Question, QuestionId, TurnEvent};
use crate::message::{ChatMessage, Usage};
use crate::permissions::PermissionMode;
use crate::tools::mcp::ServerConfig;

/// Never reused in a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AgentId(pub u64);

/// How a new agent starts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AgentSettings {
    /// Shown in lists and reviews; made up if there is none.
    pub name: Option<String>,
    /// The folder; the process's if there is none.
    pub cwd: Option<PathBuf>,
    /// The configuration's if there is none.
    pub mode: Option<PermissionMode>,
    /// `provider/model`, or a model's name; the configuration's if there is none.
    pub model: Option<String>,
    /// Continue this session.
    pub resume: Option<String>,
    /// MCP servers that only this agent has, by name. They end with it.
    pub servers: BTreeMap<String, ServerConfig>,
    /// Started by another agent, and not remembered with the pool.
    pub is_helper: bool,
}

/// A frontend's way to a started host. Cheap to clone.
#[derive(Debug, Clone)]
pub struct HostHandle {
    commands: mpsc::UnboundedSender<HostCommand>,
}

/// The host has ended, so nothing can be asked of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the agent has ended")]
pub struct HostEnded;

impl HostHandle {
    /// To the host that receives these commands.
    pub fn new(commands: mpsc::UnboundedSender<HostCommand>) -> HostHandle {
        HostHandle { commands }
    }

    /// Sends a command that has no answer. One to a host that has ended is lost, as the host is.
    pub fn send(&self, command: HostCommand) {
        let _ = self.commands.send(command);
    }

    /// Sends a command and waits for its answer.
    pub async fn ask<T>(
        &self,
        command: impl FnOnce(oneshot::Sender<T>) -> HostCommand,
    ) -> Result<T, HostEnded> {
        let (reply, answer) = oneshot::channel();
        self.commands.send(command(reply)).map_err(|_| HostEnded)?;
        answer.await.map_err(|_| HostEnded)
    }

    /// Every event from now on.
    pub fn subscribe(&self) -> mpsc::UnboundedReceiver<HostEvent> {
        let (events, receiver) = mpsc::unbounded_channel();
        self.send(HostCommand::Subscribe { events });
        receiver
    }
}

/// Names a change that is asked about beside the editor. Never reused in a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChangeId(pub u64);

/// A change of a file that the user may decide in the frontend.
#[derive(Debug, Clone)]
pub struct ChangeQuestion {
    /// Names it.
    pub change: ChangeId,
    /// The call that makes the change.
    pub call_id: String,
    /// What is asked.
    pub question: Arc<ConfirmQuestion>,
}

impl PartialEq for ChangeQuestion {
    fn eq(&self, other: &ChangeQuestion) -> bool {
        self.change == other.change
    }
}

/// What can be set for one agent while it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentSetting {
    /// Its folder.
    Cwd(PathBuf),
    /// Whether the model gets tools.
    Tools(bool),
    /// Whether the editor's state goes into the prompt.
    InjectContext(bool),
    /// After how many requests to the model a turn ends.
    MaxRounds(u32),
}

/// A saved conversation, as lists show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSummary {
    /// Its name, for [`AgentSettings::resume`].
    pub name: String,
    /// When it began, in milliseconds since 1970.
    pub created_at_ms: u64,
    /// `provider/model` that it last used.
    pub model: String,
    /// How many messages it has.
    pub messages: usize,
    /// The folder of its agent.
    pub cwd: PathBuf,
}

/// Where models come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderSummary {
    /// For `/provider` and as the first part of `provider/model`.
    pub id: String,
    /// For people.
    pub name: String,
    /// There is a key, or none is needed.
    pub has_key: bool,
    /// Used if no model is named.
    pub default_model: String,
    /// Those that are known here; others can be named.
    pub models: Vec<String>,
}

/// The connected editor, as `/ide status` shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditorSummary {
    /// Such as "VS Code".
    pub name: String,
    /// The address that `/ide connect` takes.
    pub address: String,
    /// The protocol that is spoken with it.
    pub protocol: &'static str,
    /// Its workspace folders, as it says now.
    pub folders: Vec<PathBuf>,
}

/// A tool, as lists show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolSummary {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
}

/// A request of a frontend. Errors are for the user: what happened, to what, what to do next.
#[derive(Debug)]
pub enum HostCommand {
    /// Receive every event from now on. If an editor is connected, the first one says so.
    Subscribe {
        /// Where to. A closed receiver ends it.
        events: mpsc::UnboundedSender<HostEvent>,
    },
    /// Start an agent.
    New {
        /// How.
        settings: AgentSettings,
        /// Its id.
        reply: oneshot::Sender<Result<AgentId, String>>,
    },
    /// End an agent; its reviews are withdrawn.
    Close {
        /// Which.
        agent: AgentId,
    },
    /// The user wrote. `@file` mentions are expanded by the host.
    Prompt {
        /// To which agent.
        agent: AgentId,
        /// What.
        text: String,
    },
    /// Cancel the turn.
    Cancel {
        /// Whose.
        agent: AgentId,
    },
    /// Answer a question.
    Answer {
        /// Whose.
        agent: AgentId,
        /// Which.
        question: QuestionId,
        /// What.
        answer: Answer,
    },
    /// Decide a change of [`Occurred::AskChange`]. The first decision counts.
    AnswerChange {
        /// Which.
        change: ChangeId,
        /// What.
        answer: TerminalAnswer,
    },
    /// Compact the conversation.
    Compact {
        /// Whose.
        agent: AgentId,
    },
    /// Forget the conversation.
    Clear {
        /// Whose.
        agent: AgentId,
        /// An error while a turn runs.
        reply: oneshot::Sender<Result<(), String>>,
    },
    /// Change the mode.
    SetMode {
        /// Whose.
        agent: AgentId,
        /// To what.
        mode: PermissionMode,
    },
    /// Change the model.
    SetModel {
        /// Whose.
        agent: AgentId,
        /// `provider/model`, a provider, or a model of the current provider.
        model: String,
        /// The model that is used from now on.
        reply: oneshot::Sender<Result<String, String>>,
    },
    /// Name the session.
    Save {
        /// Whose.
        agent: AgentId,
        /// What it is to be called.
        name: Option<String>,
        /// Its name.
        reply: oneshot::Sender<Result<String, String>>,
    },
    /// All agents.
    Status {
        /// Oldest first.
        reply: oneshot::Sender<Vec<AgentSummary>>,
    },
    /// The system prompt of an agent as the model reads it now.
    SystemPrompt {
        /// Whose.
        agent: AgentId,
        /// Whole.
        reply: oneshot::Sender<Result<String, String>>,
    },
    /// Everything said so far.
    Messages {
        /// In whose conversation.
        agent: AgentId,
        /// Oldest first.
        reply: oneshot::Sender<Result<Vec<ChatMessage>, String>>,
    },
    /// What the model of an agent can call now.
    Tools {
        /// Whose.
        agent: AgentId,
        /// In the order in which the model gets them.
        reply: oneshot::Sender<Result<Vec<ToolSummary>, String>>,
    },
    /// The providers of models that are configured or built in.
    Providers {
        /// In the order of the configuration.
        reply: oneshot::Sender<Vec<ProviderSummary>>,
    },
    /// Saved conversations.
    Sessions {
        /// Newest first.
        reply: oneshot::Sender<Result<Vec<SessionSummary>, String>>,
    },
    /// Change a setting of one agent.
    Set {
        /// Whose.
        agent: AgentId,
        /// What.
        setting: AgentSetting,
        /// Why not.
        reply: oneshot::Sender<Result<(), String>>,
    },
    /// Connect to an editor: by name, by URL, or the best one.
    ConnectEditor {
        /// A name, a URL, or none.
        which: Option<String>,
        /// The editor's name.
        reply: oneshot::Sender<Result<String, String>>,
    },
    /// The editor that is connected now.
    EditorStatus {
        /// None if there is none.
        reply: oneshot::Sender<Option<EditorSummary>>,
    },
    /// Disconnect from the editor, and stay disconnected.
    DisconnectEditor,
    /// Show a line to the user of the agent that was used last, such as that an MCP server failed.
    Report {
        /// The line.
        line: String,
    },
    /// How to start the agents that were in this folder when the last host ended there, each with its session.
    Remembered {
        /// Oldest first.
        reply: oneshot::Sender<Vec<AgentSettings>>,
    },
    /// End the process in good order.
    Quit,
}

/// Something a frontend shows.
#[derive(Debug, Clone, PartialEq)]
pub struct HostEvent {
    /// Whose; none for the editor.
    pub agent: Option<AgentId>,
    /// What.
    pub what: Occurred,
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Occurred {
    /// From the conversation.
    Shown(TurnEvent),
    /// Output of a running tool.
    Output {
        /// Of which call.
        call_id: String,
        /// A piece.
        text: String,
    },
    /// A question is pending.
    Ask {
        /// Names it.
        question: QuestionId,
        /// What is asked.
        ask: Question,
    },
    /// The question is no longer pending.
    QuestionClosed {
        /// Which.
        question: QuestionId,
    },
    /// A change can be decided in the frontend: no editor can show it, or it is asked about in both.
    AskChange(ChangeQuestion),
    /// The change is no longer pending: it was decided, here or elsewhere, or withdrawn.
    ChangeClosed {
        /// Which.
        change: ChangeId,
    },
    /// A change of this call waits for the user there.
    Reviewing {
        /// Of which call.
        call_id: String,
        /// Where.
        place: ReviewPlace,
    },
    /// What went into the prompt by itself, such as the editor's state; only when it changed.
    ContextInjected(String),
    /// The agent is gone.
    Closed,
    /// An editor is connected.
    EditorConnected {
        /// Such as "VS Code".
        name: String,
    },
    /// The editor is gone; the host reconnects by itself unless the user disconnected.
    EditorLost,
}

/// Where a change can be decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReviewPlace {
    /// Only in the editor.
    Editor,
    /// Only in the terminal.
    Terminal,
    /// In both; the first decision counts.
    Both,
}

/// An agent as lists show it.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentSummary {
    /// Its id.
    pub agent: AgentId,
    /// Its name.
    pub name: String,
    /// Its folder.
    pub cwd: PathBuf,
    /// Its mode.
    pub mode: PermissionMode,
    /// `provider/model`.
    pub model: String,
    /// A turn runs.
    pub busy: bool,
    /// Questions and reviews that wait for the user.
    pub waiting: usize,
    /// How many messages the conversation has.
    pub messages: usize,
    /// Of the whole conversation.
    pub usage: Usage,
    /// How full the model's context is, in percent, if known.
    pub context_percent: Option<u8>,
    /// The name of its session.
    pub session: String,
}
