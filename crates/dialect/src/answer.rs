//! What the hub answers, and what agents receive unasked, whatever the wire looks like. Knows no JSON. Lines count from
//! 0 here; a dialect whose wire counts from 1 converts. The requests are in `request`.

use std::path::PathBuf;

use linkspan_editor_api::{FileDiagnostics, OpenDocument, Position, Selection, TerminalRunResult};

use crate::language::LanguageAnswer;
use crate::outcome::{Accepted, Rejected};

/// The answer to a request; each dialect encodes it differently.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    Accepted(Accepted),
    Rejected(Rejected),
    Opened {
        path: PathBuf,
        language: Option<String>,
        line_count: Option<u32>,
    },
    Diagnostics(Vec<FileDiagnostics>),
    Selection(Option<Selection>),
    Editors(Vec<OpenDocument>),
    Folders(Vec<PathBuf>),
    Dirty {
        path: PathBuf,
        open: bool,
        dirty: bool,
        untitled: bool,
    },
    Saved {
        path: PathBuf,
        saved: bool,
        open: bool,
    },
    /// With the text as the user had edited it, if the tab showed a change.
    TabClosed {
        text: Option<String>,
    },
    /// The message was sent to the user's editor.
    MessageShown,
    EditorInfo {
        name: String,
        version: String,
    },
    SessionNamed,
    /// The outcome of each file, in the order of the request: accepted, rejected or failed.
    Set(Vec<(PathBuf, Answer)>),
    DiffsClosed(usize),
    Executed(String),
    /// Whether the agent may do what it asked for; if not, why.
    Permission {
        allowed: bool,
        message: Option<String>,
    },
    Ran(TerminalRunResult),
    /// The output of a terminal of this agent, in the hub or the editor.
    TerminalContents(TerminalContents),
    TerminalMade {
        terminal: String,
        name: String,
    },
    Text {
        path: PathBuf,
        text: String,
        language: String,
        /// It has unsaved changes.
        dirty: bool,
        truncated: bool,
    },
    /// No file of the workspace is active.
    NoActiveFile,
    Revealed(bool),
    /// There was nothing to change.
    Unchanged {
        path: PathBuf,
    },
    /// A result of the hub itself, as JSON.
    Data {
        json: String,
        truncated: bool,
    },
    Language(LanguageAnswer),
    Failed(Failure),
}

/// Why a request failed. The message is for people and says what to do next.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    pub kind: FailureKind,
    pub message: String,
}

impl Failure {
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Failure {
        Failure { kind, message: message.into() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    InvalidParams,
    NotFound,
    OutsideWorkspace,
    Denied,
    Unsupported,
    TooLarge,
    NotText,
    /// The text is not what the agent expects.
    Stale,
    Io,
    Timeout,
    EditorGone,
    Withdrawn,
    Internal,
}

/// An event in the editor that agents are notified of.
#[derive(Debug, Clone, PartialEq)]
pub enum EditorEvent {
    SelectionChanged(Selection),
    /// `lines` from 0, both inclusive; none for the whole file.
    Mentioned {
        path: PathBuf,
        lines: Option<(u32, u32)>,
    },
    DiagnosticsChanged {
        paths: Vec<PathBuf>,
    },
    /// What these files have now, for dialects whose agents do not ask.
    Diagnostics(Vec<FileDiagnostics>),
    ToolsChanged,
    /// The open files, the last active one first.
    ContextChanged {
        files: Vec<OpenFile>,
    },
}

/// A file that is open in the editor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenFile {
    pub path: PathBuf,
    /// When it was last active, since 1970.
    pub focused_unix_ms: u64,
    /// Cursor and selection, if it is active now.
    pub active: Option<ActiveFile>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ActiveFile {
    pub cursor: Option<Position>,
    /// Empty when nothing is selected.
    pub selected: String,
}

/// The output of a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TerminalContents {
    pub terminal: String,
    pub output: String,
    /// The last command is still running.
    pub running: bool,
    pub exit_code: Option<i32>,
    /// The beginning was cut.
    pub truncated: bool,
}

impl TerminalContents {
    /// As the result of a command that the agent waited for.
    pub(crate) fn ran(&self) -> TerminalRunResult {
        TerminalRunResult {
            terminal: self.terminal.clone(),
            output: self.output.clone(),
            exit_code: self.exit_code,
            timed_out: self.running,
        }
    }
}
