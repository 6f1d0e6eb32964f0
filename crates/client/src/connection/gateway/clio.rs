//! Clio's protocol from the agent's side, as pure translation. It has no ids: an answer belongs to the pending question
//! if it is about the same file. So there is one question at a time, and the others wait. After a withdrawal they also
//! wait until everything that the editor sent before it received the withdrawal has arrived.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use linkspan_editor_api::wire_names::diff_answer::{DIFF_REJECTED, FILE_SAVED};
use linkspan_editor_api::{Message, RequestId};
use serde_json::{Value, json};

use super::replies::{self, ToolCall};
use super::{LEAVE, whole_file};

/// File operations.
#[derive(Debug, Clone, Copy)]
pub(super) struct Disk {
    /// Reads a file, or says why it cannot.
    pub(super) read: fn(&Path) -> Result<String, String>,
    /// Replaces the first text by the second, or says why it cannot.
    pub(super) write: fn(&Path, &str, &str) -> Result<(), String>,
}

const TOOLS: [(&str, &str); 3] = [
    ("openDiff", "Show a change: file, after, and optionally before and description."),
    ("closeDiff", "Close the diff of a file: file."),
    ("status", "Show a message: message, and level: info, warning or error."),
];

/// What to do, in this order.
#[derive(Debug)]
pub(super) enum ClioStep {
    /// Send this to our session.
    ToSession(Message),
    /// Send this to the editor.
    ToEditor(Value),
    /// Ping the editor.
    Probe(i64),
}

#[derive(Debug)]
pub(super) struct Clio {
    version: String,
    folders: Vec<PathBuf>,
    disk: Disk,
    /// The handshake that is not answered yet.
    hello: Option<RequestId>,
    /// The editor asks the user. Some editors write an accepted change; Clio's own extension leaves that to the agent.
    proposes: bool,
    /// The editor reports that it writes.
    writes: bool,
    current: Option<PendingDiff>,
    /// Accepted; once this probe is answered, the file is checked.
    accepted: Option<(i64, PendingDiff)>,
    waiting: VecDeque<PendingDiff>,
    /// The unanswered probe after the last withdrawal. Our ids are negative, those of our session are not.
    settling: Option<i64>,
    last_probe: i64,
}

/// These editors accept by themselves: they show the change and write nothing.
const NO_PROPOSALS: &str = "this editor only shows changes: it neither asks the user nor writes accepted changes. \
    Update its Clio extension to one that has `proposeDiff`, or attach the editor to Linkspan's hub";

#[derive(Debug)]
struct PendingDiff {
    id: RequestId,
    file: String,
    /// The text of the file when the question was sent.
    before: Option<String>,
    after: String,
    description: String,
    tab: Option<String>,
    /// The caller wants to write it.
    by_caller: bool,
}

impl Clio {
    pub(super) fn new(version: &str, folders: &[PathBuf], disk: Disk) -> Clio {
        Clio {
            version: version.to_owned(),
            folders: folders.to_vec(),
            disk,
            hello: None,
            proposes: false,
            writes: false,
            current: None,
            accepted: None,
            waiting: VecDeque::new(),
            settling: None,
            last_probe: 0,
        }
    }

    /// Handles a message of our session.
    pub(super) fn ours(&mut self, message: Message) -> Vec<ClioStep> {
        match message {
            Message::Request { id, method, params } => match method.as_str() {
                "initialize" => {
                    self.hello = Some(id);
                    vec![ClioStep::ToEditor(json!({ "type": "connect", "clientVersion": self.version }))]
                }
                "ping" => match id {
                    RequestId::Number(number) => vec![ClioStep::Probe(number)],
                    RequestId::String(_) => vec![],
                },
                "tools/list" => vec![ClioStep::ToSession(replies::tools(id, &TOOLS))],
                "tools/call" => match ToolCall::read(&params) {
                    Some(call) => self.call(id, call),
                    None => vec![ClioStep::ToSession(replies::not_offered(id, &method))],
                },
                LEAVE => {
                    let mut steps = self.settle();
                    steps.extend(self.withdraw(|_| true));
                    steps.push(ClioStep::ToSession(Message::response(id, &json!({}))));
                    steps
                }
                _ => vec![ClioStep::ToSession(replies::not_offered(id, &method))],
            },
            Message::Notification { method, params } if method == "notifications/cancelled" => {
                match replies::cancelled(&params) {
                    Some(id) => self.withdraw(|diff| diff.id == id),
                    None => vec![],
                }
            }
            Message::Notification { .. } | Message::Response { .. } => vec![],
        }
    }

