//! An agent that speaks MCP over a WebSocket, as Claude Code and NEXUS3 do: its connections and its requests.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::mcp_answer::{answers, result, texts};
use super::peer::{Arrived, SILENCE, ServerPeer, Upgrade};
use super::{Decider, Sample, Stand};
use crate::commands::scripts::conform::point::{Outcome, failed, skipped};
use crate::commands::scripts::conform::report::excerpt;

/// What differs between the dialects.
#[derive(Debug)]
pub(crate) struct WsDialect {
    pub(crate) token_header: &'static str,
    /// The MCP version that the agent asks for.
    pub(crate) version: &'static str,
    /// It offers the subprotocol `mcp`.
    pub(crate) subprotocol: bool,
    pub(crate) close_tab: &'static str,
    pub(crate) tab_argument: &'static str,
    /// The name that the agent gives to a tab.
    pub(crate) tab_name: fn(&str) -> String,
    /// Tools and the arguments that the agent sends.
    pub(crate) tools: &'static [(&'static str, &'static [&'static str])],
    /// The tools that have to be listed.
    pub(crate) listed: &'static [&'static str],
    /// The server writes an accepted change.
    pub(crate) server_writes: bool,
    /// What the agent sends after `initialize`, without an answer.
    pub(crate) notifications: &'static [&'static str],
}

pub(crate) struct WsAgent {
    pub(crate) peer: ServerPeer,
    pub(crate) dialect: &'static WsDialect,
    pub(crate) token: Option<String>,
    pub(crate) folders: Vec<std::path::PathBuf>,
    pub(crate) sample: Sample,
    pub(crate) decider: Decider,
    /// The connection of most points.
    main: Option<u64>,
    last_id: i64,
    pub(crate) hello: Option<Value>,
    pub(crate) tools: Vec<Value>,
}

impl WsAgent {
    pub(crate) fn new(stand: Stand, dialect: &'static WsDialect) -> WsAgent {
        let Stand { peer, token, folders, sample, decider } = stand;
        WsAgent {
            peer,
            dialect,
            token,
            folders,
            sample,
            decider,
            main: None,
            last_id: 0,
            hello: None,
            tools: Vec::new(),
        }
    }

    /// The headers of the agent, with this token.
    pub(crate) fn headers(&self, token: Option<&str>) -> Vec<(&'static str, String)> {
        let subprotocol = self.dialect.subprotocol.then(|| ("Sec-WebSocket-Protocol", "mcp".to_owned()));
        let token = token.map(|token| (self.dialect.token_header, token.to_owned()));
        subprotocol.into_iter().chain(token).collect()
    }

    pub(crate) fn upgrade(&mut self) -> Outcome<Upgrade> {
        let token = self.token.clone();
        self.peer.upgrade(&self.headers(token.as_deref()))
    }

    /// A new connection that is introduced.
    pub(crate) fn connect(&mut self) -> Outcome<u64> {
        let upgrade = self.upgrade()?;
        if !upgrade.is_admitted() {
            return Err(failed("status 101 for the right token", upgrade.head.line));
        }
        let version = self.dialect.version;
        let hello = self.initialize(upgrade.conn, version)?;
        result(&hello)?;
        for method in self.dialect.notifications {
            self.notify(upgrade.conn, method)?;
        }
        Ok(upgrade.conn)
    }

    /// The connection of most points; a new one if it was closed by an earlier point.
    pub(crate) fn main(&mut self) -> Outcome<u64> {
        if let Some(conn) = self.main {
            // An earlier point may have broken it; that point said so.
            if !self.peer.is_closed(conn) {
                return Ok(conn);
            }
        }
        match self.connect() {
            Ok(conn) => {
                self.main = Some(conn);
                Ok(conn)
            }
            Err(_) => Err(skipped("needs a connection, and none could be made")),
        }
    }

    pub(crate) fn notify(&mut self, conn: u64, method: &str) -> Outcome {
        let params = match method {
            "ide_connected" => json!({ "pid": std::process::id() }),
            _ => json!({}),
        };
        self.peer.send(conn, &json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string())
    }

    pub(crate) fn initialize(&mut self, conn: u64, version: &str) -> Outcome<Value> {
        let client = json!({ "name": "linkspan-conform", "version": env!("CARGO_PKG_VERSION") });
        let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": client });
        self.request(conn, "initialize", &params)
    }

