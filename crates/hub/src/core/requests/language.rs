//! Questions about code, answered by the editor's language servers. They change nothing: a rename becomes a change of
//! each file, which the user decides.

use std::path::Path;

use linkspan_dialect::{Answer, FailureKind, FileEdit, LanguageAnswer, LanguageQuery, Request};
use linkspan_editor_api as api;
use serde_json::value::RawValue;

use crate::core::Core;
use crate::core::convert::unanswered;
use crate::core::pending::{NoAnswer, ToolCall, read_answer};
use crate::core::requests::active_file::splice;
use crate::core::requests::ask_editor;
use crate::core::windows::Window;

pub(super) fn ask_about(
    core: &mut Core,
    tool: ToolCall,
    path: String,
    question: LanguageQuery,
    has: api::Capabilities,
) {
    let can = if question == LanguageQuery::VisibleRange { has.documents } else { has.language };
    if !can {
        return core.agents.fail(
            &mut core.out,
            tool.agent,
            tool.call,
            FailureKind::Unsupported,
            "this editor does not support that",
        );
    }
    match question {
        LanguageQuery::Hover(position) => ask_editor(core, tool, &api::LanguageHover { path, position }),
        LanguageQuery::Definition(position) => {
            ask_editor(core, tool, &api::LanguageDefinition { path, position })
        }
        LanguageQuery::References(position) => {
            ask_editor(core, tool, &api::LanguageReferences { path, position, include_declaration: false });
        }
        LanguageQuery::Symbols => ask_editor(core, tool, &api::LanguageSymbols::Document { path }),
        LanguageQuery::VisibleRange => ask_editor(core, tool, &api::DocumentVisibleRange { path }),
    }
}

/// The editor's answer, without locations that must not leave the window.
pub(in crate::core) fn known(
    path: &Path,
    question: LanguageQuery,
    answer: Result<&RawValue, NoAnswer>,
    window: &Window,
) -> Result<LanguageAnswer, NoAnswer> {
    let told = |location: &api::Location| !window.policy.denies(&location.path);
    Ok(match question {
        LanguageQuery::Hover(_) => LanguageAnswer::Hover(read_answer(answer)?),
        LanguageQuery::Definition(_) => {
            let mut found: api::LanguageDefinitionResult = read_answer(answer)?;
            found.locations.retain(told);
            LanguageAnswer::Definition(found)
        }
        LanguageQuery::References(_) => {
            let mut found: api::LanguageReferencesResult = read_answer(answer)?;
            found.locations.retain(told);
            LanguageAnswer::References(found)
        }
        LanguageQuery::Symbols => {
            let mut found: api::LanguageSymbolsResult = read_answer(answer)?;
            found.symbols.retain(|symbol| told(&symbol.location));
            LanguageAnswer::Symbols(found)
        }
        LanguageQuery::VisibleRange => LanguageAnswer::VisibleRange(path.to_owned(), read_answer(answer)?),
    })
}

/// The editor told what a rename would change.
pub(super) fn renamed(core: &mut Core, tool: ToolCall, answer: Result<&RawValue, NoAnswer>) {
    let ToolCall { agent, call, request: Request::Rename { path, new_name, .. } } = tool else { return };
    let found: api::LanguageRenameResult = match read_answer(answer) {
        Ok(found) => found,
        Err(no_answer) => {
            return core.agents.answer(&mut core.out, agent, call, &Answer::Failed(unanswered(&no_answer)));
        }
    };
    if found.files.is_empty() {
        let why = found.message.map(|why| format!(": {}", why.trim_end_matches('.'))).unwrap_or_default();
        let message = format!(
            "the editor cannot rename the symbol at this place of {}{why}; check the position, and whether a language \
             server supports this file",
            path.display()
        );
        return core.agents.fail(&mut core.out, agent, call, FailureKind::NotFound, message);
    }
    let files = found.files.into_iter().map(|file| FileEdit {
        path: file.path.into(),
        edits: file.edits.into_iter().map(|edit| splice(edit.range, edit.new_text, None)).collect(),
        may_create: false,
    });
    let (files, label) = (files.collect(), format!("Rename to {new_name}"));
    core.handle_call(
        agent,
        call,
        Request::Edit { files, label, direct: false, inline: false, may_be_made: false },
    );
}
