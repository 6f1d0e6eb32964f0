//! Questions of agents for the editor's language servers, and their answers. None of them changes a file.

use std::path::PathBuf;

use linkspan_editor_api::{
    DocumentVisibleRangeResult, LanguageDefinitionResult, LanguageHoverResult, LanguageReferencesResult,
    LanguageSymbolsResult, Position,
};

/// A question about one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LanguageQuery {
    Hover(Position),
    Definition(Position),
    References(Position),
    Symbols,
    VisibleRange,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LanguageAnswer {
    Hover(LanguageHoverResult),
    Definition(LanguageDefinitionResult),
    References(LanguageReferencesResult),
    Symbols(LanguageSymbolsResult),
    VisibleRange(PathBuf, DocumentVisibleRangeResult),
}
