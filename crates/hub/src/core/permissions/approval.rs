//! Asks the user before an agent does something that needs a permission, and continues with the answer. The prompt is
//! shown in the agent's editor and to all watchers; the first answer counts, and arrives as a request of its own.

use linkspan_dialect::{Answer, CallId, Failure, FailureKind, Request};
use linkspan_editor_api as api;
use linkspan_editor_api::{AskOption, HookJoin, PermissionKind, RpcError, WindowEvent, errors};
use linkspan_review::{AgentId, SurfaceId, WindowId};

use crate::config::{Client, ClientsChange};
use crate::core::Core;
use crate::core::agents::{Agent, hooks};
use crate::core::contract::ConnectionId;
use crate::core::pending::{ClientsPurpose, ToolCall};
use crate::core::permissions::clients;
use crate::core::permissions::prompts::{
    AnswerError, PROMPTS_PER_AGENT, PROMPTS_PER_MINUTE, PROMPTS_PER_WINDOW, Prompt, permission_for,
};
use crate::core::principal::AgentPrincipal;
use crate::core::windows::Window;

/// Longer texts are not read before they are allowed.
const LONGEST_TEXT: usize = 64 * 1024;

/// The user is only asked: the agent does it by itself, or it is started.
fn is_done_elsewhere(request: &Request) -> bool {
    matches!(request, Request::Permission { .. } | Request::Start { .. } | Request::Consent { .. })
}

/// Whether this can be done in the window at all: the folder may no longer be trusted, or a rule may exclude it.
fn check_window(window: &Window, deed: PermissionKind, request: &Request) -> Result<(), Failure> {
    let has = window.capabilities;
    // The agent runs it by itself.
    let is_elsewhere = is_done_elsewhere(request);
    let can = match deed {
        PermissionKind::Command => is_elsewhere || window.runs_commands(),
        PermissionKind::Code => has.execute_code,
        PermissionKind::Edit => true,
        // A commit runs the hooks of the repository.
        PermissionKind::Git => window.runs_commands(),
    };
    let name = match deed {
        PermissionKind::Command if is_elsewhere => "running a command",
        PermissionKind::Command => "runInTerminal",
        PermissionKind::Code => "executeCode",
        PermissionKind::Edit => "editing without a review",
        PermissionKind::Git => "changing the git repository",
    };
    if window.config.rules_out(deed) {
        let message = format!(
            "{name} is ruled out by `consent.never` in config.toml or .linkspan.toml; the user is not asked"
        );
        return Err(Failure::new(FailureKind::Denied, message));
    }
    if !can {
        let message = format!("{name} is not supported by this editor ({})", window.editor.name);
        return Err(Failure::new(FailureKind::Unsupported, message));
    }
    Ok(())
}

/// The grant that covers this, if the user gave one before.
pub(in crate::core) fn grant_for(core: &Core, agent: &Agent, deed: PermissionKind) -> Option<api::Grant> {
    let window = core.windows.get(&agent.window)?;
    if !agent.introduced || window.config.rules_out(deed) {
        return None;
    }
    let times = (core.out.now_ms, core.out.config.agent_grace_seconds * 1000);
    core.permissions.grants.grant_for(&agent.principal(), &client(agent, window), deed, times)
}

fn client(agent: &Agent, window: &Window) -> Client {
    Client {
        name: agent.name.clone(),
        dialect: agent.session.dialect().name.to_owned(),
        folders: window.folders.clone(),
    }
}

