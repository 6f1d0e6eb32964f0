//! An agent and its client with `linkspan acp` between them, which passes on what does not matter here. Of the rest it
//! sends a copy, and waits where something is to be changed: each such request is answered here, or passed on to the
//! client. Reviews and what the model is told are those of `conversation`; the messages of the proxy are here.
//!
//! From the proxy: `begin {session, cwd}`, `client {frame}`, `agent {frame}`, `told {id}` once the agent has an answer,
//! `pong {number}`, `agent/leave`. To it: `ready`, `answer {frame, declined}`, `pass {id, why}`, `turnOver {words}`,
//! `ping {number}`.

use std::collections::VecDeque;
use std::path::PathBuf;

use linkspan_editor_api::{AgentLeave, Notification};
use serde_json::{Value, json};

use super::conversation::{AcpConversation, SessionStage, TurnState};
use super::frames::{self, text};
use super::permission::{OpenQuestion, Permission, PermissionStage};
use super::tool_calls;
use crate::answer::{Answer, EditorEvent, FailureKind};
use crate::chat::{ChatCommand, ChatEvent, TurnEnd};
use crate::conversation::{AgentFrame, CallId, Conversation, ExchangeId, ServerFacts, Step};
use crate::patch::{PatchChange, PatchFile, TextEdit};
use crate::request::Request;

/// Prompts that a client has sent and that are not answered. More are not kept apart.
const PROMPTS: usize = 32;

#[derive(Debug)]
pub(super) struct ProxiedConversation {
    inner: AcpConversation,
    /// The ids of the client's prompts that are not answered.
    prompts: Vec<Value>,
    frames: Vec<String>,
    steps: VecDeque<Step>,
}

impl ProxiedConversation {
    pub(super) fn new(server: ServerFacts) -> ProxiedConversation {
        ProxiedConversation {
            inner: AcpConversation::new(server),
            prompts: Vec::new(),
            frames: Vec::new(),
            steps: VecDeque::new(),
        }
    }

    fn begin(&mut self, params: &Value) {
        if let (Some(session), Some(cwd)) = (text(params, "session"), text(params, "cwd")) {
            (self.inner.session, self.inner.cwd) = (Some(session.to_owned()), PathBuf::from(cwd));
            self.inner.stage = SessionStage::Ready;
            self.frames.push(frames::notification("ready", &json!({})));
        }
    }

    fn client_frame(&mut self, frame: &Value) {
        match text(frame, "method") {
            Some("session/prompt") => {
                self.prompts.extend(frame.get("id").filter(|_| self.prompts.len() < PROMPTS).cloned());
                if self.inner.turn != TurnState::Cancelling {
                    self.inner.turn = TurnState::Running;
                }
            }
            Some("session/cancel") => self.inner.turn_cancelled(),
            _ => {}
        }
    }

    fn agent_frame(&mut self, frame: &mut Value) {
        let method = text(frame, "method").map(str::to_owned);
        let id = frame.get_mut("id").map(Value::take).filter(|id| !id.is_null());
        let params = frame.get_mut("params").map(Value::take).unwrap_or_default();
        match (method, id) {
            (Some(method), Some(id)) => self.requested(&method, id, &params),
            (Some(method), None) if method == "$/cancel_request" => self.request_cancelled(&params),
            (Some(method), None) => self.inner.notified(&method, &params),
            (None, Some(id)) => self.prompt_answered(&id, frame),
            (None, None) => {}
        }
    }

    fn requested(&mut self, method: &str, id: Value, params: &Value) {
        if self.inner.open.find(|open| open.is_request(&id)).is_some() {
            return;
        }
        self.inner.declines_are_known();
        let call = params.get("toolCall").unwrap_or(&Value::Null);
        match method {
            "session/request_permission" if self.inner.turn == TurnState::Cancelling => {
                self.inner.frames.push(frames::cancelled(&id));
            }
            "session/request_permission"
                if self.inner.turn == TurnState::Running && self.is_reviewable(call) =>
            {
                self.inner.permission_asked(id, params);
            }
            "fs/write_text_file" => self.write_asked(id, params),
            _ => self.pass(&id, None),
        }
    }

