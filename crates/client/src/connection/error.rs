//! Why there is no connection, or no answer.

use std::io;

use crate::control::ControlError;
use crate::dial::DialError;
use crate::hub::ConnectError;

/// Why a call has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The connection is gone.
    #[error("the connection to the editor is gone: `linkspan doctor` tells whether the editor is there")]
    Closed,
    /// The editor is too slow.
    #[error("the editor did not answer `{tool}` within {seconds} s: look whether it is busy, then try again")]
    Timeout {
        /// What was asked.
        tool: String,
        /// How long we waited.
        seconds: u64,
    },
    /// The caller took the question back.
    #[error("the change was withdrawn before it was decided")]
    Withdrawn,
    /// The tool says no.
    #[error("{message}")]
    Tool {
        /// In its words.
        message: String,
        /// Its kind, where the hub names one, such as `denied`.
        kind: Option<String>,
    },
    /// The editor has no such tool.
    #[error("the editor has no tool `{tool}`; it offers {}", listed(offered))]
    Unsupported {
        /// What was asked.
        tool: String,
        /// What it offers instead.
        offered: Vec<String>,
    },
    /// The answer is none that we know; it is never taken for a yes.
    #[error("the editor's answer to `{tool}` is not understood: {reason}")]
    Protocol {
        /// What was asked.
        tool: String,
        /// What is wrong with the answer.
        reason: String,
    },
    /// The question is larger than editors take.
    #[error("`{tool}` with {bytes} bytes is larger than the {limit} bytes that one message may have")]
    TooLarge {
        /// What was asked.
        tool: String,
        /// How large.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// This editor's protocol has no words for it.
    #[error("{0}")]
    NotOnThisWire(String),
}

impl CallError {
    pub(crate) fn protocol(tool: &str, reason: impl Into<String>) -> CallError {
        CallError::Protocol { tool: tool.to_owned(), reason: reason.into() }
    }
}

fn listed(offered: &[String]) -> String {
    if offered.is_empty() { "none".into() } else { offered.join(", ") }
}

/// Why there is no connection to an editor.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// There is no hub to go through.
    #[error(transparent)]
    Hub(#[from] ConnectError),
    /// The hub does not let us in.
    #[error(transparent)]
    Join(#[from] ControlError),
    /// The editor's own server does not let us in.
    #[error(transparent)]
    Dial(#[from] DialError),
    /// It let us in, but then did not answer as a server does.
    #[error("{editor} does not introduce itself: {error}")]
    Introduction {
        /// Which editor.
        editor: String,
        /// What came instead.
        #[source]
        error: CallError,
    },
    /// The system did not let us talk.
    #[error("the connection to the editor failed: {0}")]
    Io(#[from] io::Error),
}
