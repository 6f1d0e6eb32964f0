//! One ppxai client's conversation: each request is answered by itself, and nothing is said unasked.

use serde::Serialize;

use super::STATUS;
use super::encode::{Workspace, workspace};
use super::envelope::{self, Call, Id, NO_REQUEST, UNKNOWN_TOOL};
use super::tool::{Context, Group, Tool, Wrong};
use super::tools::{named, names};
use crate::conversation::{CallId, Conversation as Converses, Exchange, Frame, Server, Step};
use crate::folders::Folders;
use crate::mcp::json;
use crate::meaning::{Answer, EditorEvent, FailureKind, Request};
use crate::nearest::nearest;
use crate::open_calls::OpenCalls;
use crate::work::Active;

/// As much of a name that is none of ours as an error repeats.
const LONGEST_SHOWN: usize = 100;

#[derive(Debug)]
pub(super) struct Conversation {
    server: Server,
    folders: Folders,
    open: OpenCalls<Asked>,
}

#[derive(Debug)]
enum Asked {
    Status,
    Tool {
        id: Id,
        tool: &'static Tool,
        /// Of a change that waits for a person.
        label: Option<String>,
        given: Option<String>,
    },
}

impl Asked {
    fn label(&self) -> Option<&str> {
        match self {
            Asked::Status => None,
            Asked::Tool { label, .. } => label.as_deref(),
        }
    }
}

impl Conversation {
    pub(super) fn new(server: Server) -> Conversation {
        Conversation { server, folders: Folders::default(), open: OpenCalls::default() }
    }

    fn status(&self, answer: &Answer) -> String {
        let Answer::Folders(folders) = answer else {
            let why = "the hub did not say what is open here";
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

    fn call(&mut self, call: Call<'_>, exchange: Option<Exchange>) -> Step {
        let Call { id, tool: name, arguments } = call;
        let Some(tool) = named(&name) else {
            let shown: String = name.chars().take(LONGEST_SHOWN).collect();
            let nearest = nearest(&name, names()).unwrap_or_default();
            let message = format!("there is no tool `{shown}`; did you mean `{nearest}`?");
            return Step::Reply(envelope::failure(&id, UNKNOWN_TOOL, &message));
        };
        match tool.read(&arguments) {
            Ok(request) => {
                let given = arguments.optional_text("path").ok().flatten().map(|path| path.into_owned());
                let asked = Asked::Tool { id, tool, label: label_of(&request), given };
                Step::Call { call: self.open.begin(exchange, asked), request }
            }
            Err(Wrong(message)) => {
                let code = envelope::code_of(FailureKind::InvalidParams);
                Step::Reply(envelope::failure(&id, code, &message))
            }
        }
    }
}

impl Converses for Conversation {
    fn receive(&mut self, frame: &str, exchange: Option<Exchange>) -> Step {
        if frame == STATUS {
            let call = self.open.begin(exchange, Asked::Status);
            return Step::Call { call, request: Request::WorkspaceFolders };
        }
        match envelope::read(frame) {
            Ok(call) => self.call(call, exchange),
            Err((id, message)) => Step::Malformed(envelope::failure(&id, NO_REQUEST, &message)),
        }
    }

    fn answer(&mut self, call: CallId, answer: &Answer) -> Option<Frame> {
        let open = self.open.end(call)?;
        let text = match (&open.what, answer) {
            (Asked::Tool { id, .. }, Answer::Failed(failure)) => envelope::failed(id, failure),
            (Asked::Status, answer) => self.status(answer),
            (Asked::Tool { id, tool, given, .. }, answer) => {
                let capabilities = &self.server.capabilities;
                let context = Context { folders: &self.folders, capabilities, given: given.as_deref() };
                match (tool.encode)(answer, &context) {
                    Some(told) => envelope::answer(id, &told),
                    None => {
                        let code = envelope::code_of(FailureKind::Internal);
                        envelope::failure(id, code, "the answer is not one to this tool")
                    }
                }
            }
        };
        Some(Frame { text, answers: open.exchange })
    }

    fn event(&self, _event: &EditorEvent) -> Option<String> {
        None
    }

    fn not_text(&self) -> String {
        envelope::failure(&Id::none(), NO_REQUEST, "send text")
    }

    fn set_capabilities(&mut self, now: linkspan_editor_api::Capabilities) -> bool {
        self.server.capabilities = now;
        false
    }

    fn set_folders(&mut self, now: &Folders) {
        self.folders = now.clone();
    }

    fn open_calls(&self) -> Box<dyn Iterator<Item = CallId> + '_> {
        self.open.ids()
    }

    fn open_changes(&self) -> Box<dyn Iterator<Item = (CallId, &str)> + '_> {
        self.open.named(Asked::label)
    }
}

fn label_of(request: &Request) -> Option<String> {
    match request {
        Request::Propose { label, .. }
        | Request::Compare { label, .. }
        | Request::Edit { label, .. }
        | Request::Active(Active::Insert { label, .. } | Active::ReplaceSelection { label, .. }) => {
            Some(label.clone())
        }
        Request::Format { .. } | Request::Active(Active::Format) => Some("format".to_owned()),
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
    workspace: Workspace<'a>,
}
