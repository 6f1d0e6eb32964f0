//! One ACP client as a state machine: its messages and the host's events in; messages, commands, and questions to the
//! host that take a while out. Owns the sessions and the open permission requests. Does no I/O of its own except reading
//! the file that a shown change is about.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use linkspan_client::confirm::TerminalAnswer;
use serde::Deserialize;
use serde_json::{Value, json};

use super::content::{Block, prompt};
use super::rpc::{
    INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, Incoming, METHOD_NOT_FOUND, NOT_FOUND, error,
    notification, request, response,
};
use super::servers::{self, GivenServer};
use super::session::{Session, session_update};
use super::update;
use crate::conversation::{Answer, Question, QuestionId, TurnEvent};
use crate::host::{
    AgentId, AgentSummary, ChangeId, HostCommand, HostEvent, HostHandle, Occurred, SessionSummary,
};
use crate::message::ChatMessage;
use crate::permissions::PermissionMode;
use crate::tasks::Task;
use crate::tools::mcp::ServerConfig;

/// No client has more sessions at once.
const MOST_SESSIONS: usize = 64;
/// Events that wait for a session to be open.
const MOST_EARLY: usize = 10_000;
const PROTOCOL: u32 = 1;

const MODES: [(PermissionMode, &str, &str, &str); 3] = [
    (
        PermissionMode::Trusted,
        "trusted",
        "Trusted",
        "Changes are reviewed; commands and the like are asked about",
    ),
    (
        PermissionMode::Sandboxed,
        "sandboxed",
        "Sandboxed",
        "No write outside the folder, commands without network; git writes, the network and MCP tools are asked about",
    ),
    (PermissionMode::Yolo, "yolo", "Yolo", "Nothing is asked"),
];

/// What takes a while: the host is asked, and the answer goes to [`Client::opened`] or [`Client::listed`].
#[derive(Debug, PartialEq)]
pub(super) enum Errand {
    Open {
        id: Value,
        cwd: PathBuf,
        resume: Option<String>,
        servers: BTreeMap<String, ServerConfig>,
    },
    /// A session that is open already, to be shown again.
    Reload {
        id: Value,
        agent: AgentId,
    },
    List {
        id: Value,
        cwd: Option<PathBuf>,
    },
}

/// A session that was opened.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) status: AgentSummary,
    /// What is shown of it, if it was loaded.
    pub(super) messages: Option<Vec<ChatMessage>>,
}

/// Why a session was not opened.
#[derive(Debug)]
pub(super) enum OpenError {
    /// A new one, such as that a key is missing.
    New(String),
    /// A saved one.
    Saved(String),
}

/// What to do, in order.
#[derive(Debug, PartialEq)]
pub(super) enum Act {
    Send(Value),
    Run(Errand),
}

enum OpenQuestion {
    Question { agent: AgentId, question: QuestionId },
    Change { change: ChangeId },
}

