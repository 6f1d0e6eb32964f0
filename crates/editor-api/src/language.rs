//! Requests to the editor's language servers. None of them changes a file: a rename returns edits, so that they can be
//! reviewed.

use serde::{Deserialize, Serialize};

use crate::edits::TextEdit;
use crate::position::{Location, Position, Range};

/// Asks for the type and documentation of the symbol at a position.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct LanguageHover {
    /// Absolute path of the file.
    pub path: String,
    /// Where.
    pub position: Position,
}

/// Type and documentation of a symbol.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct LanguageHoverResult {
    /// Markdown, one entry for each source; empty when nothing is known.
    pub contents: Vec<String>,
    /// The range that it describes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<Range>,
}

/// Asks where the symbol at a position is defined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct LanguageDefinition {
    /// Absolute path of the file.
    pub path: String,
    /// Where.
    pub position: Position,
}

/// Where it is defined.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct LanguageDefinitionResult {
    /// The places; empty when nothing is known.
    pub locations: Vec<Location>,
}

/// Asks where the symbol at a position is used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct LanguageReferences {
    /// Absolute path of the file.
    pub path: String,
    /// Where.
    pub position: Position,
    /// Include its declaration.
    #[serde(default)]
    pub include_declaration: bool,
}

/// Where it is used.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct LanguageReferencesResult {
    /// The places; empty when nothing is known.
    pub locations: Vec<Location>,
}

/// Asks for symbols: those of one file, or those in the workspace that match a query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum LanguageSymbols {
    /// The symbols of one file.
    Document {
        /// Absolute path of the file.
        path: String,
    },
    /// The symbols of the workspace.
    Workspace {
        /// Part of their name.
        query: String,
    },
}

/// The symbols.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct LanguageSymbolsResult {
    /// In the order of the file, or best match first.
    pub symbols: Vec<Symbol>,
}

/// A named item of a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct Symbol {
    /// Its name.
    pub name: String,
    /// Its kind, such as `function` or `struct`, as the editor names it.
    pub symbol_kind: String,
    /// Its full range.
    pub location: Location,
    /// The symbol that contains it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
}

/// Asks what renaming the symbol at a position would change. Changes nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct LanguageRename {
    /// Absolute path of the file.
    pub path: String,
    /// Where.
    pub position: Position,
    /// Its new name.
    pub new_name: String,
}

/// What renaming would change.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct LanguageRenameResult {
    /// File by file; empty when it cannot be renamed.
    pub files: Vec<FileEdits>,
    /// Why it cannot be renamed, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Edits to one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct FileEdits {
    /// Absolute path of the file.
    pub path: String,
    /// The replacements, all referring to the text before.
    pub edits: Vec<TextEdit>,
}
