//! One conversation: its items, what waits, and its agent. Every change of an item is told to its readers.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::PathBuf;

use linkspan_dialect::CallId;
use linkspan_editor_api::{
    ChatChange, ChatItem, ChatMode, ChatPlanStep, ChatState, ChatSummary, ChatToolState, ChatUsage,
};
use linkspan_review::{AgentId, WindowId};

use super::items::{Items, end_tool};
use super::publish;
use super::turns::{CurrentTurn, end_of};
use crate::core::contract::{ChatPeer, ConnectionId};
use crate::core::out::Out;
use crate::core::timers::{Due, TimerId};

/// More than anyone reads; an agent that says more is stopped.
pub(super) const MOST_ITEMS: u32 = 10_000;
const LONGEST_ITEM: usize = 1024 * 1024;
const MOST_BYTES: usize = 32 * 1024 * 1024;

/// The output of a tool, of which the agent has the rest.
const LONGEST_OUTPUT: usize = 64 * 1024;

const LONGEST_TITLE: usize = 80;

/// Until what changed is recorded: text comes in many pieces.
const RECORD_AFTER_MS: u64 = 500;

#[derive(Debug)]
pub(super) struct Chat {
    pub(super) id: u64,
    pub(super) agent: String,
    pub(super) agent_name: String,
    pub(super) folder: PathBuf,
    pub(super) title: String,
    pub(super) state: ChatState,
    pub(super) mode: Option<String>,
    pub(super) modes: Vec<ChatMode>,
    pub(super) usage: Option<ChatUsage>,
    /// The agent takes pictures, once that is known.
    pub(super) pictures: Option<bool>,
    pub(super) started_ms: i64,
    pub(super) changed_ms: i64,
    /// The agent's own id of the conversation.
    pub(super) session: Option<String>,
    /// The command that the user allowed to be started.
    pub(super) permitted: Option<Vec<String>>,
    /// What the model has to be told with the next message.
    pub(super) untold: Option<String>,
    /// What it is told when the turn is over, unless it is lost before.
    pub(super) follow_up: Option<String>,
    pub(super) items: Items,
    /// Messages of the user that were sent.
    pub(super) turns: u32,
    pub(super) readers: BTreeSet<ConnectionId>,
    /// Messages that wait, by their place.
    pub(super) queue: VecDeque<u32>,
    pub(super) live: Option<Live>,
    /// How often items of it are being read from the journal: what is not there yet stays here until then.
    pub(super) reads: usize,
    /// Not recorded yet.
    pub(super) unrecorded: BTreeSet<u32>,
    pub(super) head_unrecorded: bool,
    pub(super) record_timer: Option<TimerId>,
}

/// The agent of a conversation, from the question whether it may be started to its end.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) agent: AgentId,
    pub(super) window: WindowId,
    pub(super) peer: ChatPeer,
    /// The command as the user names it.
    pub(super) named: Vec<String>,
    pub(super) mode: Option<String>,
    /// By their ids in the agent.
    pub(super) tools: BTreeMap<String, u32>,
    /// Tool calls that wait for an answer of the user.
    pub(super) calls: Vec<(CallId, u32)>,
    pub(super) plan: Option<u32>,
    pub(super) turn: CurrentTurn,
    /// The user ended the turn.
    pub(super) cancelled: bool,
    pub(super) deadline: Option<TimerId>,
    /// Why it ended, once it is known.
    pub(super) why: Option<String>,
}

impl Chat {
    pub(super) fn new(id: u64, agent: String, agent_name: String, folder: PathBuf, now_ms: i64) -> Chat {
        Chat {
            id,
            agent,
            agent_name,
            folder,
            title: String::new(),
            state: ChatState::Starting,
            mode: None,
            modes: Vec::new(),
            usage: None,
            pictures: None,
            started_ms: now_ms,
            changed_ms: now_ms,
            session: None,
            permitted: None,
            untold: None,
            follow_up: None,
            items: Items::default(),
            turns: 0,
            readers: BTreeSet::new(),
            queue: VecDeque::new(),
            live: None,
            reads: 0,
            unrecorded: BTreeSet::new(),
            head_unrecorded: true,
            record_timer: None,
        }
    }

