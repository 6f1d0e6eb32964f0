//! Decodes each message and encodes its answer. Each request is answered once, or not at all.

use std::path::{Path, PathBuf};

use linkspan_editor_api::{Capabilities, MessageLevel};
use linkspan_review::{Splice, TextPosition};

use super::decision_log::{DecisionLog, EditsDigest};
use super::messages::{FromAgent, ToAgent, WireEdit, WireLevel};
use crate::answer::{Answer, EditorEvent, FailureKind};
use crate::conversation::{AgentFrame, CallId, Conversation, ExchangeId, ServerFacts, Step};
use crate::mcp::json;
use crate::open_calls::OpenCalls;
use crate::request::{FileEdit, Request};

const CAPABILITIES: &[&str] = &["diff", "apply", "status", "proposeDiff"];

/// Clio's own client gives up after 30 s, and would take a later answer for the answer to another request.
const PATIENCE_SECONDS: u64 = 28;

#[derive(Debug)]
pub(super) struct Clio {
    server: ServerFacts,
    connected: bool,
    open: OpenCalls<OpenRequest>,
    decided: DecisionLog,
}

#[derive(Debug)]
struct OpenRequest {
    /// As the agent wrote it: answers repeat it.
    file: String,
    what: RequestKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RequestKind {
    OpenDiff,
    /// With the digest of all its edits.
    ProposeDiff(EditsDigest),
    ApplyDiff,
    CloseDiff,
    Status,
}

impl RequestKind {
    fn is_change(self) -> bool {
        matches!(self, RequestKind::OpenDiff | RequestKind::ProposeDiff(_) | RequestKind::ApplyDiff)
    }
}

impl Clio {
    pub(super) fn new(server: ServerFacts) -> Clio {
        Clio { server, connected: false, open: OpenCalls::default(), decided: DecisionLog::default() }
    }

    fn call(&mut self, what: RequestKind, file: &str, request: Request) -> Step {
        let call = self.open.begin(None, OpenRequest { file: file.to_owned(), what });
        Step::Call { call, request }
    }

    fn connect(&mut self, version: &str) -> Step {
        self.connected = true;
        let ServerFacts { version: server_version, editor_name: ide_name, .. } = &self.server;
        let capabilities = CAPABILITIES;
        let reply = json(&ToAgent::Connected { server_version, ide_name, capabilities, writes: true });
        Step::Introduced { name: "Clio".to_owned(), version: version.to_owned(), reply }
    }
}

impl Conversation for Clio {
    fn receive(&mut self, frame: &str, _exchange: Option<ExchangeId>) -> Step {
        let said: FromAgent<'_> = match serde_json::from_str(frame) {
            Ok(said) => said,
            // opencode, in a terminal with the window's variables.
            Err(_) if !self.connected && is_json_rpc(frame) => return Step::NeedsToken,
            Err(error) => {
                return Step::Malformed(wrong("BAD_MESSAGE", &format!("the message is invalid: {error}")));
            }
        };
        match said {
            FromAgent::Connect { client_version } => self.connect(&client_version),
            _ if !self.connected => Step::Malformed(wrong("NOT_CONNECTED", "send `connect` first")),
            FromAgent::OpenDiff { file, before, after, description } => {
                let label = format!("{} (Clio waits {PATIENCE_SECONDS} s)", label(&file, description));
                let request =
                    Request::Compare { path: PathBuf::from(&file), before, after, label, set: None };
                self.call(RequestKind::OpenDiff, &file, request)
            }
            FromAgent::ProposeDiff { file, edits, description } => {
                let label = label(&file, description);
                let edits = splices(edits);
                let all = EditsDigest::of(&edits);
                let files = change(&file, self.decided.rest(&file, edits));
                let request = Request::Edit { files, label, direct: false, inline: true, may_be_made: true };
                self.call(RequestKind::ProposeDiff(all), &file, request)
            }
            FromAgent::ApplyDiff { file, edits } => {
                let label = label(&file, String::new());
                let files = change(&file, splices(edits));
                let request = Request::Edit { files, label, direct: true, inline: false, may_be_made: false };
                self.call(RequestKind::ApplyDiff, &file, request)
            }
            FromAgent::CloseDiff { file } => {
                self.call(RequestKind::CloseDiff, &file, Request::CloseTab { label: file.clone() })
            }
            FromAgent::Status { message: text, level } => {
                let level = match level {
                    WireLevel::Info => MessageLevel::Info,
                    WireLevel::Warning => MessageLevel::Warning,
                    WireLevel::Error => MessageLevel::Error,
                };
                self.call(RequestKind::Status, "", Request::Message { text, level })
            }
        }
    }

