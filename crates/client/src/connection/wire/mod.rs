//! Encodes typed requests as tool calls and decodes tool results, one file per wire. Pure: does not know sockets.
//!
//! The defaults here fit every foreign server; [`foreign_answer`] reads their answers.

mod claude;
mod diff_only;
pub(in crate::connection) mod foreign_answer;
mod nexus3;
mod own;
mod ppxai;

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::time::Duration;

use linkspan_editor_api::file_uri;
use serde_json::{Value, json};

use super::error::CallError;
use super::types::{
    AllowedBy, Change, ChangeOutcome, EditorDiagnostic, EditorInfo, EditorSelection, OpenAt, OpenPrecision,
    PermissionAnswer, ToolInfo, ToolResult,
};
use crate::discover::Wire;
use foreign_answer::LineBase;

pub(super) use claude::{CLAUDE, CLAUDE_CODE_IDE};
pub(super) use diff_only::{CLIO, GEMINI};
pub(super) use nexus3::NEXUS3;
pub(super) use own::OWN;
pub(super) use ppxai::PPXAI;

/// A tool and its arguments.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct WireCall {
    pub(super) tool: &'static str,
    pub(super) arguments: Value,
}

impl WireCall {
    fn new(tool: &'static str, arguments: Value) -> WireCall {
        WireCall { tool, arguments }
    }
}

/// How a pending change is withdrawn.
#[derive(Debug, PartialEq)]
pub(super) enum Withdrawal {
    /// By cancelling the call.
    Cancel,
    /// By closing its tab, with these calls one after the other.
    Calls(Vec<WireCall>),
}

/// One wire. Every `read_…` method takes the answer of a tool that did not fail.
pub(super) trait WireCodec: Debug + Send + Sync {
    /// Which MCP revision to ask for.
    fn revision(&self) -> &'static str;

    /// Whether the editor shows any number of changes at once, and recognises one that is proposed again.
    fn is_hub(&self) -> bool {
        false
    }

    fn lines(&self) -> LineBase {
        LineBase::FromZero
    }

    /// A tool without arguments, by the name that most servers use for it.
    fn plain(&self, tool: &'static str) -> Result<WireCall, CallError> {
        Ok(WireCall::new(tool, json!({})))
    }

    /// `tab` is a name that no other change has.
    fn propose(&self, change: &Change, tab: &str) -> Result<WireCall, CallError> {
        not_comparing(change)?;
        let path = text_of(&change.path)?;
        Ok(WireCall::new(
            "openDiff",
            json!({
                "old_file_path": path,
                "new_file_path": path,
                "new_file_contents": change.new_text,
                "tab_name": tab,
            }),
        ))
    }

    fn read_decided(&self, change: &Change, answer: &ToolResult) -> Result<ChangeOutcome, CallError>;

    fn withdraw(&self, tab: &str) -> Withdrawal {
        Withdrawal::Calls(self.close_diff(tab))
    }

    /// Closes the tab of a change that was proposed under that name.
    fn close_diff(&self, tab: &str) -> Vec<WireCall> {
        vec![self.close_tab(tab)]
    }

    /// Tells about a change that the caller is about to write itself.
    fn record(&self, _change: &Change, _allowed_by: AllowedBy) -> Result<WireCall, CallError> {
        Err(not_on("the protocol of this editor", "changes that are already decided"))
    }

    /// Asks whether the agent may run this command.
    fn permission(&self, _command: &str) -> Result<WireCall, CallError> {
        Err(not_on("the protocol of this editor", "questions about commands"))
    }

    fn read_permission(&self, _answer: &ToolResult) -> Result<PermissionAnswer, CallError> {
        Err(not_on("the protocol of this editor", "questions about commands"))
    }

    /// `at` is the position, with a text that first occurs there. `tool` is the server's description of the tool.
    fn open_file(
        &self,
        path: &Path,
        at: Option<(OpenAt, Option<&str>)>,
        preview: bool,
        tool: Option<&ToolInfo>,
    ) -> Result<(WireCall, OpenPrecision), CallError>;

    fn diagnostics(&self, path: Option<&Path>, _wait: Option<Duration>) -> Result<WireCall, CallError> {
        let arguments = match path {
            Some(path) => json!({ "uri": file_uri::of(path) }),
            None => json!({}),
        };
        Ok(WireCall::new("getDiagnostics", arguments))
    }

    fn read_diagnostics(&self, answer: &ToolResult) -> Result<Vec<EditorDiagnostic>, CallError> {
        foreign_answer::diagnostics(answer, self.lines())
    }

    /// Reads a selection from a tool's answer or from an event.
    fn selection(&self, value: &Value) -> Result<Option<EditorSelection>, CallError> {
        foreign_answer::selection(value, self.lines())
    }

    fn read_editors(&self, answer: &ToolResult) -> Result<Vec<EditorInfo>, CallError> {
        foreign_answer::editors(&foreign_answer::value(answer))
    }

    fn read_folders(&self, answer: &ToolResult) -> Result<Vec<PathBuf>, CallError> {
        foreign_answer::folders(&foreign_answer::value(answer))
    }

    fn dirty(&self, path: &Path) -> Result<WireCall, CallError> {
        Ok(WireCall::new("checkDocumentDirty", json!({ "filePath": text_of(path)? })))
    }

    fn read_dirty(&self, answer: &ToolResult) -> Result<bool, CallError> {
        foreign_answer::dirty(&foreign_answer::value(answer))
    }

    fn save(&self, path: &Path) -> Result<WireCall, CallError> {
        Ok(WireCall::new("saveDocument", json!({ "filePath": text_of(path)? })))
    }

    /// By the name of the tab on the screen; for our hub, by the label of the change.
    fn close_tab(&self, tab: &str) -> WireCall;
}

/// The codec of a wire, and of the server at its other end, by the name that it reports.
pub(super) fn dialect(wire: &Wire, server: &str) -> &'static dyn WireCodec {
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

/// Only the hub compares two given texts.
fn not_comparing(change: &Change) -> Result<(), CallError> {
    match change.old_text {
        None => Ok(()),
        Some(_) => Err(CallError::NotOnThisWire(
            "this editor can only compare a text with its file: attach the editor to Linkspan's hub to compare two \
             texts"
                .into(),
        )),
    }
}

fn not_on(protocol: &str, what: &str) -> CallError {
    CallError::NotOnThisWire(format!(
        "{protocol} does not support {what}: attach the editor to Linkspan's hub, which does"
    ))
}

/// The precision of an editor that supports lines, but no characters in a line.
fn at_line(at: OpenAt) -> OpenPrecision {
    if at.character == 0 { OpenPrecision::Place } else { OpenPrecision::Line }
}

/// JSON has only Unicode.
fn text_of(path: &Path) -> Result<&str, CallError> {
    path.to_str().ok_or_else(|| {
        CallError::NotOnThisWire(format!(
            "{} is not Unicode, and paths are sent to editors as text: rename the file",
            path.display()
        ))
    })
}
