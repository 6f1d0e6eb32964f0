//! Whether an editor is alive: it accepts its token and answers the handshake within a moment. A process id proves
//! neither.

use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use linkspan_editor_api::wire_names::header;
use serde_json::{Value, json};
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::{Error, Message};

use super::candidate::Wire;
use super::reason::Reason;
use crate::dial::{DialError, Socket, dial, is_timeout};
use crate::http::{HttpCaller, HttpError, HttpMethod, HttpRequest, HttpResponse, LoopbackUrl};
use crate::ppxai;

/// How long one editor has to answer.
const ONE: Duration = Duration::from_secs(1);
/// How long all of them have together.
const ALL: Duration = Duration::from_secs(3);
const AT_ONCE: usize = 32;
/// The oldest revision of MCP: servers with a newer one support it too.
const PROTOCOL: &str = "2024-11-05";
const HELLO_ID: u64 = 1;
/// The answer to a handshake is small.
const MAX_ANSWER: usize = 1024 * 1024;

/// Asks each, several at once; the answers are in the same order.
pub(super) fn ask_all(wires: &[&Wire]) -> Vec<Result<(), Reason>> {
    let until = Instant::now() + ALL;
    let answers: Mutex<Vec<Result<(), Reason>>> = Mutex::new(vec![Err(Reason::NotAsked); wires.len()]);
    let waiting = Mutex::new(wires.iter().enumerate());
    let next = || waiting.lock().ok()?.next();
    let ask_some = || {
        while let Some((index, wire)) = next() {
            let now = Instant::now();
            if now >= until {
                return;
            }
            let answer = hello(wire, (now + ONE).min(until));
            if let Some(place) = answers.lock().ok().as_mut().and_then(|answers| answers.get_mut(index)) {
                *place = answer;
            }
        }
    };
    thread::scope(|scope| {
        // This thread asks too: for a single editor, the most common case, no other thread is needed.
        for _ in 1..wires.len().min(AT_ONCE) {
            scope.spawn(ask_some);
        }
        ask_some();
    });
    answers.into_inner().unwrap_or_default()
}

pub(super) fn hello(wire: &Wire, deadline: Instant) -> Result<(), Reason> {
    match wire {
        Wire::Gemini { port, .. } => hello_over_http(*port, wire, deadline),
        Wire::Ppxai { bridge, token } => {
            let token = token.as_ref().map(|token| token.reveal());
            let answer = HttpCaller::new().exchange(&ppxai::status(bridge, token, left(deadline)));
            let answer = accepted(answer)?;
            ppxai::read_status(Ok(answer)).map(drop).map_err(Reason::NotAnEditor)
        }
        wire => hello_over_websocket(wire, deadline),
    }
}

fn left(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1))
}

/// The answer of a server that accepts us.
fn accepted(answer: Result<HttpResponse, HttpError>) -> Result<HttpResponse, Reason> {
    match answer {
        Ok(answer) if answer.is_success() => Ok(answer),
        Ok(HttpResponse { status: 401 | 403, .. }) => Err(Reason::BadToken),
        Ok(answer) => Err(Reason::NotAnEditor(format!("it returned HTTP {}", answer.status))),
        Err(HttpError::NothingListens) => Err(Reason::NothingListens),
        Err(HttpError::NoAnswer) => Err(Reason::NoAnswer),
        Err(error) => Err(Reason::NotAnEditor(error.to_string())),
    }
}

