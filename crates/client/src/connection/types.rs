//! Arguments and results of an editor's tools, the same for every wire. Lines and characters count from 0, characters
//! in UTF-16 units (some foreign editors count bytes, which the wire does not reveal).

use std::path::{Path, PathBuf};

use linkspan_editor_api::{AcceptedPart, HookJoin, ReviewComment, Severity};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

/// How an agent introduces itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentInfo {
    /// Its name, as the user knows it.
    pub name: String,
    /// Its version.
    pub version: String,
    /// A random id that it keeps across reconnects, by which a change that is proposed again is recognised.
    pub session: String,
    /// Set if this process is one event of another agent's hooks. Only the hub uses it.
    pub hook: Option<HookJoin>,
}

impl AgentInfo {
    /// An agent with a session of its own.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> AgentInfo {
        let mut random = [0; 16];
        // Without randomness, the process id still distinguishes the agents of one machine.
        let session = match getrandom::fill(&mut random) {
            Ok(()) => random.iter().map(|byte| format!("{byte:02x}")).collect(),
            Err(_) => format!("pid-{}", std::process::id()),
        };
        AgentInfo { name: name.into(), version: version.into(), session, hook: None }
    }

    /// This process as one event of the hooks of the agent with this name, in this session of the agent. Its pending
    /// changes are withdrawn as soon as its connection ends.
    pub fn as_hook(self, session: impl Into<String>) -> AgentInfo {
        let hook = HookJoin { agent: self.name.clone(), session: session.into() };
        AgentInfo { hook: Some(hook), ..self }
    }
}

/// A proposed new content of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Absolute path of the file.
    pub path: PathBuf,
    /// The whole new text of the file.
    pub new_text: String,
    /// Its name, as the user sees it.
    pub label: String,
    /// With it, the two texts are compared, and nothing is read from or written to disk. Only the hub supports it.
    pub old_text: Option<String>,
    /// Changes with the same id belong together. Only the hub uses it.
    pub set: Option<String>,
    /// Who writes the file once it is accepted.
    pub writer: ChangeWriter,
}

impl Change {
    /// A change of a file, named after it, that the hub or the editor writes if it can.
    pub fn new(path: impl Into<PathBuf>, new_text: impl Into<String>) -> Change {
        let path = path.into();
        let label = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        Change {
            path,
            new_text: new_text.into(),
            label,
            old_text: None,
            set: None,
            writer: ChangeWriter::Editor,
        }
    }

    /// This change with another label.
    pub fn labelled(self, label: impl Into<String>) -> Change {
        Change { label: label.into(), ..self }
    }
}

/// Who should write an accepted change; [`ChangeOutcome::written`] says who did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ChangeWriter {
    /// The hub or the editor, before it answers.
    #[default]
    Editor,
    /// The caller, after the answer.
    Caller,
}

/// Where the user allowed a change that needs no review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum AllowedBy {
    /// By letting the agent work without asking.
    Yolo,
    /// By letting the agent work in a sandbox without asking.
    Sandboxed,
    /// In the agent's terminal.
    Terminal,
}

/// Accepted or rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum DiffOutcome {
    /// The user accepted.
    FileSaved,
    /// The user rejected.
    DiffRejected,
}

/// The user's decision on a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangeOutcome {
    /// Accepted or rejected.
    pub outcome: DiffOutcome,
    /// The text that the file holds or should hold now; only if it was accepted. It may differ from the proposed one. A
    /// text that is already written and too large for one message is omitted.
    pub text: Option<String>,
    /// The file holds it already. If not, the caller writes it.
    pub written: bool,
    /// Id of the review, if there is one.
    pub review: Option<String>,
    /// The file did not exist before.
    pub new_file: bool,
    /// How much was accepted, if the editor reports it.
    pub taken: Option<AcceptedPart>,
    /// Each hunk and whether it was accepted; only if some were and some were not.
    pub hunks: Vec<DecidedHunk>,
    /// The user's edits of the proposal, as a unified diff.
    pub person_diff: Option<String>,
    /// The user's reason for the rejection.
    pub reason: Option<String>,
    /// Comments on single lines.
    pub comments: Vec<ReviewComment>,
}