    /// Whether it says what it would change. Of anything else the client asks the user.
    fn is_reviewable(&mut self, call: &Value) -> bool {
        let cwd = &self.inner.cwd;
        self.inner
            .tools
            .merge(call)
            .is_some_and(|(_, call)| tool_calls::is_edit(call) && !tool_calls::changes(call, cwd).is_empty())
    }

    /// The client would obey.
    fn write_asked(&mut self, id: Value, params: &Value) {
        let (Some(path), Some(content)) = (text(params, "path"), text(params, "content")) else {
            return self.pass(&id, None);
        };
        let path = self.inner.cwd.join(path);
        let is_accepted = |accepted: &str| {
            accepted == content || accepted.replace("\r\n", "\n") == content.replace("\r\n", "\n")
        };
        let accepted = self.inner.allowed_writes.iter().any(|(allowed, text)| {
            *allowed == path && text.as_ref().is_some_and(|accepted| is_accepted(accepted))
        });
        if accepted {
            return self.pass(&id, None);
        }
        if self.inner.turn == TurnState::Cancelling {
            return self.inner.frames.push(Permission::of_write(id, path).cancelled());
        }
        let edit = TextEdit { old: None, new: content.to_owned(), all: false };
        let change = PatchChange::Texts { edits: vec![edit], diff: None };
        let files = vec![PatchFile { path: path.clone(), change }];
        let permission = Permission::of_write(id, path);
        let (cwd, set, can_apply) = (self.inner.cwd.clone(), permission.tool.clone(), permission.can_allow());
        let request = Request::Patch { files, cwd, set, can_apply };
        let call = self.inner.open.begin(None, OpenQuestion::Edit(permission));
        self.inner.steps.push_back(Step::Call { call, request });
    }

    fn pass(&mut self, id: &Value, why: Option<&str>) {
        self.frames.push(frames::notification("pass", &json!({ "id": id, "why": why })));
    }

    fn find(&self, id: &Value) -> Option<CallId> {
        self.inner.open.find(|open| open.is_request(id))
    }

    fn permission(&mut self, call: CallId) -> Option<&mut Permission> {
        self.inner.open.get_mut(call).and_then(|open| open.what.permission_mut())
    }

    /// The agent no longer wants the answer; it gets one nevertheless.
    fn request_cancelled(&mut self, params: &Value) {
        let Some(call) = params.get("requestId").and_then(|id| self.find(id)) else { return };
        let asked = self.permission(call).filter(|permission| permission.stage == PermissionStage::Asked);
        if let Some(frame) = asked.map(|permission| permission.cancelled()) {
            self.inner.frames.push(frame);
            self.inner.open.end(call);
            self.inner.steps.push_back(Step::Cancelled(call));
        }
    }

    /// It has been sent our answer. Where the client would have written, nobody writes after a no.
    fn told(&mut self, id: &Value) {
        let Some(call) = self.find(id) else { return };
        let Some(permission) = self.permission(call).filter(|permission| permission.is_write()) else {
            return;
        };
        let stage = permission.stage;
        if stage == PermissionStage::Declining {
            self.inner.settle(call, stage, false);
        }
    }

    fn prompt_answered(&mut self, id: &Value, frame: &Value) {
        let before = self.prompts.len();
        self.prompts.retain(|prompt| prompt != id);
        if self.prompts.len() == before || !self.prompts.is_empty() {
            return;
        }
        let reason = frame.get("result").and_then(|result| text(result, "stopReason"));
        self.inner.turn_over(match reason {
            Some("cancelled") => TurnEnd::Cancelled,
            _ => TurnEnd::Done,
        });
    }

