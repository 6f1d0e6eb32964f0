//! Where each message goes: to the other side as it is, or first to the hub. What the hub decides is answered here, and
//! at the end of a turn the model is told what it could not see, in a prompt of ours whose end is the end of the client's
//! turn. Pure: messages in, messages out.

use std::collections::BTreeMap;
use std::path::PathBuf;

use linkspan_client::AgentInfo;
use serde_json::{Value, json};

use super::hub_link::{Begin, LinkEvent};
use super::session::{AcpSession, Held, LinkStage, Prompt, TurnAnswer, about};

/// Sessions of one agent that are followed, and requests of the client that begin one.
const SESSIONS: usize = 64;

/// Requests of one session that wait at a time. More go to the client.
const HELD: usize = 64;

#[derive(Debug)]
pub(super) enum ProxyAction {
    ToClient(Vec<u8>),
    ToAgent(Vec<u8>),
    ToHub { session: String, message: Value },
    Connect { session: String, number: u64, begin: Begin },
    Leave { session: String },
    Say(String),
}

/// A request of the client that begins a session, by its id.
#[derive(Debug)]
struct Beginning {
    id: Value,
    session: Option<String>,
    cwd: PathBuf,
}

#[derive(Debug)]
pub(super) struct Router {
    name: String,
    version: String,
    beginnings: Vec<Beginning>,
    sessions: BTreeMap<String, AcpSession>,
    links: u64,
    prompts: u64,
    /// The client's request that introduces both sides.
    initialize: Option<Value>,
    client_is_gone: bool,
    outputs: Vec<ProxyAction>,
}

impl Router {
    pub(super) fn new(name: String) -> Router {
        Router {
            name,
            version: String::new(),
            beginnings: Vec::new(),
            sessions: BTreeMap::new(),
            links: 0,
            prompts: 0,
            initialize: None,
            client_is_gone: false,
            outputs: Vec::new(),
        }
    }

    pub(super) fn client_line(&mut self, line: Vec<u8>) -> Vec<ProxyAction> {
        let mut line = line;
        if let Ok(frame) = serde_json::from_slice::<Value>(&line) {
            match text(&frame, "method") {
                Some("initialize") => self.initialize = frame.get("id").cloned(),
                Some("session/prompt") => {
                    if let Some(changed) = self.prompted(&frame) {
                        line = changed.to_string().into_bytes();
                    }
                }
                Some("session/cancel") => self.cancelled(&frame),
                Some("session/close" | "session/delete") => self.closed(&frame),
                Some(method) if method.starts_with("session/") => self.begins(&frame),
                _ => {}
            }
        }
        // The agent reads this before it reads anything that follows from it.
        self.outputs.insert(0, ProxyAction::ToAgent(line));
        std::mem::take(&mut self.outputs)
    }

    pub(super) fn agent_line(&mut self, line: Vec<u8>) -> Vec<ProxyAction> {
        match serde_json::from_slice::<Value>(&line) {
            // A batch stays one, unless something in it waits.
            Ok(Value::Array(frames)) if frames.iter().any(|frame| self.is_ours(frame)) => {
                for frame in frames {
                    let line = frame.to_string().into_bytes();
                    self.agent_frame(&frame, line);
                }
            }
            Ok(frame) => self.agent_frame(&frame, line),
            Err(_) => self.outputs.push(ProxyAction::ToClient(line)),
        }
        std::mem::take(&mut self.outputs)
    }

    pub(super) fn hub_event(&mut self, session: &str, number: u64, event: LinkEvent) -> Vec<ProxyAction> {
        if self.sessions.get(session).is_some_and(|known| known.link == number) {
            match event {
                LinkEvent::Message(message) => self.hub_message(session, &message),
                LinkEvent::Lost(why) => self.lost(session, &why),
            }
        }
        std::mem::take(&mut self.outputs)
    }

    /// Nobody reads what we answer to it, and nobody decides for it.
    pub(super) fn client_gone(&mut self) -> Vec<ProxyAction> {
        self.client_is_gone = true;
        let sessions = std::mem::take(&mut self.sessions);
        self.outputs.extend(sessions.into_keys().map(|session| ProxyAction::Leave { session }));
        std::mem::take(&mut self.outputs)
    }

    fn begins(&mut self, frame: &Value) {
        let params = frame.get("params").unwrap_or(&Value::Null);
        let (Some(id), Some(cwd)) = (frame.get("id"), text(params, "cwd")) else { return };
        let session = text(params, "sessionId").map(str::to_owned);
        if self.beginnings.len() < SESSIONS {
            self.beginnings.push(Beginning { id: id.clone(), session, cwd: PathBuf::from(cwd) });
        }
    }

