//! The protocol of Gemini CLI and Qwen Code from the agent's side, as pure translation. It is MCP, each message in an
//! exchange of its own; but a decision comes as an event that names the file only, and what the editor shows comes
//! unasked. Here both become answers to calls.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::time::Duration;

use linkspan_editor_api::{Message, RequestId};
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use super::super::transport::MAX_MESSAGE;
use super::LEAVE;
use super::errands::{Act, Tag, Translator};
use super::replies::{self, ToolCall};
use crate::discover::Secret;
use crate::http::{Answer, HttpError, LoopbackUrl, Method, Request};

/// A little longer than our session waits.
const DEADLINE: Duration = Duration::from_secs(15);

#[derive(Debug)]
pub(super) struct Gemini {
    url: String,
    token: Option<String>,
    folders: Vec<PathBuf>,
    /// What the server calls this session.
    session: Option<String>,
    /// The revision of MCP that the server chose.
    revision: Option<String>,
    last_tag: Tag,
    errands: HashMap<Tag, Errand>,
    /// Changes that wait for a decision, by the path they are about: the wire knows no other name for them.
    diffs: BTreeMap<String, Diff>,
    /// Paths whose diff is being closed, and what is to be asked about them after that. A decision that crosses the
    /// closing must not answer a newer question.
    closing: BTreeMap<String, Vec<Message>>,
    /// Changes to ask for once decisions can be heard; none from then on.
    early: Option<Vec<Message>>,
    /// What the editor shows, as it told last.
    state: Value,
    /// Who waits for our goodbye.
    leaving: Option<RequestId>,
}

#[derive(Debug)]
struct Diff {
    id: RequestId,
    tab: Option<String>,
}

#[derive(Debug)]
enum Errand {
    Introduction(RequestId),
    /// `notifications/initialized`: after it, the stream can be opened.
    Introduced,
    Call(RequestId),
    Open {
        path: String,
        id: RequestId,
    },
    Close {
        path: String,
    },
    /// Nobody waits for it.
    Told,
    Goodbye,
}

impl Gemini {
    pub(super) fn new(port: u16, token: Option<&Secret>, folders: &[PathBuf]) -> Gemini {
        Gemini {
            url: LoopbackUrl::of_port(port).join("/mcp"),
            token: token.map(|token| token.reveal().to_owned()),
            folders: folders.to_vec(),
            session: None,
            revision: None,
            last_tag: 0,
            errands: HashMap::new(),
            diffs: BTreeMap::new(),
            closing: BTreeMap::new(),
            early: Some(Vec::new()),
            state: Value::Null,
            leaving: None,
        }
    }

    fn request(&self, method: Method, accept: &str, body: Vec<u8>) -> Request {
        let mut headers = vec![("accept", accept.to_owned())];
        if method == Method::Post {
            headers.push(("content-type", "application/json".into()));
        }
        headers.extend(self.token.as_ref().map(|token| ("authorization", format!("Bearer {token}"))));
        headers.extend(self.session.clone().map(|session| ("mcp-session-id", session)));
        headers.extend(self.revision.clone().map(|revision| ("mcp-protocol-version", revision)));
        Request { method, url: self.url.clone(), headers, body, deadline: Some(DEADLINE), limit: MAX_MESSAGE }
    }

    fn go(&mut self, errand: Errand, request: Request) -> Act {
        self.last_tag += 1;
        self.errands.insert(self.last_tag, errand);
        Act::Go(self.last_tag, request)
    }

    fn post(&mut self, errand: Errand, message: &Message) -> Act {
        let request = self.request(Method::Post, "application/json, text/event-stream", message.to_bytes());
        self.go(errand, request)
    }

