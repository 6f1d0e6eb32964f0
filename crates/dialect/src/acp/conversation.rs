//! The conversation with one agent: begins a session, sends prompts one at a time, turns its permission requests into
//! questions, and answers each of its requests once. A turn counts as over when everything in it is decided.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};

use linkspan_editor_api::ChatAttachment;
use serde_json::{Value, json};

use super::frames::{self, text};
use super::permission::{OpenQuestion, Permission, PermissionStage};
use super::tool_calls::{self, ToolCalls};
use super::{content, updates, words};
use crate::answer::{Answer, EditorEvent, FailureKind};
use crate::chat::{ChatCommand, ChatEvent, TurnEnd};
use crate::conversation::{AgentFrame, CallId, Conversation, ExchangeId, ServerFacts, Step};
use crate::open_calls::OpenCalls;
use crate::request::Request;

const VERSION: u64 = 1;

/// Questions that wait at a time. A person answers each.
const OPEN_QUESTIONS: usize = 64;

/// Files that the agent was allowed to write in one turn, for the check of what it says it writes.
const ALLOWED_WRITES: usize = 256;

#[derive(Debug)]
pub(super) struct AcpConversation {
    server: ServerFacts,
    stage: Stage,
    cwd: PathBuf,
    /// What the session continues, and the mode that it is put into.
    resume: Option<String>,
    first_mode: Option<String>,
    session: Option<String>,
    turn: Turn,
    tools: ToolCalls,
    open: OpenCalls<OpenQuestion>,
    asked: BTreeMap<u64, OwnRequest>,
    next_request: u64,
    /// What the model is told when the turn is over.
    follow_up: Vec<String>,
    allowed_writes: VecDeque<PathBuf>,
    frames: Vec<String>,
    steps: VecDeque<Step>,
    pinged: u64,
    ponged: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Its process does not run yet.
    Waiting,
    Beginning,
    /// What was said before is sent again.
    Replaying,
    Ready,
    Failed,
}

#[derive(Debug, PartialEq, Eq)]
enum Turn {
    None,
    Running,
    Cancelling,
    /// The agent has ended it; something in it is not decided.
    Over(TurnEnd),
}

/// A request of ours that waits for its response.
#[derive(Debug)]
enum OwnRequest {
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
            stage: Stage::Waiting,
            cwd: PathBuf::new(),
            resume: None,
            first_mode: None,
            session: None,
            turn: Turn::None,
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

    fn ask(&mut self, what: OwnRequest, method: &str, params: &Value) {
        let id = self.next_request;
        self.next_request += 1;
        self.asked.insert(id, what);
        self.frames.push(frames::request(id, method, params));
    }

    fn say(&mut self, event: ChatEvent) {
        self.steps.push_back(Step::Chat(Box::new(event)));
    }

    fn notice(&mut self, text: String) {
        self.say(ChatEvent::Notice { text, is_error: true });
    }

    fn session_params(&self, more: Value) -> Value {
        let mut params = more;
        if let Some(object) = params.as_object_mut() {
            object.insert("sessionId".to_owned(), json!(self.session));
        }
        params
    }

