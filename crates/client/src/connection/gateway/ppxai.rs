//! The bridge of ppxai from the agent's side, as pure translation: each tool is one exchange. A change becomes one edit
//! of all that the bridge says the file holds, so that a file that moved meanwhile is noticed there.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use linkspan_editor_api::{Message, RequestId};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::errands::{Act, Tag, Translator};
use super::replies::{self, ToolCall};
use super::{LEAVE, whole_file};
use crate::discover::Secret;
use crate::http::{Answer, HttpError, LoopbackUrl, Request};
use crate::ppxai;

/// A little longer than our session waits.
const DEADLINE: Duration = Duration::from_secs(15);

#[derive(Debug)]
pub(super) struct Ppxai {
    bridge: LoopbackUrl,
    token: Option<String>,
    exists: fn(&Path) -> bool,
    last_tag: Tag,
    errands: HashMap<Tag, Errand>,
}

#[derive(Debug)]
struct Errand {
    /// Whose answer it will be.
    id: RequestId,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Introduction,
    Ping,
    Call,
    /// What the file holds that shall be changed.
    Read(Change),
    Apply(Change),
}

#[derive(Debug)]
struct Change {
    path: String,
    new_text: String,
    tab: Option<String>,
}

impl Errand {
    fn change(&self) -> Option<&Change> {
        match &self.kind {
            Kind::Read(change) | Kind::Apply(change) => Some(change),
            Kind::Introduction | Kind::Ping | Kind::Call => None,
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
            errands: HashMap::new(),
        }
    }

    fn go(&mut self, errand: Errand, request: Request) -> Vec<Act> {
        self.last_tag += 1;
        self.errands.insert(self.last_tag, errand);
        vec![Act::Go(self.last_tag, request)]
    }

    fn status(&mut self, id: RequestId, kind: Kind) -> Vec<Act> {
        let request = ppxai::status(&self.bridge, self.token.as_deref(), DEADLINE);
        self.go(Errand { id, kind }, request)
    }

    fn execute(&mut self, id: RequestId, kind: Kind, tool: &str, args: &Map<String, Value>) -> Vec<Act> {
        let of_exchange = (self.last_tag + 1).to_string();
        let request = ppxai::execute(&self.bridge, self.token.as_deref(), &of_exchange, tool, args, DEADLINE);
        self.go(Errand { id, kind }, request)
    }

    fn call(&mut self, id: RequestId, mut call: ToolCall) -> Vec<Act> {
        let tab = call.take_tab();
        match call.name.as_str() {
            "openDiff" => {
                let (Some(path), Some(new_text)) = (call.text("path"), call.text("newText")) else {
                    return vec![Act::Tell(replies::no_arguments(id, "openDiff", "`path` and `newText`"))];
                };
                let change = Change { path: path.to_owned(), new_text: new_text.to_owned(), tab };
                let args = Map::from_iter([("path".to_owned(), json!(path))]);
                self.execute(id, Kind::Read(change), "ide.read_file", &args)
            }
            "close_tab" => {
                let mut acts =
                    self.withdraw(|errand| errand.change().is_some_and(|change| change.tab == tab));
                acts.push(Act::Tell(replies::texts(id, &["ok"])));
                acts
            }
            "closeAllDiffTabs" => {
                let mut acts = self.withdraw(|errand| errand.change().is_some());
                acts.push(Act::Tell(replies::texts(id, &["ok"])));
                acts
            }
            tool => self.execute(id, Kind::Call, tool, &call.arguments),
        }
    }

    /// The bridge hears of it by the end of the exchange: it has no other word for it.
    fn withdraw(&mut self, which: impl Fn(&Errand) -> bool) -> Vec<Act> {
        let taken_back = self.errands.extract_if(|_, errand| which(errand));
        taken_back
            .flat_map(|(tag, errand)| [Act::Stop(tag), Act::Tell(replies::withdrawn(errand.id))])
            .collect()
    }

    fn apply(&mut self, id: RequestId, change: Change, edit: &Value) -> Vec<Act> {
        let files = json!([{ "path": change.path, "edits": [edit] }]);
        let args = Map::from_iter([("files".to_owned(), files)]);
        self.execute(id, Kind::Apply(change), "ide.apply_edit", &args)
    }

    fn read(&mut self, id: RequestId, change: Change, said: Result<Said, Refused>) -> Vec<Act> {
        match said {
            // An edit of the beginning would leave the old rest behind the new text.
            Ok(Said { truncated: true, .. }) => {
                let why = format!(
                    "the bridge gives only the beginning of {}, which is too long for it: change it in another way, \
                     or attach the editor to Linkspan's hub",
                    change.path
                );
                vec![Act::Tell(replies::tool_failed(id, &why))]
            }
            Ok(Said { result, .. }) => match result.get("content").and_then(Value::as_str) {
                Some(content) => {
                    let edit = whole_file::edit(content, &change.new_text);
                    self.apply(id, change, &edit)
                }
                None => vec![Act::Tell(replies::failed(id, "the bridge does not say what the file holds"))],
            },
            Err(Refused::ByTool(_)) if !(self.exists)(Path::new(&change.path)) => {
                let mut edit = whole_file::edit("", &change.new_text);
                if let Some(edit) = edit.as_object_mut() {
                    edit.remove("oldText");
                }
                self.apply(id, change, &edit)
            }
            Err(refused) => vec![Act::Tell(refused.told(id))],
        }
    }
}

