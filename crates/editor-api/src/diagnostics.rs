//! Errors and warnings the editor knows about.

use serde::{Deserialize, Serialize};

use crate::position::Range;

/// Asks for diagnostics.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct DiagnosticsGet {
    /// Absolute path of one file; missing: all files that have any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Wait at most this many milliseconds for the language servers to finish.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_ms: Option<u32>,
}

/// The diagnostics, file by file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct DiagnosticsGetResult {
    /// A file that was requested by its path is listed even if it has none.
    pub files: Vec<FileDiagnostics>,
}

/// The diagnostics of one file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct FileDiagnostics {
    /// Absolute path of the file.
    pub path: String,
    /// Version of the document they are about, if the editor knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<i64>,
    /// They describe the current text. False: the language server may still be working.
    #[serde(default)]
    pub settled: bool,
    /// The diagnostics, in the order of their ranges.
    pub diagnostics: Vec<Diagnostic>,
}

/// One error, warning or hint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct Diagnostic {
    /// The message.
    pub message: String,
    /// Its severity.
    pub severity: Severity,
    /// Where it is.
    pub range: Range,
    /// The tool that reports it, such as `rustc` or `eslint`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Its code, such as `E0308`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// The severity of a diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub enum Severity {
    /// An error.
    Error,
    /// A warning.
    Warning,
    /// Information.
    Info,
    /// A suggestion.
    Hint,
}

/// The diagnostics of some files changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct DiagnosticsChanged {
    /// Which files.
    pub files: Vec<DocumentVersion>,
}

/// A file and the version of its document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct DocumentVersion {
    /// Absolute path of the file.
    pub path: String,
    /// Version of the document, if it is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<i64>,
}
