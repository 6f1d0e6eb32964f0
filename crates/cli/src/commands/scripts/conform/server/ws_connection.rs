//! Points about the connection of an agent that speaks MCP over a WebSocket: who is admitted, and the handshake.

use serde_json::{Value, json};
use tungstenite::protocol::frame::coding::OpCode;

use super::mcp_answer::{error_code, result};
use super::peer::refused;
use super::shape::{Shape, member, optional};
use super::ws_agent::WsAgent;
use crate::commands::scripts::conform::point::{Check, Outcome, failed, recommended, required, skipped};
use crate::commands::scripts::conform::report::excerpt;
use crate::commands::scripts::record::websocket::PING;

const AREA: &str = "Connection";

/// Versions of MCP that agents ask for, oldest first. The names are dates, so they sort as text.
const VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// For each dialect of this kind.
pub(crate) const CHECKS: &[Check<WsAgent>] = &[
    required(AREA, "no-token", "A connection without the token is refused", no_token),
    required(AREA, "wrong-token", "A connection with a wrong token is refused", wrong_token),
    recommended(AREA, "web-page", "A connection from a web page (`Origin`) is refused", web_page),
    required(AREA, "handshake", "The WebSocket handshake with the token succeeds", handshake),
    required(
        AREA,
        "initialize",
        "`initialize` is answered with a version of MCP, tools and a name",
        initialize,
    ),
    required(
        AREA,
        "versions",
        "Each version of MCP that agents ask for gets a version that they know",
        versions,
    ),
    required(AREA, "notifications", "The notifications after `initialize` get no answer", notifications),
    required(AREA, "ws-ping", "A ping frame is answered with a pong", ws_ping),
    recommended(AREA, "ping", "The request `ping` is answered with an empty result", ping),
];

/// Only Claude Code and its relatives.
pub(crate) const SUBPROTOCOL: &[Check<WsAgent>] = &[
    required(AREA, "subprotocol", "The subprotocol `mcp` is confirmed if it was offered", subprotocol),
    required(
        AREA,
        "no-subprotocol",
        "A client that offers no subprotocol is admitted (opencode)",
        no_subprotocol,
    ),
];

const PROBE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"linkspan-conform","version":"0"}}}"#;

fn has_token(agent: &WsAgent) -> Outcome {
    match agent.token {
        Some(_) => Ok(()),
        None => Err(skipped("no token is known for this server; if it has one, set LINKSPAN_CONFORM_TOKEN")),
    }
}

fn no_token(agent: &mut WsAgent) -> Outcome {
    has_token(agent)?;
    let upgrade = agent.peer.upgrade(&agent.headers(None));
    refused(upgrade, &mut agent.peer, PROBE)
}

fn wrong_token(agent: &mut WsAgent) -> Outcome {
    has_token(agent)?;
    let upgrade = agent.peer.upgrade(&agent.headers(Some("00000000-0000-4000-8000-000000000000")));
    refused(upgrade, &mut agent.peer, PROBE)
}

fn web_page(agent: &mut WsAgent) -> Outcome {
    let mut headers = agent.headers(agent.token.as_deref());
    headers.push(("Origin", "https://example.com".to_owned()));
    let upgrade = agent.peer.upgrade(&headers);
    refused(upgrade, &mut agent.peer, PROBE)
}

fn handshake(agent: &mut WsAgent) -> Outcome {
    let upgrade = agent.upgrade()?;
    agent.peer.close(upgrade.conn);
    if !upgrade.is_admitted() {
        return Err(failed("status 101", upgrade.head.line));
    }
    if !upgrade.has_right_accept() {
        let came = upgrade.head.header("sec-websocket-accept").unwrap_or("none").to_owned();
        return Err(failed("the Sec-WebSocket-Accept that belongs to our key", came));
    }
    Ok(())
}

fn subprotocol(agent: &mut WsAgent) -> Outcome {
    let upgrade = agent.upgrade()?;
    agent.peer.close(upgrade.conn);
    match upgrade.head.header("sec-websocket-protocol") {
        Some("mcp") => Ok(()),
        other => Err(failed("Sec-WebSocket-Protocol: mcp", other.unwrap_or("no such header"))),
    }
}

fn no_subprotocol(agent: &mut WsAgent) -> Outcome {
    let mut headers = agent.headers(agent.token.as_deref());
    headers.retain(|(name, _)| *name != "Sec-WebSocket-Protocol");
    let upgrade = agent.peer.upgrade(&headers)?;
    let confirmed = upgrade.head.header("sec-websocket-protocol").map(str::to_owned);
    if !upgrade.is_admitted() || confirmed.is_some() {
        agent.peer.close(upgrade.conn);
        let came = confirmed.map_or(upgrade.head.line, |name| format!("the subprotocol {name}"));
        return Err(failed("status 101 without a subprotocol", came));
    }
    let hello = agent.initialize(upgrade.conn, VERSIONS[2])?;
    agent.peer.close(upgrade.conn);
    result(&hello).map(|_| ())
}

const HELLO: Shape = Shape::Object(&[
    member("protocolVersion", Shape::Word(&VERSIONS)),
    member("capabilities", Shape::Object(&[member("tools", Shape::Object(&[]))])),
    member("serverInfo", Shape::Object(&[member("name", Shape::Text), optional("version", Shape::Text)])),
]);

fn initialize(agent: &mut WsAgent) -> Outcome {
    let upgrade = agent.upgrade()?;
    let answer = agent.initialize(upgrade.conn, agent.dialect.version)?;
    agent.peer.close(upgrade.conn);
    let result = result(&answer)?;
    HELLO.check(result)?;
    agent.hello = Some(result.clone());
    Ok(())
}

fn versions(agent: &mut WsAgent) -> Outcome {
    for asked in VERSIONS.into_iter().chain(["2031-01-01"]) {
        let upgrade = agent.upgrade()?;
        let answer = agent.initialize(upgrade.conn, asked)?;
        agent.peer.close(upgrade.conn);
        let version = result(&answer)?.get("protocolVersion").and_then(Value::as_str).unwrap_or("none");
        if !VERSIONS.contains(&version) || version > asked {
            let expected = format!("{asked} or an older version when {asked} was asked");
            return Err(failed(expected, version));
        }
    }
    Ok(())
}

fn notifications(agent: &mut WsAgent) -> Outcome {
    let conn = agent.main()?;
    for method in agent.dialect.notifications {
        agent.notify(conn, method)?;
    }
    agent.is_served(conn)?;
    // Everything that arrived before the answer above.
    let is_answer =
        |message: &Value| message.get("error").is_some() && message.get("id").is_none_or(Value::is_null);
    match agent.peer.wait(conn, std::time::Duration::ZERO, is_answer) {
        super::peer::Arrived::Message(message) => Err(failed("no answer", excerpt(&message))),
        _ => Ok(()),
    }
}

fn ws_ping(agent: &mut WsAgent) -> Outcome {
    let conn = agent.main()?;
    agent.peer.send_frame(conn, PING, b"linkspan", true)?;
    if agent.peer.wait_for_pong(conn) { Ok(()) } else { Err(failed("a pong", "nothing")) }
}

fn ping(agent: &mut WsAgent) -> Outcome {
    let conn = agent.main()?;
    let answer = agent.request(conn, "ping", &json!({}))?;
    match error_code(&answer) {
        None => result(&answer).map(|_| ()),
        Some(_) => Err(failed("an empty result", excerpt(&answer))),
    }
}

/// A frame of text.
pub(crate) const TEXT: OpCode = crate::commands::scripts::record::websocket::TEXT;
