//! Reads the answers of foreign servers in all their forms: claudecode.nvim's objects, the arrays of the NEXUS3 table,
//! URIs or paths, severities as words or numbers. An answer that cannot be read is an error, never a guess.

use std::path::PathBuf;

use linkspan_editor_api::{Severity, file_uri};
use serde_json::Value;

use crate::connection::error::CallError;
use crate::connection::types::{EditorDiagnostic, EditorInfo, EditorSelection, ToolResult};

/// The number from which a server counts lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::connection) enum LineBase {
    FromZero,
    FromOne,
}

impl LineBase {
    fn read(self, line: u32) -> u32 {
        match self {
            LineBase::FromZero => line,
            LineBase::FromOne => line.saturating_sub(1),
        }
    }
}

/// A tool's answer: its data, else its first text as JSON, else that text.
pub(in crate::connection) fn value(answer: &ToolResult) -> Value {
    match (&answer.structured, answer.texts().next()) {
        (Some(data), _) => data.clone(),
        (None, Some(text)) => serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned())),
        (None, None) => Value::Null,
    }
}

/// The failure in an answer that is not an error: `{"success": false, "message": …}`.
pub(in crate::connection) fn complaint(value: &Value) -> Option<String> {
    (value.get("success") == Some(&Value::Bool(false)) || value.get("saved") == Some(&Value::Bool(false)))
        .then(|| {
            let unsaid = match value.get("open") {
                Some(Value::Bool(false)) => "it is not open in the editor",
                _ => "the editor reports that it did not succeed",
            };
            value.get("message").and_then(Value::as_str).unwrap_or(unsaid).to_owned()
        })
}

pub(super) fn selection(value: &Value, lines: LineBase) -> Result<Option<EditorSelection>, CallError> {
    if value.is_null() || complaint(value).is_some() {
        return Ok(None);
    }
    let wrong = |what: &str| CallError::protocol("getCurrentSelection", format!("it has no {what}"));
    let file = file(value).ok_or_else(|| wrong("file"))?;
    if file.as_os_str().is_empty() {
        return Ok(None);
    }
    let span = ["selection", "range"].iter().find_map(|key| value.get(key)).unwrap_or(value);
    let (start, end) = match (span.get("start"), span.get("end")) {
        (Some(start), Some(end)) => {
            (position(start, "line", "character"), position(end, "line", "character"))
        }
        _ => (position(value, "startLine", "startCharacter"), position(value, "endLine", "endCharacter")),
    };
    let ((start_line, start_character), (end_line, end_character)) =
        start.zip(end).ok_or_else(|| wrong("start and end"))?;
    Ok(Some(EditorSelection {
        file_path: file,
        text: value.get("text").and_then(Value::as_str).unwrap_or_default().to_owned(),
        start_line: lines.read(start_line),
        start_character,
        end_line: lines.read(end_line),
        end_character,
    }))
}

/// All texts count: some servers send one for each file.
pub(super) fn diagnostics(answer: &ToolResult, lines: LineBase) -> Result<Vec<EditorDiagnostic>, CallError> {
    let wrong = || CallError::protocol("getDiagnostics", "it is not a list of diagnostics");
    let mut found = Vec::new();
    let texts = answer.texts().map(|text| serde_json::from_str(text).map_err(|_| wrong()));
    let parts = match &answer.structured {
        Some(data) => vec![data.clone()],
        None => texts.collect::<Result<_, _>>()?,
    };
    for part in &parts {
        for entry in list(part, &["diagnostics", "files"]).ok_or_else(wrong)? {
            match entry.get("diagnostics").and_then(Value::as_array) {
                Some(of_file) => {
                    let file = file(entry).ok_or_else(wrong)?;
                    found.extend(of_file.iter().filter_map(|entry| diagnostic(entry, file.clone(), lines)));
                }
                None => found.extend(diagnostic(entry, file(entry).ok_or_else(wrong)?, lines)),
            }
        }
    }
    Ok(found)
}

