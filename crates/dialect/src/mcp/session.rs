//! One agent's MCP conversation: which frames mean what, which calls are open, who the agent is.
//! Each call is answered once or not at all; the open ones are held here.

use std::collections::VecDeque;

use linkspan_editor_api::{Capabilities as Editor, FileDiagnostics};
use linkspan_review::Writer;
use serde::Serialize;

use super::envelope::{self, Message, Params, RequestId};
use super::{Arguments, BadArgument, Mcp, OwnTool, listed, reply, version};
use crate::conversation::{CallId, Conversation, Exchange, Frame, Server, Step};
use crate::meaning::{Answer, EditorEvent, Failure, FailureKind, Request};
use crate::open_calls::{Open, OpenCalls};

#[derive(Debug)]
pub(crate) struct Session {
    mcp: &'static Mcp,
    server: Server,
    client: Client,
    initialized: bool,
    open: OpenCalls<OpenCall>,
    /// The newest of our own pings.
    pinged: u64,
    /// What the model should know of earlier answers.
    notes: VecDeque<FileDiagnostics>,
}

/// Notes that wait for an agent that does not ask for diagnostics; the oldest go first.
const NOTES_MOST: usize = 16;

#[derive(Debug, Default, Clone)]
pub(crate) struct Client {
    pub(crate) name: String,
    pub(crate) version: String,
}

impl Client {
    /// For agents whose own word says it.
    pub(crate) fn as_it_says(&self, _protocol: &str) -> Client {
        self.clone()
    }
}

#[derive(Debug)]
struct OpenCall {
    /// None once the call itself is answered, and only the decision is still to be told.
    id: Option<RequestId>,
    asked: Asked,
    /// The agent takes it back and does not want to hear of it.
    unheard: bool,
}

/// As much of a request as its answer's shape depends on.
#[derive(Debug, PartialEq)]
pub(crate) enum Asked {
    Change { label: String },
    FileInBackground,
    AllDiagnostics,
    Other,
}

impl Asked {
    fn of(request: &Request, mcp: &Mcp) -> Asked {
        match request {
            Request::Propose { path, .. } if mcp.later.is_some() => {
                Asked::Change { label: path.to_string_lossy().into_owned() }
            }
            Request::Propose { label, .. } | Request::Compare { label, .. } => {
                Asked::Change { label: label.clone() }
            }
            Request::OpenFile { focus: false, .. } => Asked::FileInBackground,
            Request::Diagnostics { path: None, .. } => Asked::AllDiagnostics,
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
    /// The agent runs its own tool after a yes.
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

impl Session {
    pub(crate) fn new(mcp: &'static Mcp, server: Server) -> Session {
        Session {
            mcp,
            server,
            client: Client::default(),
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
        exchange: Option<Exchange>,
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

    fn initialize(&mut self, id: &RequestId, mut params: Arguments<'_>) -> Result<Step, BadArgument> {
        let protocol_version = version::negotiate(&params.text("protocolVersion")?);
        let client = params.take_object("clientInfo")?;
        let name = client.optional_text("name")?.unwrap_or("unknown agent".into()).into_owned();
        let version = client.optional_text("version")?.unwrap_or_default().into_owned();
        self.client = Client { name, version };
        let Client { name, version } = (self.mcp.known_as)(&self.client, protocol_version);
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
        exchange: Option<Exchange>,
        id: &RequestId,
        mut params: Arguments<'_>,
    ) -> Result<Step, BadArgument> {
        let name = params.text("name")?;
        let Some(tool) = self.mcp.tools.iter().find(|tool| tool.name == name) else {
            // MCP's own rule: the method exists, its parameter is at fault.
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
            self.open.each(|open| open.unheard |= open.asked == Asked::Change { label: label.clone() });
        }
        let asked = Asked::of(&request, self.mcp);
        let call = self.open.begin(exchange, OpenCall { id: Some(id.clone()), asked, unheard: false });
        Ok(Step::Call { call, request })
    }

    /// The call is answered long since: what became of its change goes out by itself.
    fn told_later(&self, asked: &Asked, answer: &Answer) -> Option<Frame> {
        let (Some(later), Asked::Change { label }) = (&self.mcp.later, asked) else { return None };
        Some(Frame { text: (later.tell)(label, answer, &self.client), answers: None })
    }

    /// Nobody is told of a notification that is unknown or malformed: there is no way to answer one.
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

impl Conversation for Session {
    fn receive(&mut self, frame: &str, exchange: Option<Exchange>) -> Step {
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

    fn shown(&mut self, call: CallId) -> Option<Frame> {
        self.mcp.later.as_ref()?;
        let open = self.open.get_mut(call)?;
        let id = open.what.id.take()?;
        Some(Frame { text: reply::raw_result(&id, r#"{"content":[]}"#), answers: open.exchange.take() })
    }

    fn adopt(&mut self, name: &str) -> Option<CallId> {
        self.mcp.later.as_ref()?;
        let asked = Asked::Change { label: name.to_owned() };
        Some(self.open.begin(None, OpenCall { id: None, asked, unheard: false }))
    }

    fn hush(&mut self, call: CallId) {
        if let Some(open) = self.open.get_mut(call) {
            open.what.unheard = true;
        }
    }

    fn resume(&mut self) {
        self.initialized = true;
    }

    fn answer(&mut self, call: CallId, answer: &Answer) -> Option<Frame> {
        let Open { exchange, what: OpenCall { id, asked, unheard } } = self.open.end(call)?;
        let Some(id) = id else { return self.told_later(&asked, answer).filter(|_| !unheard) };
        let own_tool = self.own_tool();
        let noted = match answer {
            Answer::Diagnostics(files) if asked == Asked::AllDiagnostics && !self.notes.is_empty() => {
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
            let context = Context { asked: &asked, client: &self.client, runs_own_tool };
            (self.mcp.encode)(answer, &context).into_frame(&id)
        };
        let text = encode(answer);
        let fits = |text: &String| self.mcp.frame_limit.is_none_or(|limit| text.len() <= limit);
        if fits(&text) {
            return Some(Frame { text, answers: exchange });
        }
        // A decision has to arrive, above all one that is written already.
        let shorter = match answer {
            Answer::Rejected(rejected) => vec![Answer::Rejected(rejected.without_remarks())],
            Answer::Accepted(accepted) => accepted.shorter().into_iter().map(Answer::Accepted).collect(),
            _ => Vec::new(),
        };
        let text = shorter.iter().map(encode).find(fits).unwrap_or_else(|| {
            let limit = self.mcp.frame_limit.unwrap_or(usize::MAX);
            let message = format!("the answer is larger than the {limit} bytes that the agent takes");
            encode(&Answer::Failed(Failure::new(FailureKind::TooLarge, message)))
        });
        Some(Frame { text, answers: exchange })
    }

    fn event(&self, event: &EditorEvent) -> Option<String> {
        if self.initialized { (self.mcp.event)(event) } else { None }
    }

    fn ping(&mut self, number: u64) -> Option<String> {
        self.pinged = number;
        Some(format!(r#"{{"jsonrpc":"2.0","id":{number},"method":"ping"}}"#))
    }

    fn not_text(&self) -> String {
        reply::error(None, envelope::INVALID_REQUEST, "this is no text: send JSON as text, in UTF-8")
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
            Asked::Change { label } => Some(label.as_str()),
            Asked::FileInBackground | Asked::AllDiagnostics | Asked::Other => None,
        })
    }
}
