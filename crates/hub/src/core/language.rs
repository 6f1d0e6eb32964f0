//! What agents ask about a program, answered by the editor's language servers. Reads only.

use std::path::Path;

use linkspan_dialect::{FailureKind, Known, Question};
use linkspan_editor_api as api;
use serde_json::value::RawValue;

use super::Core;
use super::editor::{NoAnswer, read_answer};
use super::tools::ToolCall;
use super::windows::Window;

impl Core {
    pub(super) fn ask_about(
        &mut self,
        tool: ToolCall,
        path: String,
        question: Question,
        has: api::Capabilities,
    ) {
        let can = if question == Question::VisibleRange { has.documents } else { has.language };
        if !can {
            return self.fail(tool.agent, tool.call, FailureKind::Unsupported, "this editor cannot tell");
        }
        match question {
            Question::Hover(position) => self.ask_for(tool, &api::LanguageHover { path, position }),
            Question::Definition(position) => self.ask_for(tool, &api::LanguageDefinition { path, position }),
            Question::References(position) => {
                self.ask_for(tool, &api::LanguageReferences { path, position, include_declaration: false });
            }
            Question::Symbols => self.ask_for(tool, &api::LanguageSymbols::Document { path }),
            Question::VisibleRange => self.ask_for(tool, &api::DocumentVisibleRange { path }),
        }
    }
}

/// What the editor knows, without the places that may not be spoken of.
pub(super) fn known(
    path: &Path,
    question: Question,
    answer: Result<Box<RawValue>, NoAnswer>,
    window: &Window,
) -> Result<Known, NoAnswer> {
    let told = |location: &api::Location| !window.policy.denies(&location.path);
    Ok(match question {
        Question::Hover(_) => Known::Hover(read_answer(answer)?),
        Question::Definition(_) => {
            let mut found: api::LanguageDefinitionResult = read_answer(answer)?;
            found.locations.retain(told);
            Known::Definition(found)
        }
        Question::References(_) => {
            let mut found: api::LanguageReferencesResult = read_answer(answer)?;
            found.locations.retain(told);
            Known::References(found)
        }
        Question::Symbols => {
            let mut found: api::LanguageSymbolsResult = read_answer(answer)?;
            found.symbols.retain(|symbol| told(&symbol.location));
            Known::Symbols(found)
        }
        Question::VisibleRange => Known::VisibleRange(path.to_owned(), read_answer(answer)?),
    })
}