pub(super) struct Client {
    host: HostHandle,
    sessions: BTreeMap<String, Session>,
    /// Permission requests that the client has not answered.
    asked: HashMap<u64, OpenQuestion>,
    next: u64,
    /// Sessions that are being opened, and what already happened meanwhile: a turn that is resumed goes on at once.
    opening: usize,
    early: Vec<HostEvent>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OpenParams {
    session_id: Option<String>,
    cwd: PathBuf,
    #[serde(default)]
    mcp_servers: Vec<GivenServer>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SessionParams {
    session_id: String,
    #[serde(default)]
    prompt: Vec<Block>,
    mode_id: Option<String>,
}

impl Client {
    pub(super) fn new(host: HostHandle) -> Client {
        Client {
            host,
            sessions: BTreeMap::new(),
            asked: HashMap::new(),
            next: 0,
            opening: 0,
            early: Vec::new(),
        }
    }

    pub(super) fn receive(&mut self, received: Incoming) -> Vec<Act> {
        match received {
            Incoming::Request { id, method, params } => {
                let acts = self.request(&id, &method, params);
                acts.unwrap_or_else(|(code, why)| vec![Act::Send(error(&id, code, &why))])
            }
            Incoming::Notification { method, params } => {
                self.notified(&method, &params);
                Vec::new()
            }
            Incoming::Response { id, result } => {
                self.answered(&id, result);
                Vec::new()
            }
            Incoming::Invalid(answer) => vec![Act::Send(answer)],
        }
    }

    fn request(&mut self, id: &Value, method: &str, params: Value) -> Result<Vec<Act>, (i64, String)> {
        let answer = match method {
            "initialize" => initialized(),
            "session/new" | "session/load" => {
                let open: OpenParams = typed(params)?;
                let missing = || (INVALID_PARAMS, "sessionId is missing".to_owned());
                let open = match method {
                    "session/load" if open.session_id.is_none() => return Err(missing()),
                    "session/load" => open,
                    _ => OpenParams { session_id: None, ..open },
                };
                let errand = self.open(id, open)?;
                self.opening += 1;
                return Ok(vec![Act::Run(errand)]);
            }
            "session/list" => {
                let cwd = params.get("cwd").and_then(Value::as_str).map(PathBuf::from);
                return Ok(vec![Act::Run(Errand::List { id: id.clone(), cwd })]);
            }
            "session/prompt" => {
                self.prompt(id, typed(params)?)?;
                // Answered at the end of the turn.
                return Ok(Vec::new());
            }
            "session/set_mode" => {
                let params: SessionParams = typed(params)?;
                let wanted = params.mode_id.as_deref().unwrap_or_default();
                let mode = MODES.iter().find(|(_, name, ..)| *name == wanted);
                let mode = mode.ok_or_else(|| (INVALID_PARAMS, format!("there is no mode {wanted}")))?.0;
                let session = self.session(&params.session_id)?;
                session.mode = mode;
                let agent = session.agent;
                self.host.send(HostCommand::SetMode { agent, mode });
                json!({})
            }
            "session/close" => {
                let params: SessionParams = typed(params)?;
                let session = self.session(&params.session_id)?;
                let (agent, prompt) = (session.agent, session.prompt.take());
                self.sessions.remove(&params.session_id);
                self.host.send(HostCommand::Close { agent });
                let cancelled = json!({ "stopReason": "cancelled" });
                let ended = prompt.map(|prompt| Act::Send(response(&prompt, &cancelled)));
                return Ok(ended.into_iter().chain([Act::Send(response(id, &json!({})))]).collect());
            }
            other => return Err((METHOD_NOT_FOUND, format!("there is no method {other}"))),
        };
        Ok(vec![Act::Send(response(id, &answer))])
    }

    fn open(&self, id: &Value, params: OpenParams) -> Result<Errand, (i64, String)> {
        let OpenParams { session_id: resume, cwd, mcp_servers } = params;
        if !cwd.is_absolute() || !cwd.is_dir() {
            let why = format!("cwd is not the absolute path of a folder: {}", cwd.display());
            return Err((INVALID_PARAMS, why));
        }
        let id = id.clone();
        if let Some(open) = resume.as_ref().and_then(|name| self.sessions.get(name)) {
            return Ok(Errand::Reload { id, agent: open.agent });
        }
        if self.sessions.len() >= MOST_SESSIONS {
            let why = format!("there are {MOST_SESSIONS} sessions already: close one with session/close");
            return Err((INVALID_REQUEST, why));
        }
        let servers = servers::configs(mcp_servers, &cwd.display().to_string());
        let servers = servers.map_err(|why| (INVALID_PARAMS, why))?;
        Ok(Errand::Open { id, cwd, resume, servers })
    }

    fn prompt(&mut self, id: &Value, params: SessionParams) -> Result<(), (i64, String)> {
        let text = prompt(&params.prompt).map_err(|why| (INVALID_PARAMS, why))?;
        let session = self.session(&params.session_id)?;
        if session.prompt.is_some() {
            let why = "a turn of this session is running: wait for its end, or cancel it";
            return Err((INVALID_REQUEST, why.to_owned()));
        }
        session.prompt = Some(id.clone());
        (session.is_prompted, session.cancels_prompt) = (false, false);
        session.last_error = None;
        let agent = session.agent;
        self.host.send(HostCommand::Prompt { agent, text });
        Ok(())
    }

    fn session(&mut self, name: &str) -> Result<&mut Session, (i64, String)> {
        self.sessions.get_mut(name).ok_or_else(|| (NOT_FOUND, format!("there is no open session {name}")))
    }

    fn notified(&mut self, method: &str, params: &Value) {
        let session = match method {
            "session/cancel" => {
                let name = params.get("sessionId").and_then(Value::as_str).unwrap_or_default();
                self.sessions.get_mut(name)
            }
            "$/cancel_request" => {
                let id = params.get("requestId").or_else(|| params.get("id"));
                let running =
                    |session: &&mut Session| session.prompt.is_some() && session.prompt.as_ref() == id;
                self.sessions.values_mut().find(running)
            }
            _ => None,
        };
        if let Some(session) = session {
            session.cancels_prompt = session.prompt.is_some() && !session.is_prompted;
            self.host.send(HostCommand::Cancel { agent: session.agent });
        }
    }

    /// A response to a permission request.
    fn answered(&mut self, id: &Value, result: Result<Value, String>) {
        let Some(asked) = id.as_u64().and_then(|id| self.asked.remove(&id)) else { return };
        let option = match &result {
            Ok(result) => result.pointer("/outcome/optionId").and_then(Value::as_str).unwrap_or_default(),
            Err(_) => "",
        };
        let why = match &result {
            Ok(_) => "the client cancelled the question".to_owned(),
            Err(why) => format!("the client could not ask: {why}"),
        };
        match asked {
            OpenQuestion::Question { agent, question } => {
                let answer = match option {
                    "allow_once" => Answer::Once,
                    "allow_always" => Answer::Session,
                    "reject_once" => Answer::No { reason: None },
                    _ => Answer::NotAsked { why },
                };
                self.host.send(HostCommand::Answer { agent, question, answer });
            }
            OpenQuestion::Change { change } => {
                let answer = match option {
                    "allow_once" => TerminalAnswer::Allow,
                    "reject_once" => TerminalAnswer::Deny { reason: None, comments: vec![] },
                    // No decision: an editor may still make one.
                    _ => TerminalAnswer::Unavailable { why },
                };
                self.host.send(HostCommand::AnswerChange { change, answer });
            }
        }
    }

    /// The host answered [`Errand::Open`] or [`Errand::Reload`].
    pub(super) fn opened(&mut self, id: &Value, opened: Result<Opened, OpenError>) -> Vec<Value> {
        let mut out = self.answer_open(id, opened);
        self.opening = self.opening.saturating_sub(1);
        for event in std::mem::take(&mut self.early) {
            out.extend(self.event(event));
        }
        out
    }

    fn answer_open(&mut self, id: &Value, opened: Result<Opened, OpenError>) -> Vec<Value> {
        let Opened { status, messages } = match opened {
            Ok(opened) => opened,
            Err(OpenError::New(why)) => return vec![error(id, INTERNAL_ERROR, &why)],
            Err(OpenError::Saved(why)) => return vec![error(id, NOT_FOUND, &why)],
        };
        let name = status.session.clone();
        let session = self.sessions.entry(name.clone()).or_insert_with(|| Session::new(&status));
        let current = MODES.iter().find(|(mode, ..)| *mode == session.mode).map(|(_, name, ..)| *name);
        let known = MODES
            .map(|(_, id, name, description)| json!({ "id": id, "name": name, "description": description }));
        let modes = json!({ "currentModeId": current, "availableModes": known });
        let mut out = Vec::new();
        let result = match messages {
            Some(messages) => {
                let shown = update::replay(&messages, &session.cwd);
                out.extend(shown.into_iter().map(|update| session_update(&name, &update)));
                json!({ "modes": modes })
            }
            None => json!({ "sessionId": name, "modes": modes }),
        };
        out.push(response(id, &result));
        let commands = Task::ALL.map(|task| {
            let first = task.prompt("").lines().next().unwrap_or_default().to_owned();
            json!({ "name": task.name(), "description": first, "input": { "hint": "file, code or description" } })
        });
        let update = json!({ "sessionUpdate": "available_commands_update", "availableCommands": commands });
        out.push(session_update(&name, &update));
        out
    }

    /// The host answered [`Errand::List`].
    pub(super) fn listed(
        id: &Value,
        cwd: Option<&Path>,
        sessions: Result<Vec<SessionSummary>, String>,
    ) -> Value {
        let sessions = match sessions {
            Ok(sessions) => sessions,
            Err(why) => return error(id, INTERNAL_ERROR, &why),
        };
        let listed: Vec<_> = sessions
            .into_iter()
            .filter(|session| cwd.is_none_or(|cwd| session.cwd == cwd))
            .map(|session| json!({ "sessionId": session.name, "cwd": session.cwd }))
            .collect();
        response(id, &json!({ "sessions": listed }))
    }

    /// Something happened in the host.
    pub(super) fn event(&mut self, event: HostEvent) -> Vec<Value> {
        let Some(agent) = event.agent else { return Vec::new() };
        let is_open = self.sessions.values().any(|session| session.agent == agent);
        if self.opening > 0 && !is_open && self.early.len() < MOST_EARLY {
            self.early.push(event);
            return Vec::new();
        }
        match event.what {
            Occurred::Ask { question, ask } => self.ask(agent, question, ask),
            Occurred::AskChange(asked) => {
                let change = asked.change;
                let call = update::asked_change(&asked.call_id, &asked.question);
                let options = [("allow_once", "Accept"), ("reject_once", "Reject")];
                self.request_permission(agent, OpenQuestion::Change { change }, &call, &options)
            }
            Occurred::QuestionClosed { question: closed } => {
                self.close(|asked| matches!(asked, OpenQuestion::Question { agent: whose, question } if (*whose, *question) == (agent, closed)))
            }
            Occurred::ChangeClosed { change: closed } => {
                self.close(|asked| matches!(asked, OpenQuestion::Change { change } if *change == closed))
            }
            what => {
                let found = self.sessions.iter_mut().find(|(_, session)| session.agent == agent);
                if matches!(what, Occurred::Shown(TurnEvent::Ended { .. }))
                    && let Some((_, session)) = &found
                    && session.cancels_prompt
                    && !session.is_prompted
                {
                    // What was cancelled is the turn before.
                    self.host.send(HostCommand::Cancel { agent });
                }
                found.map(|(name, session)| session.event(name, what)).unwrap_or_default()
            }
        }
    }

    fn ask(&mut self, agent: AgentId, question: QuestionId, ask: Question) -> Vec<Value> {
        let always = ("allow_always", "Allow for this session");
        let (call, note, options) = match ask {
            Question::Permission { call, why } => {
                (call, why, vec![("allow_once", "Allow"), always, ("reject_once", "Reject")])
            }
            Question::Repeated { call, times } => {
                let note = format!("This call failed {times} times in the same way.");
                (call, note, vec![("allow_once", "Try again"), ("reject_once", "Stop")])
            }
        };
        let cwd = self.sessions.values().find(|session| session.agent == agent).map(|session| &session.cwd);
        let cwd = cwd.map_or(Path::new("/"), PathBuf::as_path);
        let call = update::asked_call(&call, cwd, Some(&note));
        self.request_permission(agent, OpenQuestion::Question { agent, question }, &call, &options)
    }

    /// Questions of helpers that an agent started are asked in a session with a running turn: nobody else would answer.
    fn request_permission(
        &mut self,
        agent: AgentId,
        asked: OpenQuestion,
        call: &Value,
        options: &[(&str, &str)],
    ) -> Vec<Value> {
        let own = self.sessions.iter().find(|(_, session)| session.agent == agent);
        let running = || self.sessions.iter().find(|(_, session)| session.prompt.is_some());
        let Some((name, _)) = own.or_else(running) else {
            self.asked.insert(self.next, asked);
            let id = json!(self.next);
            self.next += 1;
            self.answered(&id, Err("there is no session to ask in".to_owned()));
            return Vec::new();
        };
        let options: Vec<_> = options
            .iter()
            .map(|(kind, name)| json!({ "optionId": kind, "name": name, "kind": kind }))
            .collect();
        let params = json!({ "sessionId": name, "toolCall": call, "options": options });
        let message = request(self.next, "session/request_permission", &params);
        self.asked.insert(self.next, asked);
        self.next += 1;
        vec![message]
    }

    /// Questions that were answered elsewhere.
    fn close(&mut self, is_closed: impl Fn(&OpenQuestion) -> bool) -> Vec<Value> {
        let closed: Vec<_> =
            self.asked.iter().filter(|(_, asked)| is_closed(asked)).map(|(id, _)| *id).collect();
        let cancel = |id| {
            self.asked.remove(&id);
            notification("$/cancel_request", &json!({ "requestId": id }))
        };
        closed.into_iter().map(cancel).collect()
    }

    /// The client is gone.
    pub(super) fn leave(&self) {
        for session in self.sessions.values().filter(|session| session.prompt.is_some()) {
            self.host.send(HostCommand::Cancel { agent: session.agent });
        }
    }
}

fn initialized() -> Value {
    json!({
        "protocolVersion": PROTOCOL,
        "agentCapabilities": {
            "loadSession": true,
            "promptCapabilities": { "image": false, "audio": false, "embeddedContext": true },
            "mcpCapabilities": { "http": true, "sse": false },
            "sessionCapabilities": { "list": {}, "close": {} },
        },
        "authMethods": [],
        "agentInfo": { "name": "linkspan-agent", "title": "Linkspan", "version": env!("CARGO_PKG_VERSION") },
    })
}

fn typed<T: for<'a> Deserialize<'a>>(params: Value) -> Result<T, (i64, String)> {
    serde_json::from_value(params)
        .map_err(|why| (INVALID_PARAMS, format!("the parameters are not valid: {why}")))
}
