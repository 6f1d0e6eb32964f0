//! What is said to and by an agent that the hub has started: prompts in, text and tool calls out, whatever the wire
//! looks like. Knows no JSON and no list of items.

use std::path::PathBuf;

use linkspan_editor_api::{ChatAttachment, ChatMode, ChatPicture, ChatPlanStep, ChatToolState, ChatUsage};

use crate::answer::Answer;
use crate::conversation::CallId;

/// What the hub tells such an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChatCommand {
    /// Its process runs: the conversation begins, or continues.
    Begin {
        cwd: PathBuf,
        /// The agent's own id of the conversation, if there was one before.
        resume: Option<String>,
        /// The mode that it is put into before the first prompt.
        mode: Option<String>,
    },
    /// Something to work on. There is one turn at a time.
    Prompt {
        text: String,
        attachments: Vec<ChatAttachment>,
        pictures: Vec<ChatPicture>,
    },
    /// Ends the turn.
    Cancel,
    SetMode(String),
    /// Its process is gone: it does nothing that it was asked for.
    Gone,
}

/// What such an agent says, or what came of something.
#[derive(Debug, Clone, PartialEq)]
pub enum ChatEvent {
    /// The user answered whether it may be started; if not, why.
    MayStart(Result<(), String>),
    /// It waits for the first prompt.
    Ready {
        /// Its own id of the conversation.
        session: String,
        modes: Vec<ChatMode>,
        mode: Option<String>,
        /// A prompt may have pictures.
        pictures: bool,
        /// It has forgotten what was said before, although it was asked to continue.
        forgot: bool,
    },
    /// It cannot begin: not logged in, or another version.
    CannotBegin(String),
    /// More of its answer.
    Text(String),
    /// More of its reasoning.
    Thought(String),
    /// A tool call, as far as it is known now.
    Tool(ChatTool),
    /// This tool call waits for that answer of the user.
    Asks {
        tool: String,
        call: CallId,
    },
    Plan(Vec<ChatPlanStep>),
    Usage(ChatUsage),
    Mode(String),
    /// Something that the user should know and that the agent does not say.
    Notice {
        text: String,
        is_error: bool,
    },
    /// What was decided in this turn so far and the model has not been told: it may never end.
    Untold(String),
    /// The turn is over, and everything in it is decided.
    TurnEnded {
        end: TurnEnd,
        /// What the model has to be told next: what was decided, and what the files hold now.
        follow_up: Option<String>,
    },
}

impl ChatEvent {
    /// The answer to [`crate::Request::Start`].
    pub(crate) fn may_start(answer: &Answer) -> ChatEvent {
        ChatEvent::MayStart(match answer {
            Answer::Permission { allowed: true, .. } => Ok(()),
            Answer::Permission { message, .. } => {
                Err(message.clone().unwrap_or_else(|| "the user refused it".to_owned()))
            }
            Answer::Failed(failure) => Err(failure.message.clone()),
            _ => Err("it was not allowed".to_owned()),
        })
    }
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnEnd {
    Done,
    Cancelled,
    /// Not as it should: too many tokens, a refusal, an error; in words.
    Other(String),
}

/// A tool call of such an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatTool {
    /// The agent's own id.
    pub id: String,
    pub title: String,
    pub kind: Option<String>,
    pub state: ChatToolState,
    pub output: String,
    pub paths: Vec<String>,
}
