//! What agents ask and what the hub answers, whatever the wire looks like.
//! Knows no JSON. Lines count from 0 here; a dialect whose wire counts from 1 converts.

use std::path::PathBuf;

use linkspan_editor_api::{
    FileDiagnostics, MessageLevel, OpenDocument, Position, Selection, TerminalRunResult,
};
use linkspan_review::{Splice, Writer};

use crate::decided::{Accepted, Rejected};
use crate::language::{Known, Question};
use crate::work::{Active, Printed, Work};

/// One question or wish of an agent.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    Propose {
        path: PathBuf,
        /// The file whose text is shown next to the proposed one, where it is not the file itself.
        compare_with: Option<PathBuf>,
        proposed: String,
        label: String,
        /// The agent's own word for the changes that belong together.
        set: Option<String>,
        /// Who writes; none: whoever the dialect says.
        writer: Option<Writer>,
    },
    /// Like a proposal, but both sides are given, and nothing is read or written.
    Compare {
        path: PathBuf,
        before: String,
        after: String,
        label: String,
        set: Option<String>,
    },
    /// Changes by place; all of them or none are proposed. Answered with [`Answer::Accepted`] or
    /// [`Answer::Rejected`] for one file, with [`Answer::Set`] for more.
    Edit {
        files: Vec<FileEdit>,
        label: String,
        /// Needs no review where the person allowed this agent to edit without.
        direct: bool,
        /// Best shown in the file itself.
        inline: bool,
        /// Where the files hold the edits already, they are shown as made, and can be taken back.
        may_be_made: bool,
    },
    OpenFile {
        path: PathBuf,
        preview: bool,
        focus: bool,
        target: Option<Target>,
    },
    Diagnostics {
        path: Option<PathBuf>,
        /// How long to wait for the language servers to come to rest.
        wait_ms: Option<u32>,
    },
    CurrentSelection,
    LatestSelection,
    OpenEditors,
    WorkspaceFolders,
    CheckDirty {
        path: PathBuf,
    },
    Save {
        path: PathBuf,
    },
    /// Takes back the agent's changes of this name.
    CloseTab {
        label: String,
    },
    /// Something the person may want to know.
    Message {
        text: String,
        level: MessageLevel,
    },
    CloseAllDiffs,
    ExecuteCode {
        code: String,
    },
    RunInTerminal {
        command: String,
        cwd: Option<PathBuf>,
        /// How long to wait for its end.
        wait_ms: Option<u32>,
        /// One that was made for this agent before; none: a new one.
        terminal: Option<String>,
    },
    CreateTerminal {
        name: Option<String>,
        cwd: Option<PathBuf>,
    },
    /// What a terminal of this agent shows; without its name, the one that it used last.
    TerminalOutput {
        terminal: Option<String>,
    },
    /// The text of a file as the person has it, saved or not.
    ReadFile {
        path: PathBuf,
        /// From 0, both included; without the second, to the end.
        lines: (u32, Option<u32>),
    },
    /// Scrolls to a line.
    Reveal {
        path: PathBuf,
        line: u32,
    },
    /// Proposes what the editor's formatter would change.
    Format {
        path: PathBuf,
    },
    /// Something about the file that the person looks at.
    Active(Active),
    /// Something that the hub does by itself.
    Work(Work),
    Language {
        path: PathBuf,
        question: Question,
    },
}

/// What is to be changed in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEdit {
    pub path: PathBuf,
    /// All speak of the text before.
    pub edits: Vec<Splice>,
    /// If there is no such file, it is made.
    pub may_create: bool,
}

/// What to select in a file that is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Whole lines, from 0, both included; without `end`, the one line.
    Lines { start: u32, end: Option<u32> },
    /// From there to the end of the last line; without one, only the cursor goes there.
    From { start: Position, end_line: Option<u32> },
    /// From the first occurrence of `start` to the next one of `end`.
    Text { start: String, end: Option<String>, to_end_of_line: bool },
}

/// What the hub found out; each dialect has its own shape for it.
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
    /// With what the person had made of the change, where there was one.
    TabClosed {
        text: Option<String>,
    },
    /// The message is on its way to her.
    Told,
    /// What became of each file, in the order it was asked: accepted, rejected or failed.
    Set(Vec<(PathBuf, Answer)>),
    DiffsClosed(usize),
    Executed(String),
    Ran(TerminalRunResult),
    /// What a terminal shows that the hub or the editor has for this agent.
    Printed(Printed),
    TerminalMade {
        terminal: String,
        name: String,
    },
    Text {
        path: PathBuf,
        text: String,
        language: String,
        /// It is not saved.
        dirty: bool,
        truncated: bool,
    },
    /// The person looks at no file of the workspace.
    NoActiveFile,
    Revealed(bool),
    /// There was nothing to change.
    Unchanged {
        path: PathBuf,
    },
    /// What the hub found out by itself, as JSON.
    Data {
        json: String,
        truncated: bool,
    },
    Known(Known),
    Failed(Failure),
}

/// Why there is no answer. The message is for a person and says what to do next.
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
    /// The text is not what the agent says it is.
    Stale,
    Io,
    Timeout,
    EditorGone,
    Withdrawn,
    Internal,
}

/// What happened in the editor that an agent may want to hear of unasked.
#[derive(Debug, Clone, PartialEq)]
pub enum EditorEvent {
    SelectionChanged(Selection),
    /// `lines` from 0, both included; none for the whole file.
    Mentioned {
        path: PathBuf,
        lines: Option<(u32, u32)>,
    },
    DiagnosticsChanged {
        paths: Vec<PathBuf>,
    },
    ToolsChanged,
    /// The files that the person works on, the one she was in last first.
    ContextChanged {
        files: Vec<OpenFile>,
    },
}

/// A file that is open in the editor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenFile {
    pub path: PathBuf,
    /// When the person was last in it, since 1970.
    pub focused_unix_ms: u64,
    /// Where in it she is, if she is there now.
    pub active: Option<ActiveFile>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ActiveFile {
    pub cursor: Option<Position>,
    /// Empty when nothing is selected.
    pub selected: String,
}
