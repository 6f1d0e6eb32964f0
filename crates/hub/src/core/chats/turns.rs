//! The turns of a conversation: which one runs, what was said before a tool call, and the item that ends one.
//!
//! A turn begins with a message of the user. What Linkspan tells the agent afterwards belongs to the same turn.

use linkspan_dialect::CallId;
use linkspan_editor_api::{ChatItem, ReviewOrigin};
use linkspan_review::AgentId;

use super::Chats;
use super::chat::{Chat, shortened};
use crate::core::out::Out;

/// Enough to see why, little enough for each entry of the history.
const LONGEST_PROMPT: usize = 600;
const LONGEST_WORDS: usize = 600;

/// The turn that runs, or ran last.
#[derive(Debug, Default)]
pub(super) struct CurrentTurn {
    /// The place of its first item.
    from: u32,
    /// The message of the user, shortened.
    prompt: Option<String>,
    /// Changes that were proposed in it.
    pub(super) changes: u32,
    /// The end of the last words of the agent that are no longer held, and their place.
    pub(super) earlier: Option<(u32, String)>,
}

impl CurrentTurn {
    pub(super) fn new(from: u32, prompt: &str) -> CurrentTurn {
        let prompt = Some(shortened(prompt.trim(), LONGEST_PROMPT));
        CurrentTurn { from, prompt, ..CurrentTurn::default() }
    }
}

impl Chats {
    /// Where a change that this call proposes comes from; none if its agent is not hosted.
    pub(in crate::core) fn origin(&self, agent: AgentId, call: CallId) -> Option<ReviewOrigin> {
        let chat = self.all.get(self.live.get(&agent)?)?;
        let live = chat.live.as_ref()?;
        let (_, item) = live.calls.iter().find(|(asked, _)| *asked == call)?;
        let turn = &live.turn;
        let held = chat.items.held(turn.from..*item).rev().find_map(|item| match item {
            ChatItem::Agent { text } if !text.trim().is_empty() => Some(end_of(text)),
            _ => None,
        });
        let earlier = turn.earlier.as_ref().filter(|(place, _)| (turn.from..*item).contains(place));
        Some(ReviewOrigin {
            chat: format!("t{}", chat.id),
            turn: chat.turns,
            item: *item,
            prompt: turn.prompt.clone(),
            words: held.or_else(|| Some(earlier?.1.clone())),
        })
    }
}

/// The turn is over. It gets an item if changes were proposed in it.
pub(super) fn add_end(chat: &mut Chat, out: &mut Out, changes: u32) {
    if changes > 0 {
        chat.add(out, ChatItem::TurnEnd { turn: chat.turns, changes });
    }
}

/// What was said last is nearest to the change.
pub(super) fn end_of(text: &str) -> String {
    let text = text.trim();
    let mut start = text.len().saturating_sub(LONGEST_WORDS);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    let end = text.get(start..).unwrap_or_default();
    if start > 0 { format!("…{end}") } else { end.to_owned() }
}
