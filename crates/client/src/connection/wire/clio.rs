//! The protocol of Clio as a client: changes, and little else. The editor's side writes before it answers, as in
//! NEXUS3's.

use std::path::Path;
use std::time::Duration;

use serde_json::json;

use super::{Ask, Dialect, NEXUS3, Withdrawal, not_comparing, not_on, text_of};
use crate::connection::error::CallError;
use crate::connection::types::{Change, Decided, OpenAt, Tool, ToolResult};

pub(in crate::connection) const CLIO: Clio = Clio;

const NAME: &str = "Clio's protocol";

#[derive(Debug)]
pub(in crate::connection) struct Clio;

impl Dialect for Clio {
    fn revision(&self) -> &'static str {
        "2025-06-18"
    }

    fn plain(&self, tool: &'static str) -> Result<Ask, CallError> {
        match tool {
            "getWorkspaceFolders" | "closeAllDiffTabs" => Ok(Ask::new(tool, json!({}))),
            "getOpenEditors" => Err(not_on(NAME, "open documents")),
            _ => Err(not_on(NAME, "selections")),
        }
    }

    fn propose(&self, change: &Change, tab: &str) -> Result<Ask, CallError> {
        not_comparing(change)?;
        let arguments = json!({
            "file": text_of(&change.path)?,
            "after": change.new_text,
            "description": change.label,
            "tab_name": tab,
        });
        Ok(Ask::new("openDiff", arguments))
    }

    fn read_decided(&self, change: &Change, answer: &ToolResult) -> Result<Decided, CallError> {
        NEXUS3.read_decided(change, answer)
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
