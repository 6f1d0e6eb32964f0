//! What the agent of a conversation says, put into its items.

use linkspan_dialect::{ChatCommand, ChatEvent, TurnEnd};
use linkspan_editor_api::ChatState;
use linkspan_review::AgentId;

use super::{launch, record, turns};
use crate::core::Core;

pub(in crate::core) fn said(core: &mut Core, agent: AgentId, event: ChatEvent) {
    let Some(id) = core.chats.live.get(&agent).copied() else { return };
    match event {
        ChatEvent::MayStart(Ok(())) => launch::begin(core, id),
        ChatEvent::MayStart(Err(why)) => launch::end(core, id, Some(format!("it was not started: {why}"))),
        ChatEvent::CannotBegin(why) => {
            let why = format!("the agent did not begin: {why}");
            core.chats.change(&mut core.out, id, |chat, out| chat.notice(out, sentence(&why), true));
            launch::end(core, id, Some(why));
        }
        ChatEvent::Ready { session, modes, mode, pictures, forgot } => {
            core.chats.change(&mut core.out, id, |chat, out| {
                if let Some(deadline) = chat.live.as_mut().and_then(|live| live.deadline.take()) {
                    out.cancel(deadline);
                }
                if forgot {
                    let text = "The agent began a new session and does not know what was said above.";
                    chat.notice(out, text, false);
                }
                (chat.session, chat.mode, chat.modes) = (Some(session), mode, modes);
                chat.pictures = Some(pictures);
                chat.state = ChatState::Idle;
                record::record(out, chat);
            });
            launch::send_next(core, id);
        }
        ChatEvent::TurnEnded { end, follow_up } => turn_ended(core, id, end, follow_up),
        ChatEvent::Untold(text) => {
            if let Some(chat) = core.chats.all.get_mut(&id) {
                chat.follow_up = Some(text);
                chat.touch(&mut core.out);
                record::record(&mut core.out, chat);
            }
        }
        ChatEvent::Mode(mode) => {
            core.chats.change(&mut core.out, id, |chat, _| chat.mode = Some(mode));
        }
        ChatEvent::Usage(usage) => {
            core.chats.change(&mut core.out, id, |chat, _| chat.usage = Some(usage));
        }
        other => shown(core, id, agent, other),
    }
}

/// An item is added or changed.
fn shown(core: &mut Core, id: u64, agent: AgentId, event: ChatEvent) {
    let Some(chat) = core.chats.all.get_mut(&id) else { return };
    if chat.is_full() {
        let Some(live) = chat.live.as_mut().filter(|live| !live.cancelled) else { return };
        live.cancelled = true;
        chat.notice(&mut core.out, "The conversation is full: the turn was ended. Start another one.", true);
        return launch::command(core, agent, ChatCommand::Cancel);
    }
    let out = &mut core.out;
    match event {
        ChatEvent::Text(text) => chat.append(out, &text, false),
        ChatEvent::Thought(text) => chat.append(out, &text, true),
        ChatEvent::Tool(tool) => chat.set_tool(out, tool),
        ChatEvent::Asks { tool, call } => {
            if let Some(live) = &mut chat.live
                && let Some(index) = live.tools.get(&tool)
            {
                live.calls.push((call, *index));
            }
        }
        ChatEvent::Plan(steps) => chat.set_plan(out, steps),
        ChatEvent::Notice { text, is_error } => chat.notice(out, text, is_error),
        ChatEvent::MayStart(_)
        | ChatEvent::Ready { .. }
        | ChatEvent::CannotBegin(_)
        | ChatEvent::Usage(_)
        | ChatEvent::Mode(_)
        | ChatEvent::Untold(_)
        | ChatEvent::TurnEnded { .. } => {}
    }
}

fn turn_ended(core: &mut Core, id: u64, end: TurnEnd, follow_up: Option<String>) {
    let by_user =
        core.chats.all.get(&id).and_then(|chat| chat.live.as_ref()).is_some_and(|live| live.cancelled);
    let mut follow_up = follow_up;
    core.chats.change(&mut core.out, id, |chat, out| {
        chat.end_turn(out);
        chat.state = ChatState::Idle;
        match end {
            TurnEnd::Done => {}
            // Some end their turn that way when an edit was refused.
            TurnEnd::Cancelled if !by_user => {}
            TurnEnd::Cancelled => chat.notice(out, "The turn was cancelled.", false),
            TurnEnd::Other(why) => chat.notice(out, format!("The turn ended: {why}."), true),
        }
        if follow_up.is_none() || by_user {
            let changes = chat.live.as_ref().map_or(0, |live| live.turn.changes);
            turns::add_end(chat, out, changes);
        }
        // After a cancelled turn the model is told with the next message, otherwise at once.
        chat.follow_up = None;
        chat.tell_later(follow_up.take_if(|_| by_user));
        record::record(out, chat);
    });
    core.finish_left_over(&format!("t{id}"));
    match follow_up {
        Some(text) => launch::send_follow_up(core, id, text),
        None => launch::send_next(core, id),
    }
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().collect::<String>()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}
