//! Ollama's chat API, as our own agent uses it: `POST /api/chat`, answered with a JSON object on each line.

use serde_json::{Value, json};

use super::{Api, ModelText, Role, ToolResult, Turn};

pub(super) struct OllamaChat;

impl Api for OllamaChat {
    fn serves(&self, path: &str) -> bool {
        path == "/api/chat"
    }

    fn is_conversation(&self, _path: &str, body: &Value) -> bool {
        body["tools"].as_array().is_some_and(|tools| !tools.is_empty())
    }

    /// This protocol does not say which of them failed.
    fn results(&self, body: &Value) -> Vec<ToolResult> {
        let results = messages(body).filter(|message| message["role"] == "tool");
        results.map(|message| ToolResult { text: text(message), is_error: false }).collect()
    }

    fn messages(&self, body: &Value) -> Vec<ModelText> {
        messages(body).flat_map(said).collect()
    }

    fn answer(&self, _path: &str, body: &Value, turn: &Turn, _number: usize) -> (String, &'static str) {
        let said = |message: Value| json!({ "model": body["model"], "message": message, "done": false });
        let mut lines: Vec<Value> = match turn {
            Turn::Calls { tool, input } => {
                let call = json!({ "function": { "name": tool, "arguments": input } });
                vec![said(json!({ "role": "assistant", "content": "", "tool_calls": [call] }))]
            }
            turn => turn
                .pieces()
                .iter()
                .map(|piece| said(json!({ "role": "assistant", "content": piece })))
                .collect(),
        };
        lines.push(json!({
            "model": body["model"], "message": { "role": "assistant", "content": "" }, "done": true,
            "done_reason": "stop", "prompt_eval_count": 100, "eval_count": 10,
        }));
        (lines.iter().map(|line| format!("{line}\n")).collect(), "application/x-ndjson")
    }

    fn refusal(&self, _status: u16, message: &str) -> Value {
        json!({ "error": message })
    }
}

fn messages(body: &Value) -> impl Iterator<Item = &Value> {
    body["messages"].as_array().into_iter().flatten()
}

fn text(message: &Value) -> String {
    message["content"].as_str().unwrap_or_default().to_owned()
}

/// The text of a message, and its calls.
fn said(message: &Value) -> Vec<ModelText> {
    let role = match message["role"].as_str() {
        Some("system") => Role::System,
        Some("assistant") => Role::Assistant,
        Some("tool") => Role::Tool,
        _ => Role::User,
    };
    let text = text(message);
    let calls = message["tool_calls"].as_array().into_iter().flatten();
    let calls = calls.filter_map(|call| Some(ModelText::new(Role::Call, call["function"]["name"].as_str()?)));
    let text = (role != Role::Assistant || !text.is_empty()).then(|| ModelText::new(role, text));
    text.into_iter().chain(calls).collect()
}
