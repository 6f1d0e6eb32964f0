//! Notices for the user, in editors that can show them: each once.

use std::path::Path;

use linkspan_dialect::Failure;
use linkspan_editor_api as api;
use linkspan_review::AgentId;

use crate::core::Core;

/// How many files are remembered; after that, notices are repeated.
const FILES_KNOWN: usize = 256;

/// What fits in a status bar or a notification.
const LONGEST_MESSAGE: usize = 500;

/// Shows a message of an agent.
pub(super) fn notify_user(core: &mut Core, agent: AgentId, text: &str, level: api::MessageLevel) {
    let Some(agent) = core.agents.get(&agent) else { return };
    let Some(window) = core.windows.get(&agent.window) else { return };
    let Some(connection) = window.connection.filter(|_| window.capabilities.messages) else { return };
    let text: String = text.chars().take(LONGEST_MESSAGE).collect();
    let text = format!("{}: {}", api::visible::name(&agent.name), api::visible::name(&text));
    core.connections.send_request(&mut core.out, connection, &api::StatusMessage { text, level });
}

/// A file of this size is not reviewed; without a notice, the user would wait for a change that never comes.
pub(super) fn notify_too_large(core: &mut Core, agent: AgentId, path: &Path, failure: &Failure) {
    let Some(agent) = core.agents.get(&agent) else { return };
    let Some(window) = core.windows.get_mut(&agent.window) else { return };
    let Some(connection) = window.connection.filter(|_| window.capabilities.messages) else { return };
    if window.too_large.len() >= FILES_KNOWN {
        window.too_large.clear();
    }
    if !window.too_large.insert(path.to_owned()) {
        return;
    }
    let name = api::visible::name(&agent.name);
    let text = format!("{name} could not propose a change: {}", api::visible::name(&failure.message));
    let message = api::StatusMessage { text, level: api::MessageLevel::Warning };
    core.connections.send_request(&mut core.out, connection, &message);
}
