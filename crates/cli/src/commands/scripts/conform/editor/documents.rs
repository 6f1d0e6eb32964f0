//! Points about the documents of an editor: what is open, unsaved text, and edits.

use linkspan_editor_api::{
    DiagnosticsGet, DocumentClose, DocumentDirty, DocumentOpen, DocumentSave, DocumentText,
    DocumentTextResult, DocumentVisibleRange, DocumentsList, Edits, EditsApply, EditsApplyResult, Position,
    Range, SelectionCurrent, SelectionLatest, TextEdit,
};
use serde_json::{Value, json};

use super::connection::needs_attach;
use super::host::EditorHost;
use super::launch::{ODD, TEXT};
use crate::commands::scripts::conform::point::{Check, Outcome, failed, recommended, required, skipped};
use crate::commands::scripts::conform::report::excerpt;

/// A byte order mark, which is not part of the text of a document.
const MARK: char = '\u{feff}';
const DOCUMENTS: &str = "Documents";
const EDITS: &str = "Edits";

pub(super) const CHECKS: &[Check<EditorHost>] = &[
    required(DOCUMENTS, "not-open", "A file that is not open is said not to be open", not_open),
    required(DOCUMENTS, "open", "`document/open` opens a file, and `documents/list` lists it", open),
    required(DOCUMENTS, "no-file", "`document/open` of a file that does not exist is an error", no_file),
    required(DOCUMENTS, "text", "`document/text` has the text and a version", text),
    required(DOCUMENTS, "visible-range", "`document/visibleRange` is answered", |host| {
        needs_documents(host)?;
        let path = host.path("sample.txt");
        host.request(&DocumentVisibleRange { path }).map(|_| ())
    }),
    required(DOCUMENTS, "selection", "`selection/current` and `selection/latest` are answered", |host| {
        needs(host, |can| can.selection, "selection")?;
        host.request(&SelectionCurrent {})?;
        host.request(&SelectionLatest {}).map(|_| ())
    }),
    required(
        DOCUMENTS,
        "diagnostics",
        "`diagnostics/get` lists a file that was asked for, even without any",
        diagnostics,
    ),
    required(EDITS, "stale", "`edits/apply` for another version changes nothing", stale),
    required(
        EDITS,
        "places",
        "`edits/apply` changes several places of the text before, as ranges if it has `editRanges`",
        places,
    ),
    required(EDITS, "unsaved", "Unsaved text is in `document/text`, and not in the file", unsaved),
    required(EDITS, "version", "The version grows with each change", version),
    required(EDITS, "save", "`document/save` writes the text", save),
    required(EDITS, "whole-text", "`edits/apply` with the whole text saves exactly these bytes", whole_text),
    recommended(
        EDITS,
        "exact-text",
        "The text of an unmodified file is the file's, without its byte order mark",
        exact_text,
    ),
    required(
        EDITS,
        "odd-bytes",
        "CRLF, a byte order mark and a missing final newline stay as they are",
        odd_bytes,
    ),
    required(
        EDITS,
        "not-open-edit",
        "`edits/apply` of a file that is not open applies nothing",
        not_open_edit,
    ),
    required(EDITS, "one-undo", "An edit is one undo step", |_| {
        Err(skipped("needs a user: undo once in the editor"))
    }),
    required(EDITS, "close", "`document/close` keeps unsaved text, and closes what is saved", close),
];

pub(super) fn needs(
    host: &EditorHost,
    can: fn(&linkspan_editor_api::Capabilities) -> bool,
    group: &str,
) -> Outcome {
    needs_attach(host)?;
    match can(&host.capabilities) {
        true => Ok(()),
        false => Err(skipped(format!("the editor does not have the capability `{group}`"))),
    }
}

fn needs_documents(host: &EditorHost) -> Outcome {
    needs(host, |can| can.documents, "documents")
}

fn needs_edits(host: &EditorHost) -> Outcome {
    needs_documents(host)?;
    needs(host, |can| can.edits, "edits")
}

fn opened(host: &mut EditorHost, file_name: &str) -> Outcome {
    let path = host.path(file_name);
    host.request(&DocumentOpen { path, preview: false, focus: true, target: None }).map(|_| ())
}

fn document(host: &mut EditorHost, file_name: &str) -> Outcome<DocumentTextResult> {
    let path = host.path(file_name);
    host.request(&DocumentText { path })
}

