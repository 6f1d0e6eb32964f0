//! Clio's protocol from the agent's side, as pure translation. It has no ids: an answer belongs to the question that is
//! under way, if it is about the same file. So there is one question at a time, and others wait for their turn; also
//! until all that the editor had said before it heard of a withdrawal has arrived.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use linkspan_editor_api::{Message, RequestId};
use serde_json::{Value, json};

use super::replies::{self, ToolCall};
use super::{LEAVE, whole_file};

/// What is done with files.
#[derive(Debug, Clone, Copy)]
pub(super) struct Disk {
    /// What a file holds, or why that is not known.
    pub(super) read: fn(&Path) -> Result<String, String>,
    /// Puts the second text in place of the first, or says why not.
    pub(super) write: fn(&Path, &str, &str) -> Result<(), String>,
}

const TOOLS: [(&str, &str); 3] = [
    ("openDiff", "Show a change: file, after, and optionally before and description."),
    ("closeDiff", "Close the diff of a file: file."),
    ("status", "Show a message: message, and level: info, warning or error."),
];

/// What shall be done, in this order.
#[derive(Debug)]
pub(super) enum Act {
    /// To our session.
    Tell(Message),
    /// To the editor.
    Say(Value),
    /// Asks the editor for a sign of life.
    Probe(i64),
}

#[derive(Debug)]
pub(super) struct Clio {
    version: String,
    folders: Vec<PathBuf>,
    disk: Disk,
    /// The introduction that is not answered yet.
    hello: Option<RequestId>,
    /// The editor asks the user. Some write what is accepted; Clio's own extension leaves that to the agent.
    proposes: bool,
    /// It says that it writes.
    writes: bool,
    current: Option<Diff>,
    /// Accepted; once this probe is answered, the file is looked at.
    accepted: Option<(i64, Diff)>,
    waiting: VecDeque<Diff>,
    /// The probe behind the last withdrawal that is not answered yet. Ours are negative, those of our session are not.
    settling: Option<i64>,
    last_probe: i64,
}

/// What these editors accept by themselves is shown, and nothing is written.
const NO_PROPOSALS: &str = "this editor only shows changes: it neither asks a person nor writes what was accepted. \
    Update its Clio extension to one that has `proposeDiff`, or attach the editor to Linkspan's hub";

#[derive(Debug)]
struct Diff {
    id: RequestId,
    file: String,
    /// What the file holds, once it is asked about.
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

