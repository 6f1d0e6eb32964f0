//! Reads answers of MCP: results, errors, texts, and JSON in texts. Pure.

use serde_json::Value;

use crate::commands::scripts::conform::point::{Outcome, failed};
use crate::commands::scripts::conform::report::excerpt;

pub(crate) const METHOD_NOT_FOUND: i64 = -32601;

/// Whether this is the answer to that request.
pub(crate) fn answers(message: &Value, id: i64) -> bool {
    message.get("id").and_then(Value::as_i64) == Some(id) && message.get("method").is_none()
}

pub(crate) fn result(answer: &Value) -> Outcome<&Value> {
    match (answer.get("result"), answer.get("jsonrpc").and_then(Value::as_str)) {
        (Some(result), Some("2.0")) => Ok(result),
        _ => Err(failed("a result of JSON-RPC 2.0", excerpt(answer))),
    }
}

/// The code of an error.
pub(crate) fn error_code(answer: &Value) -> Option<i64> {
    answer.pointer("/error/code").and_then(Value::as_i64)
}

/// An error of JSON-RPC, or of the tool.
pub(crate) fn is_error(answer: &Value) -> bool {
    let of_tool = answer.pointer("/result/isError").and_then(Value::as_bool);
    let has_message = answer.pointer("/error/message").is_some_and(Value::is_string);
    (error_code(answer).is_some() && has_message) || of_tool == Some(true)
}

pub(crate) fn error(answer: &Value) -> Outcome {
    if is_error(answer) {
        return Ok(());
    }
    Err(failed("an error with a code and a message, or a result with `isError`", excerpt(answer)))
}

/// The texts of a tool's result that is not an error.
pub(crate) fn texts(answer: &Value) -> Outcome<Vec<&str>> {
    const EXPECTED: &str = "a result with a list `content` of texts";
    let result = result(answer)?;
    if is_error(answer) {
        return Err(failed(EXPECTED, excerpt(answer)));
    }
    let content = result.get("content").and_then(Value::as_array);
    let content = content.ok_or_else(|| failed(EXPECTED, excerpt(answer)))?;
    let text = |item: &Value| item.get("type").and_then(Value::as_str) == Some("text");
    if !content.iter().all(text) {
        return Err(failed(EXPECTED, excerpt(answer)));
    }
    Ok(content.iter().filter_map(|item| item.get("text")?.as_str()).collect())
}

/// The one text of a tool's result.
pub(crate) fn text(answer: &Value) -> Outcome<&str> {
    match texts(answer)?.as_slice() {
        [text] => Ok(text),
        _ => Err(failed("one text", excerpt(answer))),
    }
}

/// The one text of a tool's result, read as JSON.
pub(crate) fn json_text(answer: &Value) -> Outcome<Value> {
    let text = text(answer)?;
    serde_json::from_str(text).map_err(|_| failed("JSON in the text", excerpt(&Value::from(text))))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_error_has_one_of_two_forms() {
        assert!(is_error(&json!({ "error": { "code": -32601, "message": "x" } })));
        assert!(is_error(&json!({ "result": { "isError": true, "content": [] } })));
        // As claudecode.nvim answers a tab that it cannot close.
        assert!(!is_error(&json!({ "result": { "code": -32000, "message": "x" } })));
        assert!(!is_error(&json!({ "error": "x" })));
    }

    #[test]
    fn a_text_is_not_taken_from_an_error() {
        let content = json!([{ "type": "text", "text": "[1]" }]);
        let good = json!({ "jsonrpc": "2.0", "id": 1, "result": { "content": content } });
        assert_eq!(json_text(&good), Ok(json!([1])));
        let bad = json!({ "jsonrpc": "2.0", "id": 1, "result": { "content": content, "isError": true } });
        assert!(texts(&bad).is_err());
        assert!(text(&json!({ "jsonrpc": "2.0", "id": 1, "result": { "content": [] } })).is_err());
    }
}
