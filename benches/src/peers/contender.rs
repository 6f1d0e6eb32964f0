//! The servers that are compared: how each is started, and how a client gets to the call that all of them answer.

use std::net::TcpStream;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::foreign::Foreign;
use super::streamable::Streamable;
use crate::agent::{Agent, BenchDialect, tool, tool_call};
use crate::bench_hub::{AgentEndpoint, BenchHub};
use crate::editor::Editor;
use crate::frame::{TEXT, masked};
use crate::measure::http::execute;
use crate::role::Role;
use crate::timed_call::TimedConnection;

pub(super) const FOLDERS: &str = "getWorkspaceFolders";
pub(super) const ECHO: &str = "echo";

/// The small call, as MCP has it.
pub(crate) fn small_call() -> Value {
    tool_call(FOLDERS, json!({}))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Contender {
    RawTcp,
    WebSocketEcho,
    HubSocket,
    HubExecute,
    HubMcp,
    Rmcp,
    NodeWs,
    NodeSdk,
    Python,
}

impl Contender {
    pub(super) const ALL: [Contender; 9] = [
        Contender::RawTcp,
        Contender::WebSocketEcho,
        Contender::HubSocket,
        Contender::HubExecute,
        Contender::HubMcp,
        Contender::Rmcp,
        Contender::NodeWs,
        Contender::NodeSdk,
        Contender::Python,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Contender::RawTcp => "raw TCP",
            Contender::WebSocketEcho => "tokio-websockets echo",
            Contender::HubSocket => "Linkspan, WebSocket",
            Contender::HubExecute => "Linkspan, POST /ide/execute",
            Contender::HubMcp => "Linkspan, POST /mcp",
            Contender::Rmcp => "rmcp, WebSocket",
            Contender::NodeWs => "Node ws, by hand",
            Contender::NodeSdk => "Node MCP SDK, express",
            Contender::Python => "Python websockets, by hand",
        }
    }

    pub(super) fn is_ours(self) -> bool {
        matches!(self, Contender::HubSocket | Contender::HubExecute | Contender::HubMcp)
    }

    pub(super) fn start(self, setting: &Setting) -> Result<RunningServer> {
        let Setting { hub, text, request, answer } = setting;
        let role = match self {
            Contender::RawTcp => Role::raw(hub, request.len(), answer)?,
            Contender::WebSocketEcho => Role::websocket_echo(hub)?,
            Contender::Rmcp => Role::rmcp(hub, text)?,
            Contender::NodeWs => Foreign::NodeWs.start(hub, text)?,
            Contender::NodeSdk => Foreign::NodeSdk.start(hub, text)?,
            Contender::Python => Foreign::Python.start(hub, text)?,
            Contender::HubSocket | Contender::HubExecute | Contender::HubMcp => return self.start_hub(),
        };
        Ok(RunningServer { contender: self, server: Server::Role(role) })
    }

    fn start_hub(self) -> Result<RunningServer> {
        let hub = BenchHub::start()?;
        let editor = Editor::on_socket(&hub.socket()?, &hub.workspace())?;
        Ok(RunningServer { contender: self, server: Server::Hub(editor, hub) })
    }
}

/// What all of them are started with: a hub with its environment, and the hub's answer to the small call.
#[derive(Debug)]
pub(super) struct Setting {
    pub(super) hub: BenchHub,
    /// The tool's text, which the other servers answer with too.
    text: String,
    request: Vec<u8>,
    answer: Vec<u8>,
}

impl Setting {
    pub(super) fn new() -> Result<Setting> {
        let hub = BenchHub::start()?;
        let editor = Editor::on_socket(&hub.socket()?, &hub.workspace())?;
        let agent = Agent::introduced(&hub.endpoint(editor.port)?, BenchDialect::Claude)?;
        let request = tool(FOLDERS, json!({}));
        let line = TimedConnection::open(agent.into_stream(), request.clone(), "workspace", hub.pid)?;
        let said: Value = serde_json::from_slice(line.body())?;
        let text = said.pointer("/result/content/0/text").and_then(Value::as_str);
        let text = text.context("the hub's answer has no text")?.to_owned();
        Ok(Setting { hub, text, request, answer: line.answer().to_vec() })
    }
}

