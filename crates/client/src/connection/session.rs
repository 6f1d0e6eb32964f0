//! The handshake with an editor, and receiving its messages from then on: answers go to pending calls, pings are
//! answered, notifications become events.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use linkspan_editor_api::{AgentJoin, Message, Places, Request, RequestId, RpcError, errors, file_uri};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use super::calls::{CallEnd, Calls, Waiting};
use super::error::{CallError, OpenError};
use super::events::{self, Subscribers};
use super::gateway;
use super::transport::{Listener, MAX_MESSAGE, Socket, SocketLink};
use super::types::AgentInfo;
use super::wire::{self, WireCodec};
use crate::dial;
use crate::discover::{Candidate, Wire};
use crate::hub::HubLauncher;

/// How long a machine may take to answer.
pub(super) const DEADLINE: Duration = Duration::from_secs(10);

/// One connection after its handshake.
#[derive(Debug)]
pub(super) struct WireSession {
    pub(super) link: SocketLink,
    pub(super) calls: Arc<Calls>,
    pub(super) events: Arc<Subscribers>,
    pub(super) dialect: &'static dyn WireCodec,
    is_web: bool,
}

/// The first request of MCP.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Initialize {
    protocol_version: String,
    capabilities: Value,
    client_info: ClientInfo,
}

