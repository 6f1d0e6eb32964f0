//! The terminal's side of a question, implemented by the owner of a terminal.

use super::{Cancellation, ConfirmQuestion};

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
    /// Allowed with another text than the proposed one: some hunks only, or edited. Only for a change of a file.
    AllowText {
        /// The whole text that the file is to hold.
        text: String,
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