    /// Something that our session says.
    pub(super) fn ours(&mut self, message: Message) -> Vec<Act> {
        match message {
            Message::Request { id, method, params } => match method.as_str() {
                "initialize" => {
                    self.hello = Some(id);
                    vec![Act::Say(json!({ "type": "connect", "clientVersion": self.version }))]
                }
                "ping" => match id {
                    RequestId::Number(number) => vec![Act::Probe(number)],
                    RequestId::String(_) => vec![],
                },
                "tools/list" => vec![Act::Tell(replies::tools(id, &TOOLS))],
                "tools/call" => match ToolCall::read(&params) {
                    Some(call) => self.call(id, call),
                    None => vec![Act::Tell(replies::not_offered(id, &method))],
                },
                LEAVE => {
                    let mut acts = self.settle();
                    acts.extend(self.withdraw(|_| true));
                    acts.push(Act::Tell(Message::response(id, &json!({}))));
                    acts
                }
                _ => vec![Act::Tell(replies::not_offered(id, &method))],
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

    fn call(&mut self, id: RequestId, mut call: ToolCall) -> Vec<Act> {
        let tab = call.take_tab();
        match call.name.as_str() {
            "openDiff" | "proposeDiff" if !self.proposes => {
                vec![Act::Tell(replies::tool_failed(id, NO_PROPOSALS))]
            }
            "openDiff" | "proposeDiff" => {
                let (Some(file), Some(after)) = (call.text("file"), call.text("after")) else {
                    return vec![Act::Tell(replies::no_arguments(id, &call.name, "`file` and `after`"))];
                };
                self.waiting.push_back(Diff {
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
                    return vec![Act::Tell(replies::no_arguments(id, "closeDiff", "`file`"))];
                };
                let mut acts = self.withdraw(|diff| diff.file == file);
                if acts.is_empty() {
                    acts.push(Act::Say(json!({ "type": "closeDiff", "file": file })));
                }
                acts.push(Act::Tell(replies::texts(id, &["ok"])));
                acts
            }
            "close_tab" => {
                let mut acts = self.withdraw(|diff| tab.is_some() && diff.tab == tab);
                acts.push(Act::Tell(replies::texts(id, &["ok"])));
                acts
            }
            "closeAllDiffTabs" => {
                let mut acts = self.withdraw(|_| true);
                acts.push(Act::Tell(replies::texts(id, &["ok"])));
                acts
            }
            "status" => {
                let Some(message) = call.text("message") else {
                    return vec![Act::Tell(replies::no_arguments(id, "status", "`message`"))];
                };
                let level = call.text("level").unwrap_or("info");
                let status = json!({ "type": "status", "message": message, "level": level });
                vec![Act::Say(status), Act::Tell(replies::texts(id, &["ok"]))]
            }
            "getWorkspaceFolders" => vec![Act::Tell(replies::folders(id, &self.folders))],
            // `applyDiff` is not among them: it writes, and nobody is asked.
            other => vec![Act::Tell(replies::not_offered(id, other))],
        }
    }

    /// Asks the next question, if none is under way.
    fn next(&mut self) -> Vec<Act> {
        let mut acts = Vec::new();
        while self.current.is_none() && self.settling.is_none() && self.accepted.is_none() {
            let Some(mut diff) = self.waiting.pop_front() else { break };
            let before = match diff.before.take() {
                Some(before) => Ok(before),
                None => (self.disk.read)(Path::new(&diff.file)),
            };
            match before {
                Ok(before) => {
                    acts.push(Act::Say(question(&diff, &before)));
                    diff.before = Some(before);
                    self.current = Some(diff);
                }
                Err(why) => acts.push(Act::Tell(replies::tool_failed(diff.id, &why))),
            }
        }
        acts
    }

    /// Takes questions back; whoever asked hears it.
    fn withdraw(&mut self, which: impl Fn(&Diff) -> bool) -> Vec<Act> {
        let mut acts = Vec::new();
        if let Some(diff) = self.current.take_if(|diff| which(diff)) {
            acts.push(Act::Say(json!({ "type": "closeDiff", "file": diff.file })));
            acts.push(Act::Tell(replies::withdrawn(diff.id)));
            // A decision may be on its way already: it must not answer the next question.
            let probe = self.probe();
            self.settling = Some(probe);
            acts.push(Act::Probe(probe));
        }
        let (taken_back, kept) = self.waiting.drain(..).partition::<Vec<Diff>, _>(|diff| which(diff));
        self.waiting.extend(kept);
        acts.extend(taken_back.into_iter().map(|diff| Act::Tell(replies::withdrawn(diff.id))));
        acts.extend(self.next());
        acts
    }

    fn probe(&mut self) -> i64 {
        self.last_probe -= 1;
        self.last_probe
    }

    /// Sees to it that what was accepted is in the file, and tells whoever asked. An editor that writes has done so:
    /// it has answered since.
    fn settle(&mut self) -> Vec<Act> {
        let Some((_, diff)) = self.accepted.take() else { return vec![] };
        let Diff { id, file, before, after, by_caller, .. } = diff;
        let (path, before) = (Path::new(&file), before.unwrap_or_default());
        let written = match (self.disk.read)(path) {
            Ok(now) if same(&now, &after) => Ok(true),
            // What the user made of it, or somebody since.
            Ok(now) if self.writes && now != before => Ok(true),
            Ok(now) if now == before && by_caller => Ok(false),
            Ok(_) => (self.disk.write)(path, &before, &after).map(|()| true),
            Err(why) => Err(format!("accepted, but it is not known whether it was written: {why}")),
        };
        let mut acts = vec![Act::Tell(match written {
            Ok(true) => replies::texts(id, &["FILE_SAVED"]),
            Ok(false) => replies::texts(id, &[replies::NOT_WRITTEN]),
            Err(why) => replies::tool_failed(id, &why),
        })];
        acts.extend(self.next());
        acts
    }

    /// The editor answers a probe.
    pub(super) fn pong(&mut self, id: i64) -> Vec<Act> {
        if id >= 0 {
            return vec![Act::Tell(Message::response(RequestId::Number(id), &Value::Null))];
        }
        if self.accepted.as_ref().is_some_and(|(probe, _)| *probe == id) {
            return self.settle();
        }
        match self.settling.take_if(|probe| *probe == id) {
            Some(_) => self.next(),
            None => vec![],
        }
    }

    /// Something that the editor says.
    pub(super) fn theirs(&mut self, said: &Value) -> Vec<Act> {
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
                vec![Act::Tell(replies::initialized(id, name, version))]
            }
            Some("diffAccepted") => match self.decided(text("file")) {
                Some(diff) => {
                    let probe = self.probe();
                    self.accepted = Some((probe, diff));
                    vec![Act::Probe(probe)]
                }
                None => vec![],
            },
            Some("diffRejected") => match self.decided(text("file")) {
                Some(diff) => {
                    let mut acts = vec![Act::Tell(replies::texts(diff.id, &["DIFF_REJECTED"]))];
                    acts.extend(self.next());
                    acts
                }
                None => vec![],
            },
            Some("error") => {
                let message = text("message").unwrap_or("the editor says that it failed, and not why");
                let message = match text("code") {
                    Some(code) => format!("{message} ({code})"),
                    None => message.to_owned(),
                };
                if let Some(id) = self.hello.take() {
                    return vec![Act::Tell(replies::failed(id, message))];
                }
                let about = text("file");
                let fits = |diff: &mut Diff| about.is_none_or(|file| file == diff.file);
                let Some(diff) = self.current.take_if(fits) else { return vec![] };
                let mut acts = vec![Act::Tell(replies::tool_failed(diff.id, &message))];
                acts.extend(self.next());
                acts
            }
            _ => vec![],
        }
    }

    /// Some editors tell every agent about every decision: one about another file is somebody else's.
    fn decided(&mut self, file: Option<&str>) -> Option<Diff> {
        self.current.take_if(|diff| Some(diff.file.as_str()) == file)
    }
}

/// An editor that writes keeps the byte order mark and the line endings of the file.
fn same(now: &str, wanted: &str) -> bool {
    let plain = |text: &str| text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    now == wanted || plain(now) == plain(wanted)
}

fn question(diff: &Diff, before: &str) -> Value {
    let Diff { file, after, description, .. } = diff;
    let edits = [whole_file::edit(before, after)];
    json!({ "type": "proposeDiff", "file": file, "edits": edits, "description": description })
}
