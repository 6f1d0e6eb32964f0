//! The protocol of Gemini CLI and Qwen Code from the agent's side, as pure translation. It is MCP, with one HTTP
//! exchange for each message; but a decision is a notification that names only the file, and the editor's state is a
//! notification too. Here both become answers to calls.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::time::Duration;

use linkspan_editor_api::wire_names::diff_answer::{DIFF_REJECTED, FILE_SAVED};
use linkspan_editor_api::wire_names::header;
use linkspan_editor_api::{Message, RequestId};
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use super::super::transport::MAX_MESSAGE;
use super::LEAVE;
use super::http_gateway::{HttpStep, Tag, Translator};
use super::replies::{self, ToolCall};
use crate::discover::Secret;
use crate::http::{HttpError, HttpMethod, HttpRequest, HttpResponse, LoopbackUrl};

/// A little longer than our session waits.
const DEADLINE: Duration = Duration::from_secs(15);

#[derive(Debug)]
pub(super) struct Gemini {
    url: String,
    token: Option<String>,
    folders: Vec<PathBuf>,
    /// The server's id of this session.
    session: Option<String>,
    /// The revision of MCP that the server chose.
    revision: Option<String>,
    last_tag: Tag,
    exchanges: HashMap<Tag, GeminiExchange>,
    /// Pending changes, by path: the wire has no other name for them.
    diffs: BTreeMap<String, OpenDiff>,
    /// Paths whose diff is being closed, and the calls for them after that. A decision that crosses the closing must
    /// not answer a newer call.
    closing: BTreeMap<String, Vec<Message>>,
    /// Changes to propose once decisions can be received; none from then on.
    early: Option<Vec<Message>>,
    /// The last state that the editor sent.
    state: Value,
    /// The request that waits for our goodbye.
    leaving: Option<RequestId>,
}

#[derive(Debug)]
struct OpenDiff {
    id: RequestId,
    tab: Option<String>,
}