    fn response(&mut self, frame: &Value) {
        let id = frame.get("id").and_then(Value::as_u64);
        let Some(asked) = id.and_then(|id| self.asked.remove(&id)) else { return };
        let outcome = match (frame.get("result"), frame.get("error")) {
            (_, Some(error)) if !error.is_null() => Err(error),
            (result, _) => Ok(result.unwrap_or(&Value::Null)),
        };
        match (asked, outcome) {
            (OwnRequest::Initialize, Ok(result)) => self.initialized(result),
            (OwnRequest::New, Ok(result)) => match text(result, "sessionId") {
                Some(session) => {
                    self.session = Some(session.to_owned());
                    let forgot = self.resume.is_some();
                    self.begun(result, forgot);
                }
                None => self.fail("it began no session".to_owned()),
            },
            (OwnRequest::Load, Ok(result)) => self.begun(result, false),
            // It has forgotten the session: a new one begins.
            (OwnRequest::Load, Err(_)) => {
                self.session = None;
                self.stage = Stage::Beginning;
                self.begin_session(None);
            }
            (OwnRequest::Initialize | OwnRequest::New, Err(error)) => {
                let message = said_error(error);
                self.fail(message);
            }
            (OwnRequest::FirstMode { ready }, outcome) => {
                if let Err(error) = outcome {
                    let message = format!(
                        "the agent was not put into the mode in which it asks before it edits: {}",
                        said_error(error)
                    );
                    self.fail(message);
                } else {
                    self.stage = Stage::Ready;
                    let mut ready = *ready;
                    if let ChatEvent::Ready { mode, .. } = &mut ready {
                        *mode = self.first_mode.clone();
                    }
                    self.say(ready);
                }
            }
            (OwnRequest::Mode(mode), Ok(_)) => self.say(ChatEvent::Mode(mode)),
            (OwnRequest::Mode(_), Err(error)) => {
                let message = format!("The agent did not change its mode: {}.", said_error(error));
                self.notice(message);
            }
            (OwnRequest::Prompt, Ok(result)) => {
                let end = match text(result, "stopReason") {
                    Some("cancelled") => TurnEnd::Cancelled,
                    Some("max_tokens") => TurnEnd::Other("the model reached its limit of tokens".to_owned()),
                    Some("max_turn_requests") => {
                        TurnEnd::Other("the model reached its limit of requests in one turn".to_owned())
                    }
                    Some("refusal") => TurnEnd::Other("the model refused to go on".to_owned()),
                    _ => TurnEnd::Done,
                };
                self.turn_over(end);
            }
            (OwnRequest::Prompt, Err(error)) => {
                let message = said_error(error);
                self.turn_over(TurnEnd::Other(message));
            }
        }
    }

    fn initialized(&mut self, result: &Value) {
        if result.get("protocolVersion").and_then(Value::as_u64) != Some(VERSION) {
            return self.fail("it speaks another version of the Agent Client Protocol than 1".to_owned());
        }
        let capabilities = result.get("agentCapabilities").unwrap_or(&Value::Null);
        let can_load = capabilities.get("loadSession").and_then(Value::as_bool) == Some(true);
        let can_resume = capabilities.get("sessionCapabilities").and_then(|all| all.get("resume"));
        let method = match (can_resume.is_some_and(|can| !can.is_null()), can_load) {
            (true, _) => Some("session/resume"),
            (false, true) => Some("session/load"),
            (false, false) => None,
        };
        self.begin_session(method);
    }

    fn begin_session(&mut self, continues: Option<&str>) {
        let mut params = json!({ "cwd": self.cwd, "mcpServers": [] });
        match (continues, self.resume.clone()) {
            (Some(method), Some(session)) => {
                params["sessionId"] = json!(session);
                self.session = Some(session);
                self.stage = Stage::Replaying;
                self.ask(OwnRequest::Load, method, &params);
            }
            _ => self.ask(OwnRequest::New, "session/new", &params),
        }
    }

    fn begun(&mut self, result: &Value, forgot: bool) {
        let (mode, modes) = updates::modes(result);
        let session = self.session.clone().unwrap_or_default();
        let ready = ChatEvent::Ready { session, modes, mode: mode.clone(), forgot };
        self.tools.clear();
        match self.first_mode.clone().filter(|wanted| mode.as_ref() != Some(wanted)) {
            Some(wanted) => {
                let params = self.session_params(json!({ "modeId": wanted }));
                self.ask(OwnRequest::FirstMode { ready: Box::new(ready) }, "session/set_mode", &params);
            }
            None => {
                self.stage = Stage::Ready;
                self.say(ready);
            }
        }
    }

    fn fail(&mut self, why: String) {
        self.stage = Stage::Failed;
        self.say(ChatEvent::CannotBegin(why));
    }

    fn is_ours(&self, params: &Value) -> bool {
        self.session.is_some() && text(params, "sessionId") == self.session.as_deref()
    }

