//! What agents ask, whatever the wire looks like. Knows no JSON. Lines count from 0 here; a dialect whose wire counts
//! from 1 converts. The answers are in `answer`.

use std::path::PathBuf;

use linkspan_editor_api::{MessageLevel, Position};
use linkspan_review::{Splice, Writer};

use crate::language::LanguageQuery;
use crate::patch::PatchFile;

/// One request of an agent.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    Propose {
        path: PathBuf,
        /// The file whose text is shown next to the proposed one, where it is not the file itself.
        compare_with: Option<PathBuf>,
        proposed: String,
        label: String,
        /// The agent's own id for changes that belong together.
        set: Option<String>,
        /// Who writes the file; none: the default of the dialect.
        writer: Option<Writer>,
    },
    /// Like a proposal, but the agent sends both sides, and nothing is read or written.
    Compare {
        path: PathBuf,
        before: String,
        after: String,
        label: String,
        set: Option<String>,
    },
    /// A change that the agent is about to write itself, because the user allowed it elsewhere. It is recorded and not
    /// shown. Answered with [`Answer::Accepted`](crate::Answer::Accepted) once it is recorded.
    Record {
        path: PathBuf,
        proposed: String,
        label: String,
        allowed_by: AllowedBy,
    },
    /// Changes by position; all of them or none are proposed. Answered with [`Answer::Accepted`] or
    /// [`Answer::Rejected`] for one file, with [`Answer::Set`] for more.
    Edit {
        files: Vec<FileEdit>,
        label: String,
        /// Needs no review if this agent has the permission to edit without.
        direct: bool,
        /// Preferably shown in the file itself.
        inline: bool,
        /// If the files hold the edits already, they are shown as made and can be undone.
        may_be_made: bool,
    },
    /// Changes that the agent applies all together, if they are accepted as proposed. Answered with [`Answer::Set`]; if
    /// it was taken in part, [`crate::Session::decline`] comes first, and the hub writes.
    ///
    /// [`Answer::Set`]: crate::Answer::Set
    Patch {
        files: Vec<PatchFile>,
        /// The folder in which the agent works.
        cwd: PathBuf,
        /// The agent's own id for it.
        set: String,
        /// It can be told yes. If not, the hub writes what is accepted.
        can_apply: bool,
    },
    OpenFile {
        path: PathBuf,
        preview: bool,
        focus: bool,
        target: Option<OpenSelection>,
    },
    Diagnostics {
        path: Option<PathBuf>,
        /// How long to wait for the language servers to finish.
        wait_ms: Option<u32>,
    },
    CurrentSelection,
    LatestSelection,
    /// The name and version of the editor.
    EditorInfo,
    /// What the agent calls its session. No surface shows it yet.
    NameSession {
        name: String,
    },
    OpenEditors,
    WorkspaceFolders,
    CheckDirty {
        path: PathBuf,
    },
    Save {
        path: PathBuf,
    },
    /// Withdraws the agent's changes of this name.
    CloseTab {
        label: String,
    },
    /// A message for the user.
    Message {
        text: String,
        level: MessageLevel,
    },
    CloseAllDiffs,
    ExecuteCode {
        code: String,
    },
    /// Asks the user whether the agent may run this command by itself. Nothing is run here.
    Permission {
        command: String,
    },
    /// Asks the user whether an agent that the hub hosts may be started with this command, in this folder.
    Start {
        command: String,
        folder: PathBuf,
    },
    /// Asks the user in the agent's own words whether it may do something. Nothing is done here.
    Consent {
        what: String,
    },
    RunInTerminal {
        command: String,
        cwd: Option<PathBuf>,
        /// How long to wait until it exits.
        wait_ms: Option<u32>,
        /// A terminal that was created for this agent; none: a new one.
        terminal: Option<String>,
    },
    CreateTerminal {
        name: Option<String>,
        cwd: Option<PathBuf>,
    },
    /// The output of a terminal of this agent; none: the one that it used last.
    TerminalOutput {
        terminal: Option<String>,
    },
    /// The text of a file with the user's unsaved changes.
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
    /// Proposes the changes of the editor's formatter.
    Format {
        path: PathBuf,
    },
    /// Proposes what the editor's language servers would change to give a symbol a new name, like [`Request::Edit`].
    Rename {
        path: PathBuf,
        position: Position,
        new_name: String,
    },
    /// A request about the active file of the editor.
    ActiveFile(ActiveFileRequest),
    /// A request that the hub carries out without an editor.
    Workspace(WorkspaceRequest),
    Language {
        path: PathBuf,
        question: LanguageQuery,
    },
}

/// Where the user allowed a change that the agent writes itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AllowedBy {
    /// By letting the agent work without asking.
    Yolo,
    /// By letting the agent work in a sandbox without asking.
    Sandboxed,
    /// In the agent's terminal.
    Terminal,
}

impl AllowedBy {
    /// For people, after "in".
    pub fn place(self) -> &'static str {
        match self {
            AllowedBy::Yolo => "yolo mode",
            AllowedBy::Sandboxed => "sandboxed mode",
            AllowedBy::Terminal => "the agent's terminal",
        }
    }
}

/// The edits of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEdit {
    pub path: PathBuf,
    /// All refer to the text before.
    pub edits: Vec<Splice>,
    /// Create the file if it does not exist.
    pub may_create: bool,
}

/// What to select in a file that is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpenSelection {
    /// Whole lines, from 0, both inclusive; without `end`, a single line.
    Lines { start: u32, end: Option<u32> },
    /// From this position to the end of the last line; without one, only the cursor is moved.
    From { start: Position, end_line: Option<u32> },
    /// From the first occurrence of `start` to the next one of `end`.
    Text { start: String, end: Option<String>, to_end_of_line: bool },
}

/// A request that the hub carries out in the workspace without an editor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkspaceRequest {
    ListFiles {
        pattern: Option<String>,
        exclude: Option<String>,
        /// Include files that ignore files exclude.
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
    /// In each, `folder` is inside the repository; none: that of the path, else the first.
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
        /// Include unstaged changes of tracked files.
        all: bool,
    },
}

/// A request about the active file of the editor, if the agent does not name a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ActiveFileRequest {
    Text,
    VisibleRange,
    Reveal {
        line: u32,
    },
    /// Without a position, at the cursor.
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
