//! Google's Gemini API, as Gemini CLI uses it: `POST /v1beta/models/NAME:streamGenerateContent`, answered as events.

use serde_json::{Value, json};

use super::{Api, ModelText, Role, ToolResult, Turn};

pub(super) struct GenerateContent;

impl Api for GenerateContent {
    fn serves(&self, path: &str) -> bool {
        path.starts_with("/v1beta/models/")
    }

    /// Other requests have no tools that edit.
    fn is_conversation(&self, path: &str, body: &Value) -> bool {
        let tools = body["tools"].as_array().into_iter().flatten();
        let mut functions = tools.filter_map(|tool| tool["functionDeclarations"].as_array()).flatten();
        !path.ends_with(":countTokens")
            && functions.any(|function| function["name"] == "replace" || function["name"] == "edit_file")
    }

    fn results(&self, body: &Value) -> Vec<ToolResult> {
        let contents = body["contents"].as_array().into_iter().flatten();
        let parts = contents.filter_map(|content| content["parts"].as_array()).flatten();
        let results = parts.filter_map(|part| part.get("functionResponse"));
        results.map(result).collect()
    }

    fn messages(&self, body: &Value) -> Vec<ModelText> {
        let contents = body["contents"].as_array().into_iter().flatten();
        let parts = contents.flat_map(|content| {
            let parts = content["parts"].as_array().into_iter().flatten();
            parts.map(|part| (content["role"] == "model", part))
        });
        let said = parts.filter_map(|(by_model, part)| {
            if let Some(call) = part.get("functionCall") {
                return Some(ModelText::new(Role::Call, call["name"].as_str()?));
            }
            if let Some(response) = part.get("functionResponse") {
                return Some(ModelText::new(Role::Tool, result(response).text));
            }
            let role = if by_model { Role::Assistant } else { Role::User };
            Some(ModelText::new(role, part["text"].as_str()?))
        });
        said.collect()
    }

    fn answer(&self, path: &str, _body: &Value, turn: &Turn, number: usize) -> (String, &'static str) {
        if path.ends_with(":countTokens") {
            return (json!({ "totalTokens": 100 }).to_string(), "application/json");
        }
        let mut parts: Vec<Value> = match turn {
            Turn::Calls { tool, input } => {
                vec![
                    json!({ "functionCall": { "id": format!("call-{number}"), "name": tool, "args": input } }),
                ]
            }
            turn => turn.pieces().iter().map(|text| json!({ "text": text })).collect(),
        };
        let last = parts.pop();
        let message = |parts: &Value, end: Option<&str>| {
            let mut candidate = json!({ "content": { "role": "model", "parts": parts }, "index": 0 });
            if let Some(end) = end {
                candidate["finishReason"] = json!(end);
            }
            json!({
                "candidates": [candidate],
                "usageMetadata": { "promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110 },
                "modelVersion": "a model of a test", "responseId": format!("answer-{number}"),
            })
        };
        if !path.ends_with(":streamGenerateContent") {
            parts.extend(last);
            return (message(&json!(parts), Some("STOP")).to_string(), "application/json");
        }
        let messages = parts.iter().map(|part| message(&json!([part]), None));
        let messages = messages.chain(last.map(|part| message(&json!([part]), Some("STOP"))));
        let events: String = messages.map(|message| format!("data: {message}\r\n\r\n")).collect();
        (events, "text/event-stream")
    }
}

fn result(result: &Value) -> ToolResult {
    let error = result["response"].get("error");
    let said = error.unwrap_or(&result["response"]["output"]);
    let text = said.as_str().map_or_else(|| said.to_string(), str::to_owned);
    ToolResult { text, is_error: error.is_some() }
}
