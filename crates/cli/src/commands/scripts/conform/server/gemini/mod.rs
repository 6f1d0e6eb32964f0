//! The points of the protocol of Gemini CLI and Qwen Code: MCP over HTTP, and decisions as notifications on a stream.

mod agent;
mod changes;

use serde_json::{Value, json};

use super::mcp_answer::{METHOD_NOT_FOUND, error, error_code, result};
use super::shape::{Shape, member, optional};
use super::{Stand, Walked};
use crate::commands::scripts::conform::point::{
    Check, Outcome, failed, recommended, required, skipped, walk,
};
use crate::commands::scripts::conform::report::excerpt;
use agent::GeminiAgent;

const CONNECTION: &str = "Connection";
const MISTAKES: &str = "Mistakes";

const CHECKS: &[Check<GeminiAgent>] = &[
    required(CONNECTION, "no-token", "A request without the token is refused", |agent| {
        has_token(agent)?;
        refused(agent, None, &[])
    }),
    required(CONNECTION, "wrong-token", "A request with a wrong token is refused", |agent| {
        has_token(agent)?;
        refused(agent, Some("no-such-token"), &[])
    }),
    recommended(CONNECTION, "web-page", "A request from a web page (`Origin`) is refused", |agent| {
        let token = agent.token.clone();
        refused(agent, token.as_deref(), &[("Origin", "https://example.com".to_owned())])
    }),
    required(
        CONNECTION,
        "fetch-metadata",
        "A request with `sec-fetch-mode: cors` and no `Origin` is admitted",
        fetch_metadata,
    ),
    required(
        CONNECTION,
        "initialize",
        "`initialize` is answered with a session, a version and a name",
        initialize,
    ),
    required(CONNECTION, "versions", "The version of MCP that was asked is answered", versions),
    required(
        CONNECTION,
        "initialized",
        "`notifications/initialized` is answered with status 202",
        initialized,
    ),
    required(CONNECTION, "stream", "GET opens a stream of events for the session", stream),
    required(CONNECTION, "context", "`ide/contextUpdate` arrives on the stream, and has its shape", context),
    recommended(CONNECTION, "ping", "The request `ping` is answered with an empty result", ping),
    required(
        "Tools",
        "tools-list",
        "`openDiff` and `closeDiff` are listed, with the arguments of the agents",
        tools_list,
    ),
];

const ERRORS: &[Check<GeminiAgent>] = &[
    required(MISTAKES, "unknown-tool", "A call of an unknown tool is answered with an error", |agent| {
        error(&agent.call("noSuchToolOfConform", &json!({}))?)
    }),
    required(MISTAKES, "no-arguments", "`openDiff` without arguments is answered with an error", |agent| {
        error(&agent.call("openDiff", &json!({}))?)
    }),
    required(MISTAKES, "unknown-method", "An unknown method is answered with error -32601", unknown_method),
    required(MISTAKES, "bad-json", "A body that is not JSON is refused, and the session goes on", bad_json),
    required(MISTAKES, "unknown-session", "A request of an unknown session is refused", unknown_session),
    required(MISTAKES, "unknown-path", "Another path has no server", unknown_path),
];

const TIME: &[Check<GeminiAgent>] =
    &[required("Time", "deadlines", "Every answer that needs no user came in time", |agent| {
        agent.session()?;
        agent.peer.deadlines_kept()
    })];

pub(crate) fn walk_through(stand: Stand) -> Walked {
    let mut agent = GeminiAgent::new(stand);
    let findings = walk(&mut agent, &[CHECKS, changes::CHECKS, ERRORS, changes::DECISIONS, TIME]);
    (findings, agent.name)
}

fn has_token(agent: &GeminiAgent) -> Outcome {
    match agent.token {
        Some(_) => Ok(()),
        None => Err(skipped("no token is known for this server; if it has one, set LINKSPAN_CONFORM_TOKEN")),
    }
}

