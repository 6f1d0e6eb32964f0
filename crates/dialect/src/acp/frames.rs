//! The frames of the protocol: JSON-RPC 2.0, one message per line. Members that are unknown or of another type are
//! treated as missing: agents send more than the schema has.

use serde_json::{Value, json};

pub(super) const METHOD_NOT_FOUND: i64 = -32601;
pub(super) const INVALID_PARAMS: i64 = -32602;
pub(super) const INTERNAL_ERROR: i64 = -32603;
/// Gemini CLI and Qwen Code take this for a file that does not exist.
pub(super) const RESOURCE_NOT_FOUND: i64 = -32002;
/// Also of a path.
const LONGEST_NAME: usize = 4096;

/// The agent wants the user to log in first.
pub(super) const AUTH_REQUIRED: i64 = -32000;

pub(super) fn request(id: u64, method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

pub(super) fn notification(method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string()
}

pub(super) fn result(id: &Value, result: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string()
}

pub(super) fn error(id: &Value, code: i64, message: &str) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }).to_string()
}

pub(super) fn selected(id: &Value, option: &str) -> String {
    result(id, &json!({ "outcome": { "outcome": "selected", "optionId": option } }))
}

pub(super) fn cancelled(id: &Value) -> String {
    result(id, &json!({ "outcome": { "outcome": "cancelled" } }))
}

/// The text of that member.
pub(super) fn text<'v>(value: &'v Value, member: &str) -> Option<&'v str> {
    value.get(member)?.as_str()
}

/// The same of a name or an id, which is kept and repeated. What is too long for one is treated as missing.
pub(super) fn name<'v>(value: &'v Value, member: &str) -> Option<&'v str> {
    text(value, member).filter(|name| name.len() <= LONGEST_NAME)
}

/// The elements of that member; none if it is not a list.
pub(super) fn list<'v>(value: &'v Value, member: &str) -> impl Iterator<Item = &'v Value> {
    value.get(member).and_then(Value::as_array).into_iter().flatten()
}
