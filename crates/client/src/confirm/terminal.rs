//! The terminal side of a question, as whoever owns a terminal implements it.

use super::{Cancelled, Question};

/// A place where a person can be asked that is not the editor.
pub trait Terminal: Sync {
    /// Asks, and waits for the person. Returns soon once `cancelled` is, with [`Answer::Cancelled`].
    fn ask(&self, question: &Question, cancelled: &Cancelled) -> Answer;
}

/// What became of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Yes.
    Allow,
    /// No, and perhaps why.
    Deny {
        /// In the person's words.
        reason: Option<String>,
    },
    /// The question was taken back before it was answered.
    Cancelled,
    /// Nobody can be asked here.
    Unavailable {
        /// Why.
        why: String,
    },
}

/// Where there is none: a service, a pipe.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoTerminal;

impl Terminal for NoTerminal {
    fn ask(&self, _: &Question, _: &Cancelled) -> Answer {
        Answer::Unavailable { why: "there is no terminal to ask in".to_owned() }
    }
}
