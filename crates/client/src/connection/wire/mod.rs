//! Typed questions as tool calls, and tool results as typed answers, for each wire. Pure: knows no sockets.
//!
//! What every foreign server does alike is the default here; [`shapes`] reads what they answer.

mod claude;
mod narrow;
mod nexus3;
mod own;
mod ppxai;
pub(in crate::connection) mod shapes;

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::time::Duration;

use linkspan_editor_api::file_uri;
use serde_json::{Value, json};

use super::error::CallError;
use super::types::{Change, Decided, Diagnostic, EditorInfo, Landed, OpenAt, Selection, Tool, ToolResult};
use crate::discover::Wire;
use shapes::Lines;

pub(super) use claude::{CLAUDE, CLAUDE_CODE_IDE};
pub(super) use narrow::{CLIO, GEMINI};
pub(super) use nexus3::NEXUS3;
pub(super) use own::OWN;
pub(super) use ppxai::PPXAI;

/// A tool and what to call it with.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ask {
    pub(super) tool: &'static str,
    pub(super) arguments: Value,
}

impl Ask {
    fn new(tool: &'static str, arguments: Value) -> Ask {
        Ask { tool, arguments }
    }
}

/// How a change that nobody shall decide any more is taken back.
#[derive(Debug, PartialEq)]
pub(super) enum Withdrawal {
    /// By cancelling the call.
    Cancel,
    /// By closing its tab, with these calls one after the other.
    Calls(Vec<Ask>),
}

/// One wire. Every `read_…` takes the answer of a tool that did not fail.
pub(super) trait Dialect: Debug + Send + Sync {
    /// Which MCP revision to ask for.
    fn revision(&self) -> &'static str;

    /// Whether the editor shows any number of changes at once, and knows one that is asked for again.
    fn is_hub(&self) -> bool {
        false
    }

    fn lines(&self) -> Lines {
        Lines::FromZero
    }

    /// A tool that takes no arguments, by the name that most servers have for it.
    fn plain(&self, tool: &'static str) -> Result<Ask, CallError> {
        Ok(Ask::new(tool, json!({})))
    }

    /// `tab` is a name that no other change has.
    fn propose(&self, change: &Change, tab: &str) -> Result<Ask, CallError> {
        not_comparing(change)?;
        let path = text_of(&change.path)?;
        Ok(Ask::new(
            "openDiff",
            json!({
                "old_file_path": path,
                "new_file_path": path,
                "new_file_contents": change.new_text,
                "tab_name": tab,
            }),
        ))
    }

    fn read_decided(&self, change: &Change, answer: &ToolResult) -> Result<Decided, CallError>;

    fn withdraw(&self, tab: &str) -> Withdrawal {
        Withdrawal::Calls(self.close_diff(tab))
    }

    /// Closes the tab of a change that was proposed under that name.
    fn close_diff(&self, tab: &str) -> Vec<Ask> {
        vec![self.close_tab(tab)]
    }

    /// `at` is where to go, with a text that is found there first. `tool` is what the server says of the tool.
    fn open_file(
        &self,
        path: &Path,
        at: Option<(OpenAt, Option<&str>)>,
        preview: bool,
        tool: Option<&Tool>,
    ) -> Result<(Ask, Landed), CallError>;

    fn diagnostics(&self, path: Option<&Path>, _wait: Option<Duration>) -> Result<Ask, CallError> {
        let arguments = match path {
            Some(path) => json!({ "uri": file_uri::of(path) }),
            None => json!({}),
        };
        Ok(Ask::new("getDiagnostics", arguments))
    }

    fn read_diagnostics(&self, answer: &ToolResult) -> Result<Vec<Diagnostic>, CallError> {
        shapes::diagnostics(answer, self.lines())
    }

    /// A selection as a tool or an event has it.
    fn selection(&self, value: &Value) -> Result<Option<Selection>, CallError> {
        shapes::selection(value, self.lines())
    }

    fn read_editors(&self, answer: &ToolResult) -> Result<Vec<EditorInfo>, CallError> {
        shapes::editors(&shapes::value(answer))
    }

    fn read_folders(&self, answer: &ToolResult) -> Result<Vec<PathBuf>, CallError> {
        shapes::folders(&shapes::value(answer))
    }

    fn dirty(&self, path: &Path) -> Result<Ask, CallError> {
        Ok(Ask::new("checkDocumentDirty", json!({ "filePath": text_of(path)? })))
    }

    fn read_dirty(&self, answer: &ToolResult) -> Result<bool, CallError> {
        shapes::dirty(&shapes::value(answer))
    }

    fn save(&self, path: &Path) -> Result<Ask, CallError> {
        Ok(Ask::new("saveDocument", json!({ "filePath": text_of(path)? })))
    }

    /// By the name that it has on the screen; our hub knows it by its label.
    fn close_tab(&self, tab: &str) -> Ask;
}

/// The dialect of a wire, and of the server at its other end, by the name it introduces itself with.
pub(super) fn dialect(wire: &Wire, server: &str) -> &'static dyn Dialect {
    match wire {
        Wire::Hub { .. } => &OWN,
        Wire::Claude { .. } if server == claude::CLAUDE_CODE_IDE_SERVER => &CLAUDE_CODE_IDE,
        Wire::Claude { .. } => &CLAUDE,
        Wire::Nexus3 { .. } => &NEXUS3,
        Wire::Gemini { .. } => &GEMINI,
        Wire::Clio { .. } => &CLIO,
        Wire::Ppxai { .. } => &PPXAI,
    }
}

/// Only the hub compares two texts that were given.
fn not_comparing(change: &Change) -> Result<(), CallError> {
    match change.old_text {
        None => Ok(()),
        Some(_) => Err(CallError::NotOnThisWire(
            "this editor compares a text only with what its file holds: attach the editor to Linkspan's hub \
             to compare two texts"
                .into(),
        )),
    }
}

fn not_on(protocol: &str, what: &str) -> CallError {
    CallError::NotOnThisWire(format!(
        "{protocol} has no words for {what}: attach the editor to Linkspan's hub, which has them"
    ))
}

/// Where an editor lands that knows places, but no characters in a line.
fn at_line(at: OpenAt) -> Landed {
    if at.character == 0 { Landed::Place } else { Landed::Line }
}

/// JSON has only Unicode.
fn text_of(path: &Path) -> Result<&str, CallError> {
    path.to_str().ok_or_else(|| {
        CallError::NotOnThisWire(format!(
            "{} is not Unicode, and editors are told paths as text: rename the file",
            path.display()
        ))
    })
}
