//! Answers as objects, mostly with the types of the editor protocol. `text` has the texts that go with them.

use std::borrow::Cow;
use std::path::PathBuf;

use linkspan_editor_api::{AcceptedPart, FileDiagnostics, OpenDocument, ReviewComment, Selection};
use serde::Serialize;

use super::text;
use crate::answer::{Answer, Failure, FailureKind};
use crate::language::LanguageAnswer;
use crate::mcp::{EncodeContext, Encoded};
use crate::outcome::{Accepted, DecidedHunk, Rejected};

pub(super) fn encode<'a>(answer: &'a Answer, _context: &EncodeContext<'a>) -> Encoded<'a> {
    match answer {
        Answer::Accepted(accepted) => told(&accepted_shape(accepted), text::accepted(accepted)),
        Answer::Rejected(rejected) => told(&rejected_shape(rejected), text::rejected(rejected)),
        Answer::Set(parts) => told(&set_shape(parts), text::set(parts)),
        Answer::Opened { path, language, line_count } => {
            let path = path.to_string_lossy();
            let text = format!("{path} is open");
            told(&OpenedResult { path, language: language.as_deref(), line_count: *line_count }, text)
        }
        Answer::Diagnostics(files) => told(&DiagnosticsResult { files }, text::diagnostics(files)),
        Answer::Selection(selection) => {
            told(&SelectionResult { selection: selection.as_ref() }, text::selection(selection.as_ref()))
        }
        Answer::Editors(editors) => told(&EditorsResult { editors }, text::editors(editors)),
        Answer::Folders(folders) => {
            let folders: Vec<_> = folders.iter().map(|path| path.to_string_lossy()).collect();
            let text = text::lines(&folders, "the workspace has no folders");
            told(&FoldersResult { folders }, text)
        }
        Answer::Dirty { path, open, dirty, untitled } => {
            let path = path.to_string_lossy();
            let text = text::dirty(&path, *open, *dirty);
            told(&DirtyResult { path, open: *open, dirty: *dirty, untitled: *untitled }, text)
        }
        Answer::Saved { path, saved, open } => {
            let path = path.to_string_lossy();
            let text = text::saved(&path, *saved, *open);
            told(&SavedResult { path, saved: *saved, open: *open }, text)
        }
        Answer::TabClosed { .. } | Answer::MessageShown => told(&EmptyResult {}, "done"),
        Answer::DiffsClosed(closed) => told(&ClosedResult { closed: *closed }, format!("{closed} withdrawn")),
        Answer::Executed(output) => told(&ExecutedResult { output }, output.as_str()),
        Answer::Permission { allowed, message } => {
            let message = message.as_deref();
            told(&PermissionResult { allowed: *allowed, message }, text::permission(*allowed, message))
        }
        Answer::Ran(ran) => told(ran, text::ran(ran)),
        Answer::Language(LanguageAnswer::Hover(hover)) => told(hover, text::lines(&hover.contents, NOTHING)),
        Answer::Language(LanguageAnswer::Definition(found)) => told(found, text::locations(&found.locations)),
        Answer::Language(LanguageAnswer::References(found)) => told(found, text::locations(&found.locations)),
        Answer::Language(LanguageAnswer::Symbols(found)) => told(found, text::symbols(&found.symbols)),
        Answer::Language(LanguageAnswer::VisibleRange(_, visible)) => {
            told(visible, text::visible(visible.range))
        }
        Answer::Failed(failure) => failed(failure),
        Answer::TerminalContents(printed) => {
            let ran = printed.ran();
            told(&ran, text::ran(&ran))
        }
        _ => Encoded::unasked(),
    }
}

const NOTHING: &str = "nothing is known about it";

fn told<'a>(value: &impl Serialize, text: impl Into<Cow<'a, str>>) -> Encoded<'a> {
    Encoded::structured(value, text, false)
}

fn failed(failure: &Failure) -> Encoded<'_> {
    Encoded::structured(&FailedResult { error: error_detail(failure) }, failure.message.as_str(), true)
}

fn error_detail(failure: &Failure) -> ErrorDetail<'_> {
    let kind = match failure.kind {
        FailureKind::InvalidParams => "invalidParams",
        FailureKind::NotFound => "notFound",
        FailureKind::OutsideWorkspace => "outsideWorkspace",
        FailureKind::Denied => "denied",
        FailureKind::Unsupported => "unsupported",
        FailureKind::TooLarge => "tooLarge",
        FailureKind::NotText => "notText",
        FailureKind::Stale => "stale",
        FailureKind::Io => "io",
        FailureKind::Timeout => "timeout",
        FailureKind::EditorGone => "editorGone",
        FailureKind::Withdrawn => "withdrawn",
        FailureKind::Internal => "internal",
    };
    ErrorDetail { kind, message: failure.message.as_str() }
}

