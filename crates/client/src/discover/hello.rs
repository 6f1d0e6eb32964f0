//! Whether an editor is there: it lets us in with its token and says hello, within a moment. A process id proves
//! neither.

use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::{Error, Message};

use super::candidate::Wire;
use super::reason::Reason;
use crate::dial::{DialError, Socket, dial, is_timeout};

/// For one editor to answer.
const ONE: Duration = Duration::from_secs(1);
/// For all of them.
const ALL: Duration = Duration::from_secs(3);
const AT_ONCE: usize = 32;
/// The oldest revision of MCP: whoever speaks a newer one knows it too.
const PROTOCOL: &str = "2024-11-05";
const HELLO_ID: u64 = 1;

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
        // This thread asks too: for one editor, which is what there mostly is, no other is needed.
        for _ in 1..wires.len().min(AT_ONCE) {
            scope.spawn(ask_some);
        }
        ask_some();
    });
    answers.into_inner().unwrap_or_default()
}

fn hello(wire: &Wire, deadline: Instant) -> Result<(), Reason> {
    let mut socket = dial(wire, deadline).map_err(|error| match error {
        DialError::NothingListens { .. } => Reason::NothingListens,
        DialError::NoAnswer { .. } => Reason::NoAnswer,
        DialError::BadToken { .. } => Reason::BadToken,
        DialError::NotAnEditor { reason, .. } => Reason::NotAnEditor(reason),
    })?;
    let initialize = json!({
        "jsonrpc": "2.0", "id": HELLO_ID, "method": "initialize",
        "params": {
            "protocolVersion": PROTOCOL,
            "capabilities": {},
            "clientInfo": { "name": "linkspan", "version": env!("CARGO_PKG_VERSION") },
        },
    });
    socket.send(Message::text(initialize.to_string())).map_err(refusal)?;
    let answer = answer(&mut socket)?;
    // It knows by now that we are no agent that stays; if the goodbye does not reach it, the closed socket does.
    let _ = socket.close(None).and_then(|()| socket.flush());
    match answer.get("result") {
        Some(result) if result.is_object() => Ok(()),
        _ => Err(Reason::NotAnEditor("it does not answer `initialize` as MCP servers do".to_owned())),
    }
}

/// The answer to our hello, among whatever else the editor has to say.
fn answer(socket: &mut Socket) -> Result<Value, Reason> {
    loop {
        match socket.read().map_err(refusal)? {
            Message::Text(text) => {
                let said: Value = serde_json::from_str(text.as_str())
                    .map_err(|_| Reason::NotAnEditor("it does not speak JSON".to_owned()))?;
                if said.get("id").and_then(Value::as_u64) == Some(HELLO_ID) && said.get("method").is_none() {
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
    Reason::NotAnEditor("it hung up".to_owned())
}
