//! The protocol of Gemini CLI and Qwen Code as a client: changes, which the caller writes as in Claude Code's, and what
//! the editor shows.

use std::path::Path;
use std::time::Duration;

use serde_json::json;

use super::{Ask, CLAUDE, Dialect, Withdrawal, not_comparing, not_on, text_of};
use crate::connection::error::CallError;
use crate::connection::types::{Change, Decided, OpenAt, Tool, ToolResult};

pub(in crate::connection) const GEMINI: Gemini = Gemini;

const NAME: &str = "Gemini's protocol";

#[derive(Debug)]
pub(in crate::connection) struct Gemini;

impl Dialect for Gemini {
    /// Gemini's own editors refuse a newer one.
    fn revision(&self) -> &'static str {
        "2025-06-18"
    }

    fn propose(&self, change: &Change, tab: &str) -> Result<Ask, CallError> {
        not_comparing(change)?;
        let path = text_of(&change.path)?;
        Ok(Ask::new("openDiff", json!({ "filePath": path, "newContent": change.new_text, "tab_name": tab })))
    }

    fn read_decided(&self, change: &Change, answer: &ToolResult) -> Result<Decided, CallError> {
        CLAUDE.read_decided(change, answer)
    }

    fn withdraw(&self, _tab: &str) -> Withdrawal {
        Withdrawal::Cancel
    }

    fn open_file(
        &self,
        _path: &Path,
        _at: Option<OpenAt>,
        _preview: bool,
        _tool: Option<&Tool>,
    ) -> Result<Ask, CallError> {
        Err(not_on(NAME, "opening a file"))
    }

    fn diagnostics(&self, _path: Option<&Path>, _wait: Option<Duration>) -> Result<Ask, CallError> {
        Err(not_on(NAME, "diagnostics"))
    }

    fn dirty(&self, _path: &Path) -> Result<Ask, CallError> {
        Err(not_on(NAME, "unsaved changes"))
    }

    fn save(&self, _path: &Path) -> Result<Ask, CallError> {
        Err(not_on(NAME, "saving"))
    }

    fn close_tab(&self, tab: &str) -> Ask {
        Ask::new("close_tab", json!({ "tab_name": tab }))
    }
}
