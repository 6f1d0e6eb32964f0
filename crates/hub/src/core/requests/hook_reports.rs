//! What agents report through their hooks: that their turn ended, that they wait, that they edited. What a hook still asks
//! although its agent went on is withdrawn; the user is told who waits and who is done.

use std::path::{Path, PathBuf};

use linkspan_editor_api as api;
use linkspan_editor_api::{
    HookJoin, HookReport, HookReportKind, HookReportResult, Message, RequestId, RpcError, WindowEvent,
    errors, labels,
};
use linkspan_review::{AgentId, ReviewId, WindowId};

use crate::core::Core;
use crate::core::agents::{display_name, hooks, shortened};
use crate::core::contract::ConnectionId;
use crate::core::permissions::approval;
use crate::core::requests::tabs;
use crate::core::reviews::{agent_writes, followers};
use crate::core::windows::Window;

/// What fits in a status bar or a notification.
const LONGEST_MESSAGE: usize = 500;

/// An agent edits few files at once.
const MOST_PATHS: usize = 1000;

pub(super) fn handle(
    core: &mut Core,
    connection: ConnectionId,
    request: RequestId,
    report: HookReport,
) -> Result<(), RpcError> {
    hooks::check_id("agent", &report.agent)?;
    hooks::check_id("session", &report.session)?;
    if report.paths.len() > MOST_PATHS {
        let message = format!("`paths` has more than {MOST_PATHS} files");
        return Err(RpcError::new(errors::INVALID_PARAMS, message));
    }
    let HookReport { agent, session, cwd, event, message, paths } = report;
    let hook = HookJoin { agent: display_name(&agent), session };
    let withdrawn = match event {
        HookReportKind::Prompt => withdraw_all(core, &hook),
        HookReportKind::Ended => {
            let withdrawn = withdraw_all(core, &hook);
            approval::hook_session_ended(core, &hook);
            withdrawn
        }
        HookReportKind::Edited => {
            files_edited(core, &hook, &paths);
            0
        }
        // A hook that still waits belongs to an agent in the background.
        HookReportKind::Stopped | HookReportKind::Waiting => 0,
    };
    let withdrawn = u32::try_from(withdrawn).unwrap_or(u32::MAX);
    core.out.send(connection, &Message::response(request, &HookReportResult { withdrawn }));
    let name = hook.agent;
    match event {
        HookReportKind::Waiting => {
            let message = shortened(message.unwrap_or_default(), LONGEST_MESSAGE);
            let text = labels::agent_waiting(&api::visible::name(&name), &api::visible::name(&message));
            tell_user(core, Path::new(&cwd), WindowEvent::AgentWaiting { name, message }, text);
        }
        HookReportKind::Stopped => {
            let text = labels::agent_done(&api::visible::name(&name));
            tell_user(core, Path::new(&cwd), WindowEvent::AgentDone { name }, text);
        }
        HookReportKind::Prompt | HookReportKind::Ended | HookReportKind::Edited => {}
    }
    Ok(())
}

/// The agent went on: whatever its hooks still ask was decided in another way, or no longer matters.
fn withdraw_all(core: &mut Core, hook: &HookJoin) -> usize {
    let mut count = 0;
    for id in core.agents.hooks_of(hook) {
        count += withdraw_reviews(core, id);
        count += tabs::withdraw_unread(core, id, |_| true);
        count += approval::withdraw_prompts(core, id);
    }
    count
}

/// What the agent wrote is looked at. A hook that still waits asks about another edit, unless the file holds its change.
fn files_edited(core: &mut Core, hook: &HookJoin, paths: &[String]) {
    let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
    let windows = core.windows.iter().map(|(_, window)| window);
    let real = windows.flat_map(|window| paths.iter().map(|path| window.real_path(path)));
    let real: Vec<PathBuf> = real.chain(paths.iter().cloned()).collect();
    for id in core.agents.hooks_of(hook) {
        for review in waiting_reviews(core, id) {
            if core.reviews.get(review).is_some_and(|review| real.contains(&review.path)) {
                agent_writes::look_at_pending(core, review);
            }
        }
    }
    agent_writes::read_those(core, |path| real.iter().any(|edited| edited == path));
}

/// What this agent waits for and nobody has decided.
fn waiting_reviews(core: &Core, id: AgentId) -> Vec<ReviewId> {
    let waiting = core.agents.get(&id).into_iter().flat_map(|agent| &agent.waiting);
    let waiting = waiting.map(|(review, _)| *review);
    let mut waiting: Vec<ReviewId> = waiting.filter(|review| core.reviews.is_undecided(*review)).collect();
    waiting.dedup();
    waiting
}

fn withdraw_reviews(core: &mut Core, id: AgentId) -> usize {
    let withdrawn = waiting_reviews(core, id);
    for review in &withdrawn {
        followers::withdraw(core, id, *review);
    }
    withdrawn.len()
}

/// In the window that has the agent's folder.
fn tell_user(core: &mut Core, cwd: &Path, event: WindowEvent, text: String) {
    let Some(id) = window_around(core, cwd) else { return };
    core.connections.publish(&mut core.out, id, event);
    let window = core.windows.get(&id).filter(|window| window.capabilities.messages);
    if let Some(connection) = window.and_then(|window| window.connection) {
        let message = api::StatusMessage { text, level: api::MessageLevel::Info };
        core.connections.send_request(&mut core.out, connection, &message);
    }
}

/// The nearest folder around `cwd`; of windows with the same folder, the newest whose editor is there.
fn window_around(core: &Core, cwd: &Path) -> Option<WindowId> {
    let depth = |window: &Window| {
        let folders = window.identity.folders.iter().chain(&window.folders);
        let around = folders.filter(|folder| cwd.starts_with(folder));
        around.map(|folder| folder.components().count()).max()
    };
    let around = core
        .windows
        .iter()
        .filter_map(|(id, window)| Some((depth(window)?, window.connection.is_some(), *id)));
    around.max().map(|(_, _, id)| id)
}
