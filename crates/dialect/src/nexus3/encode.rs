//! Answers as in the tool table of NEXUS3: one text, plain or JSON. Lines count from 1, characters from 0, as in
//! NEXUS3's own extension.
//!
//! Every failure is a JSON-RPC error. The agent reads the first text without looking at `isError`, so a
//! failed `openDiff` would look like a rejection, and an error text like data.

use std::borrow::Cow;

use linkspan_editor_api::wire_names::diff_answer::{DIFF_REJECTED, FILE_SAVED};
use linkspan_editor_api::{FileDiagnostics, OpenDocument, Selection, Severity};
use serde::Serialize;

use crate::answer::{Answer, FailureKind};
use crate::mcp::{EncodeContext, Encoded, code_of};
use crate::outcome::remark;

pub(super) fn encode<'a>(answer: &'a Answer, context: &EncodeContext<'a>) -> Encoded<'a> {
    match answer {
        Answer::Accepted(accepted) => {
            let changed = accepted.person_diff.as_deref().map(Cow::from);
            let remarks = changed.into_iter().chain(accepted.comments.iter().map(|said| remark(said).into()));
            if accepted.written && context.runs_own_tool {
                // After an accept, its tool would overwrite the saved file, or append to it once more.
                let remarks = remarks.map(|remark| without_the_word(remark.into_owned()));
                return Encoded::Texts(std::iter::once(DIFF_REJECTED.into()).chain(remarks).collect());
            }
            Encoded::Texts(std::iter::once(FILE_SAVED.into()).chain(remarks).collect())
        }
        Answer::Rejected(rejected) => {
            let remarks = rejected.reason.iter().cloned().chain(rejected.comments.iter().map(remark));
            let remarks = remarks.map(without_the_word);
            Encoded::Texts(std::iter::once(DIFF_REJECTED.into()).chain(remarks).collect())
        }
        Answer::Opened { .. } | Answer::TabClosed { .. } | Answer::DiffsClosed(_) => Encoded::text("ok"),
        // A file that is not open has nothing to save.
        Answer::Saved { saved: true, .. } | Answer::Saved { open: false, .. } => Encoded::text("ok"),
        Answer::Saved { path, .. } => {
            failed(FailureKind::Io, format!("could not be saved: {}", path.display()))
        }
        Answer::Diagnostics(files) => Encoded::json(&files.iter().flat_map(findings).collect::<Vec<_>>()),
        Answer::Selection(selection) => {
            Encoded::json(&selection.as_ref().filter(|selection| !selection.is_empty).map(selected))
        }
        Answer::Editors(documents) => Encoded::json(&documents.iter().map(editor).collect::<Vec<_>>()),
        Answer::Folders(folders) => {
            Encoded::json(&folders.iter().map(|path| path.to_string_lossy()).collect::<Vec<_>>())
        }
        Answer::Dirty { open, dirty, .. } => Encoded::json(&DirtyResult { dirty: *open && *dirty }),
        Answer::Executed(output) => Encoded::text(output.as_str()),
        Answer::Failed(failure) => failed(failure.kind, failure.message.as_str()),
        _ => Encoded::unasked(),
    }
}

fn failed<'a>(kind: FailureKind, message: impl Into<Cow<'a, str>>) -> Encoded<'a> {
    Encoded::Error(code_of(kind), message.into())
}

/// The agent treats a text with this word anywhere in it as an accept, so a comment of the user must not contain it.
fn without_the_word<'a>(remark: String) -> Cow<'a, str> {
    if remark.contains(FILE_SAVED) { remark.replace(FILE_SAVED, "file saved").into() } else { remark.into() }
}

fn from_one(line: u32) -> u32 {
    line.saturating_add(1)
}

#[derive(Serialize)]
struct DirtyResult {
    dirty: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DiagnosticResult<'a> {
    file_path: &'a str,
    line: u32,
    message: &'a str,
    severity: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'a str>,
}

fn findings(file: &FileDiagnostics) -> impl Iterator<Item = DiagnosticResult<'_>> {
    file.diagnostics.iter().map(|diagnostic| DiagnosticResult {
        file_path: &file.path,
        line: from_one(diagnostic.range.start.line),
        message: &diagnostic.message,
        severity: match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "info",
            Severity::Hint => "hint",
        },
        source: diagnostic.source.as_deref(),
    })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Nexus3Selection<'a> {
    file_path: &'a str,
    text: &'a str,
    start_line: u32,
    start_character: u32,
    end_line: u32,
    end_character: u32,
}

fn selected(selection: &Selection) -> Nexus3Selection<'_> {
    let range = selection.range;
    Nexus3Selection {
        file_path: &selection.path,
        text: &selection.text,
        start_line: from_one(range.start.line),
        start_character: range.start.character,
        end_line: from_one(range.end.line),
        end_character: range.end.character,
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EditorResult<'a> {
    file_path: &'a str,
    is_active: bool,
    is_dirty: bool,
    language_id: &'a str,
}

fn editor(document: &OpenDocument) -> EditorResult<'_> {
    EditorResult {
        file_path: &document.path,
        is_active: document.active,
        is_dirty: document.dirty,
        language_id: document.language.as_deref().unwrap_or("plaintext"),
    }
}
