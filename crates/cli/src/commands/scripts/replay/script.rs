//! A transcript as a script: the agent's actions in order, and what it had received before each. Pure.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::commands::scripts::record::http1::Head;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    /// The line of the transcript, counted from 1.
    pub(crate) line: usize,
    pub(crate) conn: u64,
    pub(crate) action: StepAction,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StepAction {
    /// A request, or the handshake of a WebSocket.
    Request { head: Head, body: Option<String> },
    /// A message on a WebSocket.
    Send(String),
    /// The head of an answer.
    Answered(Head),
    /// A message of the editor.
    Received(Value),
    /// The agent closes the connection.
    Close { is_websocket: bool },
}

/// Leaves out lines that are not replayed; a line that cannot be replayed is an error.
pub(crate) fn read(text: &str) -> Result<Vec<Step>, String> {
    let mut steps: Vec<Step> = Vec::new();
    // The request of each connection whose body may follow.
    let mut open: BTreeMap<u64, usize> = BTreeMap::new();
    for (index, text) in text.lines().enumerate().filter(|(_, text)| !text.trim().is_empty()) {
        let line = index + 1;
        let entry: Value = serde_json::from_str(text).map_err(|error| format!("line {line}: {error}"))?;
        let Some(conn) = entry.get("conn").and_then(Value::as_u64) else {
            return Err(format!("line {line} has no connection; is this a transcript of `linkspan record`?"));
        };
        let from_agent = entry.get("dir").is_some_and(|dir| dir == "cli->ide");
        let message = entry.get("msg").or_else(|| entry.get("text"));
        let action = if entry.get("large").is_some() && from_agent {
            return Err(format!(
                "line {line} has only the length of the agent's message, which cannot be replayed"
            ));
        } else if let Some(head) = head(&entry) {
            match from_agent {
                true => StepAction::Request { head, body: None },
                false => StepAction::Answered(head),
            }
        } else if let Some(message) = message {
            match from_agent {
                true => StepAction::Send(text_of(message)),
                false => StepAction::Received(message.clone()),
            }
        } else if entry.get("ev").is_some_and(|ev| ev == "closed") || (from_agent && is_end(&entry)) {
            StepAction::Close { is_websocket: false }
        } else {
            continue;
        };
        match action {
            StepAction::Send(text) => {
                let request = open.get(&conn).and_then(|at| steps.get_mut(*at));
                match request.map(|step| &mut step.action) {
                    Some(StepAction::Request { head, body }) if !head.is_upgrade() => *body = Some(text),
                    Some(_) => steps.push(Step { line, conn, action: StepAction::Send(text) }),
                    None => return Err(format!("line {line} is on a connection that is not open")),
                }
            }
            // Ignores connections without requests, and a second end of a connection.
            StepAction::Close { .. } => {
                if let Some(Step { action: StepAction::Request { head, .. }, .. }) =
                    open.remove(&conn).and_then(|at| steps.get(at))
                {
                    let is_websocket = head.is_upgrade();
                    steps.push(Step { line, conn, action: StepAction::Close { is_websocket } });
                }
            }
            action => {
                if matches!(action, StepAction::Request { .. }) {
                    open.insert(conn, steps.len());
                }
                steps.push(Step { line, conn, action });
            }
        }
    }
    if steps.is_empty() { Err("it contains no message of an agent".to_owned()) } else { Ok(steps) }
}

fn is_end(entry: &Value) -> bool {
    entry.get("ev").is_some_and(|ev| ev == "eof" || ev == "close-frame")
}

fn head(entry: &Value) -> Option<Head> {
    let line = entry.get("http")?.as_str()?.to_owned();
    let headers = entry.get("headers")?.as_array()?;
    Some(Head { line, headers: headers.iter().filter_map(Value::as_str).map(str::to_owned).collect() })
}

fn text_of(message: &Value) -> String {
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
        for (name, least) in [("claude-2.1.325-accept.jsonl", 5), ("gemini-0.61.0-accept.jsonl", 5)] {
            let steps = read(&std::fs::read_to_string(folder.join(name)).unwrap()).unwrap();
            let by_agent = steps
                .iter()
                .filter(|step| matches!(step.action, StepAction::Send(_) | StepAction::Request { .. }))
                .count();
            assert!(by_agent >= least, "{name}: {by_agent}");
            assert!(steps.iter().any(|step| matches!(step.action, StepAction::Received(_))), "{name}");
        }
    }

    #[test]
    fn a_line_that_cannot_be_replayed_is_refused() {
        let large = r#"{"conn":1,"dir":"cli->ide","large":{"bytes":9,"blake3":"x"}}"#;
        assert!(read(large).unwrap_err().contains("only the length"));
        assert!(read("{}").unwrap_err().contains("linkspan record"));
        assert!(read("{").unwrap_err().contains("line 1"));
        assert!(read(r#"{"conn":1,"ev":"open"}"#).unwrap_err().contains("no message"));
    }
}