    /// The model has to be told this with the next message, besides what it has to be told already.
    pub(super) fn tell_later(&mut self, words: Option<String>) {
        self.untold = joined(self.untold.take(), words);
    }

    /// What the model has to be told if its agent is lost now.
    pub(super) fn all_untold(&self) -> Option<String> {
        joined(self.untold.clone(), self.follow_up.clone())
    }

    pub(super) fn summary(&self) -> ChatSummary {
        ChatSummary {
            chat: format!("t{}", self.id),
            agent: self.agent.clone(),
            agent_name: self.agent_name.clone(),
            folder: self.folder.display().to_string(),
            window: self.live.as_ref().map(|live| live.window.to_string()),
            title: self.title.clone(),
            state: self.state.clone(),
            mode: self.mode.clone(),
            modes: self.modes.clone(),
            usage: self.usage.clone(),
            pictures: self.pictures,
            queued: u32::try_from(self.queue.len()).unwrap_or(u32::MAX),
            started_ms: self.started_ms,
            changed_ms: self.changed_ms,
        }
    }

    /// The summary is not recorded, and neither is what was said just now.
    pub(super) fn touch(&mut self, out: &mut Out) {
        self.head_unrecorded = true;
        self.record_later(out);
    }

    /// Leaves to the journal what it has and what no longer changes.
    pub(super) fn shrink(&mut self) {
        if self.reads > 0 || !self.unrecorded.is_empty() {
            return;
        }
        let is_running = !matches!(self.state, ChatState::Stopped { .. });
        let (queue, live) = (&self.queue, &mut self.live);
        let (mut words, mut kept) = (None, BTreeSet::new());
        if let Some(live) = live.as_ref() {
            kept.extend(live.calls.iter().map(|(_, place)| *place).chain(live.plan));
        }
        let runs = |item: &ChatItem| {
            matches!(item, ChatItem::Tool { state: ChatToolState::Pending | ChatToolState::Running, .. })
        };
        self.items.shrink(
            is_running,
            |place, item| is_running && (runs(item) || kept.contains(&place) || queue.contains(&place)),
            |place, item| match item {
                ChatItem::Agent { text } if !text.trim().is_empty() => words = Some((place, end_of(text))),
                _ => {}
            },
        );
        if let Some(live) = live {
            live.turn.earlier = words.or(live.turn.earlier.take());
        }
    }

    fn record_later(&mut self, out: &mut Out) {
        self.changed_ms = i64::try_from(out.unix_ms()).unwrap_or(i64::MAX);
        if self.record_timer.is_none() {
            self.record_timer = Some(out.after(RECORD_AFTER_MS, Due::ChatRecord(self.id)));
        }
    }

    pub(super) fn is_starting(&self) -> bool {
        self.state == ChatState::Starting
    }

    /// No more can be said in it.
    pub(super) fn is_full(&self) -> bool {
        self.items.end() >= MOST_ITEMS || self.items.bytes() > MOST_BYTES
    }

    fn tell(&self, out: &mut Out, change: ChatChange) {
        publish(out, self.readers.iter().copied().collect(), self.id, change);
    }

    /// Adds an item; returns its place.
    pub(super) fn add(&mut self, out: &mut Out, item: ChatItem) -> u32 {
        let index = self.items.push(item);
        self.item_changed(out, index);
        index
    }

    fn item_changed(&mut self, out: &mut Out, index: u32) {
        self.unrecorded.insert(index);
        self.record_later(out);
        if let Some(item) = self.items.get(index).cloned() {
            self.tell(out, ChatChange::Item { index, item });
        }
    }

