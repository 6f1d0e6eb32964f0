//! The life of the agent of a conversation: looked up, asked about, started, given prompts one at a time, and ended.

use std::path::Path;

use linkspan_dialect::{ACP, ChatCommand, Request};
use linkspan_editor_api::{
    ChatAgent, ChatAgentsResult, ChatItem, ChatStartResult, ChatState, Message, errors,
};
use linkspan_review::{AgentId, WindowId};

use super::chat::{Chat, Live};
use super::{Lookup, record};
use crate::core::Core;
use crate::core::agents::session;
use crate::core::contract::{Action, ChildCommand, HostedAgent, Ticket};
use crate::core::pending::ToolCall;
use crate::core::timers::Due;

/// How long an agent may take from its start to its first prompt. Some are slow programs.
const BEGIN_MS: u64 = 120_000;

/// The window that has the folder, or why there is none.
pub(super) fn window_for(core: &Core, folder: &Path) -> Result<WindowId, String> {
    core.windows.for_folder(folder, ACP.name).ok_or_else(|| {
        format!(
            "no window has the folder {}: open it in an editor or with `linkspan serve`, and see `dialects_off`",
            folder.display()
        )
    })
}

/// Asks the edge which agents there are.
pub(super) fn look_up(core: &mut Core, purpose: Lookup) {
    let ticket = core.out.ticket();
    core.chats.lookups.insert(ticket, purpose);
    core.out.push(Action::FindAgents { ticket });
}

pub(in crate::core) fn agents_found(
    core: &mut Core,
    ticket: Ticket,
    result: Result<Vec<HostedAgent>, String>,
) {
    let Some(purpose) = core.chats.lookups.remove(&ticket) else { return };
    match (purpose, result) {
        (Lookup::List { connection, request }, Ok(found)) => {
            let agents = found.into_iter().map(|agent| ChatAgent {
                id: agent.id,
                name: agent.name,
                installed: agent.program.is_some(),
                hint: agent.hint,
            });
            let result = ChatAgentsResult { agents: agents.collect() };
            core.out.send(connection, &Message::response(request, &result));
        }
        (Lookup::Start { connection, request, start }, Ok(found)) => {
            let Some(agent) = found.into_iter().find(|agent| agent.id == start.agent) else {
                let name: String = start.agent.chars().take(40).collect();
                let message = format!("there is no agent `{name}`; `chat/agents` lists them");
                return core.out.refuse(connection, request, errors::INVALID_PARAMS, message);
            };
            if agent.program.is_none() {
                return core.out.refuse(connection, request, errors::DENIED, not_installed(&agent));
            }
            core.chats.last += 1;
            let id = core.chats.last;
            let now_ms = i64::try_from(core.out.unix_ms()).unwrap_or(i64::MAX);
            let mut chat =
                Chat::new(id, agent.id.clone(), agent.name.clone(), start.folder.clone().into(), now_ms);
            let mut before = core.chats.all.values();
            chat.permitted =
                before.any(|it| it.permitted && it.agent == chat.agent && it.folder == chat.folder);
            core.chats.all.insert(id, chat);
            core.out
                .send(connection, &Message::response(request, &ChatStartResult { chat: format!("t{id}") }));
            launch(core, id, agent);
        }
        (Lookup::Restart { chat }, Ok(found)) => {
            let name = core.chats.all.get(&chat).map(|chat| chat.agent.clone()).unwrap_or_default();
            match found.into_iter().find(|agent| agent.id == name) {
                Some(agent) => launch(core, chat, agent),
                None => stop(core, chat, Some(format!("`agents.toml` no longer has an agent `{name}`"))),
            }
        }
        (Lookup::List { connection, request } | Lookup::Start { connection, request, .. }, Err(why)) => {
            core.out.refuse(connection, request, errors::DENIED, why);
        }
        (Lookup::Restart { chat }, Err(why)) => stop(core, chat, Some(why)),
    }
}

fn not_installed(agent: &HostedAgent) -> String {
    let program = agent.command.first().cloned().unwrap_or_default();
    let hint = agent.hint.as_ref().map(|hint| format!(": {hint}")).unwrap_or_default();
    format!("{} is not installed: there is no program `{program}` on PATH{hint}", agent.name)
}

fn launch(core: &mut Core, id: u64, agent: HostedAgent) {
    let Some(chat) = core.chats.all.get(&id).filter(|chat| chat.live.is_none()) else { return };
    let (folder, permitted) = (chat.folder.clone(), chat.permitted);
    let Some(program) = agent.program.clone() else {
        return stop(core, id, Some(not_installed(&agent)));
    };
    let hosted = window_for(core, &folder)
        .and_then(|window| Ok((window, session::host(core, window, &agent.name, format!("t{id}"))?)));
    let (window, agent_id) = match hosted {
        Ok(hosted) => hosted,
        Err(why) => return stop(core, id, Some(why)),
    };
    let shown = agent.command.join(" ");
    let arguments = agent.command.into_iter().skip(1).collect();
    let command = ChildCommand { program, arguments, env: agent.env, cwd: folder.clone() };
    let live = Live {
        agent: agent_id,
        window,
        command,
        mode: agent.mode,
        tools: Default::default(),
        calls: Vec::new(),
        plan: None,
        cancelled: false,
        deadline: None,
        why: None,
    };
    core.chats.live.insert(agent_id, id);
    core.chats.change(&mut core.out, id, |chat, _| {
        chat.live = Some(live);
        chat.state = ChatState::Starting;
    });
    if permitted {
        return begin(core, id);
    }
    let call = core.agents.get_mut(&agent_id).and_then(|agent| agent.session.ask_to_start());
    if let Some(call) = call {
        let request = Request::Start { command: shown, folder };
        core.permissions.request(&mut core.out, ToolCall { agent: agent_id, call, request });
    }
}