/// The remembered grants are known: runs what is allowed, and asks the user about the rest.
pub(super) fn run_or_prompt(core: &mut Core, tool: ToolCall) {
    if !is_open(core, &tool) {
        return;
    }
    if let Err(failure) = check_supported(core, &tool) {
        return refuse(core, &tool, failure);
    }
    if let Err(failure) = check_prompt(core, &tool) {
        return core.agents.answer(&mut core.out, tool.agent, tool.call, &Answer::Failed(failure));
    }
    let (Some((deed, _)), Some(agent)) = (permission_for(&tool.request), core.agents.get(&tool.agent)) else {
        return;
    };
    // A grant for commands is not one for whatever an agent describes.
    let has_grant = !matches!(tool.request, Request::Start { .. } | Request::Consent { .. })
        && grant_for(core, agent, deed).is_some();
    if has_grant {
        return run(core, tool);
    }
    let (who, dialect) = (agent.principal(), agent.session.dialect().name);
    let prompts = &mut core.permissions.prompts;
    let lately = prompts.asked_lately(tool.agent, &who, core.out.now_ms);
    let here = prompts.asked_here_lately(who.window, core.out.now_ms);
    if lately >= PROMPTS_PER_MINUTE || here >= PROMPTS_PER_WINDOW {
        let message =
            format!("this agent asked the user {PROMPTS_PER_MINUTE} times within a minute; ask again later");
        return core.agents.fail(&mut core.out, tool.agent, tool.call, FailureKind::Denied, message);
    }
    let window = who.window;
    let can_remember = core.permissions.grants.remembered.is_ok()
        && core.windows.get(&window).is_some_and(|window| !window.folders.is_empty());
    let Some(prompt) = prompts.add(who, dialect, tool, can_remember, core.out.now_ms) else {
        return;
    };
    let (ask, asked) = (prompt.ask.clone(), prompt.ask.ask.clone());
    // An editor that is away is asked when it is back.
    if let Some(connection) = prompting_editor(core, window) {
        core.connections.send_request(&mut core.out, connection, &ask);
    }
    if let Some(asked) = summaries(core).into_iter().find(|summary| summary.ask == asked) {
        core.connections.publish(&mut core.out, window, WindowEvent::Asked { asked });
    }
}

fn prompting_editor(core: &Core, window: WindowId) -> Option<ConnectionId> {
    core.windows.get(&window).filter(|window| window.capabilities.questions)?.connection
}

/// The open prompts, oldest first.
pub(super) fn summaries(core: &Core) -> Vec<api::AskSummary> {
    let summary = |prompt: &Prompt| {
        let window = core.windows.get(&prompt.who.window);
        let folders = window.into_iter().flat_map(|window| &window.identity.folders);
        let api::UserAsk { ask, question, detail, options, labels: _ } = prompt.ask.clone();
        api::AskSummary {
            ask,
            window: prompt.who.window.to_string(),
            folders: folders.map(|folder| folder.display().to_string()).collect(),
            agent: prompt.who.name.clone(),
            dialect: prompt.dialect.to_owned(),
            deed: prompt.deed,
            question,
            detail,
            options,
            age_ms: core.out.now_ms.saturating_sub(prompt.asked_ms),
        }
    };
    core.permissions.prompts.open().map(summary).collect()
}

fn check_prompt(core: &Core, tool: &ToolCall) -> Result<(), Failure> {
    let Some((deed, text)) = permission_for(&tool.request) else { return Ok(()) };
    let refused = |kind, message: String| Err(Failure::new(kind, message));
    if core.agents.get(&tool.agent).is_some_and(|agent| !agent.introduced) {
        let message = "the user is shown which agent asks: send `initialize` first".to_owned();
        return refused(FailureKind::Denied, message);
    }
    if text.len() > LONGEST_TEXT {
        let message = format!("the request is too long to review ({} bytes); shorten it", text.len());
        return refused(FailureKind::TooLarge, message);
    }
    // In a terminal they are keys, so the command that runs would not be the one that was read.
    let is_key = |character: char| character.is_control() && character != '\n';
    let is_typed = deed == PermissionKind::Command && !is_done_elsewhere(&tool.request);
    if is_typed && text.contains(is_key) {
        let message = "`command` contains control characters; write it without them".to_owned();
        return refused(FailureKind::InvalidParams, message);
    }
    if core.permissions.prompts.open_of(tool.agent) >= PROMPTS_PER_AGENT {
        let message = format!("{PROMPTS_PER_AGENT} requests of this agent already wait for the user");
        return refused(FailureKind::Denied, message);
    }
    Ok(())
}

fn check_supported(core: &Core, tool: &ToolCall) -> Result<(), Failure> {
    let window = core.agents.get(&tool.agent).and_then(|agent| core.windows.get(&agent.window));
    match (permission_for(&tool.request), window) {
        (Some((deed, _)), Some(window)) => check_window(window, deed, &tool.request),
        _ => Ok(()),
    }
}

