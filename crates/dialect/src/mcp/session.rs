//! One agent's MCP conversation: which frames mean what, which calls are open, who the agent is.
//! Each call is answered once or not at all; the open ones are held here.

use std::collections::BTreeMap;

use linkspan_editor_api::Capabilities as Editor;
use serde::Serialize;
use serde_json::value::RawValue;

use super::envelope::{self, Message, RequestId};
use super::{Arguments, BadArgument, listed, reply, version};
use crate::dialect::Dialect;
use crate::meaning::{Answer, EditorEvent, Failure, FailureKind, Request};

/// A call of this session that waits for its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(u64);

/// What a frame asks of the hub.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// To be answered once, with [`Session::answer`].
    Call {
        call: CallId,
        request: Request,
    },
    /// Send this frame back.
    Reply(String),
    /// The agent said who it is; send the frame back.
    Introduced {
        name: String,
        version: String,
        reply: String,
    },
    /// The agent said which process it is.
    Pid(u32),
    /// The agent answered [`Session::ping`].
    Pong(u64),
    /// The agent leaves, and takes back what is open.
    Goodbye,
    /// The agent no longer wants that answer. The call is open only where the dialect answers it all the same.
    Cancelled(CallId),
    Nothing,
}

/// What the session says about our side.
#[derive(Debug, Clone)]
pub struct Server {
    pub version: String,
    pub editor_name: String,
    /// What the editor can do: tools that it has no use for are not listed.
    pub capabilities: Editor,
}

#[derive(Debug)]
pub struct Session {
    dialect: &'static Dialect,
    server: Server,
    client: Client,
    initialized: bool,
    open: BTreeMap<CallId, OpenCall>,
    next: u64,
    /// The newest of our own pings.
    pinged: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Client {
    pub(crate) name: String,
    pub(crate) version: String,
}

#[derive(Debug)]
struct OpenCall {
    id: RequestId,
    asked: Asked,
}

/// As much of a request as its answer's shape depends on.
#[derive(Debug, PartialEq)]
pub(crate) enum Asked {
    Change { label: String },
    FileInBackground,
    Other,
}

impl Asked {
    fn of(request: &Request) -> Asked {
        match request {
            Request::Propose { label, .. } | Request::Compare { label, .. } => {
                Asked::Change { label: label.clone() }
            }
            Request::OpenFile { focus: false, .. } => Asked::FileInBackground,
            _ => Asked::Other,
        }
    }
}

/// As much of an agent's own word as an error repeats.
fn shown(name: &str) -> String {
    name.chars().take(80).collect()
}

/// What an answer's shape depends on.
pub(crate) struct Context<'a> {
    pub(crate) asked: &'a Asked,
    pub(crate) client: &'a Client,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Initialized<'a> {
    protocol_version: &'static str,
    capabilities: Capabilities,
    server_info: ServerInfo<'a>,
}

#[derive(Serialize)]
struct Capabilities {
    tools: ToolCapabilities,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolCapabilities {
    list_changed: bool,
}

#[derive(Serialize)]
struct ServerInfo<'a> {
    name: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    version: &'a str,
}

impl Session {
    pub fn new(dialect: &'static Dialect, server: Server) -> Session {
        Session {
            dialect,
            server,
            client: Client::default(),
            initialized: false,
            open: BTreeMap::new(),
            next: 0,
            pinged: 0,
        }
    }

    pub fn dialect(&self) -> &'static Dialect {
        self.dialect
    }

    pub fn receive(&mut self, frame: &str) -> Step {
        match envelope::parse(frame) {
            Ok(Message::Request { id, method, params }) => match self.request(&id, &method, params) {
                Ok(step) => step,
                Err(error) => {
                    Step::Reply(reply::error(Some(&id), envelope::INVALID_PARAMS, &error.to_string()))
                }
            },
            Ok(Message::Notification { method, params }) => self.notification(&method, params),
            Ok(Message::Response { id }) => self.response(&id),
            Err(bad) => Step::Reply(reply::error(bad.id.as_ref(), bad.code, &bad.message)),
        }
    }

    /// Whether that changed what `tools/list` says.
    pub fn set_capabilities(&mut self, now: Editor) -> bool {
        let before = std::mem::replace(&mut self.server.capabilities, now);
        let names = |has| listed(self.dialect.mcp.tools, has).map(|tool| tool.name);
        !names(&before).eq(names(&now))
    }

