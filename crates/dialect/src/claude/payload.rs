//! The JSON objects inside this dialect's answers and events.

use std::borrow::Cow;
use std::path::Path;

use linkspan_editor_api::{Diagnostic, FileDiagnostics, OpenDocument, Position, Range, Selection, Severity};
use serde::Serialize;

use crate::file_uri;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SelectionPayload<'a> {
    /// Only in results of tools, not in events.
    #[serde(skip_serializing_if = "Option::is_none")]
    success: Option<bool>,
    text: &'a str,
    file_path: &'a str,
    file_url: String,
    selection: Span,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Span {
    start: Position,
    end: Position,
    is_empty: bool,
}

impl SelectionPayload<'_> {
    pub(super) fn of(selection: &Selection, success: Option<bool>) -> SelectionPayload<'_> {
        let Range { start, end } = selection.range;
        SelectionPayload {
            success,
            text: &selection.text,
            file_path: &selection.path,
            file_url: file_uri::of(Path::new(&selection.path)),
            selection: Span { start, end, is_empty: selection.is_empty },
        }
    }
}

#[derive(Serialize)]
pub(super) struct DiagnosticsPayload<'a> {
    uri: String,
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
    pub(super) fn of(file: &FileDiagnostics) -> DiagnosticsPayload<'_> {
        DiagnosticsPayload {
            uri: file_uri::of(Path::new(&file.path)),
            diagnostics: file.diagnostics.iter().map(finding).collect(),
        }
    }
}

fn finding(diagnostic: &Diagnostic) -> DiagnosticPayload<'_> {
    DiagnosticPayload {
        message: &diagnostic.message,
        severity: match diagnostic.severity {
            Severity::Error => "Error",
            Severity::Warning => "Warning",
            Severity::Info => "Information",
            Severity::Hint => "Hint",
        },
        range: diagnostic.range,
        source: diagnostic.source.as_deref(),
        code: diagnostic.code.as_deref(),
    }
}

#[derive(Serialize)]
pub(super) struct TabsPayload<'a> {
    pub(super) tabs: Vec<TabPayload<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TabPayload<'a> {
    uri: String,
    file_name: &'a str,
    label: &'a str,
    language_id: &'a str,
    is_active: bool,
    is_dirty: bool,
    is_pinned: bool,
    is_preview: bool,
    is_untitled: bool,
    group_index: u32,
    view_column: u32,
    is_group_active: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    line_count: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    selection: Option<TabSpan>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TabSpan {
    start: Position,
    end: Position,
    is_reversed: bool,
}

impl TabPayload<'_> {
    pub(super) fn of(document: &OpenDocument) -> TabPayload<'_> {
        TabPayload {
            uri: if document.untitled {
                format!("untitled:{}", document.path)
            } else {
                file_uri::of(Path::new(&document.path))
            },
            file_name: &document.path,
            label: &document.label,
            language_id: document.language.as_deref().unwrap_or("plaintext"),
            is_active: document.active,
            is_dirty: document.dirty,
            is_pinned: document.pinned,
            is_preview: document.preview,
            is_untitled: document.untitled,
            group_index: document.group_index,
            view_column: document.view_column.unwrap_or(document.group_index.saturating_add(1)),
            is_group_active: document.group_active,
            line_count: document.line_count,
            selection: document.selection.map(|selection| TabSpan {
                start: selection.range.start,
                end: selection.range.end,
                is_reversed: selection.reversed,
            }),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FoldersPayload<'a> {
    pub(super) success: bool,
    pub(super) folders: Vec<FolderPayload<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) root_path: Option<Cow<'a, str>>,
}

#[derive(Serialize)]
pub(super) struct FolderPayload<'a> {
    name: Cow<'a, str>,
    uri: String,
    path: Cow<'a, str>,
}

impl FolderPayload<'_> {
    pub(super) fn of(path: &Path) -> FolderPayload<'_> {
        FolderPayload {
            name: path.file_name().unwrap_or(path.as_os_str()).to_string_lossy(),
            uri: file_uri::of(path),
            path: path.to_string_lossy(),
        }
    }
}

#[derive(Serialize)]
pub(super) struct Unsuccessful {
    pub(super) success: bool,
    pub(super) message: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OpenedPayload<'a> {
    pub(super) success: bool,
    pub(super) file_path: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) language_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) line_count: Option<u32>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DirtyPayload<'a> {
    pub(super) success: bool,
    pub(super) file_path: Cow<'a, str>,
    pub(super) is_dirty: bool,
    pub(super) is_untitled: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SavedPayload<'a> {
    pub(super) success: bool,
    pub(super) file_path: Cow<'a, str>,
    pub(super) saved: bool,
    pub(super) message: &'static str,
}
