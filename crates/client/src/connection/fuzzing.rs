//! Wires for fuzz targets: what is read from an editor's answers and from what it says unasked.

use std::path::PathBuf;

use serde_json::Value;

use super::answer::{succeeded, tool_result};
use super::error::CallError;
use super::events;
use super::types::{Change, Decided, Diagnostic, EditorEvent, EditorInfo, Selection};
use super::wire::{self, Dialect, shapes};

/// Every wire that answers are read from.
pub const WIRES: [&str; 7] = ["claude", "claude-code-ide", "nexus3", "clio", "gemini", "ppxai", "own"];

fn dialect(wire: &str) -> &'static dyn Dialect {
    match wire {
        "claude" => &wire::CLAUDE,
        "claude-code-ide" => &wire::CLAUDE_CODE_IDE,
        "nexus3" => &wire::NEXUS3,
        "clio" => &wire::CLIO,
        "gemini" => &wire::GEMINI,
        "ppxai" => &wire::PPXAI,
        _ => &wire::OWN,
    }
}

/// One answer, read as the answer to each question.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names say it, and only fuzz targets read them")]
pub struct Read {
    pub decided: Result<Decided, CallError>,
    pub diagnostics: Result<Vec<Diagnostic>, CallError>,
    pub selection: Result<Option<Selection>, CallError>,
    pub editors: Result<Vec<EditorInfo>, CallError>,
    pub folders: Result<Vec<PathBuf>, CallError>,
    pub dirty: Result<bool, CallError>,
}

/// What the result of a tool means on a wire; an error where the tool failed.
pub fn read(wire: &str, change: &Change, result: Value) -> Result<Read, CallError> {
    let (dialect, answer) = (dialect(wire), succeeded(tool_result(result))?);
    Ok(Read {
        decided: dialect.read_decided(change, &answer),
        diagnostics: dialect.read_diagnostics(&answer),
        selection: dialect.selection(&shapes::value(&answer)),
        editors: dialect.read_editors(&answer),
        folders: dialect.read_folders(&answer),
        dirty: dialect.read_dirty(&answer),
    })
}

/// What a notification means on a wire.
pub fn event(wire: &str, method: &str, params: &Value) -> Option<EditorEvent> {
    events::event(dialect(wire), method, params)
}
