//! One agent's MCP conversation: decoding frames, the open calls, the identity of the agent. Each call is answered once
//! or not at all.

use std::collections::VecDeque;

use linkspan_editor_api::{Capabilities as Editor, FileDiagnostics};
use linkspan_review::Writer;
use serde::Serialize;

use super::envelope::{self, Message, Params, RequestId};
use super::{Arguments, BadArgument, Mcp, OwnTool, listed, reply, version};
use crate::answer::{Answer, EditorEvent, Failure, FailureKind};
use crate::conversation::{AgentFrame, CallId, Conversation, ExchangeId, ServerFacts, Step};
use crate::open_calls::{OpenCall, OpenCalls};
use crate::request::Request;

#[derive(Debug)]
pub(crate) struct McpSession {
    mcp: &'static Mcp,
    server: ServerFacts,
    client: McpClient,
    initialized: bool,
    open: OpenCalls<PendingCall>,
    /// Number of our last ping.
    pinged: u64,
    /// Notes for the model about earlier answers.
    notes: VecDeque<FileDiagnostics>,
}

/// The most notes that are kept for an agent that does not ask for diagnostics; the oldest are dropped first.
const NOTES_MOST: usize = 16;

#[derive(Debug, Default, Clone)]
pub(crate) struct McpClient {
    pub(crate) name: String,
    pub(crate) version: String,
}

impl McpClient {
    /// For agents that report their real name and version.
    pub(crate) fn as_it_says(&self, _protocol: &str) -> McpClient {
        self.clone()
    }
}

#[derive(Debug)]
struct PendingCall {
    /// None once the call itself is answered and only the decision still has to be sent.
    id: Option<RequestId>,
    asked: CallKind,
    /// The agent withdrew it and wants no notification.
    unheard: bool,
}

/// The part of a request that the encoding of its answer depends on.
#[derive(Debug, PartialEq)]
pub(crate) enum CallKind {
    Change { label: String },
    Close { label: String },
    FileInBackground,
    AllDiagnostics,
    Other,
}

impl CallKind {
    fn of(request: &Request, mcp: &Mcp) -> CallKind {
        match request {
            Request::Propose { path, .. } if mcp.later.is_some() => {
                CallKind::Change { label: path.to_string_lossy().into_owned() }
            }
            Request::Propose { label, .. }
            | Request::Compare { label, .. }
            | Request::Record { label, .. } => CallKind::Change { label: label.clone() },
            Request::Rename { new_name, .. } => CallKind::Change { label: format!("Rename to {new_name}") },
            Request::CloseTab { label } => CallKind::Close { label: label.clone() },
            Request::OpenFile { focus: false, .. } => CallKind::FileInBackground,
            Request::Diagnostics { path: None, .. } => CallKind::AllDiagnostics,
            _ => CallKind::Other,
        }
    }
}

/// How much of an agent's text an error repeats.
fn shown(name: &str) -> String {
    name.chars().take(80).collect()
}

/// What the encoding of an answer depends on.
pub(crate) struct EncodeContext<'a> {
    pub(crate) asked: &'a CallKind,
    pub(crate) client: &'a McpClient,
    /// The agent runs its own tool after an accept.
    pub(crate) runs_own_tool: bool,
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

impl McpSession {
    pub(crate) fn new(mcp: &'static Mcp, server: ServerFacts) -> McpSession {
        McpSession {
            mcp,
            server,
            client: McpClient::default(),
            initialized: false,
            open: OpenCalls::default(),
            pinged: 0,
            notes: VecDeque::new(),
        }
    }

