//! What a frontend can ask of the host, and what it is told.

use std::path::PathBuf;

use tokio::sync::oneshot;

use crate::conversation::{Answer, Question, QuestionId, Shown};
use crate::message::Usage;
use crate::permissions::PermissionMode;

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
}

/// A request of a frontend. Errors are for the user: what happened, to what, what to do next.
#[derive(Debug)]
pub enum HostCommand {
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
        /// To whom.
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
        reply: oneshot::Sender<Vec<AgentStatus>>,
    },
    /// The system prompt of an agent as the model reads it now.
    SystemPrompt {
        /// Whose.
        agent: AgentId,
        /// Whole.
        reply: oneshot::Sender<Result<String, String>>,
    },
    /// Connect to an editor: by name, by URL, or the best one.
    ConnectEditor {
        /// A name, a URL, or none.
        which: Option<String>,
        /// The editor's name.
        reply: oneshot::Sender<Result<String, String>>,
    },
    /// Disconnect from the editor, and stay disconnected.
    DisconnectEditor,
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
    Shown(Shown),
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
pub struct AgentStatus {
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
