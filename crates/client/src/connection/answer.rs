//! Reads a server's answer to a tool call: a result, a failure, or an unknown tool.

use std::time::Duration;

use linkspan_editor_api::{RpcError, errors};
use serde_json::{Map, Value, json};

use super::Connection;
use super::calls::CallEnd;
use super::error::CallError;
use super::session::failure;
use super::types::ToolResult;

/// The result, unchanged. A server that does not know the tool is asked for its list of tools.
pub(super) fn read(
    connection: &Connection,
    tool: &str,
    ended: CallEnd,
    deadline: Duration,
) -> Result<ToolResult, CallError> {
    let result = match ended {
        CallEnd::Answered(Ok(raw)) => serde_json::from_str(raw.get())
            .map(tool_result)
            .map_err(|error| CallError::protocol(tool, error.to_string()))?,
        CallEnd::Answered(Err(error)) => {
            if may_be_unknown(tool, &error)
                && let Some(unsupported) = unsupported(connection, tool)
            {
                return Err(unsupported);
            }
            return Err(CallError::Tool { message: error.message, kind: None });
        }
        other => return Err(failure(tool, other, deadline)),
    };
    if result.is_error
        && result.texts().any(|text| text.contains(tool))
        && let Some(unsupported) = unsupported(connection, tool)
    {
        return Err(unsupported);
    }
    Ok(result)
}

/// The result of a tool that did not fail.
pub(super) fn succeeded(result: ToolResult) -> Result<ToolResult, CallError> {
    if !result.is_error {
        return Ok(result);
    }
    let told = result.structured.as_ref().and_then(|data| data.get("error"));
    let text = |key: &str| told.and_then(|error| error.get(key)?.as_str()).map(str::to_owned);
    let kind = text("kind");
    if kind.as_deref() == Some("withdrawn") {
        return Err(CallError::Withdrawn);
    }
    let message = text("message")
        .or_else(|| result.texts().next().map(str::to_owned))
        .unwrap_or_else(|| "the editor reports a failure without a reason".into());
    Err(CallError::Tool { message, kind })
}

/// Servers disagree on the code for an unknown tool; each of these is used for it, and for other errors.
fn may_be_unknown(tool: &str, error: &RpcError) -> bool {
    matches!(error.code, errors::METHOD_NOT_FOUND | errors::INVALID_PARAMS) || error.message.contains(tool)
}

/// Why a tool failed, if the server does not list it.
fn unsupported(connection: &Connection, tool: &str) -> Option<CallError> {
    let offered: Vec<String> = connection.tools().ok()?.into_iter().map(|tool| tool.name).collect();
    (!offered.iter().any(|name| name == tool))
        .then(|| CallError::Unsupported { tool: tool.to_owned(), offered })
}

/// Missing content counts as empty; but claudecode.nvim sends failures as results with `code` and `message`.
pub(super) fn tool_result(value: Value) -> ToolResult {
    let Value::Object(mut fields) = value else { return ToolResult::default() };
    let content = match fields.remove("content") {
        Some(Value::Array(content)) => content,
        Some(Value::String(text)) => vec![text_item(text)],
        _ => match misplaced_failure(&fields) {
            Some(message) => {
                return ToolResult { content: vec![text_item(message)], structured: None, is_error: true };
            }
            None => Vec::new(),
        },
    };
    ToolResult {
        content,
        structured: fields.remove("structuredContent").filter(Value::is_object),
        is_error: fields.get("isError") == Some(&Value::Bool(true)),
    }
}

fn misplaced_failure(fields: &Map<String, Value>) -> Option<String> {
    let message = fields.get("message")?.as_str()?;
    fields.get("code")?.as_i64()?;
    Some(match fields.get("data").and_then(Value::as_str) {
        Some(data) => format!("{message}: {data}"),
        None => message.to_owned(),
    })
}

fn text_item(text: String) -> Value {
    json!({ "type": "text", "text": text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_without_content_is_empty() {
        for value in
            [json!({}), json!(null), json!("ok"), json!({ "content": null }), json!({ "content": [] })]
        {
            assert_eq!(tool_result(value.clone()), ToolResult::default(), "{value}");
        }
    }

    #[test]
    fn a_failure_in_the_place_of_a_result_is_a_failure() {
        let misplaced = json!({
            "code": -32000, "message": "Buffer operation error", "data": "Failed to unload buffer.",
        });
        let failed = succeeded(tool_result(misplaced));
        let message = "Buffer operation error: Failed to unload buffer.".to_owned();
        assert_eq!(failed, Err(CallError::Tool { message, kind: None }));
        // A result with content that happens to have these keys is not a failure.
        let with_content = json!({ "code": 1, "message": "m", "content": [text_item("ok".into())] });
        assert!(succeeded(tool_result(with_content)).is_ok());
    }

    #[test]
    fn a_failed_tool_says_why_and_the_hub_of_which_kind() {
        let foreign = tool_result(json!({ "content": [text_item("no".into())], "isError": true }));
        assert_eq!(succeeded(foreign), Err(CallError::Tool { message: "no".into(), kind: None }));
        let own = |kind: &str| {
            tool_result(json!({
                "content": [], "isError": true,
                "structuredContent": { "error": { "kind": kind, "message": "m" } },
            }))
        };
        let denied = CallError::Tool { message: "m".into(), kind: Some("denied".into()) };
        assert_eq!(succeeded(own("denied")), Err(denied));
        assert_eq!(succeeded(own("withdrawn")), Err(CallError::Withdrawn));
    }
}