fn refused(agent: &mut GeminiAgent, token: Option<&str>, more: &[(&'static str, String)]) -> Outcome {
    let answer = agent.post_as(token, None, more, &agent::hello("2025-06-18").to_string())?;
    match answer.status {
        400..=499 => Ok(()),
        _ => Err(failed("a status from 400 to 499", answer.words())),
    }
}

fn fetch_metadata(agent: &mut GeminiAgent) -> Outcome {
    let token = agent.token.clone();
    let more = [("sec-fetch-mode", "cors".to_owned())];
    let answer = agent.post_as(token.as_deref(), None, &more, &agent::hello("2025-06-18").to_string())?;
    match answer.status {
        200 => Ok(()),
        _ => Err(failed("status 200", answer.words())),
    }
}

const HELLO: Shape = Shape::Object(&[
    member("protocolVersion", Shape::Word(&["2025-06-18"])),
    member("capabilities", Shape::Object(&[])),
    member("serverInfo", Shape::Object(&[member("name", Shape::Text), optional("version", Shape::Text)])),
]);

fn initialize(agent: &mut GeminiAgent) -> Outcome {
    let token = agent.token.clone();
    let answer = agent.post_as(token.as_deref(), None, &[], &agent::hello("2025-06-18").to_string())?;
    if answer.status != 200 || answer.head.header("mcp-session-id").is_none_or(str::is_empty) {
        return Err(failed("status 200 with the header Mcp-Session-Id", answer.words()));
    }
    let result = result(&answer.body)?;
    HELLO.check(result)?;
    agent.name = result.pointer("/serverInfo/name").and_then(Value::as_str).map(str::to_owned);
    Ok(())
}

fn versions(agent: &mut GeminiAgent) -> Outcome {
    let token = agent.token.clone();
    // Gemini CLI asks for the first, Qwen Code for the second.
    for asked in ["2025-06-18", "2025-11-25"] {
        let answer = agent.post_as(token.as_deref(), None, &[], &agent::hello(asked).to_string())?;
        let version = result(&answer.body)?.get("protocolVersion").cloned().unwrap_or_default();
        let is_known = version == asked || (asked == "2025-11-25" && version == "2025-06-18");
        if !is_known {
            return Err(failed(asked, excerpt(&version)));
        }
    }
    Ok(())
}

fn initialized(agent: &mut GeminiAgent) -> Outcome {
    let answer = agent.post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
    match answer.status {
        202 => Ok(()),
        _ => Err(failed("status 202", answer.words())),
    }
}

fn stream(agent: &mut GeminiAgent) -> Outcome {
    agent.session()?;
    agent.stream().map(|_| ())
}

const POSITION: Shape = Shape::Object(&[member("line", Shape::Count), member("character", Shape::Count)]);
const OPEN_FILE: Shape = Shape::Object(&[
    member("path", Shape::Text),
    member("timestamp", Shape::Anything),
    optional("isActive", Shape::Bool),
    optional("selectedText", Shape::Text),
    optional("cursor", POSITION),
]);
const CONTEXT: Shape = Shape::Object(&[member(
    "workspaceState",
    Shape::Object(&[optional("openFiles", Shape::List(&OPEN_FILE)), optional("isTrusted", Shape::Bool)]),
)]);

fn context(agent: &mut GeminiAgent) -> Outcome {
    let time = agent.peer.timeout;
    let message = agent.notification("ide/contextUpdate", None, time)?;
    CONTEXT.check(message.get("params").unwrap_or(&Value::Null))
}

fn ping(agent: &mut GeminiAgent) -> Outcome {
    let answer = agent.request("ping", &json!({}))?;
    result(&answer).map(|_| ())
}

const TOOLS: Shape = Shape::Object(&[member("tools", Shape::List(&TOOL))]);
const TOOL: Shape = Shape::Object(&[member("name", Shape::Text), member("inputSchema", Shape::Object(&[]))]);

fn tools_list(agent: &mut GeminiAgent) -> Outcome {
    let answer = agent.request("tools/list", &json!({}))?;
    let result = result(&answer)?;
    TOOLS.check(result)?;
    for (tool, arguments) in
        [("openDiff", ["filePath", "newContent"]), ("closeDiff", ["filePath", "suppressNotification"])]
    {
        let mut tools = result.get("tools").and_then(Value::as_array).into_iter().flatten();
        let found = tools.find(|listed| listed.get("name").and_then(Value::as_str) == Some(tool));
        let found = found.ok_or_else(|| failed(format!("the tool `{tool}`"), "a list without it"))?;
        let properties = found.pointer("/inputSchema/properties").unwrap_or(&Value::Null);
        // Older companions do not list the second argument of `closeDiff`, and take it.
        let needed = if tool == "closeDiff" { &arguments[..1] } else { &arguments[..] };
        if let Some(missing) = needed.iter().find(|name| properties.get(**name).is_none()) {
            return Err(failed(format!("the argument `{missing}` of `{tool}`"), excerpt(properties)));
        }
    }
    Ok(())
}

fn unknown_method(agent: &mut GeminiAgent) -> Outcome {
    let answer = agent.request("noSuchMethod/ofConform", &json!({}))?;
    match error_code(&answer) {
        Some(METHOD_NOT_FOUND) => Ok(()),
        _ => Err(failed("error -32601", excerpt(&answer))),
    }
}

fn bad_json(agent: &mut GeminiAgent) -> Outcome {
    let session = agent.session()?;
    let token = agent.token.clone();
    let answer = agent.post_as(token.as_deref(), Some(&session), &[], "{\"jsonrpc\": \"2.0\",")?;
    // Some servers answer with status 200 and an error.
    if !(400..500).contains(&answer.status) && error(&answer.body).is_err() {
        return Err(failed("a status from 400 to 499, or an error", answer.words()));
    }
    result(&agent.request("tools/list", &json!({}))?).map(|_| ())
}

fn unknown_session(agent: &mut GeminiAgent) -> Outcome {
    agent.session()?;
    let token = agent.token.clone();
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }).to_string();
    let answer = agent.post_as(token.as_deref(), Some("00000000-0000-4000-8000-000000000000"), &[], &body)?;
    match answer.status {
        400..=499 => Ok(()),
        _ => Err(failed("a status from 400 to 499", answer.words())),
    }
}

fn unknown_path(agent: &mut GeminiAgent) -> Outcome {
    let headers = agent.headers(agent.token.as_deref(), None);
    let answer = agent.peer.exchange("POST /no-such-path-of-conform", &headers, Some("{}"))?;
    match answer.status {
        400..=499 => Ok(()),
        _ => Err(failed("a status from 400 to 499", answer.words())),
    }
}