    fn call(&mut self, id: RequestId, mut call: ToolCall) -> Vec<ClioStep> {
        let tab = call.take_tab();
        match call.name.as_str() {
            "openDiff" | "proposeDiff" if !self.proposes => {
                vec![ClioStep::ToSession(replies::tool_failed(id, NO_PROPOSALS))]
            }
            "openDiff" | "proposeDiff" => {
                let (Some(file), Some(after)) = (call.text("file"), call.text("after")) else {
                    return vec![ClioStep::ToSession(replies::no_arguments(
                        id,
                        &call.name,
                        "`file` and `after`",
                    ))];
                };
                self.waiting.push_back(PendingDiff {
                    id,
                    file: file.to_owned(),
                    before: call.text("before").map(str::to_owned),
                    after: after.to_owned(),
                    description: call.text("description").unwrap_or_default().to_owned(),
                    tab,
                    by_caller: call.text("writer") == Some("caller"),
                });
                self.next()
            }
            "closeDiff" => {
                let Some(file) = call.text("file").map(str::to_owned) else {
                    return vec![ClioStep::ToSession(replies::no_arguments(id, "closeDiff", "`file`"))];
                };
                let mut steps = self.withdraw(|diff| diff.file == file);
                if steps.is_empty() {
                    steps.push(ClioStep::ToEditor(json!({ "type": "closeDiff", "file": file })));
                }
                steps.push(ClioStep::ToSession(replies::texts(id, &["ok"])));
                steps
            }
            "close_tab" => {
                let mut steps = self.withdraw(|diff| tab.is_some() && diff.tab == tab);
                steps.push(ClioStep::ToSession(replies::texts(id, &["ok"])));
                steps
            }
            "closeAllDiffTabs" => {
                let mut steps = self.withdraw(|_| true);
                steps.push(ClioStep::ToSession(replies::texts(id, &["ok"])));
                steps
            }
            "status" => {
                let Some(message) = call.text("message") else {
                    return vec![ClioStep::ToSession(replies::no_arguments(id, "status", "`message`"))];
                };
                let level = call.text("level").unwrap_or("info");
                let status = json!({ "type": "status", "message": message, "level": level });
                vec![ClioStep::ToEditor(status), ClioStep::ToSession(replies::texts(id, &["ok"]))]
            }
            "getWorkspaceFolders" => vec![ClioStep::ToSession(replies::folders(id, &self.folders))],
            // `applyDiff` is not offered: it writes without asking.
            other => vec![ClioStep::ToSession(replies::not_offered(id, other))],
        }
    }

    /// Sends the next question, if none is pending.
    fn next(&mut self) -> Vec<ClioStep> {
        let mut steps = Vec::new();
        while self.current.is_none() && self.settling.is_none() && self.accepted.is_none() {
            let Some(mut diff) = self.waiting.pop_front() else { break };
            let before = match diff.before.take() {
                Some(before) => Ok(before),
                None => (self.disk.read)(Path::new(&diff.file)),
            };
            match before {
                Ok(before) => {
                    steps.push(ClioStep::ToEditor(question(&diff, &before)));
                    diff.before = Some(before);
                    self.current = Some(diff);
                }
                Err(why) => steps.push(ClioStep::ToSession(replies::tool_failed(diff.id, &why))),
            }
        }
        steps
    }

    /// Withdraws questions and notifies their callers.
    fn withdraw(&mut self, which: impl Fn(&PendingDiff) -> bool) -> Vec<ClioStep> {
        let mut steps = Vec::new();
        if let Some(diff) = self.current.take_if(|diff| which(diff)) {
            steps.push(ClioStep::ToEditor(json!({ "type": "closeDiff", "file": diff.file })));
            steps.push(ClioStep::ToSession(replies::withdrawn(diff.id)));
            // A decision may already be on its way; it must not answer the next question.
            let probe = self.probe();
            self.settling = Some(probe);
            steps.push(ClioStep::Probe(probe));
        }
        let (taken_back, kept) = self.waiting.drain(..).partition::<Vec<PendingDiff>, _>(|diff| which(diff));
        self.waiting.extend(kept);
        steps.extend(taken_back.into_iter().map(|diff| ClioStep::ToSession(replies::withdrawn(diff.id))));
        steps.extend(self.next());
        steps
    }

    fn probe(&mut self) -> i64 {
        self.last_probe -= 1;
        self.last_probe
    }

