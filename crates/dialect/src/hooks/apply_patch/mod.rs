//! The patch format of Codex's `apply_patch`: read, applied to the current texts, and written.
//!
//! Codex 0.166.0 was run to see how it applies one: line ends of the file are kept, an updated or added file always ends
//! with a newline, `*** Add File` overwrites, a lone CR ends a line.

mod apply;
mod generate;
mod parse;

pub(super) use apply::apply;
pub(super) use generate::{FileText, PatchForms, generate};
pub(super) use parse::{FileOperation, parse};

/// One part of an `*** Update File`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PatchChunk {
    /// The line after `@@`, behind which the old lines are searched.
    pub context: Option<String>,
    pub lines: Vec<PatchLine>,
    /// `*** End of File`: the old lines are the last ones.
    pub at_end: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PatchLine {
    Common(String),
    Removed(String),
    Added(String),
}

#[cfg(test)]
mod tests;
