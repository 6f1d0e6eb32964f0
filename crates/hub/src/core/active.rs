//! Requests about the file that the person looks at: the editor says which it is and where the cursor stands, and
//! they become requests about that file.

use linkspan_dialect::{Active, Answer, Failure, FailureKind, FileEdit, Question, Request};
use linkspan_editor_api as api;
use linkspan_review::{Place, Splice};
use serde_json::value::RawValue;

use super::Core;
use super::editor::{NoAnswer, read_answer};
use super::tools::{ToolCall, unanswered};

impl Core {
    pub(super) fn ask_for_active(&mut self, tool: ToolCall, has: api::Capabilities) {
        let Request::Active(active) = &tool.request else { return };
        match has.selection {
            true => self.ask_for(tool, &api::SelectionCurrent {}),
            false => {
                let answer = nothing_active(active);
                self.answer(tool.agent, tool.call, &answer);
            }
        }
    }

    pub(super) fn active_known(&mut self, tool: ToolCall, answer: Result<Box<RawValue>, NoAnswer>) {
        let ToolCall { agent, call, request: Request::Active(active) } = tool else { return };
        let selection: Option<api::Selection> = match read_answer(answer) {
            Ok(selection) => selection,
            Err(no_answer) => {
                return self.answer(agent, call, &Answer::Failed(unanswered(&no_answer)));
            }
        };
        let window = self.agents.get(&agent).and_then(|agent| self.windows.get(&agent.window));
        let told = |selection: &api::Selection| {
            window.is_some_and(|window| window.has(&selection.path) && !window.policy.denies(&selection.path))
        };
        match selection.filter(told) {
            Some(selection) => self.tool_called(agent, call, about(active, selection)),
            None => self.answer(agent, call, &nothing_active(&active)),
        }
    }

    /// The editor's formatter has said what it would change.
    pub(super) fn formatted(&mut self, tool: ToolCall, answer: Result<Box<RawValue>, NoAnswer>) {
        let ToolCall { agent, call, request: Request::Format { path } } = tool else { return };
        let edits: Vec<api::TextEdit> = match read_answer::<api::DocumentFormatResult>(answer) {
            Ok(formatted) => formatted.edits,
            Err(no_answer) => {
                return self.answer(agent, call, &Answer::Failed(unanswered(&no_answer)));
            }
        };
        if edits.is_empty() {
            return self.answer(agent, call, &Answer::Unchanged { path });
        }
        let edits = edits.into_iter().map(|edit| splice(edit.range, edit.new_text, None)).collect();
        let label = format!("Format {}", path.display());
        let files = vec![FileEdit { path, edits, may_create: false }];
        self.tool_called(
            agent,
            call,
            Request::Edit { files, label, direct: true, inline: false, may_be_made: false },
        );
    }
}

/// Questions have an answer where nothing is active, wishes have not.
fn nothing_active(active: &Active) -> Answer {
    match active {
        Active::Text | Active::VisibleRange => Answer::NoActiveFile,
        _ => {
            let message = "no file of the workspace is active in the editor; name one with `path`";
            Answer::Failed(Failure::new(FailureKind::NotFound, message))
        }
    }
}

fn about(active: Active, selection: api::Selection) -> Request {
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
        Active::Text => Request::ReadFile { path, lines: (0, None) },
        Active::VisibleRange => Request::Language { path, question: Question::VisibleRange },
        Active::Reveal { line } => Request::Reveal { path, line },
        Active::Hover { at } => Request::Language { path, question: Question::Hover(at.unwrap_or(cursor)) },
        Active::Definition { at } => {
            Request::Language { path, question: Question::Definition(at.unwrap_or(cursor)) }
        }
        Active::Insert { text, at, label } => {
            let at = at.unwrap_or(cursor);
            edit(path, splice(api::Range { start: at, end: at }, text, None), label)
        }
        Active::ReplaceSelection { text, label } => {
            edit(path, splice(selection.range, text, Some(selection.text)), label)
        }
        Active::Format => Request::Format { path },
    }
}

fn splice(range: api::Range, text: String, expects: Option<String>) -> Splice {
    let place = |position: api::Position| Place { line: position.line, character: position.character };
    Splice { from: place(range.start), to: place(range.end), text, expects }
}
