//! The state of the conversation with one agent, and where each of its frames goes. `begin`, `turn` and `questions` have
//! the rest.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;

use linkspan_review::SharedText;
use serde_json::{Value, json};

use super::frames::{self, text};
use super::permission::{OpenQuestion, PermissionStage};
use super::questions::read_answer;
use super::tool_calls::ToolCalls;
use super::updates;
use crate::answer::{Answer, EditorEvent};
use crate::chat::{ChatCommand, ChatEvent, TurnEnd};
use crate::conversation::{AgentFrame, CallId, Conversation, ExchangeId, ServerFacts, Step};
use crate::open_calls::OpenCalls;

pub(super) const VERSION: u64 = 1;

#[derive(Debug)]
pub(super) struct AcpConversation {
    pub(super) server: ServerFacts,
    pub(super) stage: SessionStage,
    pub(super) cwd: PathBuf,
    /// What the session continues, and the mode that it is put into.
    pub(super) resume: Option<String>,
    pub(super) first_mode: Option<String>,
    /// A prompt may have pictures.
    pub(super) takes_pictures: bool,
    pub(super) session: Option<String>,
    pub(super) turn: TurnState,
    pub(super) tools: ToolCalls,
    pub(super) open: OpenCalls<OpenQuestion>,
    pub(super) asked: BTreeMap<u64, OwnRequest>,
    pub(super) next_request: u64,
    /// What the model is told when the turn is over.
    pub(super) follow_up: Vec<String>,
    /// What was accepted as proposed in this turn, with its text as far as it is known.
    pub(super) allowed_writes: VecDeque<(PathBuf, Option<SharedText>)>,
    pub(super) frames: Vec<String>,
    pub(super) steps: VecDeque<Step>,
    pub(super) pinged: u64,
    pub(super) ponged: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SessionStage {
    /// Its process does not run yet.
    Waiting,
    Beginning,
    /// What was said before is sent again.
    Replaying,
    Ready,
    Failed,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum TurnState {
    None,
    Running,
    Cancelling,
    /// The agent has ended it; something in it is not decided.
    Over(TurnEnd),
}

/// A request of ours that waits for its response.
#[derive(Debug)]
pub(super) enum OwnRequest {
    Initialize,
    New,
    Load,
    FirstMode { ready: Box<ChatEvent> },
    Mode(String),
    Prompt,
}

impl AcpConversation {
    pub(super) fn new(server: ServerFacts) -> AcpConversation {
        AcpConversation {
            server,
            stage: SessionStage::Waiting,
            cwd: PathBuf::new(),
            resume: None,
            first_mode: None,
            takes_pictures: false,
            session: None,
            turn: TurnState::None,
            tools: ToolCalls::default(),
            open: OpenCalls::default(),
            asked: BTreeMap::new(),
            next_request: 0,
            follow_up: Vec::new(),
            allowed_writes: VecDeque::new(),
            frames: Vec::new(),
            steps: VecDeque::new(),
            pinged: 0,
            ponged: 0,
        }
    }

    pub(super) fn ask(&mut self, what: OwnRequest, method: &str, params: &Value) {
        let id = self.next_request;
        self.next_request += 1;
        self.asked.insert(id, what);
        self.frames.push(frames::request(id, method, params));
    }

    pub(super) fn say(&mut self, event: ChatEvent) {
        self.steps.push_back(Step::Chat(Box::new(event)));
    }

    pub(super) fn notice(&mut self, text: String) {
        self.say(ChatEvent::Notice { text, is_error: true });
    }

    pub(super) fn session_params(&self, more: Value) -> Value {
        let mut params = more;
        if let Some(object) = params.as_object_mut() {
            object.insert("sessionId".to_owned(), json!(self.session));
        }
        params
    }

    pub(super) fn is_ours(&self, params: &Value) -> bool {
        self.session.is_some() && text(params, "sessionId") == self.session.as_deref()
    }

    pub(super) fn notified(&mut self, method: &str, params: &Value) {
        if method != "session/update" || !self.is_ours(params) || self.stage == SessionStage::Replaying {
            return;
        }
        let Some(update) = params.get("update") else { return };
        let Some(event) = updates::event(update, &mut self.tools) else { return };
        // Texts and other calls may have been on their way before our no.
        if let ChatEvent::Tool(tool) = &event {
            match text(update, "status") {
                Some("completed") => self.tool_ended(&tool.id.clone(), true),
                Some("failed" | "cancelled") => self.tool_ended(&tool.id.clone(), false),
                _ => {}
            }
        }
        self.say(event);
    }
}

impl Conversation for AcpConversation {
    fn receive(&mut self, frame: &str, _exchange: Option<ExchangeId>) -> Step {
        if let Ok(mut frame) = serde_json::from_str::<Value>(frame)
            && self.stage != SessionStage::Waiting
        {
            let method = text(&frame, "method").map(str::to_owned);
            let id = frame.get_mut("id").map(Value::take).filter(|id| !id.is_null());
            let params = frame.get_mut("params").map(Value::take).unwrap_or_default();
            match (method, id) {
                (Some(method), Some(id)) => self.requested(&method, id, &params),
                (Some(method), None) => self.notified(&method, &params),
                (None, Some(id)) => {
                    frame["id"] = id;
                    self.response(&frame);
                }
                (None, None) => {}
            }
        }
        self.end_turn_if_decided();
        self.next_step().unwrap_or(Step::Nothing)
    }

    fn next_step(&mut self) -> Option<Step> {
        let is_answered = |open: &OpenQuestion| {
            open.permission().is_some_and(|permission| permission.stage == PermissionStage::Answered)
        };
        match self.steps.pop_front() {
            None if self.pinged > self.ponged
                && self.follow_up.is_empty()
                && self.open.find(is_answered).is_none() =>
            {
                self.ponged = self.pinged;
                Some(Step::Pong(self.pinged))
            }
            step => step,
        }
    }

    fn take_frames(&mut self) -> Vec<String> {
        std::mem::take(&mut self.frames)
    }

    fn ask_to_start(&mut self) -> Option<CallId> {
        Some(self.open.begin(None, OpenQuestion::Start))
    }

    fn command(&mut self, command: ChatCommand) {
        match command {
            ChatCommand::Begin { cwd, resume, mode } => {
                (self.cwd, self.resume, self.first_mode) = (cwd, resume, mode);
                self.stage = SessionStage::Beginning;
                let capabilities =
                    json!({ "fs": { "readTextFile": true, "writeTextFile": false }, "terminal": false });
                let client = json!({
                    "name": "linkspan", "title": "Linkspan", "version": self.server.version,
                });
                let params = json!({
                    "protocolVersion": VERSION, "clientCapabilities": capabilities, "clientInfo": client,
                });
                self.ask(OwnRequest::Initialize, "initialize", &params);
            }
            ChatCommand::Prompt { text, attachments, pictures } => {
                self.prompt(&text, &attachments, &pictures);
            }
            ChatCommand::Cancel => self.cancel(),
            ChatCommand::SetMode(mode) if self.stage == SessionStage::Ready => {
                let params = self.session_params(json!({ "modeId": mode }));
                self.ask(OwnRequest::Mode(mode), "session/set_mode", &params);
            }
            ChatCommand::SetMode(_) => {}
            ChatCommand::Gone => self.settle_all(),
        }
    }

    fn decline(&mut self, call: CallId) -> Option<AgentFrame> {
        let permission = self.open.get_mut(call)?.what.permission_mut()?;
        if permission.stage != PermissionStage::Asked {
            return None;
        }
        permission.stage = PermissionStage::Declining;
        Some(AgentFrame { text: permission.rejected(), answers: None })
    }

    fn answer(&mut self, call: CallId, answer: &Answer) -> Option<AgentFrame> {
        let frame = match &self.open.get(call)?.what {
            OpenQuestion::Start => {
                self.open.end(call);
                self.say(ChatEvent::may_start(answer));
                None
            }
            OpenQuestion::Read { request, path } => {
                let frame = read_answer(request, path, answer);
                self.open.end(call);
                Some(frame)
            }
            OpenQuestion::Other(permission) => {
                let frame = match answer {
                    Answer::Permission { allowed: true, .. } => permission.allowed(),
                    _ => permission.rejected(),
                };
                self.open.end(call);
                Some(frame)
            }
            OpenQuestion::Edit(_) => self.edit_answered(call, answer),
        };
        self.end_turn_if_decided();
        frame.map(|text| AgentFrame { text, answers: None })
    }

    fn event(&self, _event: &EditorEvent) -> Option<String> {
        None
    }

    /// Nothing is sent: what counts is what the agent does after each answer.
    fn ping(&mut self, number: u64) -> Option<String> {
        self.pinged = self.pinged.max(number);
        None
    }

    fn not_text(&self) -> Option<String> {
        None
    }

    fn open_calls(&self) -> Box<dyn Iterator<Item = CallId> + '_> {
        self.open.ids()
    }

    fn open_changes(&self) -> Box<dyn Iterator<Item = (CallId, &str)> + '_> {
        self.open.named(|open| match open {
            OpenQuestion::Edit(permission) => Some(permission.tool.as_str()),
            _ => None,
        })
    }
}
