//! What agents ask about a program, and what the editor's language servers know. Nothing here changes a file.

use std::path::PathBuf;

use linkspan_editor_api::{
    DocumentVisibleRangeResult, LanguageDefinitionResult, LanguageHoverResult, LanguageReferencesResult,
    LanguageSymbolsResult, Position,
};

/// About one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question {
    Hover(Position),
    Definition(Position),
    References(Position),
    Symbols,
    VisibleRange,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Known {
    Hover(LanguageHoverResult),
    Definition(LanguageDefinitionResult),
    References(LanguageReferencesResult),
    Symbols(LanguageSymbolsResult),
    VisibleRange(PathBuf, DocumentVisibleRangeResult),
}
