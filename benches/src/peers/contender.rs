//! The servers that are compared: how each is started, and how a client comes to the call that all of them answer.

use std::net::TcpStream;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::foreign::Foreign;
use super::streamable::Streamable;
use crate::agent::{Agent, Dialect, tool, tool_call};
use crate::call::Line;
use crate::editor::Editor;
use crate::frame::{TEXT, masked};
use crate::measure::http::execute;
use crate::role::Role;
use crate::world::{Door, World};

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

    pub(super) fn start(self, setting: &Setting) -> Result<Running> {
        let Setting { world, text, request, answer } = setting;
        let role = match self {
            Contender::RawTcp => Role::raw(world, request.len(), answer)?,
            Contender::WebSocketEcho => Role::websocket_echo(world)?,
            Contender::Rmcp => Role::rmcp(world, text)?,
            Contender::NodeWs => Foreign::NodeWs.start(world, text)?,
            Contender::NodeSdk => Foreign::NodeSdk.start(world, text)?,
            Contender::Python => Foreign::Python.start(world, text)?,
            Contender::HubSocket | Contender::HubExecute | Contender::HubMcp => return self.start_hub(),
        };
        Ok(Running { contender: self, server: Server::Role(role) })
    }

    fn start_hub(self) -> Result<Running> {
        let world = World::start()?;
        let editor = Editor::on_socket(&world.socket()?, &world.workspace())?;
        Ok(Running { contender: self, server: Server::Hub(editor, world) })
    }
}

/// What all of them are started with: a world to live in, and the hub's answer to the small call.
#[derive(Debug)]
pub(super) struct Setting {
    pub(super) world: World,
    /// The tool's, which the other servers answer with too.
    text: String,
    request: Vec<u8>,
    answer: Vec<u8>,
}

impl Setting {
    pub(super) fn new() -> Result<Setting> {
        let world = World::start()?;
        let editor = Editor::on_socket(&world.socket()?, &world.workspace())?;
        let agent = Agent::introduced(&world.door(editor.port)?, Dialect::Claude)?;
        let request = tool(FOLDERS, json!({}));
        let line = Line::open(agent.into_stream(), request.clone(), "workspace", world.hub)?;
        let said: Value = serde_json::from_slice(line.body())?;
        let text = said.pointer("/result/content/0/text").and_then(Value::as_str);
        let text = text.context("the hub's answer has no text")?.to_owned();
        Ok(Setting { world, text, request, answer: line.answer().to_vec() })
    }
}

enum Server {
    Role(Role),
    /// With a window, without which nobody could call.
    Hub(Editor, World),
}

/// A server that runs; it ends when it is dropped.
pub(super) struct Running {
    pub(super) contender: Contender,
    server: Server,
}

impl Running {
    pub(super) fn name(&self) -> &'static str {
        self.contender.name()
    }

    pub(super) fn pid(&self) -> u32 {
        match &self.server {
            Server::Role(role) => role.pid(),
            Server::Hub(_, world) => world.hub,
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
            Server::Hub(editor, world) => Ok(world.door(editor.port)?.token),
        }
    }

    /// A connection that has made the small call once.
    pub(super) fn line(&self) -> Result<Line> {
        let frame = || tool(FOLDERS, json!({}));
        let (stream, request, says) = match self.contender {
            Contender::RawTcp => (self.bare()?, frame(), "workspace"),
            Contender::WebSocketEcho => (Agent::websocket(self.port(), "")?.into_stream(), frame(), FOLDERS),
            Contender::HubSocket => {
                let door = Door { port: self.port(), token: self.token()? };
                (Agent::introduced(&door, Dialect::Claude)?.into_stream(), frame(), "workspace")
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
        Line::open(stream, request, says, self.pid())
    }

    fn bare(&self) -> Result<TcpStream> {
        Ok(Agent::bare(self.port())?.into_stream())
    }

    /// Introduced over WebSocket, to a server that asks for no token.
    fn by_socket(&self, frame: Vec<u8>, says: &str) -> Result<Line> {
        let agent = Agent::websocket(self.port(), "")?.introduce()?;
        Line::open(agent.into_stream(), frame, says, self.pid())
    }

    /// A connection whose call sends `text` there and back. The hub has none: what it does with so much is a change.
    pub(super) fn echoing(&self, text: &str) -> Result<Option<Line>> {
        let call = tool_call(ECHO, json!({ "text": text }));
        let frame = || masked(TEXT, call.to_string().as_bytes());
        let says: String = text.trim_start().chars().take_while(|letter| letter.is_alphanumeric()).collect();
        let line = match self.contender {
            Contender::WebSocketEcho => {
                let agent = Agent::websocket(self.port(), "")?;
                Line::open(agent.into_stream(), frame(), &says, self.pid())?
            }
            Contender::Rmcp | Contender::NodeWs | Contender::Python => self.by_socket(frame(), &says)?,
            Contender::NodeSdk => {
                let (stream, request) = Streamable::begin(self.port(), "")?.call(&call);
                Line::open(stream, request, &says, self.pid())?
            }
            _ => return Ok(None),
        };
        let came_back = line.answer().len();
        ensure!(came_back > text.len(), "only {came_back} of {} bytes came back", text.len());
        Ok(Some(line))
    }
}
