//! The bridge of ppxai from the agent's side, as pure translation: each tool is one exchange. A change becomes one edit
//! of the whole text that the bridge reports, so that the bridge notices a file that changed in the meantime.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use linkspan_editor_api::wire_names::diff_answer::{DIFF_REJECTED, FILE_SAVED};
use linkspan_editor_api::{Message, RequestId};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::http_gateway::{HttpStep, Tag, Translator};
use super::replies::{self, ToolCall};
use super::{LEAVE, whole_file};
use crate::discover::Secret;
use crate::http::{HttpError, HttpRequest, HttpResponse, LoopbackUrl};
use crate::ppxai;

/// A little longer than our session waits.
const DEADLINE: Duration = Duration::from_secs(15);

#[derive(Debug)]
pub(super) struct Ppxai {
    bridge: LoopbackUrl,
    token: Option<String>,
    exists: fn(&Path) -> bool,
    last_tag: Tag,
    exchanges: HashMap<Tag, BridgeExchange>,
}

#[derive(Debug)]
struct BridgeExchange {
    /// The call that it answers.
    id: RequestId,
    kind: BridgeExchangeKind,
}

#[derive(Debug)]
enum BridgeExchangeKind {
    Introduction,
    Ping,
    Tools,
    Call,
    /// Reads the file to change.
    Read(BridgeChange),
    Apply(BridgeChange),
}

#[derive(Debug)]
struct BridgeChange {
    path: String,
    new_text: String,
    tab: Option<String>,
}

impl BridgeExchange {
    fn change(&self) -> Option<&BridgeChange> {
        match &self.kind {
            BridgeExchangeKind::Read(change) | BridgeExchangeKind::Apply(change) => Some(change),
            BridgeExchangeKind::Introduction
            | BridgeExchangeKind::Ping
            | BridgeExchangeKind::Tools
            | BridgeExchangeKind::Call => None,
        }
    }
}

impl Ppxai {
    pub(super) fn new(bridge: &LoopbackUrl, token: Option<&Secret>, exists: fn(&Path) -> bool) -> Ppxai {
        Ppxai {
            bridge: bridge.clone(),
            token: token.map(|token| token.reveal().to_owned()),
            exists,
            last_tag: 0,
            exchanges: HashMap::new(),
        }
    }

    fn go(&mut self, exchange: BridgeExchange, request: HttpRequest) -> Vec<HttpStep> {
        self.last_tag += 1;
        self.exchanges.insert(self.last_tag, exchange);
        vec![HttpStep::Send(self.last_tag, request)]
    }

    fn status(&mut self, id: RequestId, kind: BridgeExchangeKind) -> Vec<HttpStep> {
        let request = ppxai::status(&self.bridge, self.token.as_deref(), DEADLINE);
        self.go(BridgeExchange { id, kind }, request)
    }

    fn execute(
        &mut self,
        id: RequestId,
        kind: BridgeExchangeKind,
        tool: &str,
        args: &Map<String, Value>,
    ) -> Vec<HttpStep> {
        let of_exchange = (self.last_tag + 1).to_string();
        let request = ppxai::execute(&self.bridge, self.token.as_deref(), &of_exchange, tool, args, DEADLINE);
        self.go(BridgeExchange { id, kind }, request)
    }

    fn call(&mut self, id: RequestId, mut call: ToolCall) -> Vec<HttpStep> {
        let tab = call.take_tab();
        match call.name.as_str() {
            "openDiff" => {
                let (Some(path), Some(new_text)) = (call.text("path"), call.text("newText")) else {
                    return vec![HttpStep::ToSession(replies::no_arguments(
                        id,
                        "openDiff",
                        "`path` and `newText`",
                    ))];
                };
                let change = BridgeChange { path: path.to_owned(), new_text: new_text.to_owned(), tab };
                let args = Map::from_iter([("path".to_owned(), json!(path))]);
                self.execute(id, BridgeExchangeKind::Read(change), "ide.read_file", &args)
            }
            "close_tab" => {
                let mut steps =
                    self.withdraw(|exchange| exchange.change().is_some_and(|change| change.tab == tab));
                steps.push(HttpStep::ToSession(replies::texts(id, &["ok"])));
                steps
            }
            "closeAllDiffTabs" => {
                let mut steps = self.withdraw(|exchange| exchange.change().is_some());
                steps.push(HttpStep::ToSession(replies::texts(id, &["ok"])));
                steps
            }
            tool => self.execute(id, BridgeExchangeKind::Call, tool, &call.arguments),
        }
    }

