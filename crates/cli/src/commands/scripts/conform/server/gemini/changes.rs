//! Changes of an agent of this dialect: answered at once, decided by a notification, withdrawn by `closeDiff`.

use serde_json::{Value, json};

use super::GeminiAgent;
use crate::commands::scripts::conform::point::{Check, Outcome, failed, required};
use crate::commands::scripts::conform::report::excerpt;
use crate::commands::scripts::conform::server::decider::WantedDecision;
use crate::commands::scripts::conform::server::mcp_answer::{is_error, json_text, result};
use crate::commands::scripts::conform::server::peer::SILENCE;
use crate::commands::scripts::conform::server::sample::{AFTER, BEFORE};

const AREA: &str = "Changes";

pub(super) const CHECKS: &[Check<GeminiAgent>] = &[
    required(
        AREA,
        "open-diff",
        "`openDiff` is answered at once without content, and decides nothing",
        open_diff,
    ),
    required(
        AREA,
        "close-quietly",
        "`closeDiff` with `suppressNotification` answers with the text, and notifies nobody",
        close_quietly,
    ),
    required(AREA, "close", "`closeDiff` without it notifies the agent that nothing was accepted", close),
    required(
        AREA,
        "new-file",
        "A change of a file that does not exist is shown, and creates no file",
        new_file,
    ),
    required(AREA, "large", "A change of 2 MB is shown", large),
    required(
        AREA,
        "two-sessions",
        "A second session is served, and is not notified about the first",
        two_sessions,
    ),
];

pub(super) const DECISIONS: &[Check<GeminiAgent>] = &[
    required(
        "Decisions",
        "accept",
        "An accepted change is notified with its text, and the agent writes",
        |agent| decided(agent, WantedDecision::Accept),
    ),
    required("Decisions", "reject", "A rejected change is notified, and nothing is written", |agent| {
        decided(agent, WantedDecision::Reject)
    }),
];

const ENDINGS: [&str; 3] = ["ide/diffAccepted", "ide/diffRejected", "ide/diffClosed"];

/// Proposes a change, which must be answered at once.
fn propose(agent: &mut GeminiAgent, path: &str, text: &str) -> Outcome {
    agent.stream()?;
    let answer = agent.call("openDiff", &json!({ "filePath": path, "newContent": text }))?;
    let content = result(&answer)?.get("content").and_then(Value::as_array);
    match content.map(Vec::len) {
        Some(0) if !is_error(&answer) => Ok(()),
        _ => Err(failed("{\"content\": []}", excerpt(&answer))),
    }
}

/// No decision about the file arrives for a while.
fn is_pending(agent: &mut GeminiAgent, path: &str) -> Outcome {
    let stream = agent.stream()?;
    match agent.notified(stream, &ENDINGS, Some(path), SILENCE)? {
        None => Ok(()),
        Some(message) => Err(failed("no notification about the change", excerpt(&message))),
    }
}

fn withdraw(agent: &mut GeminiAgent, path: &str) -> Outcome<Value> {
    agent.call("closeDiff", &json!({ "filePath": path, "suppressNotification": true }))
}

fn open_diff(agent: &mut GeminiAgent) -> Outcome {
    let path = agent.sample.path_text();
    propose(agent, &path, AFTER)?;
    let pending = is_pending(agent, &path);
    let _ = withdraw(agent, &path);
    pending
}

fn close_quietly(agent: &mut GeminiAgent) -> Outcome {
    let path = agent.sample.path_text();
    propose(agent, &path, AFTER)?;
    let answer = withdraw(agent, &path)?;
    let text = json_text(&answer)?;
    if text.get("content").and_then(Value::as_str) != Some(AFTER) {
        return Err(failed(format!("{{\"content\": {AFTER:?}}}"), excerpt(&text)));
    }
    is_pending(agent, &path)
}

fn close(agent: &mut GeminiAgent) -> Outcome {
    let path = agent.sample.path_text();
    propose(agent, &path, AFTER)?;
    let answer = agent.call("closeDiff", &json!({ "filePath": path }))?;
    result(&answer)?;
    let (stream, time) = (agent.stream()?, agent.peer.timeout);
    let expected = "`ide/diffClosed` or `ide/diffRejected` for the file";
    match agent.notified(stream, &ENDINGS, Some(&path), time)? {
        Some(message) if message.get("method").and_then(Value::as_str) != Some("ide/diffAccepted") => Ok(()),
        Some(message) => Err(failed(expected, excerpt(&message))),
        None => Err(failed(expected, "nothing")),
    }
}

fn new_file(agent: &mut GeminiAgent) -> Outcome {
    let file = agent.sample.new_file();
    let path = file.to_string_lossy().into_owned();
    propose(agent, &path, "new\n")?;
    is_pending(agent, &path)?;
    withdraw(agent, &path)?;
    if file.exists() { Err(failed("no file before an accept", "the file was created")) } else { Ok(()) }
}

fn large(agent: &mut GeminiAgent) -> Outcome {
    let path = agent.sample.path_text();
    propose(agent, &path, &"a line of a large file\n".repeat(90_000))?;
    is_pending(agent, &path)?;
    withdraw(agent, &path).map(|_| ())
}

fn two_sessions(agent: &mut GeminiAgent) -> Outcome {
    let path = agent.sample.path_text();
    agent.stream()?;
    let other = agent.new_session()?;
    let other_stream = agent.open_stream(&other)?;
    propose(agent, &path, AFTER)?;
    agent.call("closeDiff", &json!({ "filePath": path }))?;
    let time = agent.peer.timeout;
    let own_stream = agent.stream()?;
    let own = agent.notified(own_stream, &ENDINGS, Some(&path), time)?;
    let foreign = agent.notified(other_stream, &ENDINGS, Some(&path), SILENCE)?;
    agent.peer.close(other_stream);
    match (own, foreign) {
        (Some(_), None) => Ok(()),
        (None, _) => Err(failed("a notification on the stream of the session that proposed it", "nothing")),
        (_, Some(message)) => Err(failed("no notification for another session", excerpt(&message))),
    }
}

fn decided(agent: &mut GeminiAgent, verdict: WantedDecision) -> Outcome {
    agent.decider.is_there()?;
    let file = agent.sample.path.clone();
    let path = agent.sample.path_text();
    propose(agent, &path, AFTER)?;
    is_pending(agent, &path)?;
    let time = agent.decider.decide(verdict, &file, agent.peer.timeout)?;
    let stream = agent.stream()?;
    let message = agent.notified(stream, &ENDINGS, Some(&path), time)?;
    let holds = agent.sample.holds();
    agent.sample.restore();
    let expected = match verdict {
        WantedDecision::Accept => "ide/diffAccepted",
        WantedDecision::Reject => "ide/diffRejected",
    };
    let message = message.ok_or_else(|| failed(expected, "nothing"))?;
    let content = message.pointer("/params/content").and_then(Value::as_str);
    let is_right = message.get("method").and_then(Value::as_str) == Some(expected)
        && (verdict == WantedDecision::Reject || content == Some(AFTER));
    match (is_right, holds == BEFORE) {
        (true, true) => Ok(()),
        (false, _) => Err(failed(expected, excerpt(&message))),
        (true, false) => Err(failed("a file that the server did not write: the agent does", holds)),
    }
}
