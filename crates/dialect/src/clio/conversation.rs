//! What each message means, and what is said to it. Each question is answered once, or not at all.

use std::path::{Path, PathBuf};

use linkspan_editor_api::{Capabilities, MessageLevel};
use linkspan_review::{Place, Splice};

use super::decided_edits::{DecidedEdits, Edits};
use super::messages::{Edit, Level, Said, Say};
use crate::conversation::{CallId, Conversation, Exchange, Frame, Server, Step};
use crate::mcp::json;
use crate::meaning::{Answer, EditorEvent, FailureKind, FileEdit, Request};
use crate::open_calls::OpenCalls;

const CAPABILITIES: &[&str] = &["diff", "apply", "status", "proposeDiff"];

/// Its own client gives up after 30 s, and what is said then would be taken for something else.
const PATIENCE_SECONDS: u64 = 28;

#[derive(Debug)]
pub(super) struct Clio {
    server: Server,
    connected: bool,
    open: OpenCalls<Asked>,
    decided: DecidedEdits,
}

#[derive(Debug)]
struct Asked {
    /// As the agent wrote it: answers name it so.
    file: String,
    what: What,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    OpenDiff,
    /// With all that it speaks of.
    ProposeDiff(Edits),
    ApplyDiff,
    CloseDiff,
    Status,
}

impl What {
    fn is_change(self) -> bool {
        matches!(self, What::OpenDiff | What::ProposeDiff(_) | What::ApplyDiff)
    }
}

impl Clio {
    pub(super) fn new(server: Server) -> Clio {
        Clio { server, connected: false, open: OpenCalls::default(), decided: DecidedEdits::default() }
    }

    fn call(&mut self, what: What, file: &str, request: Request) -> Step {
        let call = self.open.begin(None, Asked { file: file.to_owned(), what });
        Step::Call { call, request }
    }

    fn connect(&mut self, version: &str) -> Step {
        self.connected = true;
        let Server { version: server_version, editor_name: ide_name, .. } = &self.server;
        let capabilities = CAPABILITIES;
        let reply = json(&Say::Connected { server_version, ide_name, capabilities, writes: true });
        Step::Introduced { name: "Clio".to_owned(), version: version.to_owned(), reply }
    }
}

impl Conversation for Clio {
    fn receive(&mut self, frame: &str, _exchange: Option<Exchange>) -> Step {
        let said: Said<'_> = match serde_json::from_str(frame) {
            Ok(said) => said,
            // opencode in a terminal with the window's variables.
            Err(_) if !self.connected && is_json_rpc(frame) => return Step::NeedsToken,
            Err(error) => {
                return Step::Malformed(wrong("BAD_MESSAGE", &format!("this is no message: {error}")));
            }
        };
        match said {
            Said::Connect { client_version } => self.connect(&client_version),
            _ if !self.connected => Step::Malformed(wrong("NOT_CONNECTED", "send `connect` first")),
            Said::OpenDiff { file, before, after, description } => {
                let label = format!("{} (Clio waits {PATIENCE_SECONDS} s)", label(&file, description));
                let request =
                    Request::Compare { path: PathBuf::from(&file), before, after, label, set: None };
                self.call(What::OpenDiff, &file, request)
            }
            Said::ProposeDiff { file, edits, description } => {
                let label = label(&file, description);
                let edits = splices(edits);
                let all = Edits::of(&edits);
                let files = change(&file, self.decided.rest(&file, edits));
                let request = Request::Edit { files, label, direct: false, inline: true, may_be_made: true };
                self.call(What::ProposeDiff(all), &file, request)
            }
            Said::ApplyDiff { file, edits } => {
                let label = label(&file, String::new());
                let files = change(&file, splices(edits));
                let request = Request::Edit { files, label, direct: true, inline: false, may_be_made: false };
                self.call(What::ApplyDiff, &file, request)
            }
            Said::CloseDiff { file } => {
                self.call(What::CloseDiff, &file, Request::CloseTab { label: file.clone() })
            }
            Said::Status { message: text, level } => {
                let level = match level {
                    Level::Info => MessageLevel::Info,
                    Level::Warning => MessageLevel::Warning,
                    Level::Error => MessageLevel::Error,
                };
                self.call(What::Status, "", Request::Message { text, level })
            }
        }
    }

    fn answer(&mut self, call: CallId, answer: &Answer) -> Option<Frame> {
        let Asked { file, what } = self.open.end(call)?.what;
        if let (What::ProposeDiff(edits), Answer::Accepted(_) | Answer::Rejected(_)) = (what, answer) {
            self.decided.note(&file, edits);
        }
        let say = match (answer, what) {
            // There is no word for it, and nobody listens for one.
            (Answer::Accepted(_), What::ApplyDiff) => return None,
            (Answer::Accepted(_), _) => Say::DiffAccepted { file: &file },
            (Answer::Rejected(_), _) => Say::DiffRejected { file: &file },
            // The agent's own doing.
            (Answer::Failed(failure), _) if failure.kind == FailureKind::Withdrawn => return None,
            (Answer::Failed(failure), _) => Say::Error {
                message: &failure.message,
                code: code(failure.kind),
                file: Some(file.as_str()).filter(|file| !file.is_empty()),
            },
            _ => return None,
        };
        Some(Frame { text: json(&say), answers: None })
    }

    fn patience_ms(&self, call: CallId) -> Option<u64> {
        let asked = self.open.get(call)?;
        (asked.what.what == What::OpenDiff).then_some(PATIENCE_SECONDS * 1000)
    }

    /// It hears nothing unasked.
    fn event(&self, _event: &EditorEvent) -> Option<String> {
        None
    }

    fn not_text(&self) -> String {
        wrong("BAD_MESSAGE", "this is no text: send JSON as text, in UTF-8")
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
    struct Frame {
        #[serde(rename = "jsonrpc")]
        _version: serde::de::IgnoredAny,
    }
    // A struct could be given as a list as well.
    frame.trim_start().starts_with('{') && serde_json::from_str::<Frame>(frame).is_ok()
}

fn wrong(code: &'static str, message: &str) -> String {
    json(&Say::Error { message, code, file: None })
}

fn label(file: &str, description: String) -> String {
    let name = || Path::new(file).file_name().map(|name| name.to_string_lossy().into_owned());
    Some(description).filter(|said| !said.trim().is_empty()).or_else(name).unwrap_or_default()
}

fn splices(edits: Vec<Edit>) -> Vec<Splice> {
    let splice = |edit: Edit| Splice {
        from: Place { line: edit.range.start.line, character: edit.range.start.character },
        to: Place { line: edit.range.end.line, character: edit.range.end.character },
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