    /// Makes sure that the accepted text is in the file, and answers the caller. An editor that writes has done so,
    /// because it has answered a later probe.
    fn settle(&mut self) -> Vec<ClioStep> {
        let Some((_, diff)) = self.accepted.take() else { return vec![] };
        let PendingDiff { id, file, before, after, by_caller, .. } = diff;
        let (path, before) = (Path::new(&file), before.unwrap_or_default());
        let written = match (self.disk.read)(path) {
            Ok(now) if same(&now, &after) => Ok(true),
            // The user's version of it, or a later change.
            Ok(now) if self.writes && now != before => Ok(true),
            Ok(now) if now == before && by_caller => Ok(false),
            Ok(_) => (self.disk.write)(path, &before, &after).map(|()| true),
            Err(why) => Err(format!("accepted, but could not check whether it was written: {why}")),
        };
        let mut steps = vec![ClioStep::ToSession(match written {
            Ok(true) => replies::texts(id, &[FILE_SAVED]),
            Ok(false) => replies::texts(id, &[replies::NOT_WRITTEN]),
            Err(why) => replies::tool_failed(id, &why),
        })];
        steps.extend(self.next());
        steps
    }

    /// The editor answers a probe.
    pub(super) fn pong(&mut self, id: i64) -> Vec<ClioStep> {
        if id >= 0 {
            return vec![ClioStep::ToSession(Message::response(RequestId::Number(id), &Value::Null))];
        }
        if self.accepted.as_ref().is_some_and(|(probe, _)| *probe == id) {
            return self.settle();
        }
        match self.settling.take_if(|probe| *probe == id) {
            Some(_) => self.next(),
            None => vec![],
        }
    }

    /// Handles a message of the editor.
    pub(super) fn theirs(&mut self, said: &Value) -> Vec<ClioStep> {
        let text = |key: &str| said.get(key).and_then(Value::as_str);
        match text("type") {
            Some("connected") => {
                let offers = said.get("capabilities").and_then(Value::as_array);
                self.proposes =
                    offers.is_some_and(|offers| offers.iter().any(|offer| offer == "proposeDiff"));
                self.writes = said.get("writes") == Some(&Value::Bool(true));
                let Some(id) = self.hello.take() else { return vec![] };
                let (name, version) =
                    (text("ideName").unwrap_or("clio"), text("serverVersion").unwrap_or("?"));
                vec![ClioStep::ToSession(replies::initialized(id, name, version))]
            }
            Some("diffAccepted") => match self.decided(text("file")) {
                Some(diff) => {
                    let probe = self.probe();
                    self.accepted = Some((probe, diff));
                    vec![ClioStep::Probe(probe)]
                }
                None => vec![],
            },
            Some("diffRejected") => match self.decided(text("file")) {
                Some(diff) => {
                    let mut steps = vec![ClioStep::ToSession(replies::texts(diff.id, &[DIFF_REJECTED]))];
                    steps.extend(self.next());
                    steps
                }
                None => vec![],
            },
            Some("error") => {
                let message = text("message").unwrap_or("the editor reports a failure without a reason");
                let message = match text("code") {
                    Some(code) => format!("{message} ({code})"),
                    None => message.to_owned(),
                };
                if let Some(id) = self.hello.take() {
                    return vec![ClioStep::ToSession(replies::failed(id, message))];
                }
                let about = text("file");
                let fits = |diff: &mut PendingDiff| about.is_none_or(|file| file == diff.file);
                let Some(diff) = self.current.take_if(fits) else { return vec![] };
                let mut steps = vec![ClioStep::ToSession(replies::tool_failed(diff.id, &message))];
                steps.extend(self.next());
                steps
            }
            _ => vec![],
        }
    }

    /// Some editors notify every agent of every decision: one about another file belongs to another agent.
    fn decided(&mut self, file: Option<&str>) -> Option<PendingDiff> {
        self.current.take_if(|diff| Some(diff.file.as_str()) == file)
    }
}

/// An editor that writes keeps the byte order mark and the line endings of the file.
fn same(now: &str, wanted: &str) -> bool {
    let plain = |text: &str| text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    now == wanted || plain(now) == plain(wanted)
}

fn question(diff: &PendingDiff, before: &str) -> Value {
    let PendingDiff { file, after, description, .. } = diff;
    let edits = [whole_file::edit(before, after)];
    json!({ "type": "proposeDiff", "file": file, "edits": edits, "description": description })
}
