//! Answers as texts for models. Lines count from 1, as compilers print them.

use std::fmt::Display;
use std::path::PathBuf;

use linkspan_editor_api::labels;
use linkspan_editor_api::{
    AcceptedPart, FileDiagnostics, Location, OpenDocument, Range, Selection, Symbol, TerminalRunResult,
};

use crate::answer::Answer;
use crate::outcome::{Accepted, Rejected, remark};

pub(super) fn accepted(accepted: &Accepted) -> String {
    let path = accepted.path.display();
    let how = match accepted.taken {
        AcceptedPart::All => "as proposed",
        AcceptedPart::Some => "in part",
        AcceptedPart::Edited => "with edits of the user",
    };
    let written = if accepted.written { "the file is written" } else { "nothing is written yet" };
    let mut sentences = vec![format!("Accepted {how}: {path}; {written}.")];
    if accepted.text.is_none() {
        sentences.push("The accepted text is too large to repeat here: read the file.".to_owned());
    }
    if let Some(diff) = &accepted.person_diff {
        sentences.push(format!("Diff from the proposed to the accepted text:\n{}", diff.trim_end()));
    }
    sentences.extend(accepted.comments.iter().map(remark));
    sentences.join("\n")
}

pub(super) fn rejected(rejected: &Rejected) -> String {
    let reason = rejected.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    let head = format!("Rejected: {}{reason}", rejected.path.display());
    std::iter::once(head).chain(rejected.comments.iter().map(remark)).collect::<Vec<_>>().join("\n")
}

/// The outcome of each file, one after the other.
pub(super) fn set(parts: &[(PathBuf, Answer)]) -> String {
    let told = parts.iter().filter_map(|(path, answer)| match answer {
        Answer::Accepted(of_file) => Some(accepted(of_file)),
        Answer::Rejected(of_file) => Some(rejected(of_file)),
        Answer::Failed(failure) => Some(format!("Not changed: {}: {}", path.display(), failure.message)),
        _ => None,
    });
    told.collect::<Vec<_>>().join("\n")
}

/// One item on each line, or `none`.
pub(super) fn lines(items: &[impl Display], none: &str) -> String {
    match items {
        [] => none.to_owned(),
        items => items.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
    }
}

fn place(path: &str, range: Range) -> String {
    let from_one = |count: u32| count.saturating_add(1);
    format!("{path}:{}:{}", from_one(range.start.line), from_one(range.start.character))
}

pub(super) fn diagnostics(files: &[FileDiagnostics]) -> String {
    let found = files.iter().flat_map(|file| {
        file.diagnostics.iter().map(|found| {
            let severity = labels::severity(found.severity);
            let who: Vec<&str> = found.source.iter().chain(&found.code).map(String::as_str).collect();
            let who = if who.is_empty() { String::new() } else { format!(" ({})", who.join(" ")) };
            format!("{}: {severity}: {}{who}", place(&file.path, found.range), found.message)
        })
    });
    let mut sentences: Vec<String> = found.collect();
    if sentences.is_empty() {
        sentences.push("no errors or warnings".to_owned());
    }
    if files.iter().any(|file| !file.settled) {
        sentences.push("(the language servers may still be working)".to_owned());
    }
    sentences.join("\n")
}

pub(super) fn selection(selection: Option<&Selection>) -> String {
    match selection {
        None => "nothing is selected".to_owned(),
        Some(at) if at.is_empty => format!("the cursor is at {}", place(&at.path, at.range)),
        Some(at) => format!("{}\n{}", place(&at.path, at.range), at.text),
    }
}

pub(super) fn editors(documents: &[OpenDocument]) -> String {
    let mark = |is: bool, mark: &'static str| if is { mark } else { "" };
    let named = |document: &OpenDocument| {
        let (active, dirty) = (mark(document.active, " (active)"), mark(document.dirty, " (unsaved)"));
        format!("{}{active}{dirty}", document.path)
    };
    lines(&documents.iter().map(named).collect::<Vec<_>>(), "no files are open")
}

pub(super) fn dirty(path: &str, open: bool, dirty: bool) -> String {
    match (open, dirty) {
        (false, _) => format!("{path} is not open"),
        (true, false) => format!("{path} has no unsaved changes"),
        (true, true) => format!("{path} has unsaved changes"),
    }
}

pub(super) fn saved(path: &str, saved: bool, open: bool) -> String {
    match (open, saved) {
        (_, true) => format!("{path} is saved"),
        (false, false) => format!("{path} is not open, so there is nothing to save"),
        (true, false) => format!("{path} could not be saved"),
    }
}

pub(super) fn permission(allowed: bool, message: Option<&str>) -> String {
    let why = message.map(|message| format!(": {message}")).unwrap_or_default();
    format!("{}{why}", if allowed { "allowed" } else { "not allowed" })
}

/// The output comes last: it may be anything.
pub(super) fn ran(ran: &TerminalRunResult) -> String {
    let how = match (ran.timed_out, ran.exit_code) {
        (true, _) => "still running".to_owned(),
        (false, Some(code)) => format!("exit code {code}"),
        (false, None) => "exited; the exit code is not known".to_owned(),
    };
    if ran.output.is_empty() { how } else { format!("{how}\n{}", ran.output) }
}

pub(super) fn locations(found: &[Location]) -> String {
    let found: Vec<String> = found.iter().map(|at| place(&at.path, at.range)).collect();
    lines(&found, "none found")
}

pub(super) fn symbols(found: &[Symbol]) -> String {
    let named = |symbol: &Symbol| {
        let inside = symbol.container.as_ref().map(|inside| format!(" in {inside}")).unwrap_or_default();
        let at = place(&symbol.location.path, symbol.location.range);
        format!("{at}: {} {}{inside}", symbol.symbol_kind, symbol.name)
    };
    lines(&found.iter().map(named).collect::<Vec<_>>(), "none found")
}

pub(super) fn visible(range: Option<Range>) -> String {
    match range {
        None => "not visible".to_owned(),
        Some(Range { start, end }) => {
            format!("lines {} to {}", start.line.saturating_add(1), end.line.saturating_add(1))
        }
    }
}