impl Translator for Ppxai {
    fn ours(&mut self, message: Message) -> Vec<Act> {
        match message {
            Message::Request { id, method, params } => match (method.as_str(), ToolCall::read(&params)) {
                ("initialize", _) => self.status(id, Kind::Introduction),
                ("ping", _) => self.status(id, Kind::Ping),
                ("tools/list", _) => vec![Act::Tell(replies::tools(id, &ppxai::TOOLS))],
                ("tools/call", Some(call)) => self.call(id, call),
                (LEAVE, _) => {
                    let mut acts = self.withdraw(|_| true);
                    acts.push(Act::Tell(Message::response(id, &json!({}))));
                    acts
                }
                _ => vec![Act::Tell(replies::not_offered(id, &method))],
            },
            Message::Notification { method, params } if method == "notifications/cancelled" => {
                match replies::cancelled(&params) {
                    Some(id) => self.withdraw(|errand| errand.id == id),
                    None => vec![],
                }
            }
            Message::Notification { .. } | Message::Response { .. } => vec![],
        }
    }

    fn back(&mut self, tag: Tag, answer: Result<Answer, HttpError>) -> Vec<Act> {
        let Some(Errand { id, kind }) = self.errands.remove(&tag) else { return vec![] };
        match kind {
            Kind::Introduction => vec![Act::Tell(match ppxai::read_status(answer) {
                Ok(version) => replies::initialized(id, "ppxai", &version),
                Err(why) => replies::failed(id, why),
            })],
            Kind::Ping => vec![Act::Tell(match ppxai::read_status(answer) {
                Ok(_) => Message::response(id, &json!({})),
                Err(why) => replies::failed(id, why),
            })],
            Kind::Call => vec![Act::Tell(match said(tag, answer) {
                Ok(Said { result, .. }) => replies::data(id, &result),
                Err(refused) => refused.told(id),
            })],
            Kind::Read(change) => self.read(id, change, said(tag, answer)),
            Kind::Apply(_) => vec![Act::Tell(decision(id, said(tag, answer)))],
        }
    }
}

/// The result of a tool.
#[derive(Debug)]
struct Said {
    result: Value,
    /// It is only the beginning.
    truncated: bool,
}

/// Why there is no result.
#[derive(Debug)]
enum Refused {
    ByTool(String),
    Unclear(String),
}

impl Refused {
    fn told(self, id: RequestId) -> Message {
        match self {
            Refused::ByTool(why) => replies::tool_failed(id, &why),
            Refused::Unclear(why) => replies::failed(id, why),
        }
    }
}

fn said(tag: Tag, answer: Result<Answer, HttpError>) -> Result<Said, Refused> {
    #[derive(Deserialize)]
    struct Reply {
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
    let unclear = |why: String| Refused::Unclear(why);
    let body = ppxai::body(answer).map_err(unclear)?;
    let reply: Reply = serde_json::from_slice(&body)
        .map_err(|error| unclear(format!("the bridge answers what is no answer: {error}")))?;
    if reply.id.as_str() != Some(tag.to_string().as_str()) {
        return Err(unclear("the bridge answers another question than the one that was asked".into()));
    }
    match (reply.success, reply.error) {
        // Linkspan's own bridge: the decision is in the result, as if it were no failure.
        (false, _) if reply.code == "REJECTED" && reply.result.is_object() => {
            Ok(Said { result: reply.result, truncated: false })
        }
        (true, _) => {
            let inside = reply.result.get("truncated");
            let truncated = [Some(&reply.truncated), inside].contains(&Some(&Value::Bool(true)));
            Ok(Said { result: reply.result, truncated })
        }
        (false, Value::String(why)) => Err(Refused::ByTool(why)),
        (false, Value::Null) => Err(Refused::ByTool("the bridge says that it failed, and not why".into())),
        (false, other) => Err(Refused::ByTool(match other.get("message").and_then(Value::as_str) {
            Some(message) => message.to_owned(),
            None => other.to_string(),
        })),
    }
}

/// Only a plain yes is one. The bridge writes before it says so.
fn decision(id: RequestId, said: Result<Said, Refused>) -> Message {
    let word = |result: &Value, key: &str| result.get(key).and_then(Value::as_bool);
    match said {
        Ok(Said { result, .. }) => {
            match (result.as_bool().or(word(&result, "applied")), word(&result, "accepted")) {
                (Some(true), _) => replies::texts(id, &["FILE_SAVED"]),
                (Some(false), None | Some(false)) => match result.get("reason").and_then(Value::as_str) {
                    Some(reason) => replies::texts(id, &["DIFF_REJECTED", reason]),
                    None => replies::texts(id, &["DIFF_REJECTED"]),
                },
                _ => replies::failed(
                    id,
                    "the bridge says neither that the edit was applied nor that it was not",
                ),
            }
        }
        Err(Refused::ByTool(why)) if is_a_persons_no(&why) => replies::texts(id, &["DIFF_REJECTED", &why]),
        Err(refused) => refused.told(id),
    }
}

/// The reference bridge has no other word for it than this error; others that sound like it are of tools.
fn is_a_persons_no(why: &str) -> bool {
    why.trim().eq_ignore_ascii_case("User cancelled")
}
