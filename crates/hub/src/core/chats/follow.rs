//! After each event: what follows from answers to hosted agents, and which reviews and questions belong to which tool
//! call. An agent that is no longer there ends its conversation.

use linkspan_editor_api::ChatItem;
use linkspan_review::{AgentId, Phase, ReviewId};

use super::launch;
use crate::core::Core;
use crate::core::agents::session;

pub(in crate::core) fn follow(core: &mut Core) {
    if core.chats.live.is_empty() {
        return;
    }
    let live: Vec<(AgentId, u64)> = core.chats.live.iter().map(|(agent, chat)| (*agent, *chat)).collect();
    for (agent, chat) in live {
        session::take_steps(core, agent);
        match core.agents.get(&agent) {
            Some(_) => link(core, agent, chat),
            // Unless it ended in the ordinary way just now.
            None if core.chats.live.contains_key(&agent) => launch::gone(core, chat),
            None => {}
        }
    }
}

/// Tool calls that wait show their reviews, or their question.
fn link(core: &mut Core, id: AgentId, chat: u64) {
    let Some(chat) = core.chats.all.get_mut(&chat) else { return };
    let (Some(agent), Some(live)) = (core.agents.get(&id), &mut chat.live) else { return };
    if live.calls.is_empty() {
        return;
    }
    let mut changes = Vec::new();
    live.calls.retain(|(call, index)| {
        let is_open = agent.session.open_calls().any(|open| open == *call);
        // Nothing is shown before it is recorded.
        let is_shown = |review: &ReviewId| {
            core.reviews.get(*review).is_some_and(|review| review.phase != Phase::Recording)
        };
        let waiting = agent.waiting.iter().filter(|(review, of)| of == call && is_shown(review));
        let waiting = waiting.map(|(review, _)| review.to_string());
        let ask = core.permissions.prompt_of(id, *call);
        changes.push((*index, waiting.collect::<Vec<_>>(), ask));
        is_open
    });
    let mut added = 0;
    for (index, waiting, question) in changes {
        chat.update(&mut core.out, index, |item| {
            if let ChatItem::Tool { reviews, ask, .. } = item {
                *ask = question;
                for review in waiting {
                    if !reviews.contains(&review) {
                        reviews.push(review);
                        added += 1;
                    }
                }
            }
        });
    }
    if let Some(live) = &mut chat.live {
        live.turn.changes += added;
    }
}