    fn notified(&mut self, method: &str, params: &Value) {
        if method != "session/update" || !self.is_ours(params) || self.stage == Stage::Replaying {
            return;
        }
        let Some(update) = params.get("update") else { return };
        let Some(event) = updates::event(update, &mut self.tools) else { return };
        match &event {
            ChatEvent::Tool(tool) => match text(update, "status") {
                Some("completed") => self.tool_ended(&tool.id.clone(), true),
                Some("failed") => self.tool_ended(&tool.id.clone(), false),
                _ => {}
            },
            // It goes on, so it has read our no.
            ChatEvent::Text(_) | ChatEvent::Thought(_) => self.declines_are_known(),
            _ => {}
        }
        self.say(event);
    }

    fn declines_are_known(&mut self) {
        for call in self.open.ids().collect::<Vec<_>>() {
            let permission = self.open.get_mut(call).and_then(|open| open.what.permission_mut());
            if let Some(permission) = permission
                && permission.stage == PermissionStage::Declining
            {
                permission.stage = PermissionStage::Declined;
                self.steps.push_back(Step::Declined { call, applied: false });
            }
        }
    }

    /// The tool call was carried out, or not.
    fn tool_ended(&mut self, tool: &str, applied: bool) {
        for call in self.open.ids().collect::<Vec<_>>() {
            let permission = self.open.get_mut(call).and_then(|open| open.what.permission_mut());
            if let Some(stage) = permission.filter(|it| it.tool == tool).map(|it| &mut it.stage) {
                let was = *stage;
                self.settle(call, was, applied);
            }
        }
    }

    /// Nothing follows from our answer any more.
    fn settle(&mut self, call: CallId, was: PermissionStage, applied: bool) {
        match was {
            PermissionStage::Asked => {
                self.open.end(call);
                self.steps.push_back(Step::Cancelled(call));
            }
            PermissionStage::Declining => {
                let permission = self.open.get_mut(call).and_then(|open| open.what.permission_mut());
                if let Some(permission) = permission {
                    permission.stage = PermissionStage::Declined;
                }
                self.steps.push_back(Step::Declined { call, applied });
            }
            PermissionStage::Declined => {}
            PermissionStage::Answered => drop(self.open.end(call)),
        }
    }

    fn settle_all(&mut self) {
        for call in self.open.ids().collect::<Vec<_>>() {
            let stage = self.open.get(call).and_then(|open| open.what.permission()).map(|it| it.stage);
            if let Some(stage) = stage {
                self.settle(call, stage, false);
            }
        }
    }

    fn turn_over(&mut self, end: TurnEnd) {
        self.turn = Turn::Over(end);
        self.settle_all();
        self.end_turn_if_decided();
    }

    fn end_turn_if_decided(&mut self) {
        if !matches!(self.turn, Turn::Over(_)) || self.open.find(OpenQuestion::is_undecided).is_some() {
            return;
        }
        let Turn::Over(end) = std::mem::replace(&mut self.turn, Turn::None) else { return };
        self.tools.clear();
        self.allowed_writes.clear();
        let follow_up = std::mem::take(&mut self.follow_up);
        let follow_up = (!follow_up.is_empty()).then(|| follow_up.join("\n\n"));
        self.say(ChatEvent::TurnEnded { end, follow_up });
    }

    fn requested(&mut self, method: &str, id: Value, params: &Value) {
        // A second request of the same id cannot be told apart from the first.
        if self.open.find(|open| open.is_request(&id)).is_some() {
            return;
        }
        let is_known =
            matches!(method, "session/request_permission" | "fs/read_text_file" | "fs/write_text_file");
        if is_known && !self.is_ours(params) {
            return self.frames.push(frames::error(&id, frames::INVALID_PARAMS, "unknown sessionId"));
        }
        match method {
            "session/request_permission" => self.permission_asked(id, params),
            "fs/read_text_file" => self.read_asked(id, params),
            "fs/write_text_file" => self.write_asked(&id, params),
            _ => self.frames.push(frames::error(&id, frames::METHOD_NOT_FOUND, "method not found")),
        }
    }