    /// The bridge notices by the end of the exchange: it has no message for a withdrawal.
    fn withdraw(&mut self, which: impl Fn(&BridgeExchange) -> bool) -> Vec<HttpStep> {
        let taken_back = self.exchanges.extract_if(|_, exchange| which(exchange));
        taken_back
            .flat_map(|(tag, exchange)| {
                [HttpStep::Stop(tag), HttpStep::ToSession(replies::withdrawn(exchange.id))]
            })
            .collect()
    }

    fn apply(&mut self, id: RequestId, change: BridgeChange, edit: &Value) -> Vec<HttpStep> {
        let files = json!([{ "path": change.path, "edits": [edit] }]);
        let args = Map::from_iter([("files".to_owned(), files)]);
        self.execute(id, BridgeExchangeKind::Apply(change), "ide.apply_edit", &args)
    }

    fn read(
        &mut self,
        id: RequestId,
        change: BridgeChange,
        said: Result<BridgeReply, CallFailure>,
    ) -> Vec<HttpStep> {
        match said {
            // An edit of the beginning would leave the rest of the old text after the new one.
            Ok(BridgeReply { truncated: true, .. }) => {
                let why = format!(
                    "the bridge gives only the beginning of {}, which is too long for it: change it in another way, \
                     or attach the editor to Linkspan's hub",
                    change.path
                );
                vec![HttpStep::ToSession(replies::tool_failed(id, &why))]
            }
            Ok(BridgeReply { result, .. }) => match result.get("content").and_then(Value::as_str) {
                Some(content) => {
                    let edit = whole_file::edit(content, &change.new_text);
                    self.apply(id, change, &edit)
                }
                None => {
                    vec![HttpStep::ToSession(replies::failed(
                        id,
                        "the bridge did not send the text of the file",
                    ))]
                }
            },
            Err(CallFailure::ByTool(_)) if !(self.exists)(Path::new(&change.path)) => {
                let mut edit = whole_file::edit("", &change.new_text);
                if let Some(edit) = edit.as_object_mut() {
                    edit.remove("oldText");
                }
                self.apply(id, change, &edit)
            }
            Err(refused) => vec![HttpStep::ToSession(refused.told(id))],
        }
    }
}

impl Translator for Ppxai {
    fn ours(&mut self, message: Message) -> Vec<HttpStep> {
        match message {
            Message::Request { id, method, params } => match (method.as_str(), ToolCall::read(&params)) {
                ("initialize", _) => self.status(id, BridgeExchangeKind::Introduction),
                ("ping", _) => self.status(id, BridgeExchangeKind::Ping),
                ("tools/list", _) => self.status(id, BridgeExchangeKind::Tools),
                ("tools/call", Some(call)) => self.call(id, call),
                (LEAVE, _) => {
                    let mut steps = self.withdraw(|_| true);
                    steps.push(HttpStep::ToSession(Message::response(id, &json!({}))));
                    steps
                }
                _ => vec![HttpStep::ToSession(replies::not_offered(id, &method))],
            },
            Message::Notification { method, params } if method == "notifications/cancelled" => {
                match replies::cancelled(&params) {
                    Some(id) => self.withdraw(|exchange| exchange.id == id),
                    None => vec![],
                }
            }
            Message::Notification { .. } | Message::Response { .. } => vec![],
        }
    }

