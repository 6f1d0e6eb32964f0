//! Codex's JSON: what it sends, as far as it matters here, and what is sent to it. Unknown members and messages are
//! ignored.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::patch::{PatchChange, PatchFile};

/// Any message. A request has a method and an id, a notification only a method, a response only an id.
#[derive(Debug, Deserialize)]
pub(super) struct Frame<'a> {
    pub(super) id: Option<Value>,
    pub(super) method: Option<String>,
    #[serde(borrow)]
    pub(super) params: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) result: Option<&'a RawValue>,
}

/// What it is about, in every notification of a thread.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ThreadParams {
    pub(super) thread_id: String,
}

/// `turn/completed`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TurnParams {
    pub(super) thread_id: String,
    pub(super) turn: EndedTurn,
}

#[derive(Debug, Deserialize)]
pub(super) struct EndedTurn {
    pub(super) id: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct InitializeResult {
    #[serde(rename = "userAgent")]
    pub(super) user_agent: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct LoadedList {
    pub(super) data: Vec<String>,
}

/// `thread/started` and the results of `thread/read`.
#[derive(Debug, Deserialize)]
pub(super) struct WithThread {
    pub(super) thread: Thread,
}

#[derive(Debug, Deserialize)]
pub(super) struct Thread {
    pub(super) id: String,
    pub(super) cwd: PathBuf,
    #[serde(default)]
    pub(super) ephemeral: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StatusChanged {
    pub(super) thread_id: String,
    pub(super) status: ThreadStatus,
}

#[derive(Debug, Deserialize)]
pub(super) struct ThreadStatus {
    #[serde(rename = "type")]
    pub(super) kind: String,
}

/// `item/started` and `item/completed`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ItemParams {
    pub(super) thread_id: String,
    pub(super) item: Item,
}

#[derive(Debug, Deserialize)]
pub(super) struct Item {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) id: String,
    #[serde(default)]
    pub(super) changes: Vec<Change>,
    pub(super) status: Option<String>,
}

/// The result of `thread/resume` with everything that happened in the thread.
#[derive(Debug, Deserialize)]
pub(super) struct WithHistory {
    pub(super) thread: History,
}

#[derive(Debug, Deserialize)]
pub(super) struct History {
    #[serde(default)]
    pub(super) turns: Vec<PastTurn>,
}

#[derive(Debug, Deserialize)]
pub(super) struct PastTurn {
    #[serde(default)]
    pub(super) items: Vec<Item>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Change {
    path: PathBuf,
    kind: ChangeKind,
    #[serde(default)]
    diff: String,
}

#[derive(Debug, Deserialize)]
struct ChangeKind {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    move_path: Option<PathBuf>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RequestApproval {
    pub(super) thread_id: String,
    pub(super) turn_id: String,
    pub(super) item_id: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RequestResolved {
    pub(super) thread_id: String,
    pub(super) request_id: Value,
}

impl Item {
    /// The files that it changes; none if one of the changes is of an unknown kind.
    pub(super) fn files(self) -> Option<Vec<PatchFile>> {
        self.changes.into_iter().map(Change::file).collect()
    }
}

impl Change {
    fn file(self) -> Option<PatchFile> {
        let change = match (self.kind.kind.as_str(), self.kind.move_path) {
            ("update", None) => PatchChange::Update { diff: self.diff },
            ("update", Some(to)) => PatchChange::Move { to, diff: self.diff },
            ("add", _) => PatchChange::Add { text: self.diff },
            ("delete", _) => PatchChange::Delete,
            _ => return None,
        };
        Some(PatchFile { path: self.path, change })
    }
}

/// Params of a frame, if they have the expected form.
pub(super) fn read<'a, T: Deserialize<'a>>(raw: Option<&'a RawValue>) -> Option<T> {
    serde_json::from_str(raw?.get()).ok()
}

pub(super) fn request(id: u64, method: &str, params: &Value) -> String {
    json!({ "id": id, "method": method, "params": params }).to_string()
}

pub(super) fn notification(method: &str) -> String {
    json!({ "method": method }).to_string()
}

pub(super) fn decision(id: &Value, decision: &str) -> String {
    json!({ "id": id, "result": { "decision": decision } }).to_string()
}

/// One text, as the input of a turn.
pub(super) fn input(text: &str) -> Value {
    json!([{ "type": "text", "text": text }])
}