    fn permission_asked(&mut self, id: Value, params: &Value) {
        let call = params.get("toolCall").unwrap_or(&Value::Null);
        let is_full = self.open.ids().count() >= OPEN_QUESTIONS;
        // Outside a turn, or after it was cancelled, nobody is asked.
        let merged = self.tools.merge(call).filter(|_| self.turn == Turn::Running && !is_full);
        let Some((tool, call)) = merged else {
            return self.frames.push(frames::cancelled(&id));
        };
        let mut permission = Permission::new(id, params, tool);
        let event = ChatEvent::Tool(tool_calls::shown(tool, call));
        let tool = tool.to_owned();
        let files = match tool_calls::is_edit(call) {
            true => tool_calls::changes(call, &self.cwd),
            false => Vec::new(),
        };
        permission.paths = files.iter().map(|file| file.path.clone()).collect();
        let question = tool_calls::question(call);
        self.say(event);
        let (call, request) = match files.is_empty() {
            false => {
                let request = Request::Patch { files, cwd: self.cwd.clone(), set: tool.clone() };
                (self.open.begin(None, OpenQuestion::Edit(permission)), request)
            }
            true => {
                let request = Request::Consent { what: question };
                (self.open.begin(None, OpenQuestion::Other(permission)), request)
            }
        };
        self.say(ChatEvent::Asks { tool, call });
        self.steps.push_back(Step::Call { call, request });
    }

    fn read_asked(&mut self, id: Value, params: &Value) {
        let Some(path) = text(params, "path").map(|path| self.cwd.join(path)) else {
            return self.frames.push(frames::error(&id, frames::INVALID_PARAMS, "`path` is missing"));
        };
        if self.open.ids().count() >= OPEN_QUESTIONS {
            return self.frames.push(frames::error(
                &id,
                frames::INTERNAL_ERROR,
                "too many requests are open",
            ));
        }
        let number =
            |name: &str| params.get(name).and_then(Value::as_u64).and_then(|it| u32::try_from(it).ok());
        let first = number("line").map_or(0, |line| line.saturating_sub(1));
        let last = number("limit").map(|limit| first.saturating_add(limit.max(1) - 1));
        let open = OpenQuestion::Read { request: id, path: path.clone() };
        let call = self.open.begin(None, open);
        self.steps.push_back(Step::Call { call, request: Request::ReadFile { path, lines: (first, last) } });
    }

    /// We did not offer it. Some send it nevertheless and write by themselves, whatever the answer.
    fn write_asked(&mut self, id: &Value, params: &Value) {
        self.frames.push(frames::result(id, &json!({})));
        let path = text(params, "path").map(|path| self.cwd.join(path)).unwrap_or_default();
        if !self.allowed_writes.contains(&path) {
            self.notice(format!(
                "The agent asked to have {} written, which you did not accept. Linkspan wrote nothing.",
                path.display()
            ));
        }
    }

    fn edit_answered(&mut self, call: CallId, answer: &Answer) -> Option<String> {
        let Some(OpenQuestion::Edit(permission)) = self.open.get_mut(call).map(|open| &mut open.what) else {
            return None;
        };
        let was = permission.stage;
        permission.stage = PermissionStage::Answered;
        let (frame, words) = match answer {
            Answer::Set(parts) => {
                let accepted = |answer: &Answer| matches!(answer, Answer::Accepted(accepted) if accepted.is_as_proposed());
                let as_proposed = parts.iter().all(|(_, answer)| accepted(answer));
                match was {
                    PermissionStage::Asked if as_proposed && permission.can_allow() => {
                        self.allowed_writes.extend(parts.iter().map(|(path, _)| path.clone()));
                        self.allowed_writes.extend(permission.paths.iter().cloned());
                        (Some(permission.allowed()), words::after_accept(parts))
                    }
                    PermissionStage::Asked => (Some(permission.rejected()), words::after_decline(parts)),
                    _ => (None, words::after_decline(parts)),
                }
            }
            // Withdrawn by the agent itself, or by the end of the turn.
            Answer::Failed(failure) if failure.kind == FailureKind::Withdrawn => {
                (Some(permission.rejected()), None)
            }
            Answer::Failed(failure) => {
                let words = words::after_failure(&permission.paths, &failure.message);
                (Some(permission.rejected()), Some(words))
            }
            _ => (Some(permission.rejected()), None),
        };
        let frame = frame.filter(|_| was == PermissionStage::Asked);
        while self.allowed_writes.len() > ALLOWED_WRITES {
            self.allowed_writes.pop_front();
        }
        if let Answer::Failed(failure) = answer {
            self.notice(format!("A change could not be reviewed and was refused: {}.", failure.message));
        }
        self.follow_up.extend(words);
        // The agent's turn may be over: then it hears no more about this.
        if frame.is_none() {
            self.open.end(call);
        }
        frame
    }

