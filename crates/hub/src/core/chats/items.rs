//! The items of a conversation: the newest, and older ones that may still change. The journal has all of them.
//!
//! Must not know: agents, readers, how items are recorded.

use std::collections::BTreeMap;
use std::ops::Range;

use linkspan_editor_api::{ChatItem, ChatToolState};

use crate::core::contract::ChatItemsRead;

/// What is held of a conversation whose agent runs, besides what may still change.
const TAIL_ITEMS: usize = 200;
const TAIL_BYTES: usize = 512 * 1024;

/// What one answer has of a conversation.
const PAGE_ITEMS: u32 = 200;
const MOST_PAGE_ITEMS: u32 = 1000;
pub(super) const MOST_PAGE_BYTES: usize = 4 * 1024 * 1024;

#[derive(Debug, Default)]
pub(super) struct Items {
    held: BTreeMap<u32, ChatItem>,
    /// From this place on, all are held.
    tail: u32,
    /// One more than the last place.
    end: u32,
    /// Of all items, roughly, and of those that are held.
    bytes: usize,
    held_bytes: usize,
}

impl Items {
    /// None of these is held.
    pub(super) fn stored(end: u32, bytes: usize) -> Items {
        Items { tail: end, end, bytes, ..Items::default() }
    }

    pub(super) fn end(&self) -> u32 {
        self.end
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// None if it is not held.
    pub(super) fn get(&self, place: u32) -> Option<&ChatItem> {
        self.held.get(&place)
    }

    /// Those that are held, from the first to the last.
    pub(super) fn held(&self, places: Range<u32>) -> impl DoubleEndedIterator<Item = &ChatItem> {
        let places = if places.start < places.end { places } else { 0..0 };
        self.held.range(places).map(|(_, item)| item)
    }

    /// Adds an item; returns its place.
    pub(super) fn push(&mut self, item: ChatItem) -> u32 {
        let place = self.end;
        self.bytes += size(&item);
        self.end += 1;
        self.hold(place, item);
        place
    }

    /// An item of the journal is needed again.
    pub(super) fn hold(&mut self, place: u32, item: ChatItem) {
        self.held_bytes += size(&item);
        if let Some(before) = self.held.insert(place, item) {
            self.held_bytes = self.held_bytes.saturating_sub(size(&before));
        }
    }

    /// Changes an item that is held. Returns whether it is another one then.
    pub(super) fn change(&mut self, place: u32, change: impl FnOnce(&mut ChatItem)) -> bool {
        let Some(item) = self.held.get_mut(&place) else { return false };
        let before = item.clone();
        change(item);
        let (is_changed, now, was) = (*item != before, size(item), size(&before));
        self.bytes = (self.bytes + now).saturating_sub(was);
        self.held_bytes = (self.held_bytes + now).saturating_sub(was);
        is_changed
    }

    /// Adds to the text that the agent says or thinks just now. Returns its place, or none if it does not say that.
    pub(super) fn append(&mut self, more: &str, is_thought: bool, longest: usize) -> Option<u32> {
        let place = self.end.checked_sub(1)?;
        let text = match self.held.get_mut(&place)? {
            ChatItem::Agent { text } if !is_thought => text,
            ChatItem::Thought { text } if is_thought => text,
            _ => return None,
        };
        if text.len() + more.len() > longest {
            return None;
        }
        text.push_str(more);
        self.bytes += more.len();
        self.held_bytes += more.len();
        Some(place)
    }

    /// Lets go of all but the newest that can no longer change, and shows what it lets go of. They have to be recorded.
    pub(super) fn shrink(
        &mut self,
        is_running: bool,
        may_change: impl Fn(u32, &ChatItem) -> bool,
        mut dropped: impl FnMut(u32, &ChatItem),
    ) {
        let (most, most_bytes) = if is_running { (TAIL_ITEMS, TAIL_BYTES) } else { (0, 0) };
        let (mut count, mut bytes) = (self.held.len(), self.held_bytes);
        let mut tail = self.tail;
        self.held.retain(|place, item| {
            if count <= most && bytes <= most_bytes || may_change(*place, item) {
                return true;
            }
            dropped(*place, item);
            count -= 1;
            bytes = bytes.saturating_sub(size(item));
            tail = tail.max(place + 1);
            false
        });
        (self.tail, self.held_bytes) = (tail, bytes);
    }

    /// The places that a page before this one would have.
    pub(super) fn places(&self, before: u32, limit: Option<u32>) -> Range<u32> {
        let end = self.end.min(before);
        end.saturating_sub(limit.unwrap_or(PAGE_ITEMS).clamp(1, MOST_PAGE_ITEMS))..end
    }

    /// Those of them that the journal has to be asked for: none if a page can be made without it.
    pub(super) fn not_held(&self, places: &Range<u32>) -> Option<Range<u32>> {
        let mut bytes = 0;
        for place in places.clone().rev() {
            let Some(item) = self.held.get(&place) else {
                return Some(places.start..place + 1);
            };
            bytes += size(item);
            if bytes > MOST_PAGE_BYTES {
                return None;
            }
        }
        None
    }

    /// The last of these items, at least one if there is one, and the place of the first of them. `read` has those that
    /// are not held.
    pub(super) fn page(&self, places: Range<u32>, mut read: ChatItemsRead) -> (u32, Vec<ChatItem>) {
        let (mut first, mut bytes, mut items) = (places.end, 0, Vec::new());
        for place in places.rev() {
            let item = match self.held.get(&place) {
                Some(item) => item.clone(),
                None if place < read.first => break,
                None => from_journal(read.items.remove(&place)),
            };
            bytes += size(&item);
            if bytes > MOST_PAGE_BYTES && !items.is_empty() {
                break;
            }
            items.push(item);
            first = place;
        }
        items.reverse();
        (first, items)
    }
}

/// What is not held does not run.
fn from_journal(item: Option<Option<ChatItem>>) -> ChatItem {
    let notice = |text: &str| ChatItem::Notice { text: text.to_owned(), is_error: false };
    let mut item = match item {
        Some(Some(item)) => item,
        Some(None) => notice("[from another version of Linkspan]"),
        None => notice("[not in the journal]"),
    };
    end_tool(&mut item);
    item
}

/// Its agent no longer says what became of it.
pub(super) fn end_tool(item: &mut ChatItem) {
    if let ChatItem::Tool { state, ask, .. } = item {
        *ask = None;
        if matches!(state, ChatToolState::Pending | ChatToolState::Running) {
            *state = ChatToolState::Failed;
        }
    }
}

fn size(item: &ChatItem) -> usize {
    const ITEM: usize = 64;
    ITEM + match item {
        ChatItem::User { text, pictures, .. } => {
            text.len() + pictures.iter().map(|picture| picture.data.len()).sum::<usize>()
        }
        ChatItem::Agent { text } | ChatItem::Thought { text } | ChatItem::Notice { text, .. } => text.len(),
        ChatItem::Tool { title, output, paths, .. } => {
            title.len() + output.len() + paths.iter().map(String::len).sum::<usize>()
        }
        ChatItem::Plan { steps } => steps.iter().map(|step| step.text.len()).sum(),
        ChatItem::TurnEnd { .. } => 0,
    }
}
