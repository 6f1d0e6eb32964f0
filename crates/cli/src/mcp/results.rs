//! What each tool answers, as data. The output schemas are made from these types. Lines and columns count from
//! 1, unlike on the editor's wire: the conversion is here and nowhere else. The same in words is in `wording`.

use std::path::Path;

use linkspan_client::{Change, Decided, DiffOutcome};
use linkspan_editor_api as api;
use schemars::JsonSchema;
use serde::Serialize;

/// What the person decided about one change.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Decision {
    pub(super) outcome: Outcome,
    /// Absolute path of the file.
    pub(super) path: String,
    /// The file holds what was accepted. False after `accepted`: it was not written, `text` is what to write.
    pub(super) written: bool,
    /// There was no such file before.
    pub(super) new_file: bool,
    /// What was accepted, where you cannot know it: the file is yours to write, or the person's edits are not
    /// in `personDiff`. Otherwise read the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
    /// How much of the proposal was accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) taken: Option<Taken>,
    /// Each hunk and whether the person took it; empty but for `taken: "some"`.
    pub(super) hunks: Vec<Hunk>,
    /// What the person changed in the proposal, as a unified diff from the proposal to what was accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) person_diff: Option<String>,
    /// Why it was rejected, in the person's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    /// What the person said about single lines of the proposed text.
    pub(super) comments: Vec<Comment>,
    /// Id of the review, such as `r12`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) review: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) enum Outcome {
    Accepted,
    Rejected,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) enum Taken {
    /// All of it, as proposed.
    All,
    /// Some hunks.
    Some,
    /// A text that the person edited.
    Edited,
}

/// One stretch of differing lines.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Hunk {
    /// First line in the text before, from 1.
    before_line: u32,
    /// How many lines of the text before.
    before_count: u32,
    /// First line in the proposed text, from 1.
    pub(super) after_line: u32,
    /// How many lines of the proposed text.
    pub(super) after_count: u32,
    /// Whether the person took it.
    pub(super) taken: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Comment {
    /// Line of the proposed text, from 1.
    pub(super) line: u32,
    pub(super) text: String,
}

impl Decision {
    pub(super) fn of(change: &Change, decided: Decided) -> Decision {
        let accepted = decided.outcome == DiffOutcome::FileSaved;
        let unknown = decided.person_diff.is_none() && decided.text.as_ref() != Some(&change.new_text);
        let compared_only = change.old_text.is_some();
        Decision {
            outcome: if accepted { Outcome::Accepted } else { Outcome::Rejected },
            path: shown(&change.path),
            written: decided.written,
            new_file: decided.new_file,
            text: decided.text.filter(|_| accepted && (unknown || !(decided.written || compared_only))),
            taken: decided.taken.map(|taken| match taken {
                linkspan_client::connection::Taken::All => Taken::All,
                linkspan_client::connection::Taken::Some => Taken::Some,
                linkspan_client::connection::Taken::Edited => Taken::Edited,
            }),
            hunks: decided.hunks.iter().map(Hunk::of).collect(),
            person_diff: decided.person_diff,
            reason: decided.reason,
            comments: decided
                .comments
                .into_iter()
                .map(|comment| Comment { line: comment.line, text: comment.text })
                .collect(),
            review: decided.review,
        }
    }
}

impl Hunk {
    fn of(hunk: &linkspan_client::connection::DecidedHunk) -> Hunk {
        Hunk {
            before_line: from_one(hunk.before_start),
            before_count: hunk.before_count,
            after_line: from_one(hunk.after_start),
            after_count: hunk.after_count,
            taken: hunk.taken,
        }
    }
}

/// What became of the changes, in the order in which they were given.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Decisions {
    pub(super) changes: Vec<SetMember>,
}

/// Either a decision or an error.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SetMember {
    /// Absolute path of the file.
    pub(super) path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) decision: Option<Decision>,
    /// Why there is no decision about this file; nothing was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Opened {
    /// Absolute path of the file that is open now.
    pub(super) path: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Diagnostics {
    /// Errors first.
    pub(super) diagnostics: Vec<Diagnostic>,
    /// They are about the text as it is now, as far as the editor tells. False: ask again with `waitMs`.
    pub(super) settled: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Diagnostic {
    /// Absolute path of the file.
    pub(super) path: String,
    #[serde(flatten)]
    pub(super) range: Range,
    pub(super) severity: Severity,
    pub(super) message: String,
    /// Who says so, such as `rustc`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) source: Option<String>,
    /// Its code, such as `E0308`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) code: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) enum Severity {
    Error,
    Warning,
    Info,
    Hint,
}

impl From<api::Severity> for Severity {
    fn from(severity: api::Severity) -> Severity {
        match severity {
            api::Severity::Error => Severity::Error,
            api::Severity::Warning => Severity::Warning,
            api::Severity::Info => Severity::Info,
            api::Severity::Hint => Severity::Hint,
        }
    }
}

/// A stretch of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Range {
    /// First line, from 1.
    pub(super) line: u32,
    /// First column, from 1, in UTF-16 units.
    pub(super) column: u32,
    /// Last line, from 1.
    pub(super) end_line: u32,
    /// Column behind the last character.
    pub(super) end_column: u32,
}