fn hello_over_http(port: u16, wire: &Wire, deadline: Instant) -> Result<(), Reason> {
    let mut headers = vec![
        ("accept", "application/json, text/event-stream".to_owned()),
        ("content-type", "application/json".to_owned()),
    ];
    headers.extend(wire.token().map(|token| (header::AUTHORIZATION, format!("Bearer {}", token.reveal()))));
    let mut request = HttpRequest {
        method: HttpMethod::Post,
        url: LoopbackUrl::of_port(port).join("/mcp"),
        headers,
        body: initialize("2025-06-18").to_string().into_bytes(),
        deadline: Some(left(deadline)),
        limit: MAX_ANSWER,
    };
    let answer = accepted(HttpCaller::new().exchange(&request))?;
    if let Some(session) = &answer.session {
        request.headers.push((header::MCP_SESSION_ID, session.clone()));
        request = HttpRequest {
            method: HttpMethod::Delete,
            body: Vec::new(),
            deadline: Some(left(deadline)),
            ..request
        };
        // If the goodbye does not arrive, the session expires there.
        let _ = HttpCaller::new().exchange(&request);
    }
    let texts = answer.texts().map_err(Reason::NotAnEditor)?;
    let mut answers = texts.iter().filter_map(|text| serde_json::from_str::<Value>(text).ok());
    match answers.find(is_the_answer) {
        Some(answer) => introduced(&answer),
        None => Err(Reason::NotAnEditor("it does not answer `initialize`".to_owned())),
    }
}

fn initialize(revision: &str) -> Value {
    json!({
        "jsonrpc": "2.0", "id": HELLO_ID, "method": "initialize",
        "params": {
            "protocolVersion": revision,
            "capabilities": {},
            "clientInfo": { "name": "linkspan", "version": env!("CARGO_PKG_VERSION") },
        },
    })
}

fn is_the_answer(said: &Value) -> bool {
    said.get("id").and_then(Value::as_u64) == Some(HELLO_ID) && said.get("method").is_none()
}

fn introduced(answer: &Value) -> Result<(), Reason> {
    match answer.get("result") {
        Some(result) if result.is_object() => Ok(()),
        _ => Err(Reason::NotAnEditor("it does not answer `initialize` as MCP servers do".to_owned())),
    }
}

fn hello_over_websocket(wire: &Wire, deadline: Instant) -> Result<(), Reason> {
    let mut socket = dial(wire, deadline).map_err(|error| match error {
        DialError::NothingListens { .. } => Reason::NothingListens,
        DialError::NoAnswer { .. } => Reason::NoAnswer,
        DialError::BadToken { .. } => Reason::BadToken,
        DialError::NotAnEditor { reason, .. } => Reason::NotAnEditor(reason),
    })?;
    let is_clio = matches!(wire, Wire::Clio { .. });
    let greeting = match is_clio {
        true => json!({ "type": "connect", "clientVersion": env!("CARGO_PKG_VERSION") }),
        false => initialize(PROTOCOL),
    };
    socket.send(Message::text(greeting.to_string())).map_err(refusal)?;
    let is_connected = |said: &Value| said.get("type").is_some_and(|kind| kind == "connected");
    let answer = answer(&mut socket, if is_clio { is_connected } else { is_the_answer })?;
    // The connection is only a probe; if the goodbye does not arrive, the closed socket is noticed.
    let _ = socket.close(None).and_then(|()| socket.flush());
    if is_clio { Ok(()) } else { introduced(&answer) }
}

/// The answer to our handshake, among other messages of the editor.
fn answer(socket: &mut Socket, is_it: fn(&Value) -> bool) -> Result<Value, Reason> {
    loop {
        match socket.read().map_err(refusal)? {
            Message::Text(text) => {
                let said: Value = serde_json::from_str(text.as_str())
                    .map_err(|_| Reason::NotAnEditor("it does not send JSON".to_owned()))?;
                if is_it(&said) {
                    return Ok(said);
                }
            }
            Message::Close(Some(frame)) if frame.code == CloseCode::Policy => return Err(Reason::BadToken),
            Message::Close(_) => return Err(hung_up()),
            Message::Binary(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
        }
    }
}

fn refusal(error: Error) -> Reason {
    match error {
        Error::Io(error) if is_timeout(&error) => Reason::NoAnswer,
        Error::ConnectionClosed | Error::AlreadyClosed | Error::Io(_) => hung_up(),
        error => Reason::NotAnEditor(error.to_string()),
    }
}

fn hung_up() -> Reason {
    Reason::NotAnEditor("it closed the connection".to_owned())
}
