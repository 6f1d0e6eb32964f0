//! Answers as objects, mostly in the shapes of the editor protocol; `says` has the texts beside them.

use std::borrow::Cow;

use linkspan_editor_api::{FileDiagnostics, OpenDocument, ReviewComment, Selection, Taken};
use serde::Serialize;

use super::says;
use crate::decided::{Accepted, DecidedHunk, Rejected};
use crate::language::Known;
use crate::mcp::{Context, Encoded};
use crate::meaning::{Answer, Failure, FailureKind};

pub(super) fn encode<'a>(answer: &'a Answer, _context: &Context<'a>) -> Encoded<'a> {
    match answer {
        Answer::Accepted(accepted) => told(&accepted_shape(accepted), says::accepted(accepted)),
        Answer::Rejected(rejected) => told(&rejected_shape(rejected), says::rejected(rejected)),
        Answer::Opened { path, language, line_count } => {
            let path = path.to_string_lossy();
            let text = format!("{path} is open");
            told(&Opened { path, language: language.as_deref(), line_count: *line_count }, text)
        }
        Answer::Diagnostics(files) => told(&Diagnosed { files }, says::diagnostics(files)),
        Answer::Selection(selection) => {
            told(&Selected { selection: selection.as_ref() }, says::selection(selection.as_ref()))
        }
        Answer::Editors(editors) => told(&Editors { editors }, says::editors(editors)),
        Answer::Folders(folders) => {
            let folders: Vec<_> = folders.iter().map(|path| path.to_string_lossy()).collect();
            let text = says::lines(&folders, "the workspace has no folders");
            told(&Folders { folders }, text)
        }
        Answer::Dirty { path, open, dirty, untitled } => {
            let path = path.to_string_lossy();
            let text = says::dirty(&path, *open, *dirty);
            told(&Dirty { path, open: *open, dirty: *dirty, untitled: *untitled }, text)
        }
        Answer::Saved { path, saved, open } => {
            let path = path.to_string_lossy();
            let text = says::saved(&path, *saved, *open);
            told(&Saved { path, saved: *saved, open: *open }, text)
        }
        Answer::TabClosed { .. } | Answer::Told => told(&Nothing {}, "done"),
        Answer::DiffsClosed(closed) => told(&Closed { closed: *closed }, format!("{closed} taken back")),
        Answer::Executed(output) => told(&Executed { output }, output.as_str()),
        Answer::Ran(ran) => told(ran, says::ran(ran)),
        Answer::Known(Known::Hover(hover)) => told(hover, says::lines(&hover.contents, NOTHING)),
        Answer::Known(Known::Definition(found)) => told(found, says::locations(&found.locations)),
        Answer::Known(Known::References(found)) => told(found, says::locations(&found.locations)),
        Answer::Known(Known::Symbols(found)) => told(found, says::symbols(&found.symbols)),
        Answer::Known(Known::VisibleRange(_, visible)) => told(visible, says::visible(visible.range)),
        Answer::Failed(failure) => failed(failure),
        Answer::Printed(printed) => {
            let ran = printed.ran();
            told(&ran, says::ran(&ran))
        }
        _ => Encoded::unasked(),
    }
}

const NOTHING: &str = "nothing is known about it";

fn told<'a>(value: &impl Serialize, text: impl Into<Cow<'a, str>>) -> Encoded<'a> {
    Encoded::structured(value, text, false)
}

fn failed(failure: &Failure) -> Encoded<'_> {
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
    let message = failure.message.as_str();
    Encoded::structured(&Failed { error: Reason { kind, message } }, message, true)
}

#[derive(Serialize)]
struct Failed<'a> {
    error: Reason<'a>,
}

#[derive(Serialize)]
struct Reason<'a> {
    kind: &'static str,
    message: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Decided<'a> {
    outcome: &'static str,
    review: &'a str,
    path: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    /// It is in the file, and too large to be repeated.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    text_omitted: bool,
    new_file: bool,
    written: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    taken: Option<Taken>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hunks: Vec<Hunk<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    person_diff: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    comments: &'a [ReviewComment],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Hunk<'a> {
    id: &'a str,
    before_start: u32,
    before_count: u32,
    after_start: u32,
    after_count: u32,
    taken: bool,
}

fn hunk(hunk: &DecidedHunk) -> Hunk<'_> {
    Hunk {
        id: &hunk.id,
        before_start: hunk.before_start,
        before_count: hunk.before_count,
        after_start: hunk.after_start,
        after_count: hunk.after_count,
        taken: hunk.taken,
    }
}

fn accepted_shape(accepted: &Accepted) -> Decided<'_> {
    Decided {
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

fn rejected_shape(rejected: &Rejected) -> Decided<'_> {
    Decided {
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

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Opened<'a> {
    path: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    language: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line_count: Option<u32>,
}

#[derive(Serialize)]
struct Diagnosed<'a> {
    files: &'a [FileDiagnostics],
}

#[derive(Serialize)]
struct Selected<'a> {
    selection: Option<&'a Selection>,
}

#[derive(Serialize)]
struct Editors<'a> {
    editors: &'a [OpenDocument],
}

#[derive(Serialize)]
struct Folders<'a> {
    folders: Vec<Cow<'a, str>>,
}

#[derive(Serialize)]
struct Dirty<'a> {
    path: Cow<'a, str>,
    open: bool,
    dirty: bool,
    untitled: bool,
}

#[derive(Serialize)]
struct Saved<'a> {
    path: Cow<'a, str>,
    saved: bool,
    open: bool,
}

#[derive(Serialize)]
struct Nothing {}

#[derive(Serialize)]
struct Closed {
    closed: usize,
}

#[derive(Serialize)]
struct Executed<'a> {
    output: &'a str,
}