#[derive(Serialize)]
struct FailedResult<'a> {
    error: ErrorDetail<'a>,
}

#[derive(Serialize)]
struct ErrorDetail<'a> {
    kind: &'static str,
    message: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DecisionResult<'a> {
    outcome: &'static str,
    review: &'a str,
    path: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    /// The text is in the file, and too large to be repeated.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    text_omitted: bool,
    new_file: bool,
    written: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    taken: Option<AcceptedPart>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hunks: Vec<HunkResult<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    person_diff: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    comments: &'a [ReviewComment],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HunkResult<'a> {
    id: &'a str,
    before_start: u32,
    before_count: u32,
    after_start: u32,
    after_count: u32,
    taken: bool,
}

fn hunk(hunk: &DecidedHunk) -> HunkResult<'_> {
    HunkResult {
        id: &hunk.id,
        before_start: hunk.before_start,
        before_count: hunk.before_count,
        after_start: hunk.after_start,
        after_count: hunk.after_count,
        taken: hunk.taken,
    }
}

fn accepted_shape(accepted: &Accepted) -> DecisionResult<'_> {
    DecisionResult {
        outcome: "accepted",
        review: &accepted.review,
        path: accepted.path.to_string_lossy(),
        text: accepted.text.as_deref(),
        text_omitted: accepted.text.is_none(),
        new_file: accepted.new_file,
        written: accepted.written,
        taken: Some(accepted.taken),
        hunks: accepted.hunks.iter().map(hunk).collect(),
        person_diff: accepted.person_diff.as_deref(),
        reason: None,
        comments: &accepted.comments,
    }
}

fn rejected_shape(rejected: &Rejected) -> DecisionResult<'_> {
    DecisionResult {
        outcome: "rejected",
        review: &rejected.review,
        path: rejected.path.to_string_lossy(),
        text: None,
        text_omitted: false,
        new_file: rejected.new_file,
        written: false,
        taken: None,
        hunks: Vec::new(),
        person_diff: None,
        reason: rejected.reason.as_deref(),
        comments: &rejected.comments,
    }
}

/// The outcome of each file. All are written, so their texts are left out.
fn set_shape(parts: &[(PathBuf, Answer)]) -> SetResult<'_> {
    let files = parts.iter().filter_map(|(path, answer)| {
        Some(match answer {
            Answer::Accepted(accepted) => FileResult::Decided(DecisionResult {
                text: None,
                text_omitted: true,
                ..accepted_shape(accepted)
            }),
            Answer::Rejected(rejected) => FileResult::Decided(rejected_shape(rejected)),
            Answer::Failed(failure) => {
                FileResult::Failed { path: path.to_string_lossy(), error: error_detail(failure) }
            }
            _ => return None,
        })
    });
    SetResult { files: files.collect() }
}

#[derive(Serialize)]
struct SetResult<'a> {
    files: Vec<FileResult<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum FileResult<'a> {
    Decided(DecisionResult<'a>),
    Failed { path: Cow<'a, str>, error: ErrorDetail<'a> },
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OpenedResult<'a> {
    path: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    language: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line_count: Option<u32>,
}

#[derive(Serialize)]
struct DiagnosticsResult<'a> {
    files: &'a [FileDiagnostics],
}

#[derive(Serialize)]
struct SelectionResult<'a> {
    selection: Option<&'a Selection>,
}

#[derive(Serialize)]
struct EditorsResult<'a> {
    editors: &'a [OpenDocument],
}

#[derive(Serialize)]
struct FoldersResult<'a> {
    folders: Vec<Cow<'a, str>>,
}

#[derive(Serialize)]
struct DirtyResult<'a> {
    path: Cow<'a, str>,
    open: bool,
    dirty: bool,
    untitled: bool,
}

#[derive(Serialize)]
struct SavedResult<'a> {
    path: Cow<'a, str>,
    saved: bool,
    open: bool,
}

#[derive(Serialize)]
struct EmptyResult {}

#[derive(Serialize)]
struct ClosedResult {
    closed: usize,
}

#[derive(Serialize)]
struct PermissionResult<'a> {
    allowed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
}

#[derive(Serialize)]
struct ExecutedResult<'a> {
    output: &'a str,
}
