//! Playing a script against a server, step by step: nothing is said before what the agent had heard by then has come
//! again. Tokens, session ids and names of ports are those of now.

use std::collections::BTreeMap;
use std::time::Duration;

use linkspan_client::http::LoopbackUrl;
use serde_json::Value;

use super::TOKEN_VARIABLE;
use super::lines::{Came, Lines};
use super::meaning::differences;
use super::script::{Act, Step};
use crate::exit::{Exit, Failure};
use crate::record::http1::Head;
use crate::record::secrets::{REDACTED, is_secret_header};

/// Where a token may be, beside headers.
const ADDRESS: &str = "its address";

/// What became of one thing that the agent had heard.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) line: usize,
    pub(crate) what: String,
    /// None: it never came.
    pub(crate) differences: Option<Vec<String>>,
}

impl Exchange {
    pub(crate) fn is_same(&self) -> bool {
        self.differences.as_ref().is_some_and(Vec::is_empty)
    }
}

pub(crate) struct Player<'a> {
    pub(crate) to: &'a LoopbackUrl,
    /// The token for a header of that name.
    pub(crate) token: &'a dyn Fn(&str) -> Option<String>,
    pub(crate) patience: Duration,
    pub(crate) volatile: &'a [String],
    pub(crate) lines: Lines,
    /// Recorded texts, and what they are now.
    pub(crate) texts: Vec<(String, String)>,
    /// What the agent asked, by id.
    pub(crate) asked: BTreeMap<String, String>,
    /// Recorded ids of the editor's own requests, and their ids now.
    pub(crate) ids: BTreeMap<String, Value>,
}