enum Server {
    Role(Role),
    /// With a window, without which no agent could connect.
    Hub(Editor, BenchHub),
}

/// A running server; it is killed when dropped.
pub(super) struct RunningServer {
    pub(super) contender: Contender,
    server: Server,
}

impl RunningServer {
    pub(super) fn name(&self) -> &'static str {
        self.contender.name()
    }

    pub(super) fn pid(&self) -> u32 {
        match &self.server {
            Server::Role(role) => role.pid(),
            Server::Hub(_, hub) => hub.pid,
        }
    }

    fn port(&self) -> u16 {
        match &self.server {
            Server::Role(role) => role.port,
            Server::Hub(editor, _) => editor.port,
        }
    }

    fn token(&self) -> Result<String> {
        match &self.server {
            Server::Role(_) => Ok(String::new()),
            Server::Hub(editor, hub) => Ok(hub.endpoint(editor.port)?.token),
        }
    }

    /// A connection that has made the small call once.
    pub(super) fn line(&self) -> Result<TimedConnection> {
        let frame = || tool(FOLDERS, json!({}));
        let (stream, request, says) = match self.contender {
            Contender::RawTcp => (self.bare()?, frame(), "workspace"),
            Contender::WebSocketEcho => (Agent::websocket(self.port(), "")?.into_stream(), frame(), FOLDERS),
            Contender::HubSocket => {
                let endpoint = AgentEndpoint { port: self.port(), token: self.token()? };
                (Agent::introduced(&endpoint, BenchDialect::Claude)?.into_stream(), frame(), "workspace")
            }
            Contender::Rmcp | Contender::NodeWs | Contender::Python => {
                return self.by_socket(frame(), "workspace");
            }
            Contender::HubExecute => (self.bare()?, execute(self.port()), r#""success":true"#),
            // Nothing is proposed for this path, so that the hub can say so at once.
            Contender::HubMcp => {
                let authorization = format!("Authorization: Bearer {}\r\n", self.token()?);
                let call = tool_call("closeDiff", json!({ "filePath": "/none" }));
                let (stream, request) = Streamable::begin(self.port(), &authorization)?.call(&call);
                (stream, request, r#""content":[{"#)
            }
            Contender::NodeSdk => {
                let (stream, request) = Streamable::begin(self.port(), "")?.call(&small_call());
                (stream, request, "workspace")
            }
        };
        TimedConnection::open(stream, request, says, self.pid())
    }

    fn bare(&self) -> Result<TcpStream> {
        Ok(Agent::bare(self.port())?.into_stream())
    }

    /// A WebSocket after MCP's handshake, to a server that requires no token.
    fn by_socket(&self, frame: Vec<u8>, says: &str) -> Result<TimedConnection> {
        let agent = Agent::websocket(self.port(), "")?.introduce()?;
        TimedConnection::open(agent.into_stream(), frame, says, self.pid())
    }

    /// A connection whose call sends `text` there and back. The hub has none: so much text is a change there.
    pub(super) fn echoing(&self, text: &str) -> Result<Option<TimedConnection>> {
        let call = tool_call(ECHO, json!({ "text": text }));
        let frame = || masked(TEXT, call.to_string().as_bytes());
        let says: String = text.trim_start().chars().take_while(|letter| letter.is_alphanumeric()).collect();
        let line = match self.contender {
            Contender::WebSocketEcho => {
                let agent = Agent::websocket(self.port(), "")?;
                TimedConnection::open(agent.into_stream(), frame(), &says, self.pid())?
            }
            Contender::Rmcp | Contender::NodeWs | Contender::Python => self.by_socket(frame(), &says)?,
            Contender::NodeSdk => {
                let (stream, request) = Streamable::begin(self.port(), "")?.call(&call);
                TimedConnection::open(stream, request, &says, self.pid())?
            }
            _ => return Ok(None),
        };
        let came_back = line.answer().len();
        ensure!(came_back > text.len(), "only {came_back} of {} bytes came back", text.len());
        Ok(Some(line))
    }
}
