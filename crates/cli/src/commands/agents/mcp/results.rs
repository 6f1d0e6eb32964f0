//! The results of the tools, as data. The output schemas are generated from these types, so the doc comments are written
//! for the model. Lines and columns count from 1, unlike on the editor's wire; they are converted here and nowhere else.
//! The same results as text are in `text`.

use std::path::Path;

use linkspan_client::{Change, ChangeOutcome, DiffOutcome};
use linkspan_editor_api as api;
use schemars::JsonSchema;
use serde::Serialize;

/// What the user decided about one change.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Decision {
    pub(super) outcome: Outcome,
    /// Absolute path of the file.
    pub(super) path: String,
    /// The file has the accepted content. If false and `accepted`, it was not written: write `text`.
    pub(super) written: bool,
    /// The file did not exist before.
    pub(super) new_file: bool,
    /// The accepted content, if you need it: you have to write the file, or the user's edits are not in `personDiff`.
    /// Otherwise read the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
    /// How much of the proposal was accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) taken: Option<AcceptedPart>,
    /// Each hunk and whether the user accepted it; empty unless `taken` is "some".
    pub(super) hunks: Vec<Hunk>,
    /// What the user changed in the proposal, as a unified diff from the proposal to the accepted text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) person_diff: Option<String>,
    /// Why it was rejected, in the user's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    /// The user's comments on single lines of the proposed text.
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
#[schemars(rename = "Taken")]
pub(super) enum AcceptedPart {
    /// All of it, as proposed.
    All,
    /// Some hunks.
    Some,
    /// A text that the user edited.
    Edited,
}

/// A group of consecutive lines that differ.
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
    /// Whether the user accepted it.
    pub(super) taken: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Comment {
    /// Line of the proposed text, from 1.
    pub(super) line: u32,
    pub(super) text: String,
}

impl Decision {
    pub(super) fn of(change: &Change, decided: ChangeOutcome) -> Decision {
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
                linkspan_client::connection::AcceptedPart::All => AcceptedPart::All,
                linkspan_client::connection::AcceptedPart::Some => AcceptedPart::Some,
                linkspan_client::connection::AcceptedPart::Edited => AcceptedPart::Edited,
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

/// The outcomes of the changes, in the order in which they were given.
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
    /// They refer to the current text, as far as the editor knows. If false, ask again with `waitMs`.
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
    /// Where it comes from, such as `rustc`.
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

/// A range of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Range {
    /// First line, from 1.
    pub(super) line: u32,
    /// First column, from 1, in UTF-16 units.
    pub(super) column: u32,
    /// Last line, from 1.
    pub(super) end_line: u32,
    /// Column after the last character.
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

impl From<&linkspan_client::connection::EditorDiagnostic> for Diagnostic {
    fn from(found: &linkspan_client::connection::EditorDiagnostic) -> Diagnostic {
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

impl From<linkspan_client::connection::EditorSelection> for Selection {
    fn from(selection: linkspan_client::connection::EditorSelection) -> Selection {
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
    /// It is the active document.
    pub(super) active: bool,
    /// It has unsaved changes: the file on disk differs from what the user sees.
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
    /// The name of the editor.
    pub(super) editor: String,
    /// Absolute paths of its workspace folders: changes can be proposed for files in them.
    pub(super) folders: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Dirty {
    /// Absolute path of the file.
    pub(super) path: String,
    /// It is open and has unsaved changes.
    pub(super) dirty: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Saved {
    /// Absolute path of the file that is saved now.
    pub(super) path: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Done {
    /// Always true: a failure is an error.
    pub(super) done: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Context {
    /// What the user has open and selected, and the errors in the editor; null if there is nothing.
    pub(super) context: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Executed {
    /// What the code printed.
    pub(super) output: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Hover {
    /// Markdown, one entry for each source; empty if nothing is known.
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
    /// The symbol that contains it.
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