/// The user allowed it: its process is started.
pub(super) fn begin(core: &mut Core, id: u64) {
    let Some(chat) = core.chats.all.get_mut(&id) else { return };
    chat.permitted = true;
    chat.touch(&mut core.out);
    let (cwd, resume) = (chat.folder.clone(), chat.session.clone());
    let Some(live) = &mut chat.live else { return };
    live.deadline = Some(core.out.after(BEGIN_MS, Due::Chat(id)));
    let (agent, mode) = (live.agent, live.mode.clone());
    core.out.push(Action::StartChild { agent, command: live.command.clone() });
    command(core, agent, ChatCommand::Begin { cwd, resume, mode });
}

/// Tells the agent something, and handles what follows from it.
pub(super) fn command(core: &mut Core, agent: AgentId, command: ChatCommand) {
    if let Some(found) = core.agents.get_mut(&agent) {
        found.session.command(command);
        session::take_steps(core, agent);
    }
}

/// Sends the message that waits longest, if the agent waits for one.
pub(super) fn send_next(core: &mut Core, id: u64) {
    let Some(chat) = core.chats.all.get_mut(&id).filter(|chat| chat.state == ChatState::Idle) else { return };
    let Some(index) = chat.queue.pop_front() else { return };
    let mut sent = None;
    chat.update(&mut core.out, index, |item| {
        if let ChatItem::User { text, attachments, queued, .. } = item {
            *queued = false;
            sent = Some((text.clone(), attachments.clone()));
        }
    });
    let Some((text, attachments)) = sent else { return };
    let text = match chat.untold.take() {
        Some(untold) => format!("{untold}\n\n{text}"),
        None => text,
    };
    send(core, id, ChatCommand::Prompt { text, attachments });
}

/// The model is told what was decided.
pub(super) fn send_follow_up(core: &mut Core, id: u64, text: String) {
    core.chats.change(&mut core.out, id, |chat, out| {
        let (attachments, text) = (Vec::new(), text.clone());
        chat.add(out, ChatItem::User { text, attachments, queued: false, by_linkspan: true });
    });
    send(core, id, ChatCommand::Prompt { text, attachments: Vec::new() });
}

fn send(core: &mut Core, id: u64, prompt: ChatCommand) {
    let Some(agent) = core.chats.all.get(&id).and_then(|chat| chat.live.as_ref()).map(|live| live.agent)
    else {
        return;
    };
    core.chats.change(&mut core.out, id, |chat, out| {
        chat.state = ChatState::Working;
        record::record(out, chat);
    });
    command(core, agent, prompt);
}

/// The agent took too long to begin, or to end a turn that was cancelled.
pub(in crate::core) fn deadline_over(core: &mut Core, id: u64) {
    let Some(chat) = core.chats.all.get_mut(&id) else { return };
    let Some(live) = &mut chat.live else { return };
    live.deadline = None;
    let why = match chat.state {
        ChatState::Starting => "the agent did not begin in time; look at the hub's log for what it printed",
        _ => "the agent did not end its turn when it was cancelled, and was stopped",
    };
    end(core, id, Some(why.to_owned()));
}

/// The process of a hosted agent ended, or could not be started.
pub(in crate::core) fn child_ended(core: &mut Core, agent: AgentId, why: String) {
    if let Some(id) = core.chats.live.get(&agent).copied() {
        lost(core, id, agent, why);
    }
}

/// Whatever it had been told not to write, it can no longer write; what it asked for is withdrawn.
fn lost(core: &mut Core, id: u64, agent: AgentId, why: String) {
    if let Some(live) = core.chats.all.get_mut(&id).and_then(|chat| chat.live.as_mut()) {
        live.why.get_or_insert(why);
    }
    command(core, agent, ChatCommand::Gone);
    core.agent_closed(agent, true);
    gone(core, id);
}

/// Ends the agent of a conversation, if it runs.
pub(super) fn end(core: &mut Core, id: u64, why: Option<String>) {
    let live = core.chats.all.get(&id).and_then(|chat| chat.live.as_ref()).map(|live| live.agent);
    match live {
        Some(agent) => {
            core.out.push(Action::CloseAgent { agent, code: 1000, reason: "the conversation is closed" });
            command(core, agent, ChatCommand::Gone);
            core.agent_closed(agent, true);
            after_end(core, id, why);
        }
        None => stop(core, id, why),
    }
}

/// Its agent is no longer among the agents.
pub(super) fn gone(core: &mut Core, id: u64) {
    let why = core.chats.all.get_mut(&id).and_then(|chat| chat.live.as_mut()?.why.take());
    let why = why.unwrap_or_else(|| "its window was closed, or Linkspan ended the connection".to_owned());
    after_end(core, id, Some(why));
}

fn after_end(core: &mut Core, id: u64, why: Option<String>) {
    let Some(chat) = core.chats.all.get_mut(&id) else { return };
    let was_working = chat.state == ChatState::Working;
    chat.end_turn(&mut core.out);
    let Some(live) = chat.live.take() else { return };
    core.chats.live.remove(&live.agent);
    if was_working {
        let text = match &why {
            Some(why) => format!("The agent stopped in the middle of its turn: {why}."),
            None => "The conversation was closed in the middle of a turn.".to_owned(),
        };
        chat.notice(&mut core.out, text, why.is_some());
    }
    stop(core, id, why);
}

/// The agent does not run; the next message starts it again.
pub(super) fn stop(core: &mut Core, id: u64, why: Option<String>) {
    core.chats.change(&mut core.out, id, |chat, out| {
        chat.state = ChatState::Stopped { why };
        record::record(out, chat);
    });
}
