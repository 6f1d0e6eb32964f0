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
        !path.ends_with(":countTokens") && functions.any(|function| function["name"] == "replace")
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
        let part = match turn {
            Turn::Says(text) => json!({ "text": text }),
            Turn::Calls { tool, input } => {
                json!({ "functionCall": { "id": format!("call-{number}"), "name": tool, "args": input } })
            }
        };
        let message = json!({
            "candidates": [{
                "content": { "role": "model", "parts": [part] }, "finishReason": "STOP", "index": 0,
            }],
            "usageMetadata": { "promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110 },
            "modelVersion": "a model of a test", "responseId": format!("answer-{number}"),
        });
        match path.ends_with(":streamGenerateContent") {
            true => (format!("data: {message}\r\n\r\n"), "text/event-stream"),
            false => (message.to_string(), "application/json"),
        }
    }
}

fn result(result: &Value) -> ToolResult {
    let error = result["response"].get("error");
    let said = error.unwrap_or(&result["response"]["output"]);
    let text = said.as_str().map_or_else(|| said.to_string(), str::to_owned);
    ToolResult { text, is_error: error.is_some() }
}