    /// The agent has answered a request that begins a session.
    fn begun(&mut self, beginning: Beginning, frame: &Value) {
        let Some(result) = frame.get("result") else { return };
        let Some(session) = text(result, "sessionId").map(str::to_owned).or(beginning.session) else {
            return;
        };
        if self.sessions.len() >= SESSIONS && !self.sessions.contains_key(&session) {
            let message = format!("{SESSIONS} sessions are open; changes of further ones are not reviewed");
            return self.outputs.push(ProxyAction::Say(message));
        }
        let key = AgentInfo::new("", "").session;
        self.sessions.insert(session.clone(), AcpSession::new(beginning.cwd, key));
        self.connect(&session);
    }

    fn closed(&mut self, frame: &Value) {
        let named = frame.get("params").and_then(|params| text(params, "sessionId"));
        if let Some((session, _)) = named.and_then(|name| self.sessions.remove_entry(name)) {
            self.outputs.push(ProxyAction::Leave { session });
        }
    }

    fn connect(&mut self, name: &str) {
        let Some(session) = self.sessions.get_mut(name) else { return };
        self.links += 1;
        let again = session.link != 0;
        (session.link, session.stage) = (self.links, LinkStage::Connecting);
        let begin = Begin {
            acp_session: name.to_owned(),
            cwd: session.cwd.clone(),
            name: self.name.clone(),
            version: self.version.clone(),
            key: session.key.clone(),
            again,
        };
        self.outputs.push(ProxyAction::Connect { session: name.to_owned(), number: self.links, begin });
    }

    /// A turn begins. Returns the prompt if it is another one than the client sent.
    fn prompted(&mut self, frame: &Value) -> Option<Value> {
        let (name, id) = (session_of(frame)?.to_owned(), frame.get("id")?.clone());
        let session = self.sessions.get_mut(&name)?;
        if session.prompts.is_empty() {
            session.begin_turn();
        }
        session.prompts.push(Prompt::OfClient(id.clone()));
        let message = about("client", &json!({ "method": "session/prompt", "id": id }));
        let words = session.words.take();
        let is_absent = session.stage == LinkStage::Absent;
        self.tell_hub(&name, None, message);
        if is_absent {
            self.connect(&name);
        }
        let mut changed = frame.clone();
        let blocks = changed.pointer_mut("/params/prompt").and_then(Value::as_array_mut);
        match (words, blocks) {
            (Some(words), Some(blocks)) => {
                blocks.insert(0, json!({ "type": "text", "text": words }));
                Some(changed)
            }
            _ => None,
        }
    }

    fn cancelled(&mut self, frame: &Value) {
        let Some(name) = session_of(frame).map(str::to_owned) else { return };
        if let Some(session) = self.sessions.get_mut(&name) {
            session.cancelled = true;
            self.tell_hub(&name, None, about("client", &json!({ "method": "session/cancel" })));
        }
    }

    fn tell_hub(&mut self, name: &str, request: Option<&Value>, message: Value) {
        let sent = self.sessions.get_mut(name).and_then(|session| session.log(request, message));
        if let Some(message) = sent {
            self.outputs.push(ProxyAction::ToHub { session: name.to_owned(), message });
        }
    }

    /// Whether a frame of the agent is one that may wait here.
    fn is_ours(&self, frame: &Value) -> bool {
        let is_answer = frame.get("id").is_some_and(|id| self.prompt_of(id).is_some());
        match text(frame, "method") {
            Some(method) => matches!(method, "session/request_permission" | "fs/write_text_file"),
            None => is_answer,
        }
    }

    fn agent_frame(&mut self, frame: &Value, line: Vec<u8>) {
        let id = frame.get("id").filter(|id| !id.is_null());
        match (text(frame, "method"), id) {
            (Some("session/request_permission" | "fs/write_text_file"), Some(id)) => {
                self.hold(frame, id, line);
            }
            (Some("$/cancel_request"), None) => {
                self.request_cancelled(frame);
                self.outputs.push(ProxyAction::ToClient(line));
            }
            (Some("session/update"), None) => {
                self.updated(frame);
                self.outputs.push(ProxyAction::ToClient(line));
            }
            (None, Some(id)) => self.answered(frame, id, line),
            _ => self.outputs.push(ProxyAction::ToClient(line)),
        }
    }

    /// The hub decides about it, or says that the client does.
    fn hold(&mut self, frame: &Value, id: &Value, line: Vec<u8>) {
        let name = session_of(frame).map(str::to_owned).unwrap_or_default();
        let Some(session) = self.sessions.get_mut(&name) else {
            return self.outputs.push(ProxyAction::ToClient(line));
        };
        // A second request of the same id cannot be told apart from the first.
        if session.held.iter().any(|held| held.id == *id) {
            return;
        }
        if session.stage == LinkStage::Absent || session.held.len() >= HELD {
            return self.outputs.push(ProxyAction::ToClient(line));
        }
        session.held.push(Held { id: id.clone(), line });
        session.reviewed = true;
        self.tell_hub(&name, Some(id), about("agent", frame));
    }