    fn own_tool(&self) -> Option<&'static OwnTool> {
        self.mcp.own_tool.as_ref().filter(|own_tool| (own_tool.is_run_by)(&self.client))
    }

    fn request(
        &mut self,
        exchange: Option<ExchangeId>,
        id: &RequestId,
        method: &str,
        params: Params<'_>,
    ) -> Result<Step, BadArgument> {
        match method {
            "tools/call" => self.call(exchange, id, params.read()?),
            "initialize" => self.initialize(id, params.read()?),
            "tools/list" => {
                let tools = self.mcp.list.get(self.mcp.tools, &self.server.capabilities);
                Ok(Step::Reply(reply::raw_result(id, tools)))
            }
            "ping" => Ok(Step::Reply(reply::raw_result(id, "{}"))),
            // Includes prompts and resources: MCP agents only use capabilities that the server announced.
            _ => {
                let message = format!("unknown method: {}", shown(method));
                Ok(Step::Reply(reply::error(Some(id), envelope::METHOD_NOT_FOUND, &message)))
            }
        }
    }

    /// Pings are our only requests.
    fn response(&self, id: &RequestId) -> Step {
        match id {
            RequestId::Signed(number) => u64::try_from(*number)
                .ok()
                .filter(|number| (1..=self.pinged).contains(number))
                .map_or(Step::Nothing, Step::Pong),
            RequestId::Unsigned(_) | RequestId::Text(_) => Step::Nothing,
        }
    }

    fn initialize(&mut self, id: &RequestId, mut params: Arguments<'_>) -> Result<Step, BadArgument> {
        let protocol_version = version::negotiate(&params.text("protocolVersion")?);
        let client = params.take_object("clientInfo")?;
        let name = client.optional_text("name")?.unwrap_or("unknown agent".into()).into_owned();
        let version = client.optional_text("version")?.unwrap_or_default().into_owned();
        self.client = McpClient { name, version };
        let McpClient { name, version } = (self.mcp.known_as)(&self.client, protocol_version);
        let title = version::has_titles(protocol_version).then_some(self.server.editor_name.as_str());
        let result = Initialized {
            protocol_version,
            capabilities: Capabilities { tools: ToolCapabilities { list_changed: true } },
            server_info: ServerInfo { name: "linkspan", title, version: &self.server.version },
        };
        Ok(Step::Introduced { name, version, reply: reply::result(id, &result) })
    }

    fn call(
        &mut self,
        exchange: Option<ExchangeId>,
        id: &RequestId,
        mut params: Arguments<'_>,
    ) -> Result<Step, BadArgument> {
        let name = params.text("name")?;
        let Some(tool) = self.mcp.tools.iter().find(|tool| tool.name == name) else {
            // MCP's own rule: the method exists, its parameter is invalid.
            let message = format!("unknown tool: {}", shown(&name));
            return Ok(Step::Reply(reply::error(Some(id), envelope::INVALID_PARAMS, &message)));
        };
        let arguments = params.take_object("arguments")?;
        let mut request = (tool.decode)(&arguments)?;
        if let (Some(_), Request::Propose { writer, .. }) = (self.own_tool(), &mut request) {
            writer.get_or_insert(Writer::AgentAsProposed);
        }
        if let (Some(later), Request::CloseTab { label }) = (&self.mcp.later, &request)
            && arguments.flag(later.unless, false)?
        {
            self.open.each(|open| open.unheard |= open.asked == CallKind::Change { label: label.clone() });
        }
        let asked = CallKind::of(&request, self.mcp);
        let call = self.open.begin(exchange, PendingCall { id: Some(id.clone()), asked, unheard: false });
        Ok(Step::Call { call, request })
    }

    /// The decision on a change whose call is already answered, as a notification.
    fn decision_notification(&self, asked: &CallKind, answer: &Answer) -> Option<AgentFrame> {
        let (Some(later), CallKind::Change { label }) = (&self.mcp.later, asked) else { return None };
        Some(AgentFrame { text: (later.tell)(label, answer, &self.client), answers: None })
    }

    /// An unknown or malformed notification is ignored: notifications have no answer.
    fn notification(&mut self, method: &str, params: Params<'_>) -> Step {
        let Ok(params) = params.read() else { return Step::Nothing };
        match method {
            "notifications/initialized" => {
                self.initialized = true;
                Step::Nothing
            }
            "notifications/cancelled" => params
                .raw("requestId")
                .and_then(envelope::request_id)
                .and_then(|id| self.open.find(|open| open.id.as_ref() == Some(&id)))
                .inspect(|call| {
                    if !self.mcp.answers_cancelled {
                        self.open.end(*call);
                    }
                })
                .map_or(Step::Nothing, Step::Cancelled),
            leaving if self.mcp.goodbye == Some(leaving) => Step::Goodbye,
            "ide_connected" => match params.count("pid") {
                Ok(Some(pid)) => Step::Pid(pid),
                _ => Step::Nothing,
            },
            _ => Step::Nothing,
        }
    }
}

impl Conversation for McpSession {
    fn receive(&mut self, frame: &str, exchange: Option<ExchangeId>) -> Step {
        match envelope::parse(frame) {
            Ok(Message::Request { id, method, params }) => match self.request(exchange, &id, &method, params)
            {
                Ok(step) => step,
                Err(error) => {
                    Step::Reply(reply::error(Some(&id), envelope::INVALID_PARAMS, &error.to_string()))
                }
            },
            Ok(Message::Notification { method, params }) => self.notification(&method, params),
            Ok(Message::Response { id }) => self.response(&id),
            Err(bad) => Step::Malformed(reply::error(bad.id.as_ref(), bad.code, &bad.message)),
        }
    }