    fn call(&mut self, id: RequestId, mut call: ToolCall, message: Message) -> Vec<Act> {
        let tab = call.take_tab();
        match call.name.as_str() {
            "openDiff" => {
                let Some(path) = call.text("filePath").map(str::to_owned) else {
                    return vec![Act::Tell(replies::no_arguments(
                        id,
                        "openDiff",
                        "`filePath` and `newContent`",
                    ))];
                };
                if let Some(after) = self.closing.get_mut(&path).or(self.early.as_mut()) {
                    after.push(message);
                    return vec![];
                }
                if self.diffs.contains_key(&path) {
                    let why = format!(
                        "a change to {path} waits for a decision already, and on this wire a file has only one: \
                         decide it or take it back first"
                    );
                    return vec![Act::Tell(replies::tool_failed(id, &why))];
                }
                let asked = called(id.clone(), &call);
                self.diffs.insert(path.clone(), Diff { id: id.clone(), tab });
                vec![self.post(Errand::Open { path, id }, &asked)]
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
            "getCurrentSelection" | "getLatestSelection" => {
                vec![Act::Tell(replies::data(id, &selection(&self.state).unwrap_or_default()))]
            }
            "getOpenEditors" => vec![Act::Tell(replies::data(id, &editors(&self.state)))],
            "getWorkspaceFolders" => vec![Act::Tell(replies::folders(id, &self.folders))],
            _ => vec![self.post(Errand::Call(id), &message)],
        }
    }

    /// Takes changes off the screen; whoever asked hears it at once.
    fn withdraw(&mut self, which: impl Fn(&Diff) -> bool) -> Vec<Act> {
        let taken_back: Vec<_> = self.diffs.extract_if(.., |_, diff| which(diff)).collect();
        let mut acts = Vec::new();
        for (path, diff) in taken_back {
            let arguments = json!({ "filePath": path, "suppressNotification": true });
            let arguments = arguments.as_object().cloned().unwrap_or_default();
            let close = ToolCall { name: "closeDiff".into(), arguments };
            let id = RequestId::String(format!("close-{}", self.last_tag));
            self.closing.insert(path.clone(), Vec::new());
            acts.push(Act::Tell(replies::withdrawn(diff.id)));
            acts.push(self.post(Errand::Close { path }, &called(id, &close)));
        }
        acts
    }

    /// Takes back what was not asked for yet.
    fn forget(&mut self, id: RequestId) -> Option<Act> {
        let is_it = |message: &mut Message| matches!(message, Message::Request { id: of, .. } if *of == id);
        let waiting = self.closing.values_mut().chain(self.early.as_mut());
        let forgotten: usize = waiting.map(|messages| messages.extract_if(.., is_it).count()).sum();
        (forgotten > 0).then(|| Act::Tell(replies::withdrawn(id)))
    }

    /// Once nothing is left to be closed, the session is ended.
    fn goodbye(&mut self) -> Vec<Act> {
        if self.leaving.is_none() || !self.closing.is_empty() {
            return vec![];
        }
        let request = self.request(Method::Delete, "application/json", Vec::new());
        vec![self.go(Errand::Goodbye, request)]
    }

    /// The answer to our request among what came back; all else is heard as on the stream.
    fn read(&mut self, id: &RequestId, answer: Result<Answer, HttpError>, acts: &mut Vec<Act>) -> Message {
        let failed = |why: String| replies::failed(id.clone(), why);
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => return failed(format!("the editor's server: {error}")),
        };
        if !answer.is_success() {
            return failed(refusal(&answer));
        }
        let texts = match answer.texts() {
            Ok(texts) => texts,
            Err(why) => return failed(format!("the editor's server: {why}")),
        };
        let mut found = None;
        for text in texts {
            match Message::parse(text.as_bytes()) {
                Ok(Message::Response { id: Some(of), result }) if of == *id => {
                    found = Some(Message::Response { id: Some(of), result });
                }
                Ok(Message::Response { .. }) => {}
                Ok(_) => acts.extend(self.heard(&text)),
                Err(error) => {
                    return failed(format!("the editor's server answers what is no answer: {error}"));
                }
            }
        }
        found.unwrap_or_else(|| {
            failed("the editor's server answers something else than what was asked".into())
        })
    }