    fn back(&mut self, tag: Tag, answer: Result<HttpResponse, HttpError>) -> Vec<HttpStep> {
        let Some(BridgeExchange { id, kind }) = self.exchanges.remove(&tag) else { return vec![] };
        match kind {
            BridgeExchangeKind::Introduction => vec![HttpStep::ToSession(match ppxai::read_status(answer) {
                Ok(status) => replies::initialized(id, "ppxai", &status.version),
                Err(why) => replies::failed(id, why),
            })],
            BridgeExchangeKind::Ping => vec![HttpStep::ToSession(match ppxai::read_status(answer) {
                Ok(_) => Message::response(id, &json!({})),
                Err(why) => replies::failed(id, why),
            })],
            BridgeExchangeKind::Tools => vec![HttpStep::ToSession(match ppxai::read_status(answer) {
                Ok(status) => replies::tools(id, &ppxai::tools_of(&status.capabilities)),
                Err(why) => replies::failed(id, why),
            })],
            BridgeExchangeKind::Call => vec![HttpStep::ToSession(match said(tag, answer) {
                Ok(BridgeReply { result, .. }) => replies::data(id, &result),
                Err(refused) => refused.told(id),
            })],
            BridgeExchangeKind::Read(change) => self.read(id, change, said(tag, answer)),
            BridgeExchangeKind::Apply(_) => vec![HttpStep::ToSession(decision(id, said(tag, answer)))],
        }
    }
}

/// The result of a tool.
#[derive(Debug)]
struct BridgeReply {
    result: Value,
    /// It was cut.
    truncated: bool,
}

/// Why a call failed.
#[derive(Debug)]
enum CallFailure {
    ByTool(String),
    Unclear(String),
}

impl CallFailure {
    fn told(self, id: RequestId) -> Message {
        match self {
            CallFailure::ByTool(why) => replies::tool_failed(id, &why),
            CallFailure::Unclear(why) => replies::failed(id, why),
        }
    }
}

fn said(tag: Tag, answer: Result<HttpResponse, HttpError>) -> Result<BridgeReply, CallFailure> {
    #[derive(Deserialize)]
    struct ReplyBody {
        id: Value,
        success: bool,
        #[serde(default)]
        result: Value,
        #[serde(default)]
        error: Value,
        #[serde(default)]
        code: Value,
        #[serde(default)]
        truncated: Value,
    }
    let unclear = |why: String| CallFailure::Unclear(why);
    let body = ppxai::body(answer).map_err(unclear)?;
    let reply: ReplyBody = serde_json::from_slice(&body)
        .map_err(|error| unclear(format!("invalid response from the bridge: {error}")))?;
    if reply.id.as_str() != Some(tag.to_string().as_str()) {
        return Err(unclear("the bridge answered another call".into()));
    }
    match (reply.success, reply.error) {
        // Linkspan's own bridge: the decision is in the result, as for a success.
        (false, _) if reply.code == "REJECTED" && reply.result.is_object() => {
            Ok(BridgeReply { result: reply.result, truncated: false })
        }
        (true, _) => {
            let inside = reply.result.get("truncated");
            let truncated = [Some(&reply.truncated), inside].contains(&Some(&Value::Bool(true)));
            Ok(BridgeReply { result: reply.result, truncated })
        }
        (false, Value::String(why)) => Err(CallFailure::ByTool(why)),
        (false, Value::Null) => {
            Err(CallFailure::ByTool("the bridge reports a failure without a reason".into()))
        }
        (false, other) => Err(CallFailure::ByTool(match other.get("message").and_then(Value::as_str) {
            Some(message) => message.to_owned(),
            None => other.to_string(),
        })),
    }
}

/// Only an explicit accept counts. The bridge writes before it answers.
fn decision(id: RequestId, said: Result<BridgeReply, CallFailure>) -> Message {
    let word = |result: &Value, key: &str| result.get(key).and_then(Value::as_bool);
    match said {
        Ok(BridgeReply { result, .. }) => {
            match (result.as_bool().or(word(&result, "applied")), word(&result, "accepted")) {
                (Some(true), _) => replies::texts(id, &[FILE_SAVED]),
                (Some(false), None | Some(false)) => match result.get("reason").and_then(Value::as_str) {
                    Some(reason) => replies::texts(id, &[DIFF_REJECTED, reason]),
                    None => replies::texts(id, &[DIFF_REJECTED]),
                },
                _ => replies::failed(id, "the bridge did not report whether the edit was applied"),
            }
        }
        Err(CallFailure::ByTool(why)) if is_a_persons_no(&why) => replies::texts(id, &[DIFF_REJECTED, &why]),
        Err(refused) => refused.told(id),
    }
}

/// The reference bridge reports it only by this error; similar errors come from tools.
fn is_a_persons_no(why: &str) -> bool {
    why.trim().eq_ignore_ascii_case("User cancelled")
}
