//! A hostile editor behind each gateway: whatever it says, each question of ours is answered at most once, and a yes
//! comes only from what says yes.
//!
//! The first character picks the wire. Then one thing per line: `>` and what our session asks (a method, a space and
//! JSON), `c` and the question that it takes back, `<` and what the editor says by itself, `p` an answer to the oldest
//! probe, `l` its stream is open, `=` and the answer to the oldest exchange: a status, `j` or `e` for its kind, and a body.

use std::collections::{BTreeSet, VecDeque};

use linkspan_client::fuzzing::{Gateway, Move};
use linkspan_editor_api::{Message, RequestId};
use serde_json::Value;

#[derive(Default)]
struct GatewayModel {
    last_id: i64,
    asked: BTreeSet<i64>,
    exchanges: VecDeque<u64>,
    probes: VecDeque<i64>,
    /// The editor has said yes. Clio's is passed on once it has answered a probe: only then it is known whether it
    /// writes by itself.
    said_yes: bool,
}

pub(crate) fn run(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let (wire, text) = match text.split_at_checked(1) {
        Some(("c", text)) => ("clio", text),
        Some(("g", text)) => ("gemini", text),
        Some(("p", text)) => ("ppxai", text),
        _ => return,
    };
    let mut gateway = Gateway::new(wire);
    let mut world = GatewayModel::default();
    for line in text.lines() {
        let (what, rest) = line.split_at_checked(1).unwrap_or_default();
        let (moves, may_accept) = match what {
            ">" => (world.ask(rest).map(|message| gateway.ours(message)).unwrap_or_default(), false),
            "c" => (take_back(rest).map(|message| gateway.ours(message)).unwrap_or_default(), false),
            "<" => {
                world.said_yes |= says_yes(rest);
                (gateway.theirs(rest), says_yes(rest))
            }
            "p" => {
                let moves = world.probes.pop_front().map(|id| gateway.pong(id)).unwrap_or_default();
                (moves, world.said_yes)
            }
            "l" => (gateway.listening(), false),
            "=" => {
                let Some(tag) = world.exchanges.pop_front() else { continue };
                (gateway.back(tag, exchanged(rest)), says_yes(rest))
            }
            _ => continue,
        };
        world.look_at(moves, may_accept);
    }
}

impl GatewayModel {
    fn ask(&mut self, said: &str) -> Option<Message> {
        let (method, params) = said.split_once(' ').unwrap_or((said, "{}"));
        let id = self.last_id + 1;
        let request =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{},"params":{params}}}"#, Value::from(method));
        let message = Message::parse(request.as_bytes()).ok()?;
        // What stands in `params` may close the message and say more.
        let Message::Request { id: RequestId::Number(number), .. } = &message else { return None };
        if *number != id {
            return None;
        }
        self.last_id = id;
        self.asked.insert(id);
        Some(message)
    }

    fn look_at(&mut self, moves: Vec<Move>, may_accept: bool) {
        for step in moves {
            match step {
                Move::ToSession(Message::Response { id: Some(RequestId::Number(id)), result }) => {
                    assert!(self.asked.remove(&id), "answered twice, or never asked");
                    let yes = result.is_ok_and(|result| is_yes(result.get()));
                    assert!(!yes || may_accept, "a yes that nobody said");
                }
                Move::ToSession(Message::Response { .. }) => panic!("an answer to nothing we asked"),
                Move::Send(tag) => self.exchanges.push_back(tag),
                Move::Probe(id) => self.probes.push_back(id),
                Move::ToSession(_) | Move::Listen | Move::Other => {}
            }
        }
    }
}

fn is_yes(result: &str) -> bool {
    let result: Value = serde_json::from_str(result).expect("what we are told is JSON");
    result["content"][0]["text"] == "FILE_SAVED" && result["isError"] != true
}

fn take_back(id: &str) -> Option<Message> {
    let id: i64 = id.parse().ok()?;
    let cancelled = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":ID}}"#;
    Message::parse(cancelled.replace("ID", &id.to_string()).as_bytes()).ok()
}

fn exchanged(said: &str) -> Option<(u16, &str, Vec<u8>)> {
    let (status, said) = said.split_once(' ')?;
    let (kind, body) = said.split_once(' ').unwrap_or((said, ""));
    let kind = if kind == "e" { "text/event-stream" } else { "application/json" };
    // A stream has several lines.
    Some((status.parse().ok()?, kind, body.replace('\u{1}', "\n").into_bytes()))
}

/// Whether this may be a yes: it has the word for it, or an escape that can hide one.
fn says_yes(said: &str) -> bool {
    ["Accepted", "FILE_SAVED", "true", "\\u"].iter().any(|word| said.contains(word))
}