#[derive(Debug)]
enum GeminiExchange {
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
    /// No caller waits for it.
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
            exchanges: HashMap::new(),
            diffs: BTreeMap::new(),
            closing: BTreeMap::new(),
            early: Some(Vec::new()),
            state: Value::Null,
            leaving: None,
        }
    }

    fn request(&self, method: HttpMethod, accept: &str, body: Vec<u8>) -> HttpRequest {
        let mut headers = vec![("accept", accept.to_owned())];
        if method == HttpMethod::Post {
            headers.push(("content-type", "application/json".into()));
        }
        headers.extend(self.token.as_ref().map(|token| (header::AUTHORIZATION, format!("Bearer {token}"))));
        headers.extend(self.session.clone().map(|session| (header::MCP_SESSION_ID, session)));
        headers.extend(self.revision.clone().map(|revision| (header::MCP_PROTOCOL_VERSION, revision)));
        HttpRequest {
            method,
            url: self.url.clone(),
            headers,
            body,
            deadline: Some(DEADLINE),
            limit: MAX_MESSAGE,
        }
    }

    fn go(&mut self, exchange: GeminiExchange, request: HttpRequest) -> HttpStep {
        self.last_tag += 1;
        self.exchanges.insert(self.last_tag, exchange);
        HttpStep::Send(self.last_tag, request)
    }

    fn post(&mut self, exchange: GeminiExchange, message: &Message) -> HttpStep {
        let request =
            self.request(HttpMethod::Post, "application/json, text/event-stream", message.to_bytes());
        self.go(exchange, request)
    }

    fn call(&mut self, id: RequestId, mut call: ToolCall, message: Message) -> Vec<HttpStep> {
        let tab = call.take_tab();
        match call.name.as_str() {
            "openDiff" => {
                let Some(path) = call.text("filePath").map(str::to_owned) else {
                    return vec![HttpStep::ToSession(replies::no_arguments(
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
                    return vec![HttpStep::ToSession(replies::tool_failed(id, &why))];
                }
                let asked = called(id.clone(), &call);
                self.diffs.insert(path.clone(), OpenDiff { id: id.clone(), tab });
                vec![self.post(GeminiExchange::Open { path, id }, &asked)]
            }
            "close_tab" => {
                let mut steps = self.withdraw(|diff| tab.is_some() && diff.tab == tab);
                steps.push(HttpStep::ToSession(replies::texts(id, &["ok"])));
                steps
            }
            "closeAllDiffTabs" => {
                let mut steps = self.withdraw(|_| true);
                steps.push(HttpStep::ToSession(replies::texts(id, &["ok"])));
                steps
            }
            "getCurrentSelection" | "getLatestSelection" => {
                vec![HttpStep::ToSession(replies::data(id, &selection(&self.state).unwrap_or_default()))]
            }
            "getOpenEditors" => vec![HttpStep::ToSession(replies::data(id, &editors(&self.state)))],
            "getWorkspaceFolders" => vec![HttpStep::ToSession(replies::folders(id, &self.folders))],
            _ => vec![self.post(GeminiExchange::Call(id), &message)],
        }
    }

    /// Withdraws changes and notifies their callers at once.
    fn withdraw(&mut self, which: impl Fn(&OpenDiff) -> bool) -> Vec<HttpStep> {
        let taken_back: Vec<_> = self.diffs.extract_if(.., |_, diff| which(diff)).collect();
        let mut steps = Vec::new();
        for (path, diff) in taken_back {
            let arguments = json!({ "filePath": path, "suppressNotification": true });
            let arguments = arguments.as_object().cloned().unwrap_or_default();
            let close = ToolCall { name: "closeDiff".into(), arguments };
            let id = RequestId::String(format!("close-{}", self.last_tag));
            self.closing.insert(path.clone(), Vec::new());
            steps.push(HttpStep::ToSession(replies::withdrawn(diff.id)));
            steps.push(self.post(GeminiExchange::Close { path }, &called(id, &close)));
        }
        steps
    }

    /// Withdraws changes that were not proposed yet.
    fn forget(&mut self, id: RequestId) -> Option<HttpStep> {
        let is_it = |message: &mut Message| matches!(message, Message::Request { id: of, .. } if *of == id);
        let waiting = self.closing.values_mut().chain(self.early.as_mut());
        let forgotten: usize = waiting.map(|messages| messages.extract_if(.., is_it).count()).sum();
        (forgotten > 0).then(|| HttpStep::ToSession(replies::withdrawn(id)))
    }

    /// Ends the session once no diff is left to close.
    fn goodbye(&mut self) -> Vec<HttpStep> {
        if self.leaving.is_none() || !self.closing.is_empty() {
            return vec![];
        }
        let request = self.request(HttpMethod::Delete, "application/json", Vec::new());
        vec![self.go(GeminiExchange::Goodbye, request)]
    }

    /// The answer to our request among the messages of the response; the others are handled like those on the stream.
    fn read(
        &mut self,
        id: &RequestId,
        answer: Result<HttpResponse, HttpError>,
        steps: &mut Vec<HttpStep>,
    ) -> Message {
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
                Ok(_) => steps.extend(self.heard(&text)),
                Err(error) => {
                    return failed(format!("invalid response from the editor's server: {error}"));
                }
            }
        }
        found.unwrap_or_else(|| failed("the editor's server did not answer the request".into()))
    }

    fn decided(
        &mut self,
        params: &RawValue,
        answer: impl FnOnce(RequestId, Option<&str>) -> Message,
    ) -> Vec<HttpStep> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct DecisionEvent {
            file_path: String,
            #[serde(default)]
            content: Option<String>,
        }
        let Ok(decided) = serde_json::from_str::<DecisionEvent>(params.get()) else { return vec![] };
        // A decision without a pending change was withdrawn, or belongs to another agent.
        let Some(diff) = self.diffs.remove(&decided.file_path) else { return vec![] };
        vec![HttpStep::ToSession(answer(diff.id, decided.content.as_deref()))]
    }
}

impl Translator for Gemini {
    fn ours(&mut self, message: Message) -> Vec<HttpStep> {
        match &message {
            Message::Request { id, method, params } => {
                let id = id.clone();
                match (method.as_str(), ToolCall::read(params)) {
                    ("initialize", _) => vec![self.post(GeminiExchange::Introduction(id), &message)],
                    ("tools/call", Some(call)) => self.call(id, call, message),
                    (LEAVE, _) => {
                        self.leaving = Some(id);
                        let mut steps = self.withdraw(|_| true);
                        steps.extend(self.goodbye());
                        steps
                    }
                    _ => vec![self.post(GeminiExchange::Call(id), &message)],
                }
            }
            Message::Notification { method, params } => match method.as_str() {
                "notifications/initialized" => vec![self.post(GeminiExchange::Introduced, &message)],
                "notifications/cancelled" => {
                    let id = replies::cancelled(params);
                    let mut steps = self.withdraw(|diff| Some(&diff.id) == id.as_ref());
                    steps.extend(id.and_then(|id| self.forget(id)));
                    if steps.is_empty() { vec![self.post(GeminiExchange::Told, &message)] } else { steps }
                }
                _ => vec![self.post(GeminiExchange::Told, &message)],
            },
            Message::Response { .. } => vec![self.post(GeminiExchange::Told, &message)],
        }
    }