/// The document is open and holds this text.
fn has_text(host: &mut EditorHost, file_name: &str, text: &str) -> Outcome<DocumentTextResult> {
    let document = document(host, file_name)?;
    match document.text.as_deref() == Some(text) && document.open {
        true => Ok(document),
        false => Err(failed(format!("{text:?}"), format!("{:?}", document.text))),
    }
}

fn apply(
    host: &mut EditorHost,
    file_name: &str,
    version: Option<i64>,
    edits: Edits,
    save: bool,
) -> Outcome<EditsApplyResult> {
    let path = host.path(file_name);
    host.request(&EditsApply { path, version, edits, save })
}

fn not_open(host: &mut EditorHost) -> Outcome {
    needs_documents(host)?;
    let document = document(host, "odd.txt")?;
    let path = host.path("odd.txt");
    let dirty = host.request(&DocumentDirty { path })?;
    match document.open || dirty.open || dirty.dirty {
        false => Ok(()),
        true => Err(failed("`open` and `dirty` false", format!("{document:?}, {dirty:?}"))),
    }
}

fn open(host: &mut EditorHost) -> Outcome {
    needs_documents(host)?;
    opened(host, "sample.txt")?;
    let path = host.path("sample.txt");
    let listed = host.request(&DocumentsList {})?.documents;
    match listed.iter().any(|document| document.path == path && !document.dirty) {
        true => Ok(()),
        false => Err(failed(format!("a list with {path}"), format!("{listed:?}"))),
    }
}

fn no_file(host: &mut EditorHost) -> Outcome {
    needs_documents(host)?;
    let params = json!({ "path": host.path("no-such-file.txt"), "preview": false, "focus": false });
    let answer = host.ask("document/open", &params)?;
    match answer.pointer("/error/message").is_some_and(Value::is_string) {
        true => Ok(()),
        false => Err(failed("an error with a message", excerpt(&answer))),
    }
}

fn text(host: &mut EditorHost) -> Outcome {
    needs_documents(host)?;
    let document = has_text(host, "sample.txt", TEXT)?;
    match (document.dirty, document.version) {
        (false, Some(_)) => Ok(()),
        _ => Err(failed("a version, and `dirty` false", format!("{document:?}"))),
    }
}

fn diagnostics(host: &mut EditorHost) -> Outcome {
    needs(host, |can| can.diagnostics, "diagnostics")?;
    let path = host.path("sample.txt");
    let found = host.request(&DiagnosticsGet { path: Some(path.clone()), wait_ms: None })?.files;
    match found.iter().any(|file| file.path == path) {
        true => Ok(()),
        false => Err(failed(format!("a list with {path}"), format!("{found:?}"))),
    }
}

fn replace(line: u32, from: u32, to: u32, text: &str) -> TextEdit {
    let at = |character| Position { line, character };
    TextEdit { range: Range { start: at(from), end: at(to) }, new_text: text.to_owned() }
}

fn stale(host: &mut EditorHost) -> Outcome {
    needs_edits(host)?;
    let version = document(host, "sample.txt")?.version.unwrap_or_default();
    let edits = Edits::Text { text: "stale\n".into() };
    let result = apply(host, "sample.txt", Some(version - 1), edits, false)?;
    if result.applied {
        return Err(failed("`applied` false", format!("{result:?}")));
    }
    has_text(host, "sample.txt", TEXT).map(|_| ())
}

const CHANGED: &str = "1\ntwo and a half\n3\u{1f980}\n";

/// As the hub sends them to this editor.
fn in_places(host: &EditorHost, text: &str, edits: Vec<TextEdit>) -> Edits {
    let edits = Edits::Ranges { edits };
    match edits.applied_to(text) {
        Some(text) if !host.capabilities.edit_ranges => Edits::Text { text },
        _ => edits,
    }
}

fn places(host: &mut EditorHost) -> Outcome {
    needs_edits(host)?;
    let version = document(host, "sample.txt")?.version;
    let edits = vec![replace(0, 0, 3, "1"), replace(1, 3, 3, " and a half"), replace(2, 0, 5, "3\u{1f980}")];
    let edits = in_places(host, TEXT, edits);
    let result = apply(host, "sample.txt", version, edits, false)?;
    if !result.applied {
        return Err(failed("`applied` true", format!("{result:?}")));
    }
    has_text(host, "sample.txt", CHANGED).map(|_| ())
}

