//! Why there is no connection, or no answer.

use std::io;

use crate::control::ControlError;
use crate::dial::DialError;
use crate::hub::ConnectError;

/// Why a call has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The connection is closed.
    #[error(
        "the connection to the editor was lost: run `linkspan doctor` to see whether the editor is available"
    )]
    Closed,
    /// The editor is too slow.
    #[error(
        "the editor did not answer `{tool}` within {seconds} s: check whether it is busy, then try again"
    )]
    Timeout {
        /// The tool.
        tool: String,
        /// How long we waited.
        seconds: u64,
    },
    /// The caller withdrew the call.
    #[error("the change was withdrawn before it was decided")]
    Withdrawn,
    /// The tool reports a failure.
    #[error("{message}")]
    Tool {
        /// Its message.
        message: String,
        /// Its kind, if the hub names one, such as `denied`.
        kind: Option<String>,
    },
    /// The editor has no such tool.
    #[error("the editor has no tool `{tool}`; it offers {}", listed(offered))]
    Unsupported {
        /// The tool.
        tool: String,
        /// The tools that it has.
        offered: Vec<String>,
    },
    /// The answer is invalid; it never counts as an accept.
    #[error("the editor's answer to `{tool}` is invalid: {reason}")]
    Protocol {
        /// The tool.
        tool: String,
        /// What is wrong with the answer.
        reason: String,
    },
    /// The call is larger than editors accept.
    #[error("`{tool}` with {bytes} bytes is larger than the {limit} bytes that one message may have")]
    TooLarge {
        /// The tool.
        tool: String,
        /// How large.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// This editor's protocol does not support it.
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
    /// The hub cannot be reached.
    #[error(transparent)]
    Hub(#[from] ConnectError),
    /// The hub rejects us.
    #[error(transparent)]
    Join(#[from] ControlError),
    /// The editor's own server rejects us.
    #[error(transparent)]
    Dial(#[from] DialError),
    /// It accepted the connection, but then did not answer as a server does.
    #[error("{editor} did not complete the handshake: {error}")]
    Introduction {
        /// Which editor.
        editor: String,
        /// What came instead.
        #[source]
        error: CallError,
    },
    /// The system reported an error.
    #[error("the connection to the editor failed: {0}")]
    Io(#[from] io::Error),
}
