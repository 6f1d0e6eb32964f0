//! One conversation: its items, what waits, and its agent. Every change of an item is told to its readers.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::PathBuf;

use linkspan_dialect::CallId;
use linkspan_editor_api::{
    ChatChange, ChatItem, ChatMode, ChatPlanStep, ChatState, ChatSummary, ChatToolState, ChatUsage,
};
use linkspan_review::{AgentId, WindowId};

use super::publish;
use crate::core::contract::{ChildCommand, ConnectionId};
use crate::core::out::Out;
use crate::core::timers::{Due, TimerId};

/// More than anyone reads; an agent that says more is stopped.
pub(super) const MOST_ITEMS: usize = 10_000;
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
    pub(super) started_ms: i64,
    pub(super) changed_ms: i64,
    /// The agent's own id of the conversation.
    pub(super) session: Option<String>,
    /// The user allowed that it is started.
    pub(super) permitted: bool,
    /// What the model has to be told with the next message.
    pub(super) untold: Option<String>,
    pub(super) items: Vec<ChatItem>,
    pub(super) readers: BTreeSet<ConnectionId>,
    /// Messages that wait, by their place.
    pub(super) queue: VecDeque<u32>,
    pub(super) live: Option<Live>,
    bytes: usize,
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
    pub(super) command: ChildCommand,
    pub(super) mode: Option<String>,
    /// By their ids in the agent.
    pub(super) tools: BTreeMap<String, u32>,
    /// Tool calls that wait for an answer of the user.
    pub(super) calls: Vec<(CallId, u32)>,
    pub(super) plan: Option<u32>,
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
            started_ms: now_ms,
            changed_ms: now_ms,
            session: None,
            permitted: false,
            untold: None,
            items: Vec::new(),
            readers: BTreeSet::new(),
            queue: VecDeque::new(),
            live: None,
            bytes: 0,
            unrecorded: BTreeSet::new(),
            head_unrecorded: true,
            record_timer: None,
        }
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

    fn record_later(&mut self, out: &mut Out) {
        self.changed_ms = i64::try_from(out.unix_ms()).unwrap_or(i64::MAX);
        if self.record_timer.is_none() {
            self.record_timer = Some(out.after(RECORD_AFTER_MS, Due::ChatRecord(self.id)));
        }
    }

    /// No more can be said in it.
    pub(super) fn is_full(&self) -> bool {
        self.items.len() >= MOST_ITEMS || self.bytes > MOST_BYTES
    }

    fn tell(&self, out: &mut Out, change: ChatChange) {
        publish(out, self.readers.iter().copied().collect(), self.id, change);
    }

    /// Adds an item; returns its place.
    pub(super) fn add(&mut self, out: &mut Out, item: ChatItem) -> u32 {
        let index = u32::try_from(self.items.len()).unwrap_or(u32::MAX);
        self.bytes += size(&item);
        self.items.push(item);
        self.item_changed(out, index);
        index
    }

    fn item_changed(&mut self, out: &mut Out, index: u32) {
        self.unrecorded.insert(index);
        self.record_later(out);
        if let Some(item) = self.items.get(index as usize).cloned() {
            self.tell(out, ChatChange::Item { index, item });
        }
    }

    /// Changes an item, if it is another one then.
    pub(super) fn update(&mut self, out: &mut Out, index: u32, change: impl FnOnce(&mut ChatItem)) {
        let Some(item) = self.items.get_mut(index as usize) else { return };
        let before = item.clone();
        change(item);
        if *item != before {
            self.bytes = (self.bytes + size(item)).saturating_sub(size(&before));
            self.item_changed(out, index);
        }
    }

    /// Something that is not from the agent.
    pub(super) fn notice(&mut self, out: &mut Out, text: impl Into<String>, is_error: bool) {
        self.add(out, ChatItem::Notice { text: text.into(), is_error });
    }

    /// More text of the agent: of the last item, or of a new one.
    pub(super) fn append(&mut self, out: &mut Out, more: &str, is_thought: bool) {
        let index = u32::try_from(self.items.len().saturating_sub(1)).unwrap_or(u32::MAX);
        let last = match self.items.last_mut() {
            Some(ChatItem::Agent { text }) if !is_thought => Some(text),
            Some(ChatItem::Thought { text }) if is_thought => Some(text),
            _ => None,
        };
        match last {
            Some(text) if text.len() + more.len() > LONGEST_ITEM => {}
            Some(text) => {
                text.push_str(more);
                self.bytes += more.len();
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
                let index = u32::try_from(self.items.len()).unwrap_or(u32::MAX);
                live.tools.insert(tool.id, index);
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

    pub(super) fn recount(&mut self) {
        self.bytes = self.items.iter().map(size).sum();
    }
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
        ChatItem::User { text, .. }
        | ChatItem::Agent { text }
        | ChatItem::Thought { text }
        | ChatItem::Notice { text, .. } => text.len(),
        ChatItem::Tool { title, output, paths, .. } => {
            title.len() + output.len() + paths.iter().map(String::len).sum::<usize>()
        }
        ChatItem::Plan { steps } => steps.iter().map(|step| step.text.len()).sum(),
    }
}

fn shortened_words(words: &str) -> String {
    match words.char_indices().nth(LONGEST_TITLE) {
        Some((at, _)) => format!("{}…", words.get(..at).unwrap_or_default().trim_end()),
        None => words.to_owned(),
    }
}

fn shortened(text: &str, most: usize) -> String {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let head = text.get(..end).unwrap_or_default();
    if end < text.len() { format!("{head}…") } else { head.to_owned() }
}