/// An agent that only asks for permission receives a no, and not a failure.
fn refuse(core: &mut Core, tool: &ToolCall, failure: Failure) {
    let answer = match is_done_elsewhere(&tool.request) {
        true => Answer::Permission { allowed: false, message: Some(failure.message) },
        false => Answer::Failed(failure),
    };
    core.agents.answer(&mut core.out, tool.agent, tool.call, &answer);
}

/// Whether its agent still waits for the answer.
fn is_open(core: &Core, tool: &ToolCall) -> bool {
    let agent = core.agents.get(&tool.agent);
    agent.is_some_and(|agent| agent.session.open_calls().any(|open| open == tool.call))
}

fn run(core: &mut Core, tool: ToolCall) {
    if !is_open(core, &tool) {
        return;
    }
    if let Err(failure) = check_supported(core, &tool) {
        return refuse(core, &tool, failure);
    }
    core.run_permitted(tool);
}

pub(super) fn answer_prompt(
    core: &mut Core,
    connection: ConnectionId,
    ask: &str,
    option: Option<AskOption>,
    prompting: Option<WindowId>,
) -> Result<api::UserAnsweredResult, RpcError> {
    let may_answer = |prompt: &Prompt| prompting.is_none_or(|window| prompt.who.window == window);
    let prompt = match core.permissions.prompts.answer(ask, option, may_answer) {
        Ok(prompt) => prompt,
        Err(AnswerError::Closed) => return Ok(api::UserAnsweredResult { taken: false }),
        Err(AnswerError::NotOffered) => {
            let message = "this prompt does not offer that answer; see its options";
            return Err(RpcError::new(errors::INVALID_PARAMS, message));
        }
    };
    if prompting.is_none() {
        unask(core, &prompt);
    }
    tell_closed(core, &prompt, option, Some(connection));
    let Prompt { who, deed, tool, .. } = prompt;
    let denied = |message: &str| Err(Failure::new(FailureKind::Denied, message));
    let allowed = match option {
        Some(AskOption::AllowOnce) => Ok(()),
        Some(AskOption::AllowSession) => {
            core.permissions.grants.allow_for_session(who, deed);
            Ok(())
        }
        Some(AskOption::AllowAlways) => {
            remember(core, tool.agent, who, deed);
            Ok(())
        }
        Some(AskOption::Deny) => denied("the user refused it; do not ask again for the same"),
        None => denied("the user closed the prompt without an answer; ask again later"),
    };
    let is_open_question = option.is_none() && is_done_elsewhere(&tool.request);
    match allowed {
        Ok(()) => {
            run(core, tool);
            run_newly_granted(core);
        }
        // It was not denied either: the agent may ask in its own terminal.
        Err(Failure { message, .. }) if is_open_question => {
            core.agents.fail(&mut core.out, tool.agent, tool.call, FailureKind::Withdrawn, message);
        }
        Err(failure) => refuse(core, &tool, failure),
    }
    Ok(api::UserAnsweredResult { taken: true })
}

fn remember(core: &mut Core, agent: AgentId, who: AgentPrincipal, deed: PermissionKind) {
    let Some(agent) = core.agents.get(&agent) else { return };
    let Some(window) = core.windows.get(&agent.window) else { return };
    let client = client(agent, window);
    let unix_ms = core.out.unix_ms();
    let change = ClientsChange::Remember { client, deeds: vec![deed], unix_ms };
    clients::change(core, change, ClientsPurpose::Answer { who, deed });
}

/// Closes the prompts that a new grant covers, and runs what they are about.
pub(super) fn run_newly_granted(core: &mut Core) {
    let granted = |prompt: &&Prompt| {
        if matches!(prompt.tool.request, Request::Start { .. } | Request::Consent { .. }) {
            return false;
        }
        let agent = core.agents.get(&prompt.tool.agent);
        agent.is_some_and(|agent| grant_for(core, agent, prompt.deed).is_some())
    };
    let granted: Vec<String> =
        core.permissions.prompts.open().filter(granted).map(|prompt| prompt.ask.ask.clone()).collect();
    for prompt in core.permissions.prompts.drain(|prompt| granted.contains(&prompt.ask.ask)) {
        close_prompt(core, &prompt);
        run(core, prompt.tool);
    }
}

