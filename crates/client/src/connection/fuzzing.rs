//! Wires for fuzz targets: reading an editor's answers and notifications.

use std::path::PathBuf;

use serde_json::Value;

use super::answer::{succeeded, tool_result};
use super::error::CallError;
use super::events;
use super::types::{Change, ChangeOutcome, EditorDiagnostic, EditorEvent, EditorInfo, EditorSelection};
use super::wire::{self, WireCodec, foreign_answer};

/// Every wire that answers are read from.
pub const WIRES: [&str; 7] = ["claude", "claude-code-ide", "nexus3", "clio", "gemini", "ppxai", "own"];

fn dialect(wire: &str) -> &'static dyn WireCodec {
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

/// One answer, read as the answer to each kind of call.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names say it, and only fuzz targets read them")]
pub struct Read {
    pub decided: Result<ChangeOutcome, CallError>,
    pub diagnostics: Result<Vec<EditorDiagnostic>, CallError>,
    pub selection: Result<Option<EditorSelection>, CallError>,
    pub editors: Result<Vec<EditorInfo>, CallError>,
    pub folders: Result<Vec<PathBuf>, CallError>,
    pub dirty: Result<bool, CallError>,
}

/// The result of a tool on a wire; an error if the tool failed.
pub fn read(wire: &str, change: &Change, result: Value) -> Result<Read, CallError> {
    let (dialect, answer) = (dialect(wire), succeeded(tool_result(result))?);
    Ok(Read {
        decided: dialect.read_decided(change, &answer),
        diagnostics: dialect.read_diagnostics(&answer),
        selection: dialect.selection(&foreign_answer::value(&answer)),
        editors: dialect.read_editors(&answer),
        folders: dialect.read_folders(&answer),
        dirty: dialect.read_dirty(&answer),
    })
}

/// The event of a notification on a wire.
pub fn event(wire: &str, method: &str, params: &Value) -> Option<EditorEvent> {
    events::event(dialect(wire), method, params)
}