/// None without a message: there is nothing to report.
fn diagnostic(entry: &Value, file_path: PathBuf, lines: LineBase) -> Option<EditorDiagnostic> {
    let range = entry.get("range");
    let start = range.and_then(|range| position(range.get("start")?, "line", "character"));
    let (line, character) = start.unwrap_or_else(|| {
        (number(entry.get("line")).unwrap_or(0), number(entry.get("character")).unwrap_or(0))
    });
    let end = range.and_then(|range| position(range.get("end")?, "line", "character"));
    let (end_line, end_character) = end.unwrap_or((line, character));
    let text = |key: &str| entry.get(key).and_then(Value::as_str).map(str::to_owned);
    Some(EditorDiagnostic {
        file_path,
        line: lines.read(line),
        character,
        end_line: lines.read(end_line),
        end_character,
        message: text("message")?,
        severity: severity(entry.get("severity")),
        source: text("source"),
        code: code(entry.get("code")),
        settled: false,
    })
}

/// A word in any case, or a number of the Language Server Protocol (0 is VS Code's own for an error).
/// A severity that is missing or unknown is an error, as that protocol advises.
fn severity(value: Option<&Value>) -> Severity {
    let word = value.and_then(Value::as_str).map(str::to_ascii_lowercase);
    match (word.as_deref(), number(value)) {
        (Some("warning" | "warn"), _) | (_, Some(2)) => Severity::Warning,
        (Some("information" | "info"), _) | (_, Some(3)) => Severity::Info,
        (Some("hint"), _) | (_, Some(4)) => Severity::Hint,
        _ => Severity::Error,
    }
}

/// A word, a number, or VS Code's object of a value and a link.
fn code(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(code) => Some(code.clone()),
        Value::Number(code) => Some(code.to_string()),
        object => code(Some(object.get("value")?)),
    }
}

pub(super) fn editors(value: &Value) -> Result<Vec<EditorInfo>, CallError> {
    let wrong = || CallError::protocol("getOpenEditors", "it is not a list of tabs");
    let entries = list(value, &["tabs", "editors"]).ok_or_else(wrong)?;
    let flag = |entry: &Value, keys: [&str; 2]| {
        keys.iter().find_map(|key| entry.get(key)?.as_bool()).unwrap_or_default()
    };
    // A tab without a file, such as a picture or a terminal, has no name for us.
    let tabs = entries.iter().filter_map(|entry| {
        Some(EditorInfo {
            file_path: file(entry)?,
            is_active: flag(entry, ["isActive", "active"]),
            is_dirty: flag(entry, ["isDirty", "dirty"]),
            language_id: ["languageId", "language"]
                .iter()
                .find_map(|key| entry.get(key)?.as_str())
                .map(str::to_owned),
        })
    });
    Ok(tabs.collect())
}

pub(super) fn folders(value: &Value) -> Result<Vec<PathBuf>, CallError> {
    let wrong = || CallError::protocol("getWorkspaceFolders", "it is not a list of folders");
    let entries = list(value, &["folders", "workspaceFolders"]).ok_or_else(wrong)?;
    Ok(entries.iter().filter_map(file).collect())
}

/// A document that is not open has nothing unsaved.
pub(super) fn dirty(value: &Value) -> Result<bool, CallError> {
    if complaint(value).is_some() {
        return Ok(false);
    }
    ["dirty", "isDirty"]
        .iter()
        .find_map(|key| value.get(key))
        .unwrap_or(value)
        .as_bool()
        .ok_or_else(|| CallError::protocol("checkDocumentDirty", "it has neither dirty nor clean"))
}

/// An array, or the one under the first of these names that exists.
fn list<'a>(value: &'a Value, names: &[&str]) -> Option<&'a Vec<Value>> {
    value.as_array().or_else(|| names.iter().find_map(|name| value.get(name)?.as_array()))
}

/// The file of an entry: a text, or under one of the names that servers use for it.
fn file(entry: &Value) -> Option<PathBuf> {
    if let Some(text) = entry.as_str() {
        return path(text);
    }
    ["filePath", "path", "uri", "fileUrl", "fileName"]
        .iter()
        .find_map(|name| path(entry.get(name)?.as_str()?))
}

/// A path or a `file:` uri. Documents without a file have another scheme, and keep their name.
pub(in crate::connection) fn path(text: &str) -> Option<PathBuf> {
    Some(file_uri::to_path(text).unwrap_or_else(|| PathBuf::from(text)))
}

fn position(value: &Value, line: &str, character: &str) -> Option<(u32, u32)> {
    Some((number(value.get(line))?, number(value.get(character)).unwrap_or(0)))
}

/// A whole number, also from servers whose language writes it as a fraction, or as a negative number for none.
pub(in crate::connection) fn number(value: Option<&Value>) -> Option<u32> {
    let number = value?.as_f64()?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a cast from a float saturates"
    )]
    number.is_finite().then_some(number as u32)
}
