//! One file for each measurement.

pub(crate) mod calls;
pub(crate) mod chat;
pub(crate) mod clients;
pub(crate) mod command;
pub(crate) mod decision;
pub(crate) mod diff;
pub(crate) mod discover;
pub(crate) mod hook;
pub(crate) mod hosted;
pub(crate) mod http;
pub(crate) mod idle;
pub(crate) mod large;
pub(crate) mod own_agent;
pub(crate) mod page;
pub(crate) mod search;

/// How much is done.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    pub(crate) quick: bool,
}

impl Effort {
    /// The first number, or the second in a short run.
    pub(crate) fn pick<T>(self, full: T, quick: T) -> T {
        if self.quick { quick } else { full }
    }
}