    /// Sends a request; its answer is awaited elsewhere.
    pub(crate) fn start(&mut self, conn: u64, method: &str, params: &Value) -> Outcome<i64> {
        self.last_id += 1;
        let message = json!({ "jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params });
        self.peer.send(conn, &message.to_string())?;
        Ok(self.last_id)
    }

    pub(crate) fn start_call(&mut self, conn: u64, tool: &str, arguments: &Value) -> Outcome<i64> {
        self.start(conn, "tools/call", &json!({ "name": tool, "arguments": arguments }))
    }

    /// The whole answer, whether result or error.
    pub(crate) fn request(&mut self, conn: u64, method: &str, params: &Value) -> Outcome<Value> {
        let begun = Instant::now();
        let id = self.start(conn, method, params)?;
        let answer = self.answer(conn, id, self.peer.timeout)?;
        self.peer.took(begun, method);
        Ok(answer)
    }

    pub(crate) fn call(&mut self, conn: u64, tool: &str, arguments: &Value) -> Outcome<Value> {
        self.request(conn, "tools/call", &json!({ "name": tool, "arguments": arguments }))
    }

    pub(crate) fn answer(&mut self, conn: u64, id: i64, time: Duration) -> Outcome<Value> {
        match self.peer.wait(conn, time, |message| answers(message, id)) {
            Arrived::Message(answer) => Ok(answer),
            other => Err(failed("an answer", other.words())),
        }
    }

    /// No answer comes for a while: the user has not decided.
    pub(crate) fn waits(&mut self, conn: u64, id: i64) -> Outcome {
        match self.peer.wait(conn, SILENCE, |message| answers(message, id)) {
            Arrived::Nothing => Ok(()),
            other => Err(failed("no answer before the user decides", other.words())),
        }
    }

    /// The connection still answers.
    pub(crate) fn is_served(&mut self, conn: u64) -> Outcome {
        let answer = self.request(conn, "tools/list", &json!({}));
        let answer = answer.map_err(|why| match why {
            crate::commands::scripts::conform::point::NotPassed::Failed { came, .. } => {
                failed("further answers on this connection", came)
            }
            skipped => skipped,
        })?;
        result(&answer).map(|_| ())
    }

    /// Proposes a change in a tab of that name.
    pub(crate) fn propose(&mut self, conn: u64, path: &str, text: &str, tab: &str) -> Outcome<i64> {
        let arguments = json!({
            "old_file_path": path,
            "new_file_path": path,
            "new_file_contents": text,
            "tab_name": (self.dialect.tab_name)(tab),
        });
        self.start_call(conn, "openDiff", &arguments)
    }

    /// Closes the tab, and checks that the proposal was not answered as accepted.
    pub(crate) fn withdraw(&mut self, conn: u64, id: i64, tab: &str) -> Outcome {
        let (tool, argument) = (self.dialect.close_tab, self.dialect.tab_argument);
        let answer = self.call(conn, tool, &json!({ argument: (self.dialect.tab_name)(tab) }))?;
        self.not_accepted(conn, id)?;
        texts(&answer).map(|_| ())
    }

    /// After it was withdrawn, a proposal may be answered as rejected or with an error, but never as accepted.
    pub(crate) fn not_accepted(&mut self, conn: u64, id: i64) -> Outcome {
        match self.peer.wait(conn, SILENCE, |message| answers(message, id)) {
            Arrived::Message(answer) => is_not_accepted(&answer),
            Arrived::Nothing => Ok(()),
            closed @ Arrived::Closed(_) => Err(failed("an open connection", closed.words())),
        }
    }

    /// How the server names itself.
    pub(crate) fn server_name(&self) -> Option<String> {
        let info = self.hello.as_ref()?.get("serverInfo")?;
        let name = info.get("name")?.as_str()?;
        Some(match info.get("version").and_then(Value::as_str) {
            Some(version) => format!("{name} {version}"),
            None => name.to_owned(),
        })
    }

    pub(crate) fn lists(&self, tool: &str) -> bool {
        self.tools.iter().any(|listed| listed.get("name").and_then(Value::as_str) == Some(tool))
    }

    /// Skips a point about a tool that the server does not list.
    pub(crate) fn needs(&self, tool: &str) -> Outcome {
        if self.lists(tool) { Ok(()) } else { Err(skipped(format!("the server does not list `{tool}`"))) }
    }
}

fn is_not_accepted(answer: &Value) -> Outcome {
    let text = answer.pointer("/result/content").map(Value::to_string).unwrap_or_default();
    if ["FILE_SAVED", "TAB_CLOSED"].iter().any(|word| text.contains(word)) {
        return Err(failed("no acceptance of a change that nobody accepted", excerpt(answer)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_tab_must_not_look_like_an_acceptance() {
        let answer = |text| json!({ "result": { "content": [{ "type": "text", "text": text }] } });
        assert!(is_not_accepted(&answer("FILE_SAVED")).is_err());
        assert!(is_not_accepted(&answer("TAB_CLOSED")).is_err());
        assert!(is_not_accepted(&answer("DIFF_REJECTED")).is_ok());
        assert!(is_not_accepted(&json!({ "error": { "code": 1, "message": "TAB_CLOSED" } })).is_ok());
    }
}