    fn request_cancelled(&mut self, frame: &Value) {
        let Some(id) = frame.pointer("/params/requestId").cloned() else { return };
        let of = self.sessions.iter().find(|(_, session)| session.held.iter().any(|held| held.id == id));
        if let Some(name) = of.map(|(name, _)| name.clone()) {
            self.tell_hub(&name, Some(&id), about("agent", frame));
        }
    }

    /// The hub follows tool calls, and has to know that the agent goes on after a no.
    fn updated(&mut self, frame: &Value) {
        let Some(name) = session_of(frame).map(str::to_owned) else { return };
        let Some(session) = self.sessions.get_mut(&name) else { return };
        let update = frame.pointer("/params/update").unwrap_or(&Value::Null);
        match text(update, "sessionUpdate") {
            Some("tool_call" | "tool_call_update") if says_what_changes(update) => {
                self.tell_hub(&name, None, about("agent", frame));
            }
            Some(kind @ ("agent_message_chunk" | "agent_thought_chunk")) if session.watch_progress => {
                session.watch_progress = false;
                let update = json!({ "sessionUpdate": kind, "content": { "type": "text", "text": "…" } });
                let params = json!({ "sessionId": name, "update": update });
                let progress = json!({ "method": "session/update", "params": params });
                self.tell_hub(&name, None, about("agent", &progress));
            }
            _ => {}
        }
    }

    /// The session and the place of an open prompt.
    fn prompt_of(&self, id: &Value) -> Option<(&String, usize)> {
        self.sessions.iter().find_map(|(name, session)| {
            let is_it = |prompt: &Prompt| match prompt {
                Prompt::OfClient(of) | Prompt::Ours { id: of, .. } => of == id,
            };
            session.prompts.iter().position(is_it).map(|at| (name, at))
        })
    }

    fn answered(&mut self, frame: &Value, id: &Value, line: Vec<u8>) {
        if self.initialize.as_ref() == Some(id) {
            self.initialize = None;
            self.introduced(frame);
        }
        if let Some(at) = self.beginnings.iter().position(|beginning| beginning.id == *id) {
            let beginning = self.beginnings.remove(at);
            self.begun(beginning, frame);
        }
        match self.prompt_of(id).map(|(name, at)| (name.clone(), at)) {
            Some((name, at)) => self.prompt_answered(&name, at, frame, line),
            None => self.outputs.push(ProxyAction::ToClient(line)),
        }
    }

    fn introduced(&mut self, frame: &Value) {
        let said = frame.pointer("/result/agentInfo").unwrap_or(&Value::Null);
        if let Some(name) = text(said, "title").or(text(said, "name")).filter(|name| !name.is_empty()) {
            self.name = name.to_owned();
        }
        self.version = text(said, "version").unwrap_or_default().to_owned();
    }

    fn prompt_answered(&mut self, name: &str, at: usize, frame: &Value, line: Vec<u8>) {
        let Some(session) = self.sessions.get_mut(name) else { return };
        let (id, answer) = match session.prompts.remove(at) {
            Prompt::OfClient(id) => (id.clone(), TurnAnswer { id, line }),
            // The agent takes no second prompt: the client's was answered.
            Prompt::Ours { id, answered } if frame.get("error").is_some() => (id, answered),
            Prompt::Ours { id, answered } => {
                let mut frame = frame.clone();
                frame["id"] = answered.id.clone();
                let line = frame.to_string().into_bytes();
                (id, TurnAnswer { id: answered.id, line })
            }
        };
        let reason = frame.pointer("/result/stopReason").cloned().unwrap_or_default();
        let waits = session.reviewed && session.stage != LinkStage::Absent && session.prompts.is_empty();
        // An earlier answer that waits is not kept longer by a later one.
        let earlier = session.ended.take();
        match waits {
            true => session.ended = Some(answer),
            false => self.outputs.push(ProxyAction::ToClient(answer.line)),
        }
        self.outputs.extend(earlier.map(|earlier| ProxyAction::ToClient(earlier.line)));
        let frame = json!({ "id": id, "result": { "stopReason": reason } });
        self.tell_hub(name, None, about("agent", &frame));
    }

