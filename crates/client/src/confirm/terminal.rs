//! The terminal's side of a question, implemented by the owner of a terminal.

use super::{Cancellation, ConfirmQuestion};
use crate::connection::{AcceptedPart, Comment};

/// Asks the user outside the editor.
pub trait TerminalPrompt: Sync {
    /// Asks, and waits for the user. Returns soon after a cancellation, with [`TerminalAnswer::Cancelled`].
    fn ask(&self, question: &ConfirmQuestion, cancelled: &Cancellation) -> TerminalAnswer;
}

/// The answer to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TerminalAnswer {
    /// Allowed.
    Allow,
    /// Allowed with another text of the file: some of its hunks, or as the user edited it.
    AllowText {
        /// What the file should hold.
        text: String,
        /// Whether these are only some of the hunks, or edited.
        taken: AcceptedPart,
        /// Comments on single lines.
        comments: Vec<Comment>,
    },
    /// Rejected, perhaps with a reason.
    Deny {
        /// The user's reason.
        reason: Option<String>,
    },
    /// The question was cancelled before it was answered.
    Cancelled,
    /// The user cannot be asked here.
    Unavailable {
        /// Why.
        why: String,
    },
}

/// For processes without a terminal: a service, a pipe.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoTerminal;

impl TerminalPrompt for NoTerminal {
    fn ask(&self, _: &ConfirmQuestion, _: &Cancellation) -> TerminalAnswer {
        TerminalAnswer::Unavailable { why: "there is no terminal to ask in".to_owned() }
    }
}