impl ChangeOutcome {
    /// A decision without further details.
    pub(crate) fn bare(outcome: DiffOutcome) -> ChangeOutcome {
        ChangeOutcome {
            outcome,
            text: None,
            written: false,
            review: None,
            new_file: false,
            taken: None,
            hunks: Vec::new(),
            person_diff: None,
            reason: None,
            comments: Vec::new(),
        }
    }

    /// Whether the user accepted.
    pub fn is_accepted(&self) -> bool {
        self.outcome == DiffOutcome::FileSaved
    }
}

/// One hunk of a change that was accepted in part. Lines count from 0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DecidedHunk {
    /// Its id.
    pub id: String,
    /// First line in the text before.
    pub before_start: u32,
    /// Lines of the text before.
    pub before_count: u32,
    /// First line in the proposed text.
    pub after_start: u32,
    /// Lines of the proposed text.
    pub after_count: u32,
    /// Whether the user accepted it.
    pub taken: bool,
}

/// The user's answer to a command that an agent wants to run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionAnswer {
    /// The agent may run it.
    pub allowed: bool,
    /// Why it may not.
    #[serde(default)]
    pub message: Option<String>,
}

/// One error, warning or hint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EditorDiagnostic {
    /// Its file.
    #[serde(serialize_with = "lossy")]
    pub file_path: PathBuf,
    /// First line, from 0.
    pub line: u32,
    /// First character, from 0.
    pub character: u32,
    /// Last line, from 0.
    pub end_line: u32,
    /// After the last character.
    pub end_character: u32,
    /// The message.
    pub message: String,
    /// Its severity.
    pub severity: Severity,
    /// The tool that reports it, such as `rustc`.
    pub source: Option<String>,
    /// Its code, such as `E0308`.
    pub code: Option<String>,
    /// It describes the current text, as far as the editor reports that; foreign editors do not.
    pub settled: bool,
}

/// The selection in an editor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EditorSelection {
    /// Its file.
    #[serde(serialize_with = "lossy")]
    pub file_path: PathBuf,
    /// The selected text; empty for a bare cursor.
    pub text: String,
    /// First line, from 0.
    pub start_line: u32,
    /// First character, from 0.
    pub start_character: u32,
    /// Last line, from 0.
    pub end_line: u32,
    /// After the last character.
    pub end_character: u32,
}

/// One open tab.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EditorInfo {
    /// Its file.
    #[serde(serialize_with = "lossy")]
    pub file_path: PathBuf,
    /// It is the active tab.
    pub is_active: bool,
    /// It has unsaved changes.
    pub is_dirty: bool,
    /// Its language, as the editor names it.
    pub language_id: Option<String>,
}

/// A position in a file to open. Counts from 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OpenAt {
    /// The line.
    pub line: u32,
    /// The character in it.
    pub character: u32,
    /// Select up to the end of this line; none: only move the cursor.
    pub end_line: Option<u32>,
}

/// How exactly an editor opened a file at a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenPrecision {
    /// At the position, or no position was requested.
    Place,
    /// In that line, but not at the character.
    Line,
    /// In the file only.
    File,
}

/// A tool that a server offers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolInfo {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// JSON Schema of its arguments.
    pub input_schema: Value,
}

/// The answer of a tool, unchanged.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// The items of its content.
    pub content: Vec<Value>,
    /// Its answer as data, from servers that send it.
    pub structured: Option<Value>,
    /// The tool reports a failure.
    pub is_error: bool,
}

impl ToolResult {
    /// The texts in its content.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.content.iter().filter_map(|item| item.get("text")?.as_str())
    }
}

/// An event in an editor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditorEvent {
    /// The selection settled.
    Selection(EditorSelection),
    /// The user pointed at a file.
    Mentioned {
        /// The file, as the editor names it: some send a relative path.
        path: PathBuf,
        /// First and last line, from 0; none: the whole file.
        lines: Option<(u32, u32)>,
    },
    /// The diagnostics of some files changed.
    Diagnostics {
        /// Which.
        paths: Vec<PathBuf>,
    },
    /// The server offers other tools now.
    ToolsChanged,
    /// The connection is closed.
    Closed,
}

/// JSON cannot express a path that is not Unicode.
fn lossy<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}
