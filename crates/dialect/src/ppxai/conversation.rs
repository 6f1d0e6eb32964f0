//! One ppxai client's conversation: each request has its own answer, and nothing is sent without a request.

use serde::Serialize;

use super::STATUS;
use super::encode::{WorkspaceInfo, workspace};
use super::envelope::{self, Id, NO_REQUEST, PpxaiCall, UNKNOWN_TOOL};
use super::tool::{BadArguments, Group, PpxaiTool, ToolContext};
use super::tools::{named, names};
use crate::answer::{Answer, EditorEvent, FailureKind};
use crate::conversation::{AgentFrame, CallId, Conversation as Converses, ExchangeId, ServerFacts, Step};
use crate::folders::WindowFolders;
use crate::mcp::json;
use crate::open_calls::OpenCalls;
use crate::request::{ActiveFileRequest, Request};
use crate::spelling::nearest;

/// How much of an unknown name an error repeats.
const LONGEST_SHOWN: usize = 100;

#[derive(Debug)]
pub(super) struct Conversation {
    server: ServerFacts,
    folders: WindowFolders,
    open: OpenCalls<OpenRequest>,
}

#[derive(Debug)]
enum OpenRequest {
    Status,
    Tool {
        id: Id,
        tool: &'static PpxaiTool,
        /// Of a pending change.
        label: Option<String>,
        given: Option<String>,
    },
}

impl OpenRequest {
    fn label(&self) -> Option<&str> {
        match self {
            OpenRequest::Status => None,
            OpenRequest::Tool { label, .. } => label.as_deref(),
        }
    }
}

impl Conversation {
    pub(super) fn new(server: ServerFacts) -> Conversation {
        Conversation { server, folders: WindowFolders::default(), open: OpenCalls::default() }
    }

    fn status(&self, answer: &Answer) -> String {
        let Answer::Folders(folders) = answer else {
            let why = "the hub did not report the workspace folders";
            return envelope::failure(&Id::none(), envelope::code_of(FailureKind::Internal), why);
        };
        json(&Status {
            status: "ok",
            version: &self.server.version,
            editor: &self.server.editor_name,
            capabilities: Group::ALL.map(Group::name),
            tools: names().collect(),
            workspace: workspace(folders),
        })
    }

    fn call(&mut self, call: PpxaiCall<'_>, exchange: Option<ExchangeId>) -> Step {
        let PpxaiCall { id, tool: name, arguments } = call;
        let Some(tool) = named(&name) else {
            let shown: String = name.chars().take(LONGEST_SHOWN).collect();
            let nearest = nearest(&name, names()).unwrap_or_default();
            let message = format!("there is no tool `{shown}`; did you mean `{nearest}`?");
            return Step::Reply(envelope::failure(&id, UNKNOWN_TOOL, &message));
        };
        match tool.read(&arguments) {
            Ok(request) => {
                let given = arguments.optional_text("path").ok().flatten().map(|path| path.into_owned());
                let asked = OpenRequest::Tool { id, tool, label: label_of(&request), given };
                Step::Call { call: self.open.begin(exchange, asked), request }
            }
            Err(BadArguments(message)) => {
                let code = envelope::code_of(FailureKind::InvalidParams);
                Step::Reply(envelope::failure(&id, code, &message))
            }
        }
    }
}

impl Converses for Conversation {
    fn receive(&mut self, frame: &str, exchange: Option<ExchangeId>) -> Step {
        if frame == STATUS {
            let call = self.open.begin(exchange, OpenRequest::Status);
            return Step::Call { call, request: Request::WorkspaceFolders };
        }
        match envelope::read(frame) {
            Ok(call) => self.call(call, exchange),
            Err((id, message)) => Step::Malformed(envelope::failure(&id, NO_REQUEST, &message)),
        }
    }

    fn answer(&mut self, call: CallId, answer: &Answer) -> Option<AgentFrame> {
        let open = self.open.end(call)?;
        let text = match (&open.what, answer) {
            (OpenRequest::Tool { id, .. }, Answer::Failed(failure)) => envelope::failed(id, failure),
            (OpenRequest::Status, answer) => self.status(answer),
            (OpenRequest::Tool { id, tool, given, .. }, answer) => {
                let capabilities = &self.server.capabilities;
                let context = ToolContext { folders: &self.folders, capabilities, given: given.as_deref() };
                match (tool.encode)(answer, &context) {
                    Some(told) => envelope::answer(id, &told),
                    None => {
                        let code = envelope::code_of(FailureKind::Internal);
                        envelope::failure(id, code, "the answer does not match the tool")
                    }
                }
            }
        };
        Some(AgentFrame { text, answers: open.exchange })
    }

    fn event(&self, _event: &EditorEvent) -> Option<String> {
        None
    }

    fn not_text(&self) -> Option<String> {
        Some(envelope::failure(&Id::none(), NO_REQUEST, "send text"))
    }

    fn set_capabilities(&mut self, now: linkspan_editor_api::Capabilities) -> bool {
        self.server.capabilities = now;
        false
    }

    fn set_folders(&mut self, now: &WindowFolders) {
        self.folders = now.clone();
    }

    fn open_calls(&self) -> Box<dyn Iterator<Item = CallId> + '_> {
        self.open.ids()
    }

    fn open_changes(&self) -> Box<dyn Iterator<Item = (CallId, &str)> + '_> {
        self.open.named(OpenRequest::label)
    }
}

fn label_of(request: &Request) -> Option<String> {
    match request {
        Request::Propose { label, .. }
        | Request::Compare { label, .. }
        | Request::Edit { label, .. }
        | Request::ActiveFile(
            ActiveFileRequest::Insert { label, .. } | ActiveFileRequest::ReplaceSelection { label, .. },
        ) => Some(label.clone()),
        Request::Format { .. } | Request::ActiveFile(ActiveFileRequest::Format) => Some("format".to_owned()),
        _ => None,
    }
}

#[derive(Serialize)]
struct Status<'a> {
    status: &'static str,
    version: &'a str,
    editor: &'a str,
    capabilities: [&'static str; Group::ALL.len()],
    tools: Vec<&'static str>,
    workspace: WorkspaceInfo<'a>,
}