    /// What the conversation says, in messages for the proxy.
    fn collect(&mut self) {
        let answers = std::mem::take(&mut self.inner.frames);
        self.frames.extend(answers.iter().map(|frame| answer(frame, false)));
        while let Some(step) = self.inner.steps.pop_front() {
            match step {
                Step::Chat(event) => {
                    if let ChatEvent::TurnEnded { follow_up, .. } = *event {
                        let params = json!({ "words": follow_up });
                        self.frames.push(frames::notification("turnOver", &params));
                    }
                }
                step => self.steps.push_back(step),
            }
        }
    }
}

/// The proxy gives this to the agent.
fn answer(frame: &str, declined: bool) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"answer\",\"params\":{{\"declined\":{declined},\"frame\":{frame}}}}}"
    )
}

impl Conversation for ProxiedConversation {
    fn receive(&mut self, frame: &str, _exchange: Option<ExchangeId>) -> Step {
        if let Ok(mut message) = serde_json::from_str::<Value>(frame) {
            let mut params = message.get_mut("params").map(Value::take).unwrap_or_default();
            let mut frame = params.get_mut("frame").map(Value::take).unwrap_or_default();
            let method = text(&message, "method").unwrap_or_default();
            match method {
                "begin" => self.begin(&params),
                // Nothing is known of its folder.
                _ if self.inner.stage != SessionStage::Ready => {}
                "client" => self.client_frame(&frame),
                "agent" => self.agent_frame(&mut frame),
                "told" => self.told(params.get("id").unwrap_or(&Value::Null)),
                "pong" => {
                    let number = params.get("number").and_then(Value::as_u64).unwrap_or_default();
                    self.inner.pinged = self.inner.pinged.max(number);
                }
                AgentLeave::METHOD => self.inner.settle_all(),
                _ => {}
            }
            self.inner.end_turn_if_decided();
            self.collect();
            if method == AgentLeave::METHOD {
                self.steps.push_back(Step::Goodbye);
            }
        }
        self.next_step().unwrap_or(Step::Nothing)
    }

    fn next_step(&mut self) -> Option<Step> {
        self.steps.pop_front().or_else(|| self.inner.next_step())
    }

    fn take_frames(&mut self) -> Vec<String> {
        std::mem::take(&mut self.frames)
    }

    fn command(&mut self, command: ChatCommand) {
        if command == ChatCommand::Gone {
            self.inner.settle_all();
            self.collect();
        }
    }

    fn decline(&mut self, call: CallId) -> Option<AgentFrame> {
        let frame = self.inner.decline(call)?;
        Some(AgentFrame { text: answer(&frame.text, true), answers: None })
    }

    fn answer(&mut self, call: CallId, given: &Answer) -> Option<AgentFrame> {
        let permission = self.permission(call)?;
        let id = permission.request.clone();
        let yes_to_write = permission.is_write().then(|| permission.allowed());
        let text = match given {
            // It was not shown, or no longer is: the client asks, as if there were no hub.
            Answer::Failed(failure)
                if failure.kind != FailureKind::Withdrawn && permission.stage == PermissionStage::Asked =>
            {
                self.inner.open.end(call);
                self.pass(&id, Some(&failure.message));
                None
            }
            given => {
                match self.inner.answer(call, given) {
                    // The client writes what was accepted as it is.
                    Some(frame) if Some(&frame.text) == yes_to_write.as_ref() => {
                        self.pass(&id, None);
                        None
                    }
                    frame => frame.map(|frame| answer(&frame.text, false)),
                }
            }
        };
        // The answer comes before the end of the turn.
        self.inner.end_turn_if_decided();
        self.collect();
        text.map(|text| AgentFrame { text, answers: None })
    }

    fn event(&self, _event: &EditorEvent) -> Option<String> {
        None
    }

    /// The proxy answers at once. What the agent knows, its own frames say.
    fn ping(&mut self, number: u64) -> Option<String> {
        Some(frames::notification("ping", &json!({ "number": number })))
    }

    fn not_text(&self) -> Option<String> {
        None
    }

    fn open_calls(&self) -> Box<dyn Iterator<Item = CallId> + '_> {
        self.inner.open_calls()
    }

    fn open_changes(&self) -> Box<dyn Iterator<Item = (CallId, &str)> + '_> {
        self.inner.open_changes()
    }
}
