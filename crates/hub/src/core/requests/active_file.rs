//! Requests about the active file: the editor reports which file that is and where the cursor is, and they become
//! requests about that file.

use linkspan_dialect::{ActiveFileRequest, Answer, Failure, FailureKind, FileEdit, LanguageQuery, Request};
use linkspan_editor_api as api;
use linkspan_review::{Splice, TextPosition};
use serde_json::value::RawValue;

use crate::core::Core;
use crate::core::convert::unanswered;
use crate::core::pending::{NoAnswer, ToolCall, read_answer};
use crate::core::requests::ask_editor;

pub(super) fn ask_for_active(core: &mut Core, tool: ToolCall, has: api::Capabilities) {
    let Request::ActiveFile(active) = &tool.request else { return };
    match has.selection {
        true => ask_editor(core, tool, &api::SelectionCurrent {}),
        false => {
            let answer = nothing_active(active);
            core.agents.answer(&mut core.out, tool.agent, tool.call, &answer);
        }
    }
}

pub(super) fn active_known(core: &mut Core, tool: ToolCall, answer: Result<&RawValue, NoAnswer>) {
    let ToolCall { agent, call, request: Request::ActiveFile(active) } = tool else { return };
    let selection: Option<api::Selection> = match read_answer(answer) {
        Ok(selection) => selection,
        Err(no_answer) => {
            return core.agents.answer(&mut core.out, agent, call, &Answer::Failed(unanswered(&no_answer)));
        }
    };
    let window = core.agents.get(&agent).and_then(|agent| core.windows.get(&agent.window));
    let told = |selection: &api::Selection| {
        window
            .is_some_and(|window| window.contains(&selection.path) && !window.policy.denies(&selection.path))
    };
    match selection.filter(told) {
        Some(selection) => core.handle_call(agent, call, about(active, selection)),
        None => core.agents.answer(&mut core.out, agent, call, &nothing_active(&active)),
    }
}

/// The editor's formatter has returned its edits.
pub(super) fn formatted(core: &mut Core, tool: ToolCall, answer: Result<&RawValue, NoAnswer>) {
    let ToolCall { agent, call, request: Request::Format { path } } = tool else { return };
    let edits: Vec<api::TextEdit> = match read_answer::<api::DocumentFormatResult>(answer) {
        Ok(formatted) => formatted.edits,
        Err(no_answer) => {
            return core.agents.answer(&mut core.out, agent, call, &Answer::Failed(unanswered(&no_answer)));
        }
    };
    if edits.is_empty() {
        return core.agents.answer(&mut core.out, agent, call, &Answer::Unchanged { path });
    }
    let edits = edits.into_iter().map(|edit| splice(edit.range, edit.new_text, None)).collect();
    let label = format!("Format {}", path.display());
    let files = vec![FileEdit { path, edits, may_create: false }];
    core.handle_call(
        agent,
        call,
        Request::Edit { files, label, direct: true, inline: false, may_be_made: false },
    );
}

/// If no file is active, questions have an answer and edits have none.
fn nothing_active(active: &ActiveFileRequest) -> Answer {
    match active {
        ActiveFileRequest::Text | ActiveFileRequest::VisibleRange => Answer::NoActiveFile,
        _ => {
            let message = "no file of the workspace is active in the editor; name one with `path`";
            Answer::Failed(Failure::new(FailureKind::NotFound, message))
        }
    }
}

fn about(active: ActiveFileRequest, selection: api::Selection) -> Request {
    let path = selection.path.into();
    let cursor = if selection.reversed { selection.range.start } else { selection.range.end };
    let edit = |path, edit, label| Request::Edit {
        files: vec![FileEdit { path, edits: vec![edit], may_create: false }],
        label,
        direct: true,
        inline: false,
        may_be_made: false,
    };
    match active {
        ActiveFileRequest::Text => Request::ReadFile { path, lines: (0, None) },
        ActiveFileRequest::VisibleRange => Request::Language { path, question: LanguageQuery::VisibleRange },
        ActiveFileRequest::Reveal { line } => Request::Reveal { path, line },
        ActiveFileRequest::Hover { at } => {
            Request::Language { path, question: LanguageQuery::Hover(at.unwrap_or(cursor)) }
        }
        ActiveFileRequest::Definition { at } => {
            Request::Language { path, question: LanguageQuery::Definition(at.unwrap_or(cursor)) }
        }
        ActiveFileRequest::Insert { text, at, label } => {
            let at = at.unwrap_or(cursor);
            edit(path, splice(api::Range { start: at, end: at }, text, None), label)
        }
        ActiveFileRequest::ReplaceSelection { text, label } => {
            edit(path, splice(selection.range, text, Some(selection.text)), label)
        }
        ActiveFileRequest::Format => Request::Format { path },
    }
}

pub(super) fn splice(range: api::Range, text: String, expects: Option<String>) -> Splice {
    let place = |position: api::Position| TextPosition { line: position.line, character: position.character };
    Splice { from: place(range.start), to: place(range.end), text, expects }
}
