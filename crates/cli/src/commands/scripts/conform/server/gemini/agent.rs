//! An agent that speaks MCP over HTTP: its session, its requests, and the stream on which decisions arrive.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::commands::scripts::conform::point::{Outcome, failed, skipped};
use crate::commands::scripts::conform::server::peer::{Arrived, HttpAnswer, ServerPeer};
use crate::commands::scripts::conform::server::{Decider, Sample, Stand};

pub(super) struct GeminiAgent {
    pub(super) peer: ServerPeer,
    pub(super) token: Option<String>,
    pub(super) sample: Sample,
    pub(super) decider: Decider,
    session: Option<String>,
    stream: Option<u64>,
    last_id: i64,
    pub(super) name: Option<String>,
}

pub(super) fn hello(version: &str) -> Value {
    let client = json!({ "name": "linkspan-conform", "version": env!("CARGO_PKG_VERSION") });
    let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": client });
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params })
}

impl GeminiAgent {
    pub(super) fn new(stand: Stand) -> GeminiAgent {
        let Stand { peer, token, sample, decider, .. } = stand;
        GeminiAgent { peer, token, sample, decider, session: None, stream: None, last_id: 0, name: None }
    }

    pub(super) fn headers(&self, token: Option<&str>, session: Option<&str>) -> Vec<(&'static str, String)> {
        let mut headers = vec![
            ("Content-Type", "application/json".to_owned()),
            ("Accept", "application/json, text/event-stream".to_owned()),
        ];
        headers.extend(token.map(|token| ("Authorization", format!("Bearer {token}"))));
        headers.extend(session.map(|session| ("Mcp-Session-Id", session.to_owned())));
        headers
    }

    /// Any request to the server, with these headers too.
    pub(super) fn post_as(
        &mut self,
        token: Option<&str>,
        session: Option<&str>,
        more: &[(&'static str, String)],
        body: &str,
    ) -> Outcome<HttpAnswer> {
        let mut headers = self.headers(token, session);
        headers.extend_from_slice(more);
        self.peer.exchange("POST /mcp", &headers, Some(body))
    }

    /// The session; a new one at first.
    pub(super) fn session(&mut self) -> Outcome<String> {
        if let Some(session) = &self.session {
            return Ok(session.clone());
        }
        let session = self.new_session().map_err(|_| skipped("needs a session, and none could be made"))?;
        self.session = Some(session.clone());
        Ok(session)
    }

    pub(super) fn new_session(&mut self) -> Outcome<String> {
        let token = self.token.clone();
        let answer = self.post_as(token.as_deref(), None, &[], &hello("2025-06-18").to_string())?;
        let session = answer.head.header("mcp-session-id").map(str::to_owned);
        let session = session.ok_or_else(|| failed("the header Mcp-Session-Id", answer.words()))?;
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string();
        self.post_as(token.as_deref(), Some(&session), &[], &ready)?;
        Ok(session)
    }

    /// Sends a message in the session.
    pub(super) fn post(&mut self, message: &Value) -> Outcome<HttpAnswer> {
        let (token, session) = (self.token.clone(), self.session()?);
        self.post_as(token.as_deref(), Some(&session), &[], &message.to_string())
    }

    /// The whole answer, whether result or error.
    pub(super) fn request(&mut self, method: &str, params: &Value) -> Outcome<Value> {
        self.last_id += 1;
        let id = self.last_id;
        let answer = self.post(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        match answer.body.get("id").and_then(Value::as_i64) {
            Some(of) if of == id => Ok(answer.body),
            _ => Err(failed(format!("the answer to request {id}"), answer.words())),
        }
    }

    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> Outcome<Value> {
        self.request("tools/call", &json!({ "name": tool, "arguments": arguments }))
    }

    /// The stream of the session; it is opened at first.
    pub(super) fn stream(&mut self) -> Outcome<u64> {
        if let Some(stream) = self.stream
            && !self.peer.is_closed(stream)
        {
            return Ok(stream);
        }
        let session = self.session()?;
        let stream = self.open_stream(&session)?;
        self.stream = Some(stream);
        Ok(stream)
    }

    pub(super) fn open_stream(&mut self, session: &str) -> Outcome<u64> {
        let mut headers = self.headers(self.token.as_deref(), Some(session));
        headers.retain(|(name, _)| !matches!(*name, "Content-Type" | "Accept"));
        headers.push(("Accept", "text/event-stream".to_owned()));
        let conn = self.peer.open("GET /mcp", &headers, None)?;
        let head = self.peer.answer_head(conn)?;
        if head.status() != Some(200) || !head.is_event_stream() {
            return Err(failed("status 200 with a stream of events", head.line));
        }
        Ok(conn)
    }

    /// The next notification with that method about that file; pings of the server are answered meanwhile.
    pub(super) fn notification(
        &mut self,
        method: &str,
        path: Option<&str>,
        time: Duration,
    ) -> Outcome<Value> {
        let stream = self.stream()?;
        match self.notified(stream, &[method], path, time)? {
            Some(message) => Ok(message),
            None => Err(failed(format!("`{method}` on the stream"), "nothing")),
        }
    }

    /// The same for one of several methods, or nothing.
    pub(super) fn notified(
        &mut self,
        stream: u64,
        methods: &[&str],
        path: Option<&str>,
        time: Duration,
    ) -> Outcome<Option<Value>> {
        let until = Instant::now() + time;
        let method_of = |message: &Value| message.get("method").and_then(Value::as_str).map(str::to_owned);
        loop {
            let fits = |message: &Value| match method_of(message).as_deref() {
                Some("ping") => true,
                Some(method) => {
                    let of = message.pointer("/params/filePath").and_then(Value::as_str);
                    methods.contains(&method) && (path.is_none() || of == path)
                }
                None => false,
            };
            match self.peer.wait(stream, until.saturating_duration_since(Instant::now()), fits) {
                Arrived::Message(ping) if method_of(&ping).as_deref() == Some("ping") => {
                    let id = ping.get("id").cloned().unwrap_or_default();
                    self.post(&json!({ "jsonrpc": "2.0", "id": id, "result": {} }))?;
                }
                Arrived::Message(message) => return Ok(Some(message)),
                Arrived::Nothing => return Ok(None),
                closed @ Arrived::Closed(_) => return Err(failed("an open stream", closed.words())),
            }
        }
    }
}
