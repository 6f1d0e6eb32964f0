//! MCP messages between gateways and our own session.

use std::path::PathBuf;

use linkspan_editor_api::{Message, RequestId, RpcError, errors};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

/// A call of a tool.
#[derive(Debug, Deserialize)]
pub(super) struct ToolCall {
    pub(super) name: String,
    #[serde(default)]
    pub(super) arguments: Map<String, Value>,
}

impl ToolCall {
    pub(super) fn read(params: &RawValue) -> Option<ToolCall> {
        serde_json::from_str(params.get()).ok()
    }

    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.arguments.get(key)?.as_str()
    }

    /// Takes out the name of the tab, which is only for our own side.
    pub(super) fn take_tab(&mut self) -> Option<String> {
        match self.arguments.remove("tab_name")? {
            Value::String(tab) => Some(tab),
            _ => None,
        }
    }
}

/// Accepted, and left to the caller to write.
pub(in crate::connection) const NOT_WRITTEN: &str = "NOT_WRITTEN";

/// The request that a `notifications/cancelled` is about.
pub(super) fn cancelled(params: &RawValue) -> Option<RequestId> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Cancelled {
        request_id: RequestId,
    }
    serde_json::from_str(params.get()).ok().map(|Cancelled { request_id }| request_id)
}

pub(super) fn initialized(id: RequestId, name: &str, version: &str) -> Message {
    let result = json!({
        "protocolVersion": "2025-06-18",
        "capabilities": { "tools": {} },
        "serverInfo": { "name": name, "version": version },
    });
    Message::response(id, &result)
}

pub(super) fn texts(id: RequestId, texts: &[&str]) -> Message {
    let content: Vec<Value> = texts.iter().map(|text| json!({ "type": "text", "text": text })).collect();
    Message::response(id, &json!({ "content": content }))
}

/// The answer of a tool that has data.
pub(super) fn data(id: RequestId, data: &Value) -> Message {
    let mut result = json!({ "content": [{ "type": "text", "text": data.to_string() }] });
    if data.is_object() {
        result["structuredContent"] = data.clone();
    }
    Message::response(id, &result)
}

pub(super) fn tool_failed(id: RequestId, message: &str) -> Message {
    let content = json!([{ "type": "text", "text": message }]);
    Message::response(id, &json!({ "content": content, "isError": true }))
}

/// As our hub reports it.
pub(super) fn withdrawn(id: RequestId) -> Message {
    let error = json!({ "kind": "withdrawn", "message": "the change was withdrawn before it was decided" });
    let result = json!({ "content": [], "isError": true, "structuredContent": { "error": error } });
    Message::response(id, &result)
}

pub(super) fn failed(id: RequestId, message: impl Into<String>) -> Message {
    Message::error(Some(id), RpcError::new(errors::INTERNAL, message.into()))
}

pub(super) fn not_offered(id: RequestId, what: &str) -> Message {
    Message::error(
        Some(id),
        RpcError::new(errors::METHOD_NOT_FOUND, format!("this wire does not support `{what}`")),
    )
}

pub(super) fn no_arguments(id: RequestId, what: &str, wanted: &str) -> Message {
    tool_failed(id, &format!("`{what}` needs {wanted}"))
}

/// Tools by their names alone.
pub(super) fn tools(id: RequestId, tools: &[(&str, &str)]) -> Message {
    let listed: Vec<Value> = tools
        .iter()
        .map(|(name, does)| json!({ "name": name, "description": does, "inputSchema": { "type": "object" } }))
        .collect();
    Message::response(id, &json!({ "tools": listed }))
}

/// The folders of the workspace, if only discovery knows them.
pub(super) fn folders(id: RequestId, folders: &[PathBuf]) -> Message {
    data(id, &json!({ "folders": folders.iter().map(|folder| folder.to_string_lossy()).collect::<Vec<_>>() }))
}
