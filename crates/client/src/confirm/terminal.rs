//! The terminal's side of a question, implemented by the owner of a terminal.

use linkspan_editor_api::{Decision, Verdict};

use super::{Cancellation, ConfirmQuestion};
use crate::connection::{AcceptedPart, Comment, DecidedHunk};

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
        /// Each hunk and whether it was accepted; only if some were and some were not.
        hunks: Vec<DecidedHunk>,
        /// Comments on single lines.
        comments: Vec<Comment>,
    },
    /// Rejected, perhaps with a reason.
    Deny {
        /// The user's reason.
        reason: Option<String>,
        /// Comments on single lines.
        comments: Vec<Comment>,
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

impl TerminalAnswer {
    /// The same decision for another surface; none if this is not one.
    pub(super) fn decision(&self) -> Option<Decision> {
        let (verdict, comments) = match self {
            TerminalAnswer::Allow => (Verdict::Accept, Vec::new()),
            TerminalAnswer::AllowText { taken: AcceptedPart::All, comments, .. } => {
                (Verdict::Accept, comments.clone())
            }
            TerminalAnswer::AllowText { taken: AcceptedPart::Some, hunks, comments, .. }
                if hunks.iter().any(|hunk| hunk.taken) =>
            {
                let taken = hunks.iter().filter(|hunk| hunk.taken);
                let hunks = taken.map(|hunk| hunk.id.clone()).collect();
                (Verdict::AcceptHunks { hunks }, comments.clone())
            }
            TerminalAnswer::AllowText { text, comments, .. } => {
                (Verdict::AcceptEdited { text: text.clone() }, comments.clone())
            }
            TerminalAnswer::Deny { reason, comments } => {
                (Verdict::Reject { reason: reason.clone() }, comments.clone())
            }
            TerminalAnswer::Cancelled | TerminalAnswer::Unavailable { .. } => return None,
        };
        Some(Decision { verdict, comments, write_here: false })
    }
}

impl TerminalPrompt for NoTerminal {
    fn ask(&self, _: &ConfirmQuestion, _: &Cancellation) -> TerminalAnswer {
        TerminalAnswer::Unavailable { why: "there is no terminal to ask in".to_owned() }
    }
}
