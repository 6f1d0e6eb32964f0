//! The JSON objects inside this dialect's answers and events. Lines count from 0.

use std::path::Path;

use linkspan_editor_api::{Diagnostic, FileDiagnostics, Position, Range, Selection, Severity};
use serde::Serialize;

use crate::file_uri;

#[derive(Serialize)]
pub(super) struct DiffPayload<'a> {
    pub(super) success: bool,
    pub(super) result: &'static str,
    pub(super) trigger: &'static str,
    pub(super) tab_name: &'a str,
    pub(super) message: String,
}

#[derive(Serialize)]
pub(super) struct ClosePayload<'a> {
    pub(super) success: bool,
    pub(super) already_closed: bool,
    pub(super) tab_name: &'a str,
    pub(super) message: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct EditorPayload<'a> {
    pub(super) version: &'a str,
    pub(super) app_name: &'a str,
}

#[derive(Serialize)]
pub(super) struct SuccessPayload {
    pub(super) success: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SelectionPayload<'a> {
    text: &'a str,
    file_path: &'a str,
    file_url: String,
    selection: Span,
    /// Only in results of tools: it is the selection of the active editor, not of an earlier one.
    #[serde(skip_serializing_if = "Option::is_none")]
    current: Option<bool>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Span {
    start: Position,
    end: Position,
    is_empty: bool,
}

impl SelectionPayload<'_> {
    pub(super) fn of(selection: &Selection, current: Option<bool>) -> SelectionPayload<'_> {
        let Range { start, end } = selection.range;
        SelectionPayload {
            text: &selection.text,
            file_path: &selection.path,
            file_url: file_uri::of(Path::new(&selection.path)),
            selection: Span { start, end, is_empty: selection.is_empty },
            current,
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DiagnosticsPayload<'a> {
    uri: String,
    /// Only in results of tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    file_path: Option<&'a str>,
    diagnostics: Vec<DiagnosticPayload<'a>>,
}

#[derive(Serialize)]
struct DiagnosticPayload<'a> {
    message: &'a str,
    severity: &'static str,
    range: Range,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'a str>,
}

impl DiagnosticsPayload<'_> {
    pub(super) fn result(file: &FileDiagnostics) -> DiagnosticsPayload<'_> {
        DiagnosticsPayload { file_path: Some(&file.path), ..DiagnosticsPayload::event(file) }
    }

    pub(super) fn event(file: &FileDiagnostics) -> DiagnosticsPayload<'_> {
        DiagnosticsPayload {
            uri: file_uri::of(Path::new(&file.path)),
            file_path: None,
            diagnostics: file.diagnostics.iter().map(finding).collect(),
        }
    }
}

fn finding(diagnostic: &Diagnostic) -> DiagnosticPayload<'_> {
    DiagnosticPayload {
        message: &diagnostic.message,
        severity: match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "information",
            Severity::Hint => "hint",
        },
        range: diagnostic.range,
        source: diagnostic.source.as_deref(),
        code: diagnostic.code.as_deref(),
    }
}
