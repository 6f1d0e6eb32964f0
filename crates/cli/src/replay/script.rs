//! A transcript as a script: what the agent did, in order, and what it had heard before it went on. Pure.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::record::http1::Head;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    /// The line of the transcript, counted from 1.
    pub(crate) line: usize,
    pub(crate) conn: u64,
    pub(crate) act: Act,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Act {
    /// A request, or the first word of a WebSocket.
    Request { head: Head, body: Option<String> },
    /// A message on a WebSocket.
    Send(String),
    /// The head of an answer.
    Answered(Head),
    /// A message of the editor.
    Heard(Value),
    /// The agent is gone.
    Close { is_websocket: bool },
}

/// What is not to be played is left out; what cannot be is an error.
pub(crate) fn read(text: &str) -> Result<Vec<Step>, String> {
    let mut steps: Vec<Step> = Vec::new();
    // The request of each connection whose body may follow.
    let mut open: BTreeMap<u64, usize> = BTreeMap::new();
    for (index, text) in text.lines().enumerate().filter(|(_, text)| !text.trim().is_empty()) {
        let line = index + 1;
        let entry: Value = serde_json::from_str(text).map_err(|error| format!("line {line}: {error}"))?;
        let Some(conn) = entry.get("conn").and_then(Value::as_u64) else {
            return Err(format!(
                "line {line} is of no connection: is this a transcript of `linkspan record`?"
            ));
        };
        let from_agent = entry.get("dir").is_some_and(|dir| dir == "cli->ide");
        let message = entry.get("msg").or_else(|| entry.get("text"));
        let act = if entry.get("large").is_some() && from_agent {
            return Err(format!(
                "line {line} has only the length of what the agent said: it cannot be said again"
            ));
        } else if let Some(head) = head(&entry) {
            match from_agent {
                true => Act::Request { head, body: None },
                false => Act::Answered(head),
            }
        } else if let Some(message) = message {
            match from_agent {
                true => Act::Send(said(message)),
                false => Act::Heard(message.clone()),
            }
        } else if entry.get("ev").is_some_and(|ev| ev == "closed") || (from_agent && is_end(&entry)) {
            Act::Close { is_websocket: false }
        } else {
            continue;
        };
        match act {
            Act::Send(text) => {
                let request = open.get(&conn).and_then(|at| steps.get_mut(*at));
                match request.map(|step| &mut step.act) {
                    Some(Act::Request { head, body }) if !head.is_upgrade() => *body = Some(text),
                    Some(_) => steps.push(Step { line, conn, act: Act::Send(text) }),
                    None => return Err(format!("line {line} is said on a connection that is not open")),
                }
            }
            // Connections on which nothing was said, and second ends.
            Act::Close { .. } => {
                if let Some(Step { act: Act::Request { head, .. }, .. }) =
                    open.remove(&conn).and_then(|at| steps.get(at))
                {
                    let is_websocket = head.is_upgrade();
                    steps.push(Step { line, conn, act: Act::Close { is_websocket } });
                }
            }
            act => {
                if matches!(act, Act::Request { .. }) {
                    open.insert(conn, steps.len());
                }
                steps.push(Step { line, conn, act });
            }
        }
    }
    if steps.is_empty() { Err("it holds nothing that an agent said".to_owned()) } else { Ok(steps) }
}

fn is_end(entry: &Value) -> bool {
    entry.get("ev").is_some_and(|ev| ev == "eof" || ev == "close-frame")
}

fn head(entry: &Value) -> Option<Head> {
    let line = entry.get("http")?.as_str()?.to_owned();
    let headers = entry.get("headers")?.as_array()?;
    Some(Head { line, headers: headers.iter().filter_map(Value::as_str).map(str::to_owned).collect() })
}

fn said(message: &Value) -> String {
    match message {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captured_conversations_are_scripts() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/wire");
        for (name, said) in [("claude-2.1.325-accept.jsonl", 5), ("gemini-0.61.0-accept.jsonl", 5)] {
            let steps = read(&std::fs::read_to_string(folder.join(name)).unwrap()).unwrap();
            let by_agent =
                steps.iter().filter(|step| matches!(step.act, Act::Send(_) | Act::Request { .. })).count();
            assert!(by_agent >= said, "{name}: {by_agent}");
            assert!(steps.iter().any(|step| matches!(step.act, Act::Heard(_))), "{name}");
        }
    }

    #[test]
    fn what_cannot_be_said_again_is_refused() {
        let large = r#"{"conn":1,"dir":"cli->ide","large":{"bytes":9,"blake3":"x"}}"#;
        assert!(read(large).unwrap_err().contains("only the length"));
        assert!(read("{}").unwrap_err().contains("linkspan record"));
        assert!(read("{").unwrap_err().contains("line 1"));
        assert!(read(r#"{"conn":1,"ev":"open"}"#).unwrap_err().contains("nothing"));
    }
}