fn unsaved(host: &mut EditorHost) -> Outcome {
    needs_edits(host)?;
    let document = has_text(host, "sample.txt", CHANGED)?;
    match (document.dirty, host.holds("sample.txt") == TEXT) {
        (true, true) => Ok(()),
        (false, _) => Err(failed("`dirty` true", format!("{document:?}"))),
        (true, false) => Err(failed("a file as it was", host.holds("sample.txt"))),
    }
}

fn version(host: &mut EditorHost) -> Outcome {
    needs_edits(host)?;
    let before = document(host, "sample.txt")?.version;
    let edits = in_places(host, CHANGED, vec![replace(0, 0, 0, "#")]);
    let result = apply(host, "sample.txt", before, edits, false)?;
    let after = document(host, "sample.txt")?.version;
    match before < after && result.version == after {
        true => Ok(()),
        false => Err(failed(
            "a larger version, the same in both answers",
            format!("{before:?}, {result:?}, {after:?}"),
        )),
    }
}

fn save(host: &mut EditorHost) -> Outcome {
    needs_edits(host)?;
    let path = host.path("sample.txt");
    let result = host.request(&DocumentSave { path })?;
    let expected = format!("#{CHANGED}");
    match result.saved && host.holds("sample.txt") == expected {
        true => Ok(()),
        false => Err(failed(format!("{expected:?}"), format!("{result:?}, {:?}", host.holds("sample.txt")))),
    }
}

/// Applies and saves; the editor may change the text only if it says so.
fn saved_exactly(host: &mut EditorHost, file_name: &str, text: &str) -> Outcome {
    let result = apply(host, file_name, None, Edits::Text { text: text.to_owned() }, true)?;
    let holds = host.holds(file_name);
    match result.applied && result.saved && holds == result.text.as_deref().unwrap_or(text) {
        true => Ok(()),
        false => Err(failed(format!("{text:?} in the file"), format!("{result:?}, {holds:?}"))),
    }
}

fn whole_text(host: &mut EditorHost) -> Outcome {
    needs_edits(host)?;
    saved_exactly(host, "sample.txt", "no newline at the end\n\n\tand a tab \u{e9}\u{1f980}")?;
    saved_exactly(host, "sample.txt", TEXT)
}

fn odd_bytes(host: &mut EditorHost) -> Outcome {
    needs_edits(host)?;
    opened(host, "odd.txt")?;
    let changed = ODD.replace("two", "TWO");
    let result = apply(host, "odd.txt", None, Edits::Text { text: changed.replace(MARK, "") }, true)?;
    let holds = host.holds("odd.txt");
    match result.applied && result.saved && holds == changed {
        true => Ok(()),
        false => Err(failed(format!("{changed:?} in the file"), format!("{result:?}, {holds:?}"))),
    }
}

/// Some editors already show the final newline that they would write.
fn exact_text(host: &mut EditorHost) -> Outcome {
    needs_documents(host)?;
    opened(host, "odd.txt")?;
    has_text(host, "odd.txt", &ODD.replace(MARK, "")).map(|_| ())
}

fn not_open_edit(host: &mut EditorHost) -> Outcome {
    needs_edits(host)?;
    let result = apply(host, "no-such-file.txt", None, Edits::Text { text: "x".into() }, true)?;
    match !result.applied && !host.folder.join("no-such-file.txt").exists() {
        true => Ok(()),
        false => Err(failed("`applied` false, and no file", format!("{result:?}"))),
    }
}

fn close(host: &mut EditorHost) -> Outcome {
    needs_edits(host)?;
    let path = host.path("odd.txt");
    if !host.request(&DocumentClose { path })?.closed || document(host, "odd.txt")?.open {
        return Err(failed("a closed document", "it is still open"));
    }
    apply(host, "sample.txt", None, Edits::Text { text: "unsaved\n".into() }, false)?;
    let path = host.path("sample.txt");
    let result = host.request(&DocumentClose { path })?;
    let document = document(host, "sample.txt")?;
    apply(host, "sample.txt", None, Edits::Text { text: TEXT.into() }, true)?;
    match !result.closed && document.text.as_deref() == Some("unsaved\n") {
        true => Ok(()),
        false => Err(failed("`closed` false, and the unsaved text", format!("{result:?}, {document:?}"))),
    }
}
