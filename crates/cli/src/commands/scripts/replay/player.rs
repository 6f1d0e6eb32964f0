//! Plays a script against a server, step by step: each step waits for what the agent had received by then. Tokens, session
//! ids and ports are replaced by the current ones.

use std::collections::BTreeMap;
use std::time::Duration;

use linkspan_client::http::LoopbackUrl;
use linkspan_editor_api::wire_names::header;
use serde_json::Value;

use super::TOKEN_VARIABLE;
use super::comparison::differences;
use super::connections::{Arrival, Connections};
use super::script::{Step, StepAction};
use crate::cli::exit::{Exit, Failure};
use crate::commands::scripts::record::http1::Head;
use crate::commands::scripts::record::secrets::{REDACTED, is_secret_header};

/// Where a token may be, besides headers.
const ADDRESS: &str = "its address";

/// The comparison of one message that the agent had received.
#[derive(Debug)]
pub(crate) struct AnswerComparison {
    pub(crate) line: usize,
    pub(crate) what: String,
    /// `None` if no answer arrived.
    pub(crate) differences: Option<Vec<String>>,
}

impl AnswerComparison {
    pub(crate) fn is_same(&self) -> bool {
        self.differences.as_ref().is_some_and(Vec::is_empty)
    }
}

pub(crate) struct Player<'a> {
    pub(crate) to: &'a LoopbackUrl,
    /// The token for a header of that name.
    pub(crate) token: &'a dyn Fn(&str) -> Option<String>,
    pub(crate) timeout: Duration,
    pub(crate) volatile: &'a [String],
    pub(crate) connections: Connections,
    /// Recorded texts, and their current values.
    pub(crate) texts: Vec<(String, String)>,
    /// The agent's requests, by id.
    pub(crate) requests: BTreeMap<String, String>,
    /// Recorded ids of the editor's own requests, and their current ids.
    pub(crate) ids: BTreeMap<String, Value>,
}