#[derive(Debug, Serialize, Deserialize)]
struct ClientInfo {
    name: String,
    version: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Initialized {
    #[serde(default)]
    server_info: ServerInfo,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct ServerInfo {
    #[serde(default)]
    name: String,
}

impl Request for Initialize {
    const METHOD: &'static str = "initialize";
    type Result = Initialized;
}

impl Initialize {
    fn new(agent: &AgentInfo, dialect: &dyn WireCodec) -> Initialize {
        Initialize {
            protocol_version: dialect.revision().to_owned(),
            capabilities: json!({ "roots": {} }),
            client_info: ClientInfo { name: agent.name.clone(), version: agent.version.clone() },
        }
    }
}

impl WireSession {
    pub(super) fn open(
        candidate: &Candidate,
        agent: &AgentInfo,
        places: &Places,
    ) -> Result<WireSession, OpenError> {
        let first_dialect = wire::dialect(&candidate.wire, "");
        let (socket, last_id) = match &candidate.wire {
            Wire::Hub { window, .. } => join(window, agent, first_dialect, places)?,
            wire if gateway::is_needed(wire) => (gateway::open(candidate, agent)?, 0),
            wire => (Socket::Web(Box::new(dial::dial(wire, Instant::now() + DEADLINE)?)), 0),
        };
        let is_web = matches!(socket, Socket::Web(_));
        let (calls, events) = (Arc::new(Calls::after(last_id)), Arc::new(Subscribers::default()));
        let dialect = Arc::new(OnceLock::new());
        let ears = SessionListener {
            calls: Arc::clone(&calls),
            events: Arc::clone(&events),
            dialect: Arc::clone(&dialect),
            roots: roots(candidate),
        };
        let link = SocketLink::start(socket, ears)?;
        let mut session = WireSession { link, calls, events, dialect: first_dialect, is_web };
        if !matches!(candidate.wire, Wire::Hub { .. }) {
            match session.introduce(agent) {
                Ok(server) => session.dialect = wire::dialect(&candidate.wire, &server),
                Err(error) => {
                    session.link.close();
                    return Err(OpenError::Introduction { editor: candidate.editor.clone(), error });
                }
            }
        }
        let _ = dialect.set(session.dialect);
        session.notify("notifications/initialized", &json!({}));
        if matches!(candidate.wire, Wire::Claude { .. }) {
            session.notify("ide_connected", &json!({ "pid": std::process::id() }));
        }
        Ok(session)
    }

    /// Introduces us; returns the name of the server.
    fn introduce(&self, agent: &AgentInfo) -> Result<String, CallError> {
        const METHOD: &str = Initialize::METHOD;
        let params = Initialize::new(agent, self.dialect);
        match self.request(METHOD, &params)?.wait_until_deadline(DEADLINE) {
            CallEnd::Answered(Ok(raw)) => serde_json::from_str(raw.get())
                .map(|Initialized { server_info }| server_info.name)
                .map_err(|error| CallError::protocol(METHOD, error.to_string())),
            ended => Err(failure(METHOD, ended, DEADLINE)),
        }
    }

    /// Sends a request without waiting.
    pub(super) fn request(&self, method: &str, params: &impl Serialize) -> Result<Waiting, CallError> {
        let params = raw(method, params)?;
        let waiting = self.calls.ask();
        let id = RequestId::Number(waiting.id);
        let bytes = Message::Request { id, method: method.to_owned(), params }.to_bytes();
        if bytes.len() > MAX_MESSAGE {
            waiting.withdraw();
            let tool = method.to_owned();
            return Err(CallError::TooLarge { tool, bytes: bytes.len(), limit: MAX_MESSAGE });
        }
        self.link.send(bytes);
        Ok(waiting)
    }

    pub(super) fn notify(&self, method: &str, params: &impl Serialize) {
        // Our parameters are small and have string keys only, so they can always be JSON.
        if let Ok(params) = raw(method, params) {
            self.link.send(Message::Notification { method: method.to_owned(), params }.to_bytes());
        }
    }

    /// Whether the peer answers now.
    pub(super) fn answers_within(&self, deadline: Duration) -> bool {
        let waiting = if self.is_web {
            let waiting = self.calls.ask();
            self.link.probe(waiting.id);
            waiting
        } else {
            match self.request("ping", &json!({})) {
                Ok(waiting) => waiting,
                Err(_) => return false,
            }
        };
        matches!(waiting.wait_until_deadline(deadline), CallEnd::Answered(_))
    }
}

/// Sends hello, join and MCP's first request at once: the hub handles them in this order, and none has an effect if the
/// previous one fails. Also returns the last id that was used.
fn join(
    window: &str,
    agent: &AgentInfo,
    dialect: &dyn WireCodec,
    places: &Places,
) -> Result<(Socket, i64), OpenError> {
    let mut control = HubLauncher::connect(places)?;
    let hello = control.ask_hello("agent");
    let join = control.ask(&AgentJoin {
        window: window.to_owned(),
        session: agent.session.clone(),
        name: agent.name.clone(),
        version: agent.version.clone(),
        pid: Some(std::process::id()),
        receives: None,
        hook: agent.hook.clone(),
        acp_proxy: false,
    });
    let introduction = control.ask(&Initialize::new(agent, dialect));
    control.answer_to_hello(hello)?;
    control.answer(join)?;
    control.answer(introduction)?;
    let last_id = control.last_id();
    let (stream, decoder) = control.into_parts();
    Ok((Socket::Framed { stream, decoder }, last_id))
}

/// The error for a call without a usable answer.
pub(super) fn failure(tool: &str, ended: CallEnd, deadline: Duration) -> CallError {
    match ended {
        CallEnd::Answered(Ok(_)) => CallError::protocol(tool, "it does not have the expected structure"),
        CallEnd::Answered(Err(error)) => CallError::Tool { message: error.message, kind: None },
        CallEnd::TimedOut => CallError::Timeout { tool: tool.to_owned(), seconds: deadline.as_secs() },
        CallEnd::Withdrawn => CallError::Withdrawn,
        CallEnd::Closed => CallError::Closed,
    }
}

fn raw(method: &str, params: &impl Serialize) -> Result<Box<RawValue>, CallError> {
    to_raw_value(params).map_err(|error| CallError::protocol(method, error.to_string()))
}

/// The editor's own folders, which the agent works on.
fn roots(candidate: &Candidate) -> Value {
    let root = |folder: &std::path::PathBuf| json!({ "uri": file_uri::of(folder) });
    json!({ "roots": candidate.folders.iter().map(root).collect::<Vec<_>>() })
}

struct SessionListener {
    calls: Arc<Calls>,
    events: Arc<Subscribers>,
    /// Known once the server has sent its name; there are no subscribers before.
    dialect: Arc<OnceLock<&'static dyn WireCodec>>,
    roots: Value,
}

impl Listener for SessionListener {
    fn text(&mut self, text: &[u8], link: &SocketLink) {
        match Message::parse(text) {
            Ok(Message::Response { id: Some(RequestId::Number(id)), result }) => {
                let answer = result.map(Arc::from).map_err(|error| with_data(error, text));
                self.calls.answered(id, answer);
            }
            Ok(Message::Request { id, method, .. }) => link.send(self.reply(id, &method).to_bytes()),
            Ok(Message::Notification { method, params }) => self.notified(&method, &params),
            // An answer to an unknown call, or not a message: it is ignored.
            Ok(Message::Response { .. }) | Err(_) => {}
        }
    }

    fn pong(&mut self, id: i64) {
        self.calls.answered(id, Ok(Arc::from(RawValue::NULL.to_owned())));
    }

    fn closed(&mut self) {
        self.calls.close();
        self.events.close();
    }
}

impl SessionListener {
    fn reply(&self, id: RequestId, method: &str) -> Message {
        match method {
            "ping" => Message::response(id, &json!({})),
            "roots/list" => Message::response(id, &self.roots),
            _ => {
                let message = format!("this agent does not support `{method}`");
                Message::error(Some(id), RpcError::new(errors::METHOD_NOT_FOUND, message))
            }
        }
    }

    fn notified(&self, method: &str, params: &RawValue) {
        let Some(dialect) = self.dialect.get() else { return };
        let event = serde_json::from_str(params.get())
            .ok()
            .and_then(|params: Value| events::event(*dialect, method, &params));
        if let Some(event) = event {
            self.events.notify(&event);
        }
    }
}

/// Some servers put the real reason into `data`.
fn with_data(error: RpcError, text: &[u8]) -> RpcError {
    #[derive(Deserialize)]
    struct FrameHead {
        error: Data,
    }
    #[derive(Deserialize)]
    struct Data {
        data: String,
    }
    match serde_json::from_slice::<FrameHead>(text) {
        Ok(FrameHead { error: Data { data } }) if !data.is_empty() => {
            RpcError::new(error.code, format!("{}: {data}", error.message))
        }
        _ => error,
    }
}
