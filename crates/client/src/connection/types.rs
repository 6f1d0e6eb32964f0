//! What goes into an editor's tools and what comes out of them, the same for every wire. Lines and characters
//! count from 0, characters in UTF-16 units (some foreign editors count bytes; nothing on the wire tells).

use std::path::{Path, PathBuf};

use linkspan_editor_api::{ReviewComment, Severity, Taken};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

/// Who an agent says it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentInfo {
    /// Its name, as a person knows it.
    pub name: String,
    /// Its version.
    pub version: String,
    /// A random word it keeps over reconnects: by it a change that is asked for again is known as the same.
    pub session: String,
}

impl AgentInfo {
    /// An agent with a session of its own.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> AgentInfo {
        let mut random = [0; 16];
        // Without randomness the process id still tells the agents of one machine apart.
        let session = match getrandom::fill(&mut random) {
            Ok(()) => random.iter().map(|byte| format!("{byte:02x}")).collect(),
            Err(_) => format!("pid-{}", std::process::id()),
        };
        AgentInfo { name: name.into(), version: version.into(), session }
    }
}

/// A proposed new content of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Absolute path of the file.
    pub path: PathBuf,
    /// All that the file shall hold.
    pub new_text: String,
    /// What the person sees as its name.
    pub label: String,
    /// With it, the two texts are compared and nothing is read from or written to disk. Only the hub can.
    pub old_text: Option<String>,
    /// Changes with the same word belong together. Only the hub cares.
    pub set: Option<String>,
    /// Who writes the file once it is accepted.
    pub writer: ChangeWriter,
}

impl Change {
    /// A change of a file, named after it, that the editor's side writes where it can.
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

    /// The same under another name.
    pub fn labelled(self, label: impl Into<String>) -> Change {
        Change { label: label.into(), ..self }
    }
}

/// Who writes an accepted change. A wish: [`Decided::written`] says what happened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ChangeWriter {
    /// The hub or the editor, before the answer comes.
    #[default]
    Editor,
    /// The caller, after the answer came.
    Caller,
}

/// Yes or no.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum DiffOutcome {
    /// The person accepted.
    FileSaved,
    /// The person rejected.
    DiffRejected,
}

/// What a person decided about a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Decided {
    /// Yes or no.
    pub outcome: DiffOutcome,
    /// What the file holds or shall hold now; only after a yes. It may differ from what was proposed. A text
    /// that is written already and too large for one message is left out.
    pub text: Option<String>,
    /// The file holds it already. If not, it is the caller who writes.
    pub written: bool,
    /// Id of the review, where there is one.
    pub review: Option<String>,
    /// There was no such file before.
    pub new_file: bool,
    /// How much was taken, where the editor tells.
    pub taken: Option<Taken>,
    /// Each hunk and whether it was taken; only when some were and some were not.
    pub hunks: Vec<DecidedHunk>,
    /// What the person changed in the proposal, as a unified diff.
    pub person_diff: Option<String>,
    /// Why it was rejected, in the person's words.
    pub reason: Option<String>,
    /// What the person said about single lines.
    pub comments: Vec<ReviewComment>,
}

impl Decided {
    /// A decision about which nothing more is known.
    pub(crate) fn bare(outcome: DiffOutcome) -> Decided {
        Decided {
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

    /// Whether the person said yes.
    pub fn is_accepted(&self) -> bool {
        self.outcome == DiffOutcome::FileSaved
    }
}

/// One hunk of a change that was taken in part. Lines count from 0.
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
    /// Whether the person took it.
    pub taken: bool,
}

/// One error, warning or hint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Diagnostic {
    /// Its file.
    #[serde(serialize_with = "lossy")]
    pub file_path: PathBuf,
    /// First line, from 0.
    pub line: u32,
    /// First character, from 0.
    pub character: u32,
    /// Last line, from 0.
    pub end_line: u32,
    /// Behind the last character.
    pub end_character: u32,
    /// What is wrong.
    pub message: String,
    /// How bad it is.
    pub severity: Severity,
    /// Who says so, such as `rustc`.
    pub source: Option<String>,
    /// Its code, such as `E0308`.
    pub code: Option<String>,
    /// It is about the text as it is now, as far as the editor tells; foreign editors do not.
    pub settled: bool,
}

/// What is selected in an editor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Selection {
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
    /// Behind the last character.
    pub end_character: u32,
}

/// One open tab.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EditorInfo {
    /// Its file.
    #[serde(serialize_with = "lossy")]
    pub file_path: PathBuf,
    /// The person looks at it.
    pub is_active: bool,
    /// It has changes that are not saved.
    pub is_dirty: bool,
    /// Its language, as the editor names it.
    pub language_id: Option<String>,
}

/// Where to go in a file that is opened. Counts from 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OpenAt {
    /// The line.
    pub line: u32,
    /// The character in it.
    pub character: u32,
    /// Select up to the end of this line; none: only go there.
    pub end_line: Option<u32>,
}

/// How near to a place an editor went that was asked to open a file there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Landed {
    /// There, or none was asked for.
    Place,
    /// In that line, but not at the character.
    Line,
    /// In the file only.
    File,
}

/// A tool that a server offers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// JSON Schema of its arguments.
    pub input_schema: Value,
}

/// What a tool answered, as it came.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// The items of its content.
    pub content: Vec<Value>,
    /// Its answer as data, from servers that have it.
    pub structured: Option<Value>,
    /// The tool says that it failed.
    pub is_error: bool,
}

impl ToolResult {
    /// The texts among its content.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.content.iter().filter_map(|item| item.get("text")?.as_str())
    }
}

/// Something that happened in an editor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditorEvent {
    /// The selection came to rest.
    Selection(Selection),
    /// The person pointed at a file.
    Mentioned {
        /// Which, as the editor names it: some give a relative path.
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
    /// The connection is over.
    Closed,
}

/// JSON has no words for a path that is not Unicode.
fn lossy<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}
