//! What the hub does for an agent by itself, or about the file that the person looks at. Lines count from 0.

use std::path::PathBuf;

use linkspan_editor_api::{Position, TerminalRunResult};

/// What is done in the workspace without an editor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Work {
    ListFiles {
        pattern: Option<String>,
        exclude: Option<String>,
        /// Also what ignore files leave out.
        ignored: bool,
        limit: Option<u32>,
    },
    SearchFiles {
        query: String,
        regex: bool,
        case_sensitive: bool,
        whole_word: bool,
        pattern: Option<String>,
        exclude: Option<String>,
        ignored: bool,
        limit: Option<u32>,
        context: u32,
    },
    /// In each, `folder` is part of the repository that is meant; none: that of the path, else the first.
    GitStatus {
        folder: Option<PathBuf>,
    },
    GitDiff {
        folder: Option<PathBuf>,
        path: Option<PathBuf>,
        staged: bool,
    },
    GitLog {
        folder: Option<PathBuf>,
        path: Option<PathBuf>,
        limit: Option<u32>,
    },
    GitStage {
        folder: Option<PathBuf>,
        paths: Vec<PathBuf>,
    },
    GitCommit {
        folder: Option<PathBuf>,
        message: String,
        /// Also what changed in tracked files and is not staged.
        all: bool,
    },
}

/// What is asked about the file that the person looks at, where the agent does not name one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Active {
    Text,
    VisibleRange,
    Reveal {
        line: u32,
    },
    /// Without a position, where the cursor is.
    Hover {
        at: Option<Position>,
    },
    Definition {
        at: Option<Position>,
    },
    Insert {
        text: String,
        at: Option<Position>,
        label: String,
    },
    ReplaceSelection {
        text: String,
        label: String,
    },
    Format,
}

/// What a terminal shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Printed {
    pub terminal: String,
    pub output: String,
    /// The last command is not over.
    pub running: bool,
    pub exit_code: Option<i32>,
    /// The beginning is missing.
    pub truncated: bool,
}

impl Printed {
    /// The same for a command that was waited for.
    pub(crate) fn ran(&self) -> TerminalRunResult {
        TerminalRunResult {
            terminal: self.terminal.clone(),
            output: self.output.clone(),
            exit_code: self.exit_code,
            timed_out: self.running,
        }
    }
}