    fn hub_message(&mut self, name: &str, message: &Value) {
        let params = message.get("params").unwrap_or(&Value::Null);
        match text(message, "method") {
            Some("ready") => {
                let Some(session) = self.sessions.get_mut(name) else { return };
                session.stage = LinkStage::Ready;
                let replay = session.replay().into_iter();
                let sent = replay.map(|message| ProxyAction::ToHub { session: name.to_owned(), message });
                self.outputs.extend(sent);
            }
            Some("ping") => {
                let message = json!({ "jsonrpc": "2.0", "method": "pong", "params": params });
                self.outputs.push(ProxyAction::ToHub { session: name.to_owned(), message });
            }
            Some("answer") => {
                let frame = params.get("frame").unwrap_or(&Value::Null);
                self.decided(name, frame, params.get("declined") == Some(&Value::Bool(true)));
            }
            Some("pass") => {
                let id = params.get("id").unwrap_or(&Value::Null);
                let why = text(params, "why").map(|why| format!("not reviewed in Linkspan: {why}"));
                self.pass(name, id, why);
            }
            Some("turnOver") => self.turn_over(name, text(params, "words").map(str::to_owned)),
            _ => {}
        }
    }

    fn decided(&mut self, name: &str, frame: &Value, declined: bool) {
        let Some(session) = self.sessions.get_mut(name) else { return };
        let id = frame.get("id").cloned().unwrap_or_default();
        session.watch_progress = true;
        // What the hub writes only when the agent knows our no is asked again if the hub is started again.
        if !declined {
            session.forget(&id);
        }
        if session.take_held(&id).is_some() {
            self.outputs.push(ProxyAction::ToAgent(frame.to_string().into_bytes()));
        }
        let message = json!({ "jsonrpc": "2.0", "method": "told", "params": { "id": id } });
        self.outputs.push(ProxyAction::ToHub { session: name.to_owned(), message });
    }

    fn pass(&mut self, name: &str, id: &Value, why: Option<String>) {
        let Some(session) = self.sessions.get_mut(name) else { return };
        session.forget(id);
        if let Some(held) = session.take_held(id) {
            self.outputs.push(ProxyAction::ToClient(held.line));
            self.outputs.extend(why.map(ProxyAction::Say));
        }
    }

    /// Everything in the turn is decided.
    fn turn_over(&mut self, name: &str, words: Option<String>) {
        let Some(session) = self.sessions.get_mut(name) else { return };
        // The agent has ended its turn without waiting for these.
        session.held.clear();
        let Some(answer) = session.ended.take() else {
            session.words = words.or(session.words.take());
            return;
        };
        let Some(words) = words else { return self.outputs.push(ProxyAction::ToClient(answer.line)) };
        if session.cancelled || self.client_is_gone {
            session.words = Some(words);
            return self.outputs.push(ProxyAction::ToClient(answer.line));
        }
        self.prompts += 1;
        let id = json!(format!("linkspan-{}", self.prompts));
        session.begin_turn();
        session.prompts.push(Prompt::Ours { id: id.clone(), answered: answer });
        let block = json!({ "type": "text", "text": words });
        let update = json!({ "sessionUpdate": "user_message_chunk", "content": block });
        let shown = json!({ "jsonrpc": "2.0", "method": "session/update", "params": {
            "sessionId": name, "update": update,
        } });
        let prompt = json!({ "jsonrpc": "2.0", "id": id, "method": "session/prompt", "params": {
            "sessionId": name, "prompt": [block],
        } });
        self.outputs.push(ProxyAction::ToClient(shown.to_string().into_bytes()));
        self.outputs.push(ProxyAction::ToAgent(prompt.to_string().into_bytes()));
        let message = about("client", &json!({ "method": "session/prompt", "id": id }));
        self.tell_hub(name, None, message);
    }

    fn lost(&mut self, name: &str, why: &str) {
        let Some(session) = self.sessions.get_mut(name) else { return };
        if session.lost() {
            return self.connect(name);
        }
        let waits = session.waits();
        let held = std::mem::take(&mut session.held).into_iter().map(|held| held.line);
        let lines = held.chain(session.ended.take().map(|answer| answer.line));
        self.outputs.extend(lines.map(ProxyAction::ToClient));
        let then = if waits {
            "; the editor asks about what waits"
        } else {
            "; it is tried again with the next prompt"
        };
        self.outputs.push(ProxyAction::Say(format!("changes are not reviewed in Linkspan now: {why}{then}")));
    }
}

fn text<'v>(value: &'v Value, member: &str) -> Option<&'v str> {
    value.get(member)?.as_str()
}

fn session_of(frame: &Value) -> Option<&str> {
    text(frame.get("params")?, "sessionId")
}

/// Whether the hub has to know it: what a call is, what it would change, or that it ended. Its output is of no use.
fn says_what_changes(update: &Value) -> bool {
    let is_diff = |block: &Value| text(block, "type") == Some("diff");
    let blocks = update.get("content").and_then(Value::as_array).into_iter().flatten();
    let ended = matches!(text(update, "status"), Some("completed" | "failed"));
    ended
        || ["kind", "rawInput"].iter().any(|name| update.get(name).is_some())
        || blocks.filter(|block| is_diff(block)).count() > 0
}