    /// Changes an item, if it is held and another one then.
    pub(super) fn update(&mut self, out: &mut Out, index: u32, change: impl FnOnce(&mut ChatItem)) {
        if self.items.change(index, change) {
            self.item_changed(out, index);
        }
    }

    /// Something that is not from the agent.
    pub(super) fn notice(&mut self, out: &mut Out, text: impl Into<String>, is_error: bool) {
        self.add(out, ChatItem::Notice { text: text.into(), is_error });
    }

    /// More text of the agent: of the last item, or of a new one.
    pub(super) fn append(&mut self, out: &mut Out, more: &str, is_thought: bool) {
        match self.items.append(more, is_thought, LONGEST_ITEM) {
            Some(index) => {
                self.unrecorded.insert(index);
                self.record_later(out);
                self.tell(out, ChatChange::Text { index, text: more.to_owned() });
            }
            None => {
                let text = shortened(more, LONGEST_ITEM);
                let item = match is_thought {
                    true => ChatItem::Thought { text },
                    false => ChatItem::Agent { text },
                };
                self.add(out, item);
            }
        }
    }

    pub(super) fn set_plan(&mut self, out: &mut Out, steps: Vec<ChatPlanStep>) {
        let known = self.live.as_ref().and_then(|live| live.plan);
        match known {
            Some(index) => self.update(out, index, |item| *item = ChatItem::Plan { steps }),
            None => {
                let index = self.add(out, ChatItem::Plan { steps });
                if let Some(live) = &mut self.live {
                    live.plan = Some(index);
                }
            }
        }
    }

    pub(super) fn set_tool(&mut self, out: &mut Out, tool: linkspan_dialect::ChatTool) {
        let Some(live) = &mut self.live else { return };
        let output = shortened(&tool.output, LONGEST_OUTPUT);
        let title = shortened(&tool.title, LONGEST_OUTPUT);
        match live.tools.get(&tool.id).copied() {
            Some(index) => self.update(out, index, |item| {
                if let ChatItem::Tool { title: t, tool_kind, state, output: o, paths, .. } = item {
                    (*t, *tool_kind, *state, *o, *paths) = (title, tool.kind, tool.state, output, tool.paths);
                }
            }),
            None => {
                live.tools.insert(tool.id, self.items.end());
                let (reviews, ask) = (Vec::new(), None);
                let (tool_kind, state, paths) = (tool.kind, tool.state, tool.paths);
                self.add(out, ChatItem::Tool { title, tool_kind, state, output, paths, reviews, ask });
            }
        }
    }

    /// The turn is over: nothing runs, and no later message belongs to what is listed.
    pub(super) fn end_turn(&mut self, out: &mut Out) {
        let Some(live) = &mut self.live else { return };
        live.plan = None;
        live.cancelled = false;
        live.calls.clear();
        let tools: Vec<u32> = std::mem::take(&mut live.tools).into_values().collect();
        if let Some(deadline) = live.deadline.take() {
            out.cancel(deadline);
        }
        for index in tools {
            self.update(out, index, end_tool);
        }
    }

    /// The first words of the first message.
    pub(super) fn set_title(&mut self, text: &str) {
        if self.title.is_empty() {
            let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
            self.title = shortened_words(&words);
        }
    }
}

fn shortened_words(words: &str) -> String {
    match words.char_indices().nth(LONGEST_TITLE) {
        Some((at, _)) => format!("{}…", words.get(..at).unwrap_or_default().trim_end()),
        None => words.to_owned(),
    }
}

fn joined(first: Option<String>, second: Option<String>) -> Option<String> {
    match (first, second) {
        (Some(first), Some(second)) => Some(format!("{first}\n\n{second}")),
        (first, second) => first.or(second),
    }
}

pub(super) fn shortened(text: &str, most: usize) -> String {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let head = text.get(..end).unwrap_or_default();
    if end < text.len() { format!("{head}…") } else { head.to_owned() }
}
