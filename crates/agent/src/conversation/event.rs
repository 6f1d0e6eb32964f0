//! What happens to a conversation, and what it wants done.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::message::{ChatMessage, ModelCall, ToolResult, Usage};
use crate::models::{ModelError, ModelEvent, ModelRequest};
use crate::permissions::PermissionMode;

use super::ToolTable;

/// Minted by the conversation, never reused in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct QuestionId(pub u64);

/// Something happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The user wrote. While a turn runs it is queued, and goes to the model with the next request.
    Prompt {
        /// What the user wrote.
        text: String,
        /// Formatted files and selections.
        attachments: Vec<String>,
    },
    /// The model streamed. Events of another request than the current one are ignored.
    Model {
        /// From [`ConversationAction::Request`].
        request: u64,
        /// What it streamed.
        event: ModelEvent,
    },
    /// The model failed.
    ModelFailed {
        /// From [`ConversationAction::Request`].
        request: u64,
        /// Why.
        error: ModelError,
    },
    /// A tool is done.
    ToolDone {
        /// What it returned.
        result: ToolResult,
    },
    /// The user answered a question of [`ConversationAction::Ask`].
    Answered {
        /// Which.
        question: QuestionId,
        /// What.
        answer: Answer,
    },
    /// The system prompt as it is now, after [`ConversationAction::RefreshContext`] or a change in the editor.
    Context {
        /// The whole prompt.
        system: String,
    },
    /// The user wants the turn to end.
    Cancel,
    /// The user wants the conversation to be compacted.
    Compact,
    /// The user wants to start over; refused while a turn runs.
    Clear,
    /// Another permission mode.
    Mode(PermissionMode),
    /// Other tools, from the next request on.
    Tools(ToolTable),
    /// How many tokens the model can read, if known: another model was chosen.
    ContextWindow(Option<u64>),
    /// After how many requests a turn ends.
    Rounds(u32),
    /// The time of [`ConversationAction::Wake`] has come.
    Tick,
}

/// What is to be done, in order.
#[derive(Debug, Clone, PartialEq)]
pub enum ConversationAction {
    /// Append to the session file, durably, before the next action.
    Save(Record),
    /// Send to the model.
    Request {
        /// Names this request in [`Event::Model`].
        request: u64,
        /// What to send.
        body: ModelRequest,
    },
    /// Abandon the request.
    Abandon {
        /// Which.
        request: u64,
    },
    /// Run a tool. Several may run at once.
    Run {
        /// Which call, with arguments that are JSON.
        call: ModelCall,
        /// In which mode.
        mode: PermissionMode,
    },
    /// End a running tool; it still reports [`Event::ToolDone`], with `cancelled`.
    Stop {
        /// Which call.
        call_id: String,
    },
    /// Ask the user.
    Ask {
        /// Names the question.
        question: QuestionId,
        /// What is asked.
        ask: Question,
    },
    /// The question is no longer pending.
    CloseQuestion {
        /// Which.
        question: QuestionId,
    },
    /// Compute the system prompt again and answer with [`Event::Context`] before the next request.
    RefreshContext,
    /// Send [`Event::Tick`] after this time. Replaces an earlier one.
    Wake {
        /// From now.
        after: Duration,
    },
    /// Show the user.
    Show(TurnEvent),
}

/// What the frontends show.
#[derive(Debug, Clone, PartialEq)]
pub enum TurnEvent {
    /// A turn began.
    Started,
    /// What the user wrote goes to the model with the next request of this turn. A prompt that came late in a turn waits
    /// for the next one: the end of a turn is its end only after this.
    Prompted,
    /// A piece of the answer.
    Text(String),
    /// A piece of the reasoning.
    Thought(String),
    /// A call that the model made, before it runs.
    Call(ModelCall),
    /// Its result.
    Result(ToolResult),
    /// A retry, another round, a compaction: one line.
    Info(String),
    /// What went wrong, and what to do next: one line or more.
    Error(String),
    /// The turn is over.
    Ended {
        /// How.
        end: TurnEnd,
        /// The whole text of its last answer.
        text: String,
        /// Of the whole turn.
        usage: Usage,
    },
}

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnEnd {
    /// The model is done.
    Done,
    /// The user cancelled it.
    Cancelled,
    /// The model's output was cut at its limit.
    Length,
    /// The model refused.
    Refused,
    /// There was an error, which was shown.
    Failed,
    /// The limit of rounds is reached.
    Rounds,
}

/// A question for the user. Changes of files are not asked here: the tool asks for a review.
#[derive(Debug, Clone, PartialEq)]
pub enum Question {
    /// May this call run?
    Permission {
        /// Which.
        call: ModelCall,
        /// Why it is asked, such as "trusted mode asks before commands".
        why: String,
    },
    /// The same call failed again and again: go on?
    Repeated {
        /// Which.
        call: ModelCall,
        /// How often.
        times: u32,
    },
}

/// The user's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// This once.
    Once,
    /// For the rest of the session: the same tool, for commands the same command.
    Session,
    /// No, perhaps with a reason for the model.
    No {
        /// In the user's words.
        reason: Option<String>,
    },
    /// The user could not be asked, so it is no. Nobody declined.
    NotAsked {
        /// For the model.
        why: String,
    },
}

/// A line of a session file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case")]
pub enum Record {
    /// A message was added.
    Message {
        /// Which.
        message: ChatMessage,
    },
    /// A tool is about to run: after a crash it is not run again unless it is safe to.
    Running {
        /// Which.
        call_id: String,
    },
    /// A running call asks the user about this change: after a crash the same is asked again, whatever the file holds by
    /// then, so that an answer that was given meanwhile is found.
    Proposed {
        /// Which.
        call_id: String,
        /// Of the file.
        path: String,
        /// What it would hold.
        text: String,
    },
    /// A call has its result. Once each call of the assistant's message has one, they are the message after it, which
    /// has no record of its own.
    Finished {
        /// What it returned.
        result: ToolResult,
    },
    /// All messages before were replaced by this summary and the last `kept` of them.
    Compacted {
        /// For the model.
        summary: String,
        /// How many of the last messages stay.
        kept: usize,
    },
    /// All messages before are gone.
    Cleared,
    /// What the turn cost.
    Usage {
        /// As the model counted it.
        usage: Usage,
    },
    /// Another mode.
    Mode {
        /// Which.
        mode: PermissionMode,
    },
    /// The turn is over.
    Ended {
        /// How.
        end: TurnEnd,
    },
}
