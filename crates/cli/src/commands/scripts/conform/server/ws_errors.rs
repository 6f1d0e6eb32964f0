//! Points about mistakes of an agent that speaks MCP over a WebSocket: each gets an error, and the connection goes on.

use serde_json::{Value, json};
use tungstenite::protocol::frame::coding::{Data, OpCode};

use super::mcp_answer::{METHOD_NOT_FOUND, error, error_code, result};
use super::peer::Arrived;
use super::ws_agent::WsAgent;
use super::ws_connection::TEXT;
use crate::commands::scripts::conform::point::{Check, Outcome, failed, recommended, required};
use crate::commands::scripts::conform::report::excerpt;

const AREA: &str = "Mistakes";

pub(crate) const CHECKS: &[Check<WsAgent>] = &[
    required(AREA, "unknown-tool", "A call of an unknown tool is answered with an error", unknown_tool),
    required(AREA, "no-arguments", "`openDiff` without arguments is answered with an error", no_arguments),
    recommended(AREA, "wrong-kind", "An argument of the wrong kind is answered with an error", wrong_kind),
    required(AREA, "unknown-method", "An unknown method is answered with error -32601", unknown_method),
    required(AREA, "unknown-notification", "An unknown notification is ignored", unknown_notification),
    required(AREA, "bad-json", "A message that is not JSON does not end the connection", bad_json),
    required(AREA, "no-message", "JSON that is not a message does not end the connection", no_message),
    recommended(AREA, "fragments", "A message in several frames is read", fragments),
];

pub(crate) const TIME: &[Check<WsAgent>] =
    &[required("Time", "deadlines", "Every answer that needs no user came in time", |agent| {
        agent.main()?;
        agent.peer.deadlines_kept()
    })];

fn unknown_tool(agent: &mut WsAgent) -> Outcome {
    let conn = agent.main()?;
    let answer = agent.call(conn, "noSuchToolOfConform", &json!({}))?;
    error(&answer)?;
    agent.is_served(conn)
}

fn no_arguments(agent: &mut WsAgent) -> Outcome {
    let conn = agent.main()?;
    let answer = agent.call(conn, "openDiff", &json!({}))?;
    error(&answer)?;
    agent.is_served(conn)
}

fn wrong_kind(agent: &mut WsAgent) -> Outcome {
    let conn = agent.main()?;
    let path = agent.sample.path_text();
    let arguments = json!({
        "old_file_path": path, "new_file_path": path, "new_file_contents": ["no text"], "tab_name": "conform: kind",
    });
    let answer = agent.call(conn, "openDiff", &arguments)?;
    error(&answer)?;
    agent.is_served(conn)
}

fn unknown_method(agent: &mut WsAgent) -> Outcome {
    let conn = agent.main()?;
    let answer = agent.request(conn, "noSuchMethod/ofConform", &json!({}))?;
    match error_code(&answer) {
        Some(METHOD_NOT_FOUND) => agent.is_served(conn),
        _ => Err(failed("error -32601", excerpt(&answer))),
    }
}

fn unknown_notification(agent: &mut WsAgent) -> Outcome {
    let conn = agent.main()?;
    agent.notify(conn, "notifications/ofConform")?;
    agent.is_served(conn)
}

fn bad_json(agent: &mut WsAgent) -> Outcome {
    let conn = agent.main()?;
    agent.peer.send(conn, "{\"jsonrpc\": \"2.0\", \"id\": 1,")?;
    agent.is_served(conn)
}

fn no_message(agent: &mut WsAgent) -> Outcome {
    let conn = agent.main()?;
    for message in ["[]", "42", "\"text\"", "null", "{}", "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":7}"] {
        agent.peer.send(conn, message)?;
    }
    agent.is_served(conn)
}

fn fragments(agent: &mut WsAgent) -> Outcome {
    // On a connection of its own: claudecode.nvim ends it.
    let conn = agent.connect()?;
    let message =
        json!({ "jsonrpc": "2.0", "id": "parts", "method": "tools/list", "params": {} }).to_string();
    let (first, second) = message.as_bytes().split_at(message.len() / 2);
    agent.peer.send_frame(conn, TEXT, first, false)?;
    agent.peer.send_frame(conn, OpCode::Data(Data::Continue), second, true)?;
    let fits = |message: &Value| message.get("id").and_then(Value::as_str) == Some("parts");
    let arrived = agent.peer.wait(conn, agent.peer.timeout, fits);
    agent.peer.close(conn);
    match arrived {
        Arrived::Message(answer) => result(&answer).map(|_| ()),
        other => Err(failed("an answer", other.words())),
    }
}
