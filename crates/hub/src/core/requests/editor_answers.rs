//! What an editor answered, in the agent's terms.

use linkspan_dialect::{Answer, Failure, FailureKind, Request, TerminalContents};
use linkspan_editor_api as api;
use serde_json::value::RawValue;

use crate::core::agents::diagnostics_limits;
use crate::core::pending::{NoAnswer, read_answer};
use crate::core::requests::language::known;
use crate::core::windows::Window;

/// The editor's answer in the agent's terms, without files that must not leave the window.
pub(super) fn encode(
    request: &Request,
    answer: Result<&RawValue, NoAnswer>,
    window: &Window,
) -> Result<Answer, NoAnswer> {
    Ok(match request {
        Request::OpenFile { path, .. } => {
            let opened: api::DocumentOpenResult = read_answer(answer)?;
            Answer::Opened { path: path.clone(), language: opened.language, line_count: opened.line_count }
        }
        Request::Diagnostics { .. } => {
            let mut found: api::DiagnosticsGetResult = read_answer(answer)?;
            found.files.retain(|file| !window.policy.denies(&file.path));
            diagnostics_limits::bounded(&mut found.files);
            Answer::Diagnostics(found.files)
        }
        Request::CurrentSelection | Request::LatestSelection => {
            let selection: Option<api::Selection> = read_answer(answer)?;
            Answer::Selection(selection.filter(|selection| !window.policy.denies(&selection.path)))
        }
        Request::OpenEditors => {
            let mut open: api::DocumentsListResult = read_answer(answer)?;
            open.documents.retain(|document| !window.policy.denies(&document.path));
            Answer::Editors(open.documents)
        }
        Request::CheckDirty { path } => {
            let api::DocumentDirtyResult { open, dirty, untitled } = read_answer(answer)?;
            Answer::Dirty { path: path.clone(), open, dirty, untitled }
        }
        Request::Save { path } => {
            let saved: api::DocumentSaveResult = read_answer(answer)?;
            match saved.message {
                Some(message) if !saved.saved => Answer::Failed(Failure::new(FailureKind::Io, message)),
                _ => Answer::Saved { path: path.clone(), saved: saved.saved, open: saved.open },
            }
        }
        Request::ExecuteCode { .. } => {
            let executed: api::CodeExecuteResult = read_answer(answer)?;
            Answer::Executed(executed.outputs.join("\n"))
        }
        Request::RunInTerminal { .. } => Answer::Ran(read_answer(answer)?),
        Request::CreateTerminal { name, .. } => {
            let api::TerminalCreateResult { terminal } = read_answer(answer)?;
            let name = name.clone().unwrap_or_else(|| terminal.clone());
            Answer::TerminalMade { terminal, name }
        }
        Request::TerminalOutput { terminal } => {
            let api::TerminalOutputResult { output, running, exit_code } = read_answer(answer)?;
            let terminal = terminal.clone().unwrap_or_default();
            Answer::TerminalContents(TerminalContents {
                terminal,
                output,
                running,
                exit_code,
                truncated: false,
            })
        }
        Request::Reveal { .. } => {
            let api::DocumentRevealResult { revealed } = read_answer(answer)?;
            Answer::Revealed(revealed)
        }
        Request::Language { path, question } => Answer::Language(known(path, *question, answer, window)?),
        Request::ActiveFile(_)
        | Request::Format { .. }
        | Request::Rename { .. }
        | Request::ReadFile { .. }
        | Request::Workspace(_)
        | Request::Propose { .. }
        | Request::Record { .. }
        | Request::Patch { .. }
        | Request::Edit { .. }
        | Request::Message { .. }
        | Request::Permission { .. }
        | Request::Start { .. }
        | Request::Consent { .. }
        | Request::Compare { .. }
        | Request::WorkspaceFolders
        | Request::EditorInfo
        | Request::NameSession { .. }
        | Request::CloseTab { .. }
        | Request::CloseAllDiffs => {
            Answer::Failed(Failure::new(FailureKind::Internal, "no editor answers this"))
        }
    })
}
