//! Diagnostics for agents that do not ask for them: whenever an editor reports that those of a file changed, it is asked
//! for them, one file at a time, so that a busy language server makes no queue.

use std::path::PathBuf;

use linkspan_dialect::EditorEvent;
use linkspan_editor_api as api;
use linkspan_review::WindowId;

use crate::core::Core;
use crate::core::agents::{Transport, diagnostics_limits};
use crate::core::pending::{AfterAnswer, NoAnswer};

pub(super) fn add(core: &mut Core, id: WindowId, paths: &[PathBuf]) {
    let is_followed =
        core.agents.of_window(id).any(|(_, agent)| matches!(agent.transport, Transport::SocketStream));
    if let Some(window) = core.windows.get_mut(&id)
        && is_followed
        && window.capabilities.diagnostics
    {
        window.changed_diagnostics.add(paths);
        ask_next(core, id);
    }
}

fn ask_next(core: &mut Core, id: WindowId) {
    let Some(window) = core.windows.get_mut(&id) else { return };
    let Some(connection) = window.connection else { return };
    let Some(path) = window.changed_diagnostics.next() else { return };
    let get = api::DiagnosticsGet { path: Some(path.display().to_string()), wait_ms: None };
    core.ask(connection, &get, AfterAnswer::ChangedDiagnostics(id));
}

/// The editor answered, or did not.
pub(super) fn known(core: &mut Core, id: WindowId, answer: Result<api::DiagnosticsGetResult, NoAnswer>) {
    let Some(window) = core.windows.get_mut(&id) else { return };
    window.changed_diagnostics.answered(answer.is_ok());
    let Ok(mut found) = answer else { return };
    found.files.retain(|file| !window.policy.denies(&file.path));
    diagnostics_limits::bounded(&mut found.files);
    if !found.files.is_empty() {
        core.agents.notify_window(&mut core.out, id, &EditorEvent::Diagnostics(found.files));
    }
    ask_next(core, id);
}