    fn acknowledge_shown(&mut self, call: CallId) -> Option<AgentFrame> {
        self.mcp.later.as_ref()?;
        let open = self.open.get_mut(call)?;
        let id = open.what.id.take()?;
        Some(AgentFrame { text: reply::raw_result(&id, r#"{"content":[]}"#), answers: open.exchange.take() })
    }

    fn readopt_call(&mut self, name: &str) -> Option<CallId> {
        self.mcp.later.as_ref()?;
        let asked = CallKind::Change { label: name.to_owned() };
        Some(self.open.begin(None, PendingCall { id: None, asked, unheard: false }))
    }

    fn suppress_outcome(&mut self, call: CallId) {
        if let Some(open) = self.open.get_mut(call) {
            open.what.unheard = true;
        }
    }

    fn resume(&mut self) {
        self.initialized = true;
    }

    fn answer(&mut self, call: CallId, answer: &Answer) -> Option<AgentFrame> {
        let OpenCall { exchange, what: PendingCall { id, asked, unheard } } = self.open.end(call)?;
        let Some(id) = id else { return self.decision_notification(&asked, answer).filter(|_| !unheard) };
        let own_tool = self.own_tool();
        let noted = match answer {
            Answer::Diagnostics(files) if asked == CallKind::AllDiagnostics && !self.notes.is_empty() => {
                Some(Answer::Diagnostics(self.notes.drain(..).chain(files.iter().cloned()).collect()))
            }
            _ => None,
        };
        let answer = noted.as_ref().unwrap_or(answer);
        if let Some(note) = own_tool.and_then(|own_tool| (own_tool.note)(answer)) {
            self.notes.truncate(NOTES_MOST - 1);
            self.notes.push_front(note);
        }
        let encode = |answer: &Answer| {
            let runs_own_tool = own_tool.is_some();
            let context = EncodeContext { asked: &asked, client: &self.client, runs_own_tool };
            (self.mcp.encode)(answer, &context).into_frame(&id)
        };
        let text = encode(answer);
        let fits = |text: &String| self.mcp.frame_limit.is_none_or(|limit| text.len() <= limit);
        if fits(&text) {
            return Some(AgentFrame { text, answers: exchange });
        }
        // A decision has to arrive, especially one that is already written.
        let shorter = match answer {
            Answer::Rejected(rejected) => vec![Answer::Rejected(rejected.without_remarks())],
            Answer::Accepted(accepted) => accepted.shorter().into_iter().map(Answer::Accepted).collect(),
            _ => Vec::new(),
        };
        let text = shorter.iter().map(encode).find(fits).unwrap_or_else(|| {
            let limit = self.mcp.frame_limit.unwrap_or(usize::MAX);
            let message = format!("the answer is larger than the {limit} bytes that the agent accepts");
            encode(&Answer::Failed(Failure::new(FailureKind::TooLarge, message)))
        });
        Some(AgentFrame { text, answers: exchange })
    }

    fn event(&self, event: &EditorEvent) -> Option<String> {
        if self.initialized { (self.mcp.event)(event) } else { None }
    }

    fn ping(&mut self, number: u64) -> Option<String> {
        self.pinged = number;
        Some(format!(r#"{{"jsonrpc":"2.0","id":{number},"method":"ping"}}"#))
    }

    fn not_text(&self) -> Option<String> {
        Some(reply::error(
            None,
            envelope::INVALID_REQUEST,
            "the frame is not text: send JSON as text, in UTF-8",
        ))
    }

    fn set_capabilities(&mut self, now: Editor) -> bool {
        let before = std::mem::replace(&mut self.server.capabilities, now);
        let names = |has| listed(self.mcp.tools, has).map(|tool| tool.name);
        !names(&before).eq(names(&now))
    }

    fn open_calls(&self) -> Box<dyn Iterator<Item = CallId> + '_> {
        self.open.ids()
    }

    fn open_changes(&self) -> Box<dyn Iterator<Item = (CallId, &str)> + '_> {
        self.open.named(|open| match &open.asked {
            CallKind::Change { label } => Some(label.as_str()),
            CallKind::Close { .. }
            | CallKind::FileInBackground
            | CallKind::AllDiagnostics
            | CallKind::Other => None,
        })
    }

    fn decides_in(&self, exchange: ExchangeId) -> bool {
        self.open.waits_in(exchange, |open| matches!(open.asked, CallKind::Change { .. }))
    }
}
