//! The points of Clio's protocol: messages with a `type` on a WebSocket that has no token.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::decider::WantedDecision;
use super::peer::{Arrived, SILENCE, ServerPeer, refused};
use super::sample::{AFTER, BEFORE};
use super::shape::{Shape, member, optional};
use super::{Decider, Sample, Stand, Walked};
use crate::commands::scripts::conform::point::{
    Check, Outcome, failed, recommended, required, skipped, walk,
};
use crate::commands::scripts::conform::report::excerpt;

const CONNECTION: &str = "Connection";
const CHANGES: &str = "Changes";
const MISTAKES: &str = "Mistakes";
const CONNECT: &str = r#"{"type":"connect","clientVersion":"1.0.0"}"#;

struct ClioAgent {
    peer: ServerPeer,
    sample: Sample,
    decider: Decider,
    main: Option<u64>,
    name: Option<String>,
}

const CHECKS: &[Check<ClioAgent>] = &[
    recommended(CONNECTION, "web-page", "A connection from a web page (`Origin`) is refused", web_page),
    required(CONNECTION, "handshake", "The WebSocket handshake succeeds without a token", handshake),
    required(
        CONNECTION,
        "connect",
        "`connect` is answered with `connected`, a version and capabilities",
        connect,
    ),
    recommended(CONNECTION, "first", "Nothing is done before `connect`", first),
    required(CONNECTION, "status", "`status` gets no answer", status),
    recommended(CHANGES, "open-diff", "`openDiff` is not answered before the user decides", open_diff),
    required(CHANGES, "close-diff", "`closeDiff` withdraws a change, and gets no answer", close_diff),
    required(CHANGES, "propose-diff", "`proposeDiff` is not answered before the user decides", propose_diff),
    required(CHANGES, "unchanged", "What nobody accepted is not written", unchanged),
    required(
        CHANGES,
        "two-clients",
        "A second client is served, and hears nothing of the first",
        two_clients,
    ),
    required(CHANGES, "gone", "A client that ends with a pending change does not disturb the next one", gone),
    required(
        MISTAKES,
        "stale-edit",
        "An edit of text that is not there is answered with `STALE_EDIT`",
        stale_edit,
    ),
    required(
        MISTAKES,
        "no-file",
        "A change of a file that does not exist is answered with `FILE_NOT_FOUND`",
        no_file,
    ),
    recommended(
        MISTAKES,
        "outside",
        "A change outside the workspace is answered with `OUTSIDE_WORKSPACE`",
        outside,
    ),
    required(MISTAKES, "unknown-type", "An unknown message is answered with an error", |agent| {
        mistake(agent, r#"{"type":"noSuchTypeOfConform"}"#)
    }),
    required(MISTAKES, "no-members", "A message without its members is answered with an error", |agent| {
        mistake(agent, r#"{"type":"proposeDiff"}"#)
    }),
    required(MISTAKES, "bad-json", "A message that is not JSON does not end the connection", bad_json),
    required(
        "Decisions",
        "accept",
        "An accepted proposal is answered with `diffAccepted`, and the server writes",
        accept,
    ),
    required(
        "Decisions",
        "reject",
        "A rejected proposal is answered with `diffRejected`, and nothing is written",
        reject,
    ),
    required("Time", "deadlines", "Every answer that needs no user came in time", |agent| {
        agent.main()?;
        agent.peer.deadlines_kept()
    }),
];

pub(crate) fn walk_through(stand: Stand) -> Walked {
    let Stand { peer, sample, decider, .. } = stand;
    let mut agent = ClioAgent { peer, sample, decider, main: None, name: None };
    let findings = walk(&mut agent, &[CHECKS]);
    (findings, agent.name)
}

impl ClioAgent {
    /// A new connection, before `connect`.
    fn open(&mut self) -> Outcome<u64> {
        let upgrade = self.peer.upgrade(&[])?;
        if !upgrade.is_admitted() || !upgrade.has_right_accept() {
            return Err(failed("status 101", upgrade.head.line));
        }
        Ok(upgrade.conn)
    }

    fn connect(&mut self) -> Outcome<(u64, Value)> {
        let conn = self.open()?;
        let hello = self.ask(conn, CONNECT)?;
        Ok((conn, hello))
    }

    /// The connection of most points; a new one if it was closed.
    fn main(&mut self) -> Outcome<u64> {
        if let Some(conn) = self.main
            && !self.peer.is_closed(conn)
        {
            return Ok(conn);
        }
        let (conn, _) = self.connect().map_err(|_| skipped("needs a connection, and none could be made"))?;
        self.main = Some(conn);
        Ok(conn)
    }

    /// Sends a message; the next one that arrives is its answer.
    fn ask(&mut self, conn: u64, message: &str) -> Outcome<Value> {
        let begun = Instant::now();
        self.peer.send(conn, message)?;
        let answer = self.hear(conn, self.peer.timeout)?;
        self.peer.took(begun, message);
        Ok(answer)
    }

    fn hear(&mut self, conn: u64, time: Duration) -> Outcome<Value> {
        match self.peer.wait(conn, time, |_| true) {
            Arrived::Message(message) => Ok(message),
            other => Err(failed("a message", other.words())),
        }
    }

    fn hears_nothing(&mut self, conn: u64) -> Outcome {
        match self.peer.wait(conn, SILENCE, |_| true) {
            Arrived::Nothing => Ok(()),
            other => Err(failed("no message", other.words())),
        }
    }

    /// The connection still answers.
    fn is_served(&mut self, conn: u64) -> Outcome {
        let answer = self.ask(conn, CONNECT)?;
        CONNECTED.check(&answer)
    }

    fn edit(&self, path: &str, old: &str) -> String {
        let range = json!({ "start": { "line": 1, "character": 0 }, "end": { "line": 1, "character": 3 } });
        let edits = json!([{ "range": range, "oldText": old, "newText": "TWO" }]);
        json!({ "type": "proposeDiff", "file": path, "edits": edits, "description": "conform" }).to_string()
    }

    fn diff(&self) -> String {
        let path = self.sample.path_text();
        json!({ "type": "openDiff", "file": path, "before": BEFORE, "after": AFTER, "description": "conform" })
            .to_string()
    }

    /// Closes what is pending for the sample.
    fn close_diff(&mut self, conn: u64) -> Outcome {
        let message = json!({ "type": "closeDiff", "file": self.sample.path_text() });
        self.peer.send(conn, &message.to_string())
    }
}

const CONNECTED: Shape = Shape::Object(&[
    member("type", Shape::Word(&["connected"])),
    member("serverVersion", Shape::Text),
    member("capabilities", Shape::List(&Shape::Text)),
    optional("ideName", Shape::Text),
]);
const ERROR: Shape = Shape::Object(&[
    member("type", Shape::Word(&["error"])),
    member("message", Shape::Text),
    member("code", Shape::Text),
]);

fn web_page(agent: &mut ClioAgent) -> Outcome {
    let upgrade = agent.peer.upgrade(&[("Origin", "https://example.com".to_owned())]);
    refused(upgrade, &mut agent.peer, CONNECT)
}

fn handshake(agent: &mut ClioAgent) -> Outcome {
    let conn = agent.open()?;
    agent.peer.close(conn);
    Ok(())
}

fn connect(agent: &mut ClioAgent) -> Outcome {
    let (conn, hello) = agent.connect()?;
    agent.peer.close(conn);
    CONNECTED.check(&hello)?;
    let word = |name: &str| hello.get(name).and_then(Value::as_str);
    agent.name = word("ideName").or(word("serverVersion")).map(str::to_owned);
    let capabilities = hello.get("capabilities").and_then(Value::as_array).cloned().unwrap_or_default();
    // The reference client looks for these.
    for needed in ["diff", "proposeDiff"] {
        if !capabilities.iter().any(|found| found == needed) {
            return Err(failed(format!("the capability `{needed}`"), excerpt(&hello)));
        }
    }
    Ok(())
}

fn first(agent: &mut ClioAgent) -> Outcome {
    let conn = agent.open()?;
    let message = agent.diff();
    let answer = agent.ask(conn, &message);
    agent.peer.close(conn);
    ERROR.check(&answer?)
}

fn status(agent: &mut ClioAgent) -> Outcome {
    let conn = agent.main()?;
    agent.peer.send(
        conn,
        r#"{"type":"status","message":"linkspan conform is checking this server","level":"info"}"#,
    )?;
    agent.hears_nothing(conn)?;
    agent.is_served(conn)
}

fn open_diff(agent: &mut ClioAgent) -> Outcome {
    let conn = agent.main()?;
    agent.peer.send(conn, &agent.diff())?;
    let waits = agent.hears_nothing(conn);
    agent.close_diff(conn)?;
    waits
}

fn close_diff(agent: &mut ClioAgent) -> Outcome {
    let conn = agent.main()?;
    agent.peer.send(conn, &agent.diff())?;
    // A server that decides by itself has answered; that is another point.
    let _ = agent.peer.wait(conn, SILENCE, |_| true);
    agent.close_diff(conn)?;
    agent.hears_nothing(conn)?;
    agent.is_served(conn)
}

fn propose_diff(agent: &mut ClioAgent) -> Outcome {
    let conn = agent.main()?;
    let path = agent.sample.path_text();
    agent.peer.send(conn, &agent.edit(&path, "two"))?;
    let waits = agent.hears_nothing(conn);
    agent.close_diff(conn)?;
    waits?;
    agent.hears_nothing(conn)
}

fn unchanged(agent: &mut ClioAgent) -> Outcome {
    agent.main()?;
    match agent.sample.holds() {
        text if text == BEFORE => Ok(()),
        text => Err(failed("a file as it was", text)),
    }
}

fn two_clients(agent: &mut ClioAgent) -> Outcome {
    let first = agent.main()?;
    let (second, _) = agent.connect()?;
    let path = agent.sample.path_text();
    agent.peer.send(first, &agent.edit(&path, "two"))?;
    let quiet = agent.hears_nothing(second);
    agent.close_diff(first)?;
    let served = agent.is_served(second).and_then(|()| agent.is_served(first));
    agent.peer.close(second);
    quiet.and(served)
}

fn gone(agent: &mut ClioAgent) -> Outcome {
    let (conn, _) = agent.connect()?;
    let path = agent.sample.path_text();
    agent.peer.send(conn, &agent.edit(&path, "two"))?;
    agent.hears_nothing(conn)?;
    agent.peer.close(conn);
    let (next, _) = agent.connect()?;
    let served = agent.is_served(next);
    agent.peer.close(next);
    served
}

/// Checks the code of an error.
fn has_code(answer: &Value, code: &str) -> Outcome {
    ERROR.check(answer)?;
    match answer.get("code").and_then(Value::as_str) {
        Some(found) if found == code => Ok(()),
        _ => Err(failed(format!("the code {code}"), excerpt(answer))),
    }
}

fn stale_edit(agent: &mut ClioAgent) -> Outcome {
    let conn = agent.main()?;
    let message = agent.edit(&agent.sample.path_text(), "not");
    has_code(&agent.ask(conn, &message)?, "STALE_EDIT")
}

fn no_file(agent: &mut ClioAgent) -> Outcome {
    let conn = agent.main()?;
    let message = agent.edit(&agent.sample.new_file().to_string_lossy(), "two");
    has_code(&agent.ask(conn, &message)?, "FILE_NOT_FOUND")
}

fn outside(agent: &mut ClioAgent) -> Outcome {
    let conn = agent.main()?;
    let path = std::env::temp_dir().join("linkspan-conform-outside.txt");
    if agent.sample.path.starts_with(std::env::temp_dir()) {
        return Err(skipped("no folder outside the workspace is known; pass --workspace"));
    }
    let message = agent.edit(&path.to_string_lossy(), "two");
    has_code(&agent.ask(conn, &message)?, "OUTSIDE_WORKSPACE")
}

fn mistake(agent: &mut ClioAgent, message: &str) -> Outcome {
    let conn = agent.main()?;
    ERROR.check(&agent.ask(conn, message)?)?;
    agent.is_served(conn)
}

fn bad_json(agent: &mut ClioAgent) -> Outcome {
    let conn = agent.main()?;
    agent.peer.send(conn, "{\"type\": ")?;
    // An error is good, and silence too.
    let _ = agent.peer.wait(conn, SILENCE, |_| true);
    agent.is_served(conn)
}

fn decided(agent: &mut ClioAgent, verdict: WantedDecision, word: &str, expected: &str) -> Outcome {
    agent.decider.is_there()?;
    let conn = agent.main()?;
    let (file, path) = (agent.sample.path.clone(), agent.sample.path_text());
    agent.peer.send(conn, &agent.edit(&path, "two"))?;
    agent.hears_nothing(conn)?;
    let time = agent.decider.decide(verdict, &file, agent.peer.timeout)?;
    let answer = agent.hear(conn, time)?;
    let holds = agent.sample.holds();
    agent.sample.restore();
    let member = |name: &str| answer.get(name).and_then(Value::as_str);
    if member("type") != Some(word) || member("file") != Some(path.as_str()) {
        return Err(failed(format!("`{word}` for the file"), excerpt(&answer)));
    }
    match holds == expected {
        true => Ok(()),
        false => Err(failed(format!("a file that holds {expected:?}"), format!("{holds:?}"))),
    }
}

fn accept(agent: &mut ClioAgent) -> Outcome {
    decided(agent, WantedDecision::Accept, "diffAccepted", AFTER)
}

fn reject(agent: &mut ClioAgent) -> Outcome {
    decided(agent, WantedDecision::Reject, "diffRejected", BEFORE)
}
