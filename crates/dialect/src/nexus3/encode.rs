//! Answers as the tool table of NEXUS3 has them: one text, plain or JSON. Lines count from 1, characters from 0, as in
//! NEXUS3's own extension.
//!
//! Every failure is a JSON-RPC error. The agent reads the first text without looking at `isError`, so a
//! failed `openDiff` would be taken for a rejection, and an error text for data.

use std::borrow::Cow;

use linkspan_editor_api::{FileDiagnostics, OpenDocument, Selection, Severity};
use serde::Serialize;

use crate::decided::remark;
use crate::mcp::{Context, Encoded, code_of};
use crate::meaning::{Answer, FailureKind};

pub(super) fn encode<'a>(answer: &'a Answer, context: &Context<'a>) -> Encoded<'a> {
    match answer {
        Answer::Accepted(accepted) => {
            let changed = accepted.person_diff.as_deref().map(Cow::from);
            let remarks = changed.into_iter().chain(accepted.comments.iter().map(|said| remark(said).into()));
            if accepted.written && context.runs_own_tool {
                // After a yes its tool would write over what is saved now, or append to it once more.
                let remarks = remarks.map(|remark| without_the_word(remark.into_owned()));
                return Encoded::Texts(std::iter::once(REJECTED.into()).chain(remarks).collect());
            }
            Encoded::Texts(std::iter::once(SAVED.into()).chain(remarks).collect())
        }
        Answer::Rejected(rejected) => {
            let remarks = rejected.reason.iter().cloned().chain(rejected.comments.iter().map(remark));
            let remarks = remarks.map(without_the_word);
            Encoded::Texts(std::iter::once(REJECTED.into()).chain(remarks).collect())
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
        Answer::Dirty { open, dirty, .. } => Encoded::json(&Dirty { dirty: *open && *dirty }),
        Answer::Executed(output) => Encoded::text(output.as_str()),
        Answer::Failed(failure) => failed(failure.kind, failure.message.as_str()),
        _ => Encoded::unasked(),
    }
}

const SAVED: &str = "FILE_SAVED";
const REJECTED: &str = "DIFF_REJECTED";

fn failed<'a>(kind: FailureKind, message: impl Into<Cow<'a, str>>) -> Encoded<'a> {
    Encoded::Error(code_of(kind), message.into())
}

/// The agent accepts when it finds the word anywhere in a text, so a person's remark must not hold it.
fn without_the_word<'a>(remark: String) -> Cow<'a, str> {
    if remark.contains(SAVED) { remark.replace(SAVED, "file saved").into() } else { remark.into() }
}

fn from_one(line: u32) -> u32 {
    line.saturating_add(1)
}

#[derive(Serialize)]
struct Dirty {
    dirty: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Finding<'a> {
    file_path: &'a str,
    line: u32,
    message: &'a str,
    severity: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'a str>,
}

fn findings(file: &FileDiagnostics) -> impl Iterator<Item = Finding<'_>> {
    file.diagnostics.iter().map(|diagnostic| Finding {
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
struct Selected<'a> {
    file_path: &'a str,
    text: &'a str,
    start_line: u32,
    start_character: u32,
    end_line: u32,
    end_character: u32,
}

fn selected(selection: &Selection) -> Selected<'_> {
    let range = selection.range;
    Selected {
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
struct Editor<'a> {
    file_path: &'a str,
    is_active: bool,
    is_dirty: bool,
    language_id: &'a str,
}

fn editor(document: &OpenDocument) -> Editor<'_> {
    Editor {
        file_path: &document.path,
        is_active: document.active,
        is_dirty: document.dirty,
        language_id: document.language.as_deref().unwrap_or("plaintext"),
    }
}