impl Player<'_> {
    pub(crate) fn play(&mut self, steps: &[Step]) -> Result<Vec<Exchange>, Failure> {
        let mut exchanges = Vec::new();
        for step in steps {
            match &step.act {
                Act::Request { head, body } => self.request(step, head, body.as_deref())?,
                Act::Send(text) => {
                    let Some(text) = self.agents(text) else { continue };
                    self.lines.send(step.conn, &text).map_err(|error| failed(step, &error))?;
                }
                Act::Answered(head) => exchanges.push(self.answered(step, head)),
                Act::Heard(message) => exchanges.extend(self.heard(step, message)),
                Act::Close { is_websocket } => self.lines.close(step.conn, *is_websocket),
            }
        }
        Ok(exchanges)
    }

    fn request(&mut self, step: &Step, head: &Head, body: Option<&str>) -> Result<(), Failure> {
        let mut head = head.clone();
        if let Some(host) = head.header("host") {
            let host = (host.to_owned(), self.to.authority());
            self.is_now(host);
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
                now(&self.texts, value.trim())
            };
            *header = format!("{name}: {value}");
        }
        let body = body.map(|body| self.agents(body).unwrap_or_default());
        if let Some(body) = &body {
            head.headers.push(format!("content-length: {}", body.len()));
        }
        let mut bytes = head.to_bytes();
        bytes.extend(body.unwrap_or_default().into_bytes());
        self.lines.request(step.conn, &bytes).map_err(|error| failed(step, &error))
    }

    /// Once: what replaced a text may hold it again.
    fn is_now(&mut self, text: (String, String)) {
        if !self.texts.contains(&text) {
            self.texts.push(text);
        }
    }

    /// What the agent said, as it has to be said now; none for the answer to a question that was not asked this time.
    fn agents(&mut self, text: &str) -> Option<String> {
        let text = now(&self.texts, text);
        let Ok(mut message) = serde_json::from_str::<Value>(&text) else { return Some(text) };
        let id = message.get("id").map(Value::to_string);
        match (message.get("method").and_then(Value::as_str), id) {
            (Some(method), Some(id)) => {
                let tool = message.pointer("/params/name").and_then(Value::as_str);
                self.asked.insert(id, tool.unwrap_or(method).to_owned());
                Some(text)
            }
            (None, Some(id)) if message.get("tool").is_none() && message.get("type").is_none() => {
                message["id"] = self.ids.remove(&id)?;
                Some(message.to_string())
            }
            _ => Some(text),
        }
    }

    fn answered(&mut self, step: &Step, recorded: &Head) -> Exchange {
        let what = "the head of an answer".to_owned();
        let came = self.lines.wait(step.conn, self.patience, |came| matches!(came, Came::Head(_)));
        let Some(Came::Head(head)) = came else {
            return Exchange { line: step.line, what, differences: None };
        };
        let sessions = recorded.header("mcp-session-id").zip(head.header("mcp-session-id"));
        if let Some((before, after)) = sessions.filter(|(before, _)| !before.is_empty()) {
            self.is_now((before.to_owned(), after.to_owned()));
        }
        let (before, after) = (recorded.status(), head.status());
        let differences = match before == after {
            true => vec![],
            false => vec![format!("it was `{}` and is `{}`", recorded.line, head.line)],
        };
        Exchange { line: step.line, what, differences: Some(differences) }
    }

    /// None for what need not come again.
    fn heard(&mut self, step: &Step, recorded: &Value) -> Option<Exchange> {
        let word = |message: &Value, key: &str| message.get(key).and_then(Value::as_str).map(str::to_owned);
        let (method, kind) = (word(recorded, "method"), word(recorded, "type"));
        if method.as_deref() == Some("ping") {
            return None;
        }
        let id = recorded.get("id").cloned();
        let is_it = |came: &Came| match came {
            Came::Head(_) | Came::Pong => false,
            Came::Message(message) => match (&method, &id) {
                (Some(_), _) => word(message, "method") == method,
                (None, Some(id)) => message.get("id") == Some(id) && message.get("method").is_none(),
                (None, None) => word(message, "type") == kind && message.get("method").is_none(),
            },
        };
        let what = match (&method, &id, &kind) {
            (Some(method), ..) => format!("`{method}`"),
            (None, Some(id), _) => match self.asked.get(&id.to_string()) {
                Some(asked) => format!("the answer to `{asked}`"),
                None => "an answer".to_owned(),
            },
            (None, None, Some(kind)) => format!("`{kind}`"),
            (None, None, None) => "a message".to_owned(),
        };
        let came = self.lines.wait(step.conn, self.patience, is_it);
        let Some(Came::Message(message)) = came else {
            return Some(Exchange { line: step.line, what, differences: None });
        };
        if let (Some(_), Some(id), Some(now)) = (&method, &id, message.get("id")) {
            self.ids.insert(id.to_string(), now.clone());
        }
        let recorded: Value =
            serde_json::from_str(&now(&self.texts, &recorded.to_string())).unwrap_or_default();
        let differences = differences(&recorded, &message, self.volatile);
        Some(Exchange { line: step.line, what, differences: Some(differences) })
    }
}

/// A text with what it names replaced by what that is now.
fn now(texts: &[(String, String)], text: &str) -> String {
    texts.iter().fold(text.to_owned(), |text, (before, after)| text.replace(before, after))
}

fn no_token(header: &str) -> Failure {
    Failure::usage(format!(
        "the agent sent a token in `{}`, and none is known for this server: give it in {TOKEN_VARIABLE}, or with \
         --token, where other users of this machine may see it",
        header.trim()
    ))
}

fn failed(step: &Step, error: &std::io::Error) -> Failure {
    let why = match error.kind() {
        std::io::ErrorKind::ConnectionRefused => "nothing listens there".to_owned(),
        std::io::ErrorKind::NotConnected => "the connection was closed".to_owned(),
        _ => error.to_string(),
    };
    Failure::new(Exit::NoWindow, format!("what line {} says cannot be said: {why}", step.line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_replaced_once_whatever_it_becomes() {
        let to: LoopbackUrl = "http://127.0.0.1:54321".parse().unwrap();
        let mut player = Player {
            to: &to,
            token: &|_| None,
            patience: Duration::ZERO,
            volatile: &[],
            lines: Lines::new(([127, 0, 0, 1], 9).into()),
            texts: Vec::new(),
            asked: BTreeMap::new(),
            ids: BTreeMap::new(),
        };
        for _ in 0..3 {
            player.is_now(("127.0.0.1:5432".into(), to.authority()));
        }
        assert_eq!(player.agents("http://127.0.0.1:5432/a").unwrap(), "http://127.0.0.1:54321/a");
    }
}