/// The editor of this window is back, or another one attached.
pub(super) fn show_prompts(core: &mut Core, id: WindowId) {
    let Some(window) = core.windows.get(&id) else { return };
    let cannot = |prompt: &Prompt| {
        prompt.who.window == id && check_window(window, prompt.deed, &prompt.tool.request).is_err()
    };
    for prompt in core.permissions.prompts.drain(cannot) {
        close_prompt(core, &prompt);
        if let Err(failure) = check_supported(core, &prompt.tool) {
            refuse(core, &prompt.tool, failure);
        }
    }
    let Some(connection) = prompting_editor(core, id) else { return };
    let open = core.permissions.prompts.open().filter(|prompt| prompt.who.window == id);
    for ask in open.map(|prompt| prompt.ask.clone()).collect::<Vec<_>>() {
        core.connections.send_request(&mut core.out, connection, &ask);
    }
}

pub(super) fn close_prompts(core: &mut Core, agent: AgentId, call: Option<CallId>) {
    for prompt in core.permissions.prompts.drain_of(agent, call) {
        close_prompt(core, &prompt);
    }
}

/// The agent of this hook went on, and does not wait for an answer; returns how many prompts were open.
pub(in crate::core) fn withdraw_prompts(core: &mut Core, agent: AgentId) -> usize {
    let prompts = core.permissions.prompts.drain_of(agent, None);
    for prompt in &prompts {
        close_prompt(core, prompt);
        let message = "the agent went on before anyone answered";
        core.agents.fail(&mut core.out, agent, prompt.tool.call, FailureKind::Withdrawn, message);
    }
    prompts.len()
}

/// What was allowed for this session of an agent ends with it.
pub(in crate::core) fn hook_session_ended(core: &mut Core, hook: &HookJoin) {
    core.permissions.grants.session_ended(&hooks::grants_key(hook));
}

/// Everyone who shows the prompt removes it.
fn close_prompt(core: &mut Core, prompt: &Prompt) {
    unask(core, prompt);
    tell_closed(core, prompt, None, None);
}

/// An editor that lists all prompts in one place, as in its chat, shows this one in another place too.
fn unask(core: &mut Core, prompt: &Prompt) {
    if let Some(connection) = prompting_editor(core, prompt.who.window) {
        let unask = api::UserUnask { ask: prompt.ask.ask.clone() };
        core.connections.send_request(&mut core.out, connection, &unask);
    }
}

fn tell_closed(core: &mut Core, prompt: &Prompt, option: Option<AskOption>, by: Option<ConnectionId>) {
    let (ask, window) = (prompt.ask.ask.clone(), prompt.who.window);
    let by = by.filter(|_| option.is_some());
    let by = by.map(|by| core.windows.surface_name(&core.connections, SurfaceId(by.0)));
    let closed = WindowEvent::AskOver { ask, agent: prompt.who.name.clone(), option, by };
    core.connections.publish(&mut core.out, window, closed);
}

pub(super) fn agent_left(core: &mut Core, gone: &AgentPrincipal, said_goodbye: bool) {
    // Two agents of the same name cannot be told apart.
    if !core.agents.values().any(|other| other.principal() == *gone) {
        core.permissions.grants.agent_left(gone, said_goodbye, core.out.now_ms);
    }
}

/// A grant for the old name would have no owner, so its prompts are closed.
pub(super) fn agent_renamed(core: &mut Core, id: AgentId, before: &AgentPrincipal) {
    if core.agents.get(&id).is_none_or(|agent| agent.principal() == *before) {
        return;
    }
    for prompt in core.permissions.prompts.drain_of(id, None) {
        close_prompt(core, &prompt);
        let message = "the agent changed its name; ask again";
        core.agents.fail(&mut core.out, id, prompt.tool.call, FailureKind::Denied, message);
    }
    agent_left(core, before, true);
}
