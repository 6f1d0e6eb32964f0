//! One conversation, pure: `AgentConversation::handle(now, event)` returns actions. Owns the messages, the running turn with
//! its tool calls, permissions, cancellation, retries and compaction. Does no I/O and reads no clock.

mod batch;
mod compaction;
mod event;
mod limits;
mod overlap;
mod refusal_text;
mod restore;
mod tool_table;
mod turn;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::Duration;

use crate::message::{ChatMessage, Usage};
use crate::permissions::PermissionMode;

use turn::{TurnPhase, TurnState};

pub use event::{Answer, ConversationAction, Event, Question, QuestionId, Record, TurnEnd, TurnEvent};
pub use limits::ConversationLimits;
pub use tool_table::ToolTable;

/// How a conversation starts.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Its mode, unless a restored session says otherwise.
    pub mode: PermissionMode,
    /// What the model may call.
    pub tools: ToolTable,
    /// Its limits.
    pub limits: ConversationLimits,
}

/// The messages between a user and a model, and what is going on with them.
#[derive(Debug)]
pub struct AgentConversation {
    mode: PermissionMode,
    tools: ToolTable,
    limits: ConversationLimits,
    system: String,
    messages: Vec<ChatMessage>,
    /// Ids of all calls, to mint others.
    call_ids: HashSet<String>,
    /// Prompts that came while a turn runs.
    queued: Vec<ChatMessage>,
    /// What the user allowed for the session: a tool, and its command if it runs one.
    grants: BTreeSet<(String, String)>,
    /// Calls that may fail as often as they like.
    patience: HashSet<(String, String)>,
    /// Changes that the user was asked about when the agent was stopped, by their calls: path and text.
    proposed: HashMap<String, (String, String)>,
    /// Calls that run with such a change.
    asked_again: HashSet<String>,
    /// Calls that were given up on and still run, with the names of their tools.
    given_up: HashMap<String, String>,
    compact_wanted: bool,
    next_request: u64,
    next_question: u64,
    total: Usage,
    fill: Fill,
    phase: TurnPhase,
    turn: TurnState,
    /// When the next [`Event::Tick`] matters.
    deadline: Option<Duration>,
    now: Duration,
    actions: Vec<ConversationAction>,
}

/// How full the model's context is: what its server counted, and what came since.
#[derive(Debug, Clone, Copy, Default)]
struct Fill {
    counted: u64,
    bytes_since: u64,
}

impl Fill {
    /// About four bytes are a token; too much is better than too little.
    fn tokens(self) -> u64 {
        self.counted.saturating_add(self.bytes_since / 3)
    }
}

impl AgentConversation {
    /// An empty one.
    pub fn new(settings: Settings) -> AgentConversation {
        AgentConversation {
            mode: settings.mode,
            tools: settings.tools,
            limits: settings.limits,
            system: String::new(),
            messages: Vec::new(),
            call_ids: HashSet::new(),
            queued: Vec::new(),
            grants: BTreeSet::new(),
            patience: HashSet::new(),
            proposed: HashMap::new(),
            asked_again: HashSet::new(),
            given_up: HashMap::new(),
            compact_wanted: false,
            next_request: 1,
            next_question: 1,
            total: Usage::default(),
            fill: Fill::default(),
            phase: TurnPhase::Idle,
            turn: TurnState::default(),
            deadline: None,
            now: Duration::ZERO,
            actions: Vec::new(),
        }
    }

    /// What happened, at `now` since any fixed moment. Returns what is to be done, in order.
    pub fn handle(&mut self, now: Duration, event: Event) -> Vec<ConversationAction> {
        self.now = now;
        match event {
            Event::Prompt { text, attachments } => self.prompted(ChatMessage::User { text, attachments }),
            Event::Model { request, event } => self.streamed(request, event),
            Event::ModelFailed { request, error } => self.model_failed(request, error),
            Event::ToolDone { result } => self.tool_done(result),
            Event::Answered { question, answer } => self.answered(question, answer),
            Event::Context { system } => self.context(system),
            Event::Cancel => self.cancel(),
            Event::Compact => self.compact(),
            Event::Clear => self.clear(),
            Event::Mode(mode) => self.set_mode(mode),
            Event::Tools(tools) => self.tools = tools,
            Event::ContextWindow(tokens) => self.limits.context_window = tokens,
            Event::Rounds(rounds) => self.limits.rounds = rounds,
            Event::Tick => self.tick(),
        }
        std::mem::take(&mut self.actions)
    }

    /// What the model reads.
    pub fn messages(&self) -> &[ChatMessage] {
        &self.messages
    }

    /// The system prompt of the last request.
    pub fn system(&self) -> &str {
        &self.system
    }

    /// The permission mode.
    pub fn mode(&self) -> PermissionMode {
        self.mode
    }

    /// Replaces the mode of a restored conversation before it is resumed.
    pub fn set_initial_mode(&mut self, mode: PermissionMode) {
        self.mode = mode;
    }

    /// What the whole conversation cost.
    pub fn usage(&self) -> Usage {
        self.total
    }

    /// A turn runs.
    pub fn is_busy(&self) -> bool {
        !matches!(self.phase, TurnPhase::Idle)
    }

    /// How many questions wait for the user.
    pub fn open_questions(&self) -> usize {
        match &self.phase {
            TurnPhase::Tools(batch) => batch.open_questions(),
            _ => 0,
        }
    }

    /// How full the model's context is, in percent, if its size is known.
    pub fn context_percent(&self) -> Option<u8> {
        let window = self.limits.context_window.filter(|window| *window > 0)?;
        u8::try_from((self.fill.tokens().saturating_mul(100) / window).min(100)).ok()
    }

    fn act(&mut self, action: ConversationAction) {
        self.actions.push(action);
    }

    fn save(&mut self, record: Record) {
        self.act(ConversationAction::Save(record));
    }

    fn show(&mut self, shown: TurnEvent) {
        self.act(ConversationAction::Show(shown));
    }

    fn wake(&mut self, after: Duration) {
        self.deadline = Some(self.now.saturating_add(after));
        self.act(ConversationAction::Wake { after });
    }

    fn prompted(&mut self, message: ChatMessage) {
        self.queued.push(message);
        if !self.is_busy() {
            self.begin_turn();
        }
    }

    /// Adds what is in the session file already.
    fn add(&mut self, message: ChatMessage) {
        self.fill.bytes_since = self.fill.bytes_since.saturating_add(compaction::size(&message) as u64);
        self.messages.push(message);
    }

    fn record(&mut self, message: ChatMessage) {
        self.save(Record::Message { message: message.clone() });
        self.add(message);
    }

    fn clear(&mut self) {
        if self.is_busy() {
            self.show(TurnEvent::Error(
                "The conversation cannot be cleared while a turn runs. Cancel it first.".to_owned(),
            ));
            return;
        }
        self.save(Record::Cleared);
        self.forget();
    }

    fn forget(&mut self) {
        self.messages.clear();
        self.fill = Fill::default();
    }

    fn set_mode(&mut self, mode: PermissionMode) {
        if self.mode == mode {
            return;
        }
        self.save(Record::Mode { mode });
        self.mode = mode;
        self.reconsider_questions();
    }

    fn next_question(&mut self) -> QuestionId {
        let question = QuestionId(self.next_question);
        self.next_question += 1;
        question
    }
}

/// How often each call failed in a row.
type Failures = HashMap<(String, String), u32>;

#[cfg(test)]
mod tests;