    /// A question of ours that only a living agent answers, with [`Step::Pong`]. Numbers only grow.
    pub fn ping(&mut self, number: u64) -> String {
        self.pinged = number;
        format!(r#"{{"jsonrpc":"2.0","id":{number},"method":"ping"}}"#)
    }

    /// The frame that answers the call; none when it is no longer open.
    pub fn answer(&mut self, call: CallId, answer: &Answer) -> Option<String> {
        let OpenCall { id, asked } = self.open.remove(&call)?;
        let mcp = &self.dialect.mcp;
        let encode = |answer: &Answer| {
            (mcp.encode)(answer, &Context { asked: &asked, client: &self.client }).into_frame(&id)
        };
        let frame = encode(answer);
        let Some(limit) = mcp.frame_limit.filter(|limit| frame.len() > *limit) else { return Some(frame) };
        // A decision has to arrive, above all one that is written already.
        let shorter = match answer {
            Answer::Rejected(rejected) => vec![Answer::Rejected(rejected.without_remarks())],
            Answer::Accepted(accepted) => accepted.shorter().into_iter().map(Answer::Accepted).collect(),
            _ => Vec::new(),
        };
        let shorter = shorter.iter().map(encode).find(|frame| frame.len() <= limit);
        Some(shorter.unwrap_or_else(|| {
            let message = format!("the answer is larger than the {limit} bytes that the agent takes");
            encode(&Answer::Failed(Failure::new(FailureKind::TooLarge, message)))
        }))
    }

    /// The answer to a frame that is not text.
    pub fn not_text(&self) -> String {
        reply::error(None, envelope::INVALID_REQUEST, "this is no text: send JSON as text, in UTF-8")
    }

    /// The frame that tells of the event; none before the handshake is over, or when this dialect has no word for it.
    pub fn event(&self, event: &EditorEvent) -> Option<String> {
        if self.initialized { (self.dialect.mcp.event)(event) } else { None }
    }

    pub fn open_calls(&self) -> impl Iterator<Item = CallId> + '_ {
        self.open.keys().copied()
    }

    /// Proposed changes that wait for their answer, with the name the agent gave each.
    pub fn open_changes(&self) -> impl Iterator<Item = (CallId, &str)> {
        self.open.iter().filter_map(|(call, open)| match &open.asked {
            Asked::Change { label } => Some((*call, label.as_str())),
            Asked::FileInBackground | Asked::Other => None,
        })
    }

    fn request(
        &mut self,
        id: &RequestId,
        method: &str,
        params: Option<&RawValue>,
    ) -> Result<Step, BadArgument> {
        let arguments = || Arguments::read("params", params);
        match method {
            "tools/call" => self.call(id, &arguments()?),
            "initialize" => self.initialize(id, &arguments()?),
            "tools/list" => {
                let mcp = &self.dialect.mcp;
                let tools = mcp.list.get(mcp.tools, &self.server.capabilities);
                Ok(Step::Reply(reply::raw_result(id, tools)))
            }
            "ping" => Ok(Step::Reply(reply::raw_result(id, "{}"))),
            // Prompts and resources are among these: MCP agents ask only for what the server said it has.
            _ => {
                let message = format!("unknown method: {}", shown(method));
                Ok(Step::Reply(reply::error(Some(id), envelope::METHOD_NOT_FOUND, &message)))
            }
        }
    }

    /// Pings are all that we ask.
    fn response(&self, id: &RequestId) -> Step {
        match id {
            RequestId::Signed(number) => u64::try_from(*number)
                .ok()
                .filter(|number| (1..=self.pinged).contains(number))
                .map_or(Step::Nothing, Step::Pong),
            RequestId::Unsigned(_) | RequestId::Text(_) => Step::Nothing,
        }
    }

    fn initialize(&mut self, id: &RequestId, params: &Arguments<'_>) -> Result<Step, BadArgument> {
        let protocol_version = version::negotiate(&params.text("protocolVersion")?);
        let client = params.object("clientInfo")?;
        let name = client.optional_text("name")?.unwrap_or("unknown agent".into()).into_owned();
        let version = client.optional_text("version")?.unwrap_or_default().into_owned();
        self.client = Client { name: name.clone(), version: version.clone() };
        let title = version::has_titles(protocol_version).then_some(self.server.editor_name.as_str());
        let result = Initialized {
            protocol_version,
            capabilities: Capabilities { tools: ToolCapabilities { list_changed: true } },
            server_info: ServerInfo { name: "linkspan", title, version: &self.server.version },
        };
        Ok(Step::Introduced { name, version, reply: reply::result(id, &result) })
    }

    fn call(&mut self, id: &RequestId, params: &Arguments<'_>) -> Result<Step, BadArgument> {
        let name = params.text("name")?;
        let Some(tool) = self.dialect.mcp.tools.iter().find(|tool| tool.name == name) else {
            // MCP's own rule: the method exists, its parameter is at fault.
            let message = format!("unknown tool: {}", shown(&name));
            return Ok(Step::Reply(reply::error(Some(id), envelope::INVALID_PARAMS, &message)));
        };
        let request = (tool.decode)(&params.object("arguments")?)?;
        let call = CallId(self.next);
        self.next += 1;
        self.open.insert(call, OpenCall { id: id.clone(), asked: Asked::of(&request) });
        Ok(Step::Call { call, request })
    }

    /// Nobody is told of a notification that is unknown or malformed: there is no way to answer one.
    fn notification(&mut self, method: &str, params: Option<&RawValue>) -> Step {
        let Ok(params) = Arguments::read("params", params) else { return Step::Nothing };
        match method {
            "notifications/initialized" => {
                self.initialized = true;
                Step::Nothing
            }
            "notifications/cancelled" => params
                .raw("requestId")
                .and_then(envelope::request_id)
                .and_then(|id| self.open.iter().find(|(_, open)| open.id == id).map(|(call, _)| *call))
                .inspect(|call| {
                    if !self.dialect.mcp.answers_cancelled {
                        self.open.remove(call);
                    }
                })
                .map_or(Step::Nothing, Step::Cancelled),
            leaving if self.dialect.mcp.goodbye == Some(leaving) => Step::Goodbye,
            "ide_connected" => match params.count("pid") {
                Ok(Some(pid)) => Step::Pid(pid),
                _ => Step::Nothing,
            },
            _ => Step::Nothing,
        }
    }
}