    fn back(&mut self, tag: Tag, answer: Result<HttpResponse, HttpError>) -> Vec<HttpStep> {
        let Some(exchange) = self.exchanges.remove(&tag) else { return vec![] };
        let mut steps = Vec::new();
        // The server has dropped our session and everything in it.
        let forgotten = self.session.is_some() && answer.as_ref().is_ok_and(|answer| answer.status == 404);
        match exchange {
            GeminiExchange::Introduction(id) => {
                if let Ok(answer) = &answer {
                    self.session.clone_from(&answer.session);
                }
                let message = self.read(&id, answer, &mut steps);
                if let Message::Response { result: Ok(result), .. } = &message {
                    let result: Value = serde_json::from_str(result.get()).unwrap_or_default();
                    self.revision = result.get("protocolVersion").and_then(Value::as_str).map(str::to_owned);
                }
                steps.push(HttpStep::ToSession(message));
            }
            GeminiExchange::Introduced => {
                let request = HttpRequest {
                    deadline: None,
                    ..self.request(HttpMethod::Get, "text/event-stream", vec![])
                };
                steps.push(HttpStep::Listen(request));
            }
            GeminiExchange::Call(id) => {
                let message = self.read(&id, answer, &mut steps);
                steps.push(HttpStep::ToSession(message));
            }
            GeminiExchange::Open { path, id } => {
                let message = self.read(&id, answer, &mut steps);
                // The decision may have been faster, and the change may have been withdrawn.
                let waits = self.diffs.get(&path).is_some_and(|diff| diff.id == id);
                if waits && is_failure(&message) {
                    self.diffs.remove(&path);
                    steps.push(HttpStep::ToSession(message));
                }
            }
            GeminiExchange::Close { path } => {
                let after = self.closing.remove(&path).unwrap_or_default();
                for message in after {
                    steps.extend(self.ours(message));
                }
                steps.extend(self.goodbye());
            }
            GeminiExchange::Told => {}
            GeminiExchange::Goodbye => {
                let id = self.leaving.take();
                steps.extend(id.map(|id| HttpStep::ToSession(Message::response(id, &json!({})))));
                return steps;
            }
        }
        if forgotten {
            steps.push(HttpStep::Close);
        }
        steps
    }

    fn listening(&mut self) -> Vec<HttpStep> {
        let early = self.early.take().unwrap_or_default();
        early.into_iter().flat_map(|message| self.ours(message)).collect()
    }

    fn heard(&mut self, data: &str) -> Vec<HttpStep> {
        let Ok(message) = Message::parse(data.as_bytes()) else { return vec![] };
        let Message::Notification { method, params } = &message else {
            // Our session answers pings and other requests; answers come with their exchanges.
            return if matches!(message, Message::Request { .. }) {
                vec![HttpStep::ToSession(message)]
            } else {
                vec![]
            };
        };
        match method.as_str() {
            "ide/diffAccepted" => self.decided(params, |id, content| match content {
                Some(content) => replies::texts(id, &[FILE_SAVED, content]),
                // Without the accepted text there is nothing to write.
                None => replies::texts(id, &[FILE_SAVED]),
            }),
            "ide/diffRejected" | "ide/diffClosed" => {
                self.decided(params, |id, _| replies::texts(id, &[DIFF_REJECTED]))
            }
            "ide/contextUpdate" => {
                let update: Value = serde_json::from_str(params.get()).unwrap_or_default();
                let before = selection(&self.state);
                self.state = update.get("workspaceState").cloned().unwrap_or_default();
                let now = selection(&self.state).filter(|now| Some(now) != before.as_ref());
                let params = now.and_then(|now| to_raw_value(&now).ok());
                let told =
                    params.map(|params| Message::Notification { method: "selection_changed".into(), params });
                told.map(HttpStep::ToSession).into_iter().collect()
            }
            _ => vec![HttpStep::ToSession(message)],
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
    struct DecisionWord {
        #[serde(default)]
        is_error: bool,
    }
    match message {
        Message::Response { result: Ok(result), .. } => {
            serde_json::from_str(result.get()).is_ok_and(|DecisionWord { is_error }| is_error)
        }
        _ => true,
    }
}

fn refusal(answer: &HttpResponse) -> String {
    match answer.status {
        401 | 403 => format!("the editor's server rejects the token (HTTP {})", answer.status),
        status => format!("the editor's server returned HTTP {status}"),
    }
}

/// The selection, in the form that other servers use. The wire has the cursor, counted from 1, and the text, but not
/// the start of the selection.
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