    fn decided(
        &mut self,
        params: &RawValue,
        answer: impl FnOnce(RequestId, Option<&str>) -> Message,
    ) -> Vec<Act> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Decided {
            file_path: String,
            #[serde(default)]
            content: Option<String>,
        }
        let Ok(decided) = serde_json::from_str::<Decided>(params.get()) else { return vec![] };
        // One that nobody waits for was taken back, or is another agent's.
        let Some(diff) = self.diffs.remove(&decided.file_path) else { return vec![] };
        vec![Act::Tell(answer(diff.id, decided.content.as_deref()))]
    }
}

impl Translator for Gemini {
    fn ours(&mut self, message: Message) -> Vec<Act> {
        match &message {
            Message::Request { id, method, params } => {
                let id = id.clone();
                match (method.as_str(), ToolCall::read(params)) {
                    ("initialize", _) => vec![self.post(Errand::Introduction(id), &message)],
                    ("tools/call", Some(call)) => self.call(id, call, message),
                    (LEAVE, _) => {
                        self.leaving = Some(id);
                        let mut acts = self.withdraw(|_| true);
                        acts.extend(self.goodbye());
                        acts
                    }
                    _ => vec![self.post(Errand::Call(id), &message)],
                }
            }
            Message::Notification { method, params } => match method.as_str() {
                "notifications/initialized" => vec![self.post(Errand::Introduced, &message)],
                "notifications/cancelled" => {
                    let id = replies::cancelled(params);
                    let mut acts = self.withdraw(|diff| Some(&diff.id) == id.as_ref());
                    acts.extend(id.and_then(|id| self.forget(id)));
                    if acts.is_empty() { vec![self.post(Errand::Told, &message)] } else { acts }
                }
                _ => vec![self.post(Errand::Told, &message)],
            },
            Message::Response { .. } => vec![self.post(Errand::Told, &message)],
        }
    }

    fn back(&mut self, tag: Tag, answer: Result<Answer, HttpError>) -> Vec<Act> {
        let Some(errand) = self.errands.remove(&tag) else { return vec![] };
        let mut acts = Vec::new();
        // The server has forgotten us, and everything that we asked.
        let forgotten = self.session.is_some() && answer.as_ref().is_ok_and(|answer| answer.status == 404);
        match errand {
            Errand::Introduction(id) => {
                if let Ok(answer) = &answer {
                    self.session.clone_from(&answer.session);
                }
                let message = self.read(&id, answer, &mut acts);
                if let Message::Response { result: Ok(result), .. } = &message {
                    let result: Value = serde_json::from_str(result.get()).unwrap_or_default();
                    self.revision = result.get("protocolVersion").and_then(Value::as_str).map(str::to_owned);
                }
                acts.push(Act::Tell(message));
            }
            Errand::Introduced => {
                let request =
                    Request { deadline: None, ..self.request(Method::Get, "text/event-stream", vec![]) };
                acts.push(Act::Listen(request));
            }
            Errand::Call(id) => {
                let message = self.read(&id, answer, &mut acts);
                acts.push(Act::Tell(message));
            }
            Errand::Open { path, id } => {
                let message = self.read(&id, answer, &mut acts);
                // The decision may have been faster, and the change may have been taken back.
                let waits = self.diffs.get(&path).is_some_and(|diff| diff.id == id);
                if waits && is_failure(&message) {
                    self.diffs.remove(&path);
                    acts.push(Act::Tell(message));
                }
            }
            Errand::Close { path } => {
                let after = self.closing.remove(&path).unwrap_or_default();
                for message in after {
                    acts.extend(self.ours(message));
                }
                acts.extend(self.goodbye());
            }
            Errand::Told => {}
            Errand::Goodbye => {
                let id = self.leaving.take();
                acts.extend(id.map(|id| Act::Tell(Message::response(id, &json!({})))));
                return acts;
            }
        }
        if forgotten {
            acts.push(Act::Close);
        }
        acts
    }

