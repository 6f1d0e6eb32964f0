//! OpenAI's chat completions, as Qwen Code, Copilot CLI and opencode use them: `POST /chat/completions`, answered as events.

use serde_json::{Value, json};

use super::{Api, ModelText, Role, ToolResult, Turn};

pub(super) struct ChatCompletions;

impl Api for ChatCompletions {
    fn serves(&self, path: &str) -> bool {
        path.ends_with("/chat/completions")
    }

    /// Other requests have no tools that edit.
    fn is_conversation(&self, _path: &str, body: &Value) -> bool {
        let tools = body["tools"].as_array();
        let edits =
            |tool: &Value| tool["function"]["name"] == "edit" || tool["function"]["name"] == "edit_file";
        tools.is_some_and(|tools| tools.iter().any(edits))
    }

    /// This protocol does not say which of them failed.
    fn results(&self, body: &Value) -> Vec<ToolResult> {
        let messages = body["messages"].as_array().into_iter().flatten();
        let results = messages.filter(|message| message["role"] == "tool");
        results.map(|message| ToolResult { text: text(&message["content"]), is_error: false }).collect()
    }

    fn messages(&self, body: &Value) -> Vec<ModelText> {
        let messages = body["messages"].as_array().into_iter().flatten();
        messages.flat_map(said).collect()
    }

    fn answer(&self, _path: &str, body: &Value, turn: &Turn, number: usize) -> (String, &'static str) {
        let (message, stop) = match turn {
            Turn::Calls { tool, input } => {
                let function = json!({ "name": tool, "arguments": input.to_string() });
                let call = json!({ "index": 0, "id": format!("call_{number}"), "type": "function", "function": function });
                (json!({ "role": "assistant", "content": null, "tool_calls": [call] }), "tool_calls")
            }
            turn => (json!({ "role": "assistant", "content": turn.pieces().concat() }), "stop"),
        };
        let usage = json!({ "prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110 });
        let answer = |kind: &str, choice: Value| {
            json!({
                "id": format!("chatcmpl-{number}"), "object": kind, "created": 1_763_000_000,
                "model": body["model"], "choices": [choice], "usage": usage,
            })
        };
        if body["stream"] != true {
            let choice = json!({ "index": 0, "message": message, "finish_reason": stop });
            return (answer("chat.completion", choice).to_string(), "application/json");
        }
        let deltas = match turn.pieces().as_slice() {
            [] | [_] => vec![message],
            pieces => pieces.iter().map(|text| json!({ "role": "assistant", "content": text })).collect(),
        };
        let deltas = deltas.iter().map(|delta| json!({ "index": 0, "delta": delta, "finish_reason": null }));
        let chunks = deltas.chain([json!({ "index": 0, "delta": {}, "finish_reason": stop })]);
        let chunks: Vec<_> =
            chunks.map(|choice| format!("data: {}\n\n", answer("chat.completion.chunk", choice))).collect();
        (format!("{}data: [DONE]\n\n", chunks.concat()), "text/event-stream")
    }
}

/// The text of a message, and its calls.
fn said(message: &Value) -> Vec<ModelText> {
    let role = match message["role"].as_str() {
        Some("system") => Role::System,
        Some("developer") => Role::Developer,
        Some("assistant") => Role::Assistant,
        Some("tool") => Role::Tool,
        _ => Role::User,
    };
    let text = text(&message["content"]);
    let calls = message["tool_calls"].as_array().into_iter().flatten();
    let calls = calls.filter_map(|call| Some(ModelText::new(Role::Call, call["function"]["name"].as_str()?)));
    // A message that only calls tools has no text.
    let text = (role != Role::Assistant || !text.is_empty()).then(|| ModelText::new(role, text));
    text.into_iter().chain(calls).collect()
}

/// Content is a text, or parts of which some are texts.
fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}
