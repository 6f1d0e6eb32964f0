//! Wires that support changes and little else, as a client: Clio's, and that of Gemini CLI and Qwen Code. Errors name
//! the missing feature.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::{CLAUDE, NEXUS3, WireCall, WireCodec, Withdrawal, not_comparing, not_on, text_of};
use crate::connection::error::CallError;
use crate::connection::gateway::NOT_WRITTEN;
use crate::connection::types::{
    Change, ChangeOutcome, ChangeWriter, DiffOutcome, OpenAt, OpenPrecision, ToolInfo, ToolResult,
};

/// The editor writes before it answers, as in NEXUS3's protocol.
pub(in crate::connection) const CLIO: DiffOnlyDialect = DiffOnlyDialect {
    name: "Clio's protocol",
    decides_like: &NEXUS3,
    change: |change, path| {
        let mut arguments = json!({ "file": path, "after": change.new_text, "description": change.label });
        if change.writer == ChangeWriter::Caller {
            arguments["writer"] = json!("caller");
        }
        arguments
    },
    lacks: |tool| match tool {
        "getWorkspaceFolders" | "closeAllDiffTabs" => None,
        "getOpenEditors" => Some("open documents"),
        _ => Some("selections"),
    },
};

/// The caller writes, as in Claude Code's protocol.
pub(in crate::connection) const GEMINI: DiffOnlyDialect = DiffOnlyDialect {
    name: "Gemini's protocol",
    decides_like: &CLAUDE,
    change: |change, path| json!({ "filePath": path, "newContent": change.new_text }),
    lacks: |_tool| None,
};

#[derive(Debug)]
pub(in crate::connection) struct DiffOnlyDialect {
    name: &'static str,
    decides_like: &'static dyn WireCodec,
    /// The arguments of a change at this path.
    change: fn(&Change, &str) -> Value,
    /// Requests without arguments that the wire does not support.
    lacks: fn(&str) -> Option<&'static str>,
}

impl WireCodec for DiffOnlyDialect {
    /// Gemini's own editors refuse a newer one.
    fn revision(&self) -> &'static str {
        "2025-06-18"
    }

    fn plain(&self, tool: &'static str) -> Result<WireCall, CallError> {
        match (self.lacks)(tool) {
            None => Ok(WireCall::new(tool, json!({}))),
            Some(what) => Err(not_on(self.name, what)),
        }
    }

    fn propose(&self, change: &Change, tab: &str) -> Result<WireCall, CallError> {
        not_comparing(change)?;
        let mut arguments = (self.change)(change, text_of(&change.path)?);
        arguments["tab_name"] = json!(tab);
        Ok(WireCall::new("openDiff", arguments))
    }

    fn read_decided(&self, change: &Change, answer: &ToolResult) -> Result<ChangeOutcome, CallError> {
        if answer.texts().next() == Some(NOT_WRITTEN) {
            let text = Some(change.new_text.clone());
            return Ok(ChangeOutcome { text, ..ChangeOutcome::bare(DiffOutcome::FileSaved) });
        }
        self.decides_like.read_decided(change, answer)
    }

    fn withdraw(&self, _tab: &str) -> Withdrawal {
        Withdrawal::Cancel
    }

    fn open_file(
        &self,
        _path: &Path,
        _at: Option<(OpenAt, Option<&str>)>,
        _preview: bool,
        _tool: Option<&ToolInfo>,
    ) -> Result<(WireCall, OpenPrecision), CallError> {
        Err(not_on(self.name, "opening a file"))
    }

    fn diagnostics(&self, _path: Option<&Path>, _wait: Option<Duration>) -> Result<WireCall, CallError> {
        Err(not_on(self.name, "diagnostics"))
    }

    fn dirty(&self, _path: &Path) -> Result<WireCall, CallError> {
        Err(not_on(self.name, "unsaved changes"))
    }

    fn save(&self, _path: &Path) -> Result<WireCall, CallError> {
        Err(not_on(self.name, "saving"))
    }

    fn close_tab(&self, tab: &str) -> WireCall {
        WireCall::new("close_tab", json!({ "tab_name": tab }))
    }
}
