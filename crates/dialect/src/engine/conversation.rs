//! The conversation with one engine: it is there, it works in the folder, and turns, one at a time.

use std::collections::VecDeque;
use std::fmt::Write;

use linkspan_editor_api::ChatAttachment;
use serde_json::{Value, json};

use super::events::EngineTurn;
use crate::answer::{Answer, EditorEvent};
use crate::chat::{ChatCommand, ChatEvent, TurnEnd};
use crate::conversation::{AgentFrame, CallId, Conversation, ExchangeId, Step};
use crate::open_calls::OpenCalls;

#[derive(Debug, Default)]
pub(super) struct EngineConversation {
    cwd: String,
    /// The number of the request that is answered next, and what it is.
    asked: Option<(u64, EngineRequest)>,
    next: u64,
    cancelled: bool,
    /// The question whether it may be used in the folder.
    start: OpenCalls<()>,
    frames: Vec<String>,
    steps: VecDeque<Step>,
}

#[derive(Debug)]
enum EngineRequest {
    Health,
    WorkingDir,
    Chat(EngineTurn),
}

impl EngineConversation {
    fn ask(&mut self, request: EngineRequest, method: &str, path: &str, body: &Value) {
        self.next += 1;
        self.asked = Some((self.next, request));
        let frame = json!({ "id": self.next, "method": method, "path": path, "body": body });
        self.frames.push(frame.to_string());
    }

    fn say(&mut self, event: ChatEvent) {
        self.steps.push_back(Step::Chat(Box::new(event)));
    }

    /// An answer that is not a stream.
    fn answered(&mut self, request: EngineRequest, frame: &Value) {
        let is_ok = frame.get("status").and_then(Value::as_u64) == Some(200);
        match request {
            EngineRequest::Health if is_ok => {
                let body = json!({ "path": self.cwd });
                self.ask(EngineRequest::WorkingDir, "POST", "/context/working_dir", &body);
            }
            EngineRequest::WorkingDir if is_ok => {
                let (session, modes) = ("engine".to_owned(), Vec::new());
                self.say(ChatEvent::Ready { session, modes, mode: None, pictures: false, forgot: false });
            }
            EngineRequest::Health | EngineRequest::WorkingDir => {
                let why = format!("the engine refused: {}", reason(frame));
                self.say(ChatEvent::CannotBegin(why));
            }
            EngineRequest::Chat(_) => {
                let end = match self.cancelled {
                    true => TurnEnd::Cancelled,
                    false => TurnEnd::Other(format!("the engine refused it: {}", reason(frame))),
                };
                self.say(ChatEvent::TurnEnded { end, follow_up: None });
            }
        }
    }

    fn ended(&mut self, request: EngineRequest, why: Option<&str>) {
        match request {
            EngineRequest::Chat(turn) => {
                let end = match turn.error.or(why.map(str::to_owned)) {
                    _ if self.cancelled => TurnEnd::Cancelled,
                    Some(why) => TurnEnd::Other(why),
                    None => TurnEnd::Done,
                };
                self.say(ChatEvent::TurnEnded { end, follow_up: None });
            }
            EngineRequest::Health | EngineRequest::WorkingDir => {
                let why = why.unwrap_or("it gave no answer");
                self.say(ChatEvent::CannotBegin(format!("the engine cannot be used: {why}")));
            }
        }
    }
}

/// What the engine says about an error.
fn reason(frame: &Value) -> String {
    let status = frame.get("status").and_then(Value::as_u64).unwrap_or_default();
    match frame.pointer("/body/detail").and_then(Value::as_str) {
        Some(detail) => format!("{detail} ({status})"),
        None => format!("status {status}"),
    }
}

/// The engine takes one text.
fn message(text: String, attachments: &[ChatAttachment]) -> String {
    let mut message = text;
    for attachment in attachments {
        let _ = write!(message, "\n\nFile: {}", attachment.path);
        if let Some(first) = attachment.first_line {
            let last = attachment.last_line.unwrap_or(first);
            let _ = write!(message, ", lines {first} to {last}");
        }
    }
    message
}

impl Conversation for EngineConversation {
    fn receive(&mut self, frame: &str, _exchange: Option<ExchangeId>) -> Step {
        if let Ok(frame) = serde_json::from_str::<Value>(frame)
            && let Some((number, mut request)) = self.asked.take()
        {
            if frame.get("id").and_then(Value::as_u64) != Some(number) {
                // Of a request that is over.
                self.asked = Some((number, request));
            } else if let (Some(event), EngineRequest::Chat(turn)) = (frame.get("event"), &mut request) {
                let shown = turn.event(event);
                self.asked = Some((number, request));
                shown.into_iter().for_each(|shown| self.say(shown));
            } else if frame.get("status").is_some() {
                self.answered(request, &frame);
            } else {
                self.ended(request, frame.get("end").and_then(Value::as_str));
            }
        }
        self.next_step().unwrap_or(Step::Nothing)
    }

    fn next_step(&mut self) -> Option<Step> {
        self.steps.pop_front()
    }

    fn take_frames(&mut self) -> Vec<String> {
        std::mem::take(&mut self.frames)
    }

    fn ask_to_start(&mut self) -> Option<CallId> {
        Some(self.start.begin(None, ()))
    }

    fn command(&mut self, command: ChatCommand) {
        match (command, &self.asked) {
            (ChatCommand::Begin { cwd, .. }, _) => {
                self.cwd = cwd.display().to_string();
                self.ask(EngineRequest::Health, "GET", "/health", &Value::Null);
            }
            (ChatCommand::Prompt { text, attachments, .. }, None) => {
                self.cancelled = false;
                let body = json!({ "message": message(text, &attachments) });
                self.ask(EngineRequest::Chat(EngineTurn::default()), "POST", "/chat", &body);
            }
            // A closed stream ends the turn.
            (ChatCommand::Cancel, Some((number, EngineRequest::Chat(_)))) => {
                self.cancelled = true;
                self.frames.push(json!({ "cancel": number }).to_string());
            }
            _ => {}
        }
    }

    fn answer(&mut self, call: CallId, answer: &Answer) -> Option<AgentFrame> {
        self.start.end(call)?;
        self.say(ChatEvent::may_start(answer));
        None
    }

    fn event(&self, _event: &EditorEvent) -> Option<String> {
        None
    }

    fn not_text(&self) -> Option<String> {
        None
    }

    fn open_calls(&self) -> Box<dyn Iterator<Item = CallId> + '_> {
        self.start.ids()
    }

    fn open_changes(&self) -> Box<dyn Iterator<Item = (CallId, &str)> + '_> {
        Box::new(std::iter::empty())
    }
}