impl From<api::Range> for Range {
    fn from(range: api::Range) -> Range {
        Range {
            line: from_one(range.start.line),
            column: from_one(range.start.character),
            end_line: from_one(range.end.line),
            end_column: from_one(range.end.character),
        }
    }
}

impl From<&linkspan_client::connection::Diagnostic> for Diagnostic {
    fn from(found: &linkspan_client::connection::Diagnostic) -> Diagnostic {
        Diagnostic {
            path: shown(&found.file_path),
            range: Range {
                line: from_one(found.line),
                column: from_one(found.character),
                end_line: from_one(found.end_line),
                end_column: from_one(found.end_character),
            },
            severity: found.severity.into(),
            message: found.message.clone(),
            source: found.source.clone(),
            code: found.code.clone(),
        }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct MaybeSelection {
    /// Null when nothing is selected anywhere.
    pub(super) selection: Option<Selection>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Selection {
    /// Absolute path of the file.
    pub(super) path: String,
    /// The selected text; empty for a bare cursor.
    pub(super) text: String,
    #[serde(flatten)]
    pub(super) range: Range,
}

impl From<linkspan_client::connection::Selection> for Selection {
    fn from(selection: linkspan_client::connection::Selection) -> Selection {
        Selection {
            path: shown(&selection.file_path),
            text: selection.text,
            range: Range {
                line: from_one(selection.start_line),
                column: from_one(selection.start_character),
                end_line: from_one(selection.end_line),
                end_column: from_one(selection.end_character),
            },
        }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct OpenEditors {
    pub(super) editors: Vec<OpenEditor>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct OpenEditor {
    /// Absolute path of the file.
    pub(super) path: String,
    /// The person looks at it.
    pub(super) active: bool,
    /// It has changes that are not saved: what is on disk is not what the person sees.
    pub(super) dirty: bool,
    /// Its language, as the editor names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) language: Option<String>,
}

impl From<linkspan_client::connection::EditorInfo> for OpenEditor {
    fn from(editor: linkspan_client::connection::EditorInfo) -> OpenEditor {
        OpenEditor {
            path: shown(&editor.file_path),
            active: editor.is_active,
            dirty: editor.is_dirty,
            language: editor.language_id,
        }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Folders {
    /// The editor, as it calls itself.
    pub(super) editor: String,
    /// Absolute paths of its workspace folders: changes can be proposed for files in them.
    pub(super) folders: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Dirty {
    /// Absolute path of the file.
    pub(super) path: String,
    /// It is open and has changes that are not saved.
    pub(super) dirty: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Saved {
    /// Absolute path of the file that is saved now.
    pub(super) path: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Done {
    /// Always true: what went wrong is an error.
    pub(super) done: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Context {
    /// What the person has open and selected and the errors the editor knows of; null when there is nothing.
    pub(super) context: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Executed {
    /// What the code printed.
    pub(super) output: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Hover {
    /// Markdown, one entry for each source; empty when nothing is known.
    pub(super) contents: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Locations {
    pub(super) locations: Vec<Location>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Location {
    /// Absolute path of the file.
    pub(super) path: String,
    #[serde(flatten)]
    pub(super) range: Range,
}

impl From<api::Location> for Location {
    fn from(location: api::Location) -> Location {
        Location { path: location.path, range: location.range.into() }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Symbols {
    pub(super) symbols: Vec<Symbol>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Symbol {
    pub(super) name: String,
    /// What it is, such as `function`.
    pub(super) kind: String,
    /// What it is inside of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) container: Option<String>,
    #[serde(flatten)]
    pub(super) location: Location,
}

impl From<api::Symbol> for Symbol {
    fn from(symbol: api::Symbol) -> Symbol {
        Symbol {
            name: symbol.name,
            kind: symbol.symbol_kind,
            container: symbol.container,
            location: symbol.location.into(),
        }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct VisibleLines {
    /// First visible line, from 1; null when the file is not visible.
    pub(super) first_line: Option<u32>,
    /// Last visible line, from 1.
    pub(super) last_line: Option<u32>,
}

pub(super) fn from_one(from_zero: u32) -> u32 {
    from_zero.saturating_add(1)
}

pub(super) fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
