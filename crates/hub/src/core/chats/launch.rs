//! The life of the agent of a conversation: looked up, asked about, started, given prompts one at a time, and ended.

use std::path::Path;

use linkspan_dialect::{ACP, ChatCommand, Dialect, ENGINE, Request};
use linkspan_editor_api::{
    ChatAgent, ChatAgentsResult, ChatItem, ChatStartResult, ChatState, Message, errors,
};
use linkspan_review::{AgentId, WindowId};

use super::chat::{Chat, Live};
use super::turns::{self, CurrentTurn};
use super::{Lookup, pages, record};
use crate::core::Core;
use crate::core::agents::session;
use crate::core::contract::{Action, ChatPeer, ChildCommand, HostedAgent, Ticket};
use crate::core::pending::ToolCall;
use crate::core::timers::Due;

/// How long an agent may take from its start to its first prompt. Some are slow programs.
const BEGIN_MS: u64 = 120_000;

/// The window that has the folder, or why there is none.
pub(super) fn window_for(core: &Core, folder: &Path, dialect: &Dialect) -> Result<WindowId, String> {
    core.windows.for_folder(folder, dialect.name).ok_or_else(|| {
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
                installed: agent.is_available(),
                id: agent.id,
                name: agent.name,
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
            if !agent.is_available() {
                return core.out.refuse(connection, request, errors::DENIED, not_installed(&agent));
            }
            core.chats.last += 1;
            let id = core.chats.last;
            let now_ms = i64::try_from(core.out.unix_ms()).unwrap_or(i64::MAX);
            let mut chat =
                Chat::new(id, agent.id.clone(), agent.name.clone(), start.folder.clone().into(), now_ms);
            let is_same = |it: &&Chat| it.agent == chat.agent && it.folder == chat.folder;
            let mut before = core.chats.all.values().filter(is_same).map(|it| it.permitted.as_ref());
            let is_permitted = before.any(|command| command == Some(&agent.command));
            chat.permitted = is_permitted.then(|| agent.command.clone());
            core.chats.all.insert(id, chat);
            core.out
                .send(connection, &Message::response(request, &ChatStartResult { chat: format!("t{id}") }));
            launch(core, id, agent);
        }
        // Closed meanwhile.
        (Lookup::Restart { chat }, _) if !core.chats.all.get(&chat).is_some_and(Chat::is_starting) => {}
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
    let (folder, permitted) = (chat.folder.clone(), chat.permitted.as_ref() == Some(&agent.command));
    let peer = match (agent.engine.clone(), agent.program.clone()) {
        (Some(engine), _) => ChatPeer::Engine(engine),
        (None, Some(program)) => {
            let arguments = agent.command.iter().skip(1).cloned().collect();
            let (env, cwd) = (agent.env.clone(), folder.clone());
            ChatPeer::Process(ChildCommand { program, arguments, env, cwd })
        }
        (None, None) => return stop(core, id, Some(not_installed(&agent))),
    };
    let dialect = match &peer {
        ChatPeer::Process(_) => ACP,
        ChatPeer::Engine(_) => ENGINE,
    };
    let hosted = window_for(core, &folder, dialect).and_then(|window| {
        Ok((window, session::host(core, window, dialect, &agent.name, format!("t{id}"))?))
    });
    let (window, agent_id) = match hosted {
        Ok(hosted) => hosted,
        Err(why) => return stop(core, id, Some(why)),
    };
    let shown = agent.command.join(" ");
    let live = Live {
        agent: agent_id,
        window,
        peer,
        named: agent.command,
        mode: agent.mode,
        tools: Default::default(),
        calls: Vec::new(),
        plan: None,
        turn: CurrentTurn::default(),
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
    chat.touch(&mut core.out);
    let (cwd, resume) = (chat.folder.clone(), chat.session.clone());
    let Some(live) = &mut chat.live else { return };
    chat.permitted = Some(live.named.clone());
    live.deadline = Some(core.out.after(BEGIN_MS, Due::Chat(id)));
    let (agent, mode) = (live.agent, live.mode.clone());
    core.out.push(Action::StartChild { agent, peer: live.peer.clone() });
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
    let Some(index) = chat.queue.front().copied() else { return };
    if chat.items.get(index).is_none() {
        return pages::read_queued(core, id, index);
    }
    chat.queue.pop_front();
    let mut sent = None;
    chat.update(&mut core.out, index, |item| {
        if let ChatItem::User { text, attachments, pictures, queued, .. } = item {
            *queued = false;
            sent = Some((text.clone(), attachments.clone(), pictures.clone()));
        }
    });
    let Some((text, attachments, mut pictures)) = sent else { return };
    if !pictures.is_empty() && chat.pictures == Some(false) {
        pictures.clear();
        let text = format!("{} takes no pictures: the message was sent without them.", chat.agent_name);
        chat.notice(&mut core.out, text, true);
    }
    chat.turns += 1;
    if let Some(live) = &mut chat.live {
        live.turn = CurrentTurn::new(chat.items.end(), &text);
    }
    let text = match chat.untold.take() {
        Some(untold) => format!("{untold}\n\n{text}"),
        None => text,
    };
    send(core, id, ChatCommand::Prompt { text, attachments, pictures });
}

/// The model is told what was decided.
pub(super) fn send_follow_up(core: &mut Core, id: u64, text: String) {
    core.chats.change(&mut core.out, id, |chat, out| {
        let (attachments, pictures, text) = (Vec::new(), Vec::new(), text.clone());
        chat.add(out, ChatItem::User { text, attachments, pictures, queued: false, by_linkspan: true });
    });
    send(core, id, ChatCommand::Prompt { text, attachments: Vec::new(), pictures: Vec::new() });
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
    let follow_up = chat.follow_up.take();
    chat.tell_later(follow_up);
    let Some(live) = chat.live.take() else { return };
    core.chats.live.remove(&live.agent);
    if was_working {
        let text = match &why {
            Some(why) => format!("The agent stopped in the middle of its turn: {why}."),
            None => "The conversation was closed in the middle of a turn.".to_owned(),
        };
        chat.notice(&mut core.out, text, why.is_some());
        turns::add_end(chat, &mut core.out, live.turn.changes);
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