impl Player<'_> {
    pub(crate) fn play(&mut self, steps: &[Step]) -> Result<Vec<AnswerComparison>, Failure> {
        let mut exchanges = Vec::new();
        for step in steps {
            match &step.action {
                StepAction::Request { head, body } => self.request(step, head, body.as_deref())?,
                StepAction::Send(text) => {
                    let Some(text) = self.current_message(text) else { continue };
                    self.connections.send(step.conn, &text).map_err(|error| failed(step, &error))?;
                }
                StepAction::Answered(head) => exchanges.push(self.answered(step, head)),
                StepAction::Received(message) => exchanges.extend(self.received(step, message)),
                StepAction::Close { is_websocket } => self.connections.close(step.conn, *is_websocket),
            }
        }
        Ok(exchanges)
    }

    fn request(&mut self, step: &Step, head: &Head, body: Option<&str>) -> Result<(), Failure> {
        let mut head = head.clone();
        if let Some(host) = head.header("host") {
            let host = (host.to_owned(), self.to.authority());
            self.replace_with(host);
        }
        if head.line.contains(REDACTED) {
            let token = (self.token)(ADDRESS).ok_or_else(|| no_token(ADDRESS))?;
            head.line = head.line.replace(REDACTED, &token);
        }
        head.retain(|name| {
            let dropped =
                ["accept-encoding", "sec-websocket-extensions", "content-length", "transfer-encoding"];
            !dropped.iter().any(|known| known.eq_ignore_ascii_case(name))
        });
        for header in &mut head.headers {
            let Some((name, value)) = header.split_once(':') else { continue };
            let value = if is_secret_header(name) {
                let token = (self.token)(name.trim()).ok_or_else(|| no_token(name))?;
                match value.trim().split_once(' ') {
                    Some((scheme, _)) => format!("{scheme} {token}"),
                    None => token,
                }
            } else {
                with_current(&self.texts, value.trim())
            };
            *header = format!("{name}: {value}");
        }
        let body = body.map(|body| self.current_message(body).unwrap_or_default());
        if let Some(body) = &body {
            head.headers.push(format!("content-length: {}", body.len()));
        }
        let mut bytes = head.to_bytes();
        bytes.extend(body.unwrap_or_default().into_bytes());
        self.connections.request(step.conn, &bytes).map_err(|error| failed(step, &error))
    }

    /// Only once: the replacement may contain the text again.
    fn replace_with(&mut self, text: (String, String)) {
        if !self.texts.contains(&text) {
            self.texts.push(text);
        }
    }

    /// The agent's message with current values; `None` for an answer to a request that the editor did not send this time.
    fn current_message(&mut self, text: &str) -> Option<String> {
        let text = with_current(&self.texts, text);
        let Ok(mut message) = serde_json::from_str::<Value>(&text) else { return Some(text) };
        let id = message.get("id").map(Value::to_string);
        match (message.get("method").and_then(Value::as_str), id) {
            (Some(method), Some(id)) => {
                let tool = message.pointer("/params/name").and_then(Value::as_str);
                self.requests.insert(id, tool.unwrap_or(method).to_owned());
                Some(text)
            }
            (None, Some(id)) if message.get("tool").is_none() && message.get("type").is_none() => {
                message["id"] = self.ids.remove(&id)?;
                Some(message.to_string())
            }
            _ => Some(text),
        }
    }

    fn answered(&mut self, step: &Step, recorded: &Head) -> AnswerComparison {
        let what = "the head of an answer".to_owned();
        let arrival =
            self.connections.wait(step.conn, self.timeout, |arrival| matches!(arrival, Arrival::Head(_)));
        let Some(Arrival::Head(head)) = arrival else {
            return AnswerComparison { line: step.line, what, differences: None };
        };
        let sessions = recorded.header(header::MCP_SESSION_ID).zip(head.header(header::MCP_SESSION_ID));
        if let Some((before, after)) = sessions.filter(|(before, _)| !before.is_empty()) {
            self.replace_with((before.to_owned(), after.to_owned()));
        }
        let (before, after) = (recorded.status(), head.status());
        let differences = match before == after {
            true => vec![],
            false => vec![format!("it was `{}` and is `{}`", recorded.line, head.line)],
        };
        AnswerComparison { line: step.line, what, differences: Some(differences) }
    }

    /// `None` for messages that need not arrive again.
    fn received(&mut self, step: &Step, recorded: &Value) -> Option<AnswerComparison> {
        let member = |message: &Value, key: &str| message.get(key).and_then(Value::as_str).map(str::to_owned);
        let (method, kind) = (member(recorded, "method"), member(recorded, "type"));
        if method.as_deref() == Some("ping") {
            return None;
        }
        let id = recorded.get("id").cloned();
        let matches = |arrival: &Arrival| match arrival {
            Arrival::Head(_) | Arrival::Pong | Arrival::End(_) => false,
            Arrival::Message(message) => match (&method, &id) {
                (Some(_), _) => member(message, "method") == method,
                (None, Some(id)) => message.get("id") == Some(id) && message.get("method").is_none(),
                (None, None) => member(message, "type") == kind && message.get("method").is_none(),
            },
        };
        let what = match (&method, &id, &kind) {
            (Some(method), ..) => format!("`{method}`"),
            (None, Some(id), _) => match self.requests.get(&id.to_string()) {
                Some(request) => format!("the answer to `{request}`"),
                None => "an answer".to_owned(),
            },
            (None, None, Some(kind)) => format!("`{kind}`"),
            (None, None, None) => "a message".to_owned(),
        };
        let arrival = self.connections.wait(step.conn, self.timeout, matches);
        let Some(Arrival::Message(message)) = arrival else {
            return Some(AnswerComparison { line: step.line, what, differences: None });
        };
        if let (Some(_), Some(id), Some(now)) = (&method, &id, message.get("id")) {
            self.ids.insert(id.to_string(), now.clone());
        }
        let recorded: Value =
            serde_json::from_str(&with_current(&self.texts, &recorded.to_string())).unwrap_or_default();
        let differences = differences(&recorded, &message, self.volatile);
        Some(AnswerComparison { line: step.line, what, differences: Some(differences) })
    }
}

/// The text with recorded values replaced by current ones.
fn with_current(texts: &[(String, String)], text: &str) -> String {
    texts.iter().fold(text.to_owned(), |text, (before, after)| text.replace(before, after))
}

fn no_token(header: &str) -> Failure {
    Failure::usage(format!(
        "the agent sent a token in `{}`, and none is known for this server; set {TOKEN_VARIABLE}, or pass --token, \
         which other users of this machine may see",
        header.trim()
    ))
}

fn failed(step: &Step, error: &std::io::Error) -> Failure {
    let why = match error.kind() {
        std::io::ErrorKind::ConnectionRefused => "nothing listens there".to_owned(),
        std::io::ErrorKind::NotConnected => "the connection was closed".to_owned(),
        _ => error.to_string(),
    };
    Failure::new(Exit::NoWindow, format!("cannot send line {}: {why}", step.line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_replaced_only_once() {
        let to: LoopbackUrl = "http://127.0.0.1:54321".parse().unwrap();
        let mut player = Player {
            to: &to,
            token: &|_| None,
            timeout: Duration::ZERO,
            volatile: &[],
            connections: Connections::new(([127, 0, 0, 1], 9).into()),
            texts: Vec::new(),
            requests: BTreeMap::new(),
            ids: BTreeMap::new(),
        };
        for _ in 0..3 {
            player.replace_with(("127.0.0.1:5432".into(), to.authority()));
        }
        assert_eq!(player.current_message("http://127.0.0.1:5432/a").unwrap(), "http://127.0.0.1:54321/a");
    }
}