    fn prompt(&mut self, words: &str, attachments: &[ChatAttachment]) {
        if self.stage != Stage::Ready || self.turn != Turn::None {
            return;
        }
        self.turn = Turn::Running;
        let params = self.session_params(json!({ "prompt": content::prompt(words, attachments) }));
        self.ask(OwnRequest::Prompt, "session/prompt", &params);
    }

    fn cancel(&mut self) {
        if self.turn != Turn::Running {
            return;
        }
        self.turn = Turn::Cancelling;
        let params = self.session_params(json!({}));
        self.frames.push(frames::notification("session/cancel", &params));
        for call in self.open.ids().collect::<Vec<_>>() {
            let Some(permission) = self.open.get(call).and_then(|open| open.what.permission()) else {
                continue;
            };
            if permission.stage == PermissionStage::Asked {
                self.frames.push(frames::cancelled(&permission.request));
                self.open.end(call);
                self.steps.push_back(Step::Cancelled(call));
            }
        }
    }
}

/// What an error says to a person.
fn said_error(error: &Value) -> String {
    let message = text(error, "message").unwrap_or("an error without a message");
    let detail = error.get("data").and_then(|data| data.as_str().or_else(|| text(data, "details")));
    let message = match detail {
        Some(detail) => format!("{message}: {detail}"),
        None => message.to_owned(),
    };
    let message: String = message.chars().take(2000).collect();
    match error.get("code").and_then(Value::as_i64) {
        Some(frames::AUTH_REQUIRED) => {
            format!(
                "{message}. Log in with the agent's own program in a terminal, then send the message again"
            )
        }
        _ => message,
    }
}

/// The answer to `fs/read_text_file`.
fn read_answer(request: &Value, path: &Path, answer: &Answer) -> String {
    match answer {
        Answer::Text { truncated: true, .. } => {
            let message =
                format!("{} is too large; read a part of it with `line` and `limit`", path.display());
            frames::error(request, frames::INTERNAL_ERROR, &message)
        }
        Answer::Text { text, .. } => frames::result(request, &json!({ "content": text })),
        Answer::Failed(failure) => {
            let code = match failure.kind {
                FailureKind::NotFound => frames::RESOURCE_NOT_FOUND,
                FailureKind::OutsideWorkspace | FailureKind::InvalidParams => frames::INVALID_PARAMS,
                _ => frames::INTERNAL_ERROR,
            };
            frames::error(request, code, &failure.message)
        }
        _ => frames::error(request, frames::INTERNAL_ERROR, "the file was not read"),
    }
}

impl Conversation for AcpConversation {
    fn receive(&mut self, frame: &str, _exchange: Option<ExchangeId>) -> Step {
        if let Ok(mut frame) = serde_json::from_str::<Value>(frame)
            && self.stage != Stage::Waiting
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
                self.stage = Stage::Beginning;
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
            ChatCommand::Prompt { text, attachments } => self.prompt(&text, &attachments),
            ChatCommand::Cancel => self.cancel(),
            ChatCommand::SetMode(mode) if self.stage == Stage::Ready => {
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
                self.say(ChatEvent::MayStart(match answer {
                    Answer::Permission { allowed: true, .. } => Ok(()),
                    Answer::Permission { message, .. } => {
                        Err(message.clone().unwrap_or_else(|| "the user refused it".to_owned()))
                    }
                    Answer::Failed(failure) => Err(failure.message.clone()),
                    _ => Err("it was not allowed".to_owned()),
                }));
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