    fn listening(&mut self) -> Vec<Act> {
        let early = self.early.take().unwrap_or_default();
        early.into_iter().flat_map(|message| self.ours(message)).collect()
    }

    fn heard(&mut self, data: &str) -> Vec<Act> {
        let Ok(message) = Message::parse(data.as_bytes()) else { return vec![] };
        let Message::Notification { method, params } = &message else {
            // Pings and other questions are answered by our session; answers come with their exchanges.
            return if matches!(message, Message::Request { .. }) {
                vec![Act::Tell(message)]
            } else {
                vec![]
            };
        };
        match method.as_str() {
            "ide/diffAccepted" => self.decided(params, |id, content| match content {
                Some(content) => replies::texts(id, &["FILE_SAVED", content]),
                // The text is what was accepted: without it there is nothing to write.
                None => replies::texts(id, &["FILE_SAVED"]),
            }),
            "ide/diffRejected" | "ide/diffClosed" => {
                self.decided(params, |id, _| replies::texts(id, &["DIFF_REJECTED"]))
            }
            "ide/contextUpdate" => {
                let update: Value = serde_json::from_str(params.get()).unwrap_or_default();
                let before = selection(&self.state);
                self.state = update.get("workspaceState").cloned().unwrap_or_default();
                let now = selection(&self.state).filter(|now| Some(now) != before.as_ref());
                let params = now.and_then(|now| to_raw_value(&now).ok());
                let told =
                    params.map(|params| Message::Notification { method: "selection_changed".into(), params });
                told.map(Act::Tell).into_iter().collect()
            }
            _ => vec![Act::Tell(message)],
        }
    }
}

fn called(id: RequestId, call: &ToolCall) -> Message {
    let params = json!({ "name": call.name, "arguments": call.arguments });
    let params = to_raw_value(&params).unwrap_or_else(|_| RawValue::NULL.to_owned());
    Message::Request { id, method: "tools/call".into(), params }
}

fn is_failure(message: &Message) -> bool {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Outcome {
        #[serde(default)]
        is_error: bool,
    }
    match message {
        Message::Response { result: Ok(result), .. } => {
            serde_json::from_str(result.get()).is_ok_and(|Outcome { is_error }| is_error)
        }
        _ => true,
    }
}

fn refusal(answer: &Answer) -> String {
    match answer.status {
        401 | 403 => format!("the editor's server does not take the token (HTTP {})", answer.status),
        status => format!("the editor's server answers HTTP {status}"),
    }
}

/// What is selected, in the shape that other servers have for it. The wire tells the cursor, counted from 1, and the
/// text, but not where the selection begins.
fn selection(state: &Value) -> Option<Value> {
    let active = files(state).find(|file| file.get("isActive") == Some(&Value::Bool(true)))?;
    let number = |key: &str| active.get("cursor")?.get(key)?.as_u64().map(|number| number.saturating_sub(1));
    let at = json!({ "line": number("line").unwrap_or(0), "character": number("character").unwrap_or(0) });
    Some(json!({
        "filePath": active.get("path")?.as_str()?,
        "text": active.get("selectedText").and_then(Value::as_str).unwrap_or_default(),
        "selection": { "start": at, "end": at },
    }))
}

fn editors(state: &Value) -> Value {
    let tab = |file: &Value| {
        Some(json!({ "filePath": file.get("path")?.as_str()?, "isActive": file.get("isActive") }))
    };
    Value::Array(files(state).filter_map(tab).collect())
}

fn files(state: &Value) -> impl Iterator<Item = &Value> {
    state.get("openFiles").and_then(Value::as_array).into_iter().flatten()
}