    fn answer(&mut self, call: CallId, answer: &Answer) -> Option<AgentFrame> {
        let OpenRequest { file, what } = self.open.end(call)?.what;
        if let (RequestKind::ProposeDiff(edits), Answer::Accepted(_) | Answer::Rejected(_)) = (what, answer) {
            self.decided.note(&file, edits);
        }
        let say = match (answer, what) {
            // Clio has no message for it and does not wait for one.
            (Answer::Accepted(_), RequestKind::ApplyDiff) => return None,
            (Answer::Accepted(_), _) => ToAgent::DiffAccepted { file: &file },
            (Answer::Rejected(_), _) => ToAgent::DiffRejected { file: &file },
            // The agent withdrew it itself.
            (Answer::Failed(failure), _) if failure.kind == FailureKind::Withdrawn => return None,
            (Answer::Failed(failure), _) => ToAgent::Error {
                message: &failure.message,
                code: code(failure.kind),
                file: Some(file.as_str()).filter(|file| !file.is_empty()),
            },
            _ => return None,
        };
        Some(AgentFrame { text: json(&say), answers: None })
    }

    fn wait_limit_ms(&self, call: CallId) -> Option<u64> {
        let asked = self.open.get(call)?;
        (asked.what.what == RequestKind::OpenDiff).then_some(PATIENCE_SECONDS * 1000)
    }

    /// Clio has no notifications.
    fn event(&self, _event: &EditorEvent) -> Option<String> {
        None
    }

    fn not_text(&self) -> Option<String> {
        Some(wrong("BAD_MESSAGE", "the frame is not text: send JSON as text, in UTF-8"))
    }

    fn set_capabilities(&mut self, now: Capabilities) -> bool {
        self.server.capabilities = now;
        false
    }

    fn open_calls(&self) -> Box<dyn Iterator<Item = CallId> + '_> {
        self.open.ids()
    }

    fn open_changes(&self) -> Box<dyn Iterator<Item = (CallId, &str)> + '_> {
        self.open.named(|asked| asked.what.is_change().then_some(asked.file.as_str()))
    }
}

fn is_json_rpc(frame: &str) -> bool {
    #[derive(serde::Deserialize)]
    struct JsonRpcFrame {
        #[serde(rename = "jsonrpc")]
        _version: serde::de::IgnoredAny,
    }
    // Serde would accept an array as a struct.
    frame.trim_start().starts_with('{') && serde_json::from_str::<JsonRpcFrame>(frame).is_ok()
}

fn wrong(code: &'static str, message: &str) -> String {
    json(&ToAgent::Error { message, code, file: None })
}

fn label(file: &str, description: String) -> String {
    let name = || Path::new(file).file_name().map(|name| name.to_string_lossy().into_owned());
    Some(description).filter(|said| !said.trim().is_empty()).or_else(name).unwrap_or_default()
}

fn splices(edits: Vec<WireEdit>) -> Vec<Splice> {
    let splice = |edit: WireEdit| Splice {
        from: TextPosition { line: edit.range.start.line, character: edit.range.start.character },
        to: TextPosition { line: edit.range.end.line, character: edit.range.end.character },
        text: edit.new_text,
        expects: edit.old_text,
    };
    edits.into_iter().map(splice).collect()
}

fn change(file: &str, edits: Vec<Splice>) -> Vec<FileEdit> {
    vec![FileEdit { path: PathBuf::from(file), edits, may_create: false }]
}

fn code(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::InvalidParams => "BAD_MESSAGE",
        FailureKind::NotFound => "FILE_NOT_FOUND",
        FailureKind::OutsideWorkspace => "OUTSIDE_WORKSPACE",
        FailureKind::Denied => "DENIED",
        FailureKind::Unsupported => "UNSUPPORTED",
        FailureKind::TooLarge => "TOO_LARGE",
        FailureKind::NotText => "NOT_TEXT",
        FailureKind::Stale => "STALE_EDIT",
        FailureKind::Timeout => "TIMEOUT",
        FailureKind::EditorGone => "EDITOR_GONE",
        FailureKind::Io | FailureKind::Withdrawn | FailureKind::Internal => "FAILED",
    }
}
