//! OpenAI's responses, as Codex uses them: `POST /v1/responses`, answered as events.

use serde_json::{Value, json};

use super::{Api, ModelText, Role, ToolResult, Turn};

pub(super) struct Responses;

impl Api for Responses {
    fn serves(&self, path: &str) -> bool {
        path.ends_with("/responses")
    }

    /// Other requests, such as one for a title, have no tool that runs commands.
    fn is_conversation(&self, _path: &str, body: &Value) -> bool {
        let tools = body["tools"].as_array();
        tools.is_some_and(|tools| tools.iter().any(|tool| tool["name"] == "exec_command"))
    }

    /// This protocol does not say which of them failed.
    fn results(&self, body: &Value) -> Vec<ToolResult> {
        let said = self.messages(body).into_iter().filter(|message| message.role == Role::Tool);
        said.map(|message| ToolResult { text: message.text, is_error: false }).collect()
    }

    fn messages(&self, body: &Value) -> Vec<ModelText> {
        body["input"].as_array().into_iter().flatten().filter_map(said).collect()
    }

    /// A tool whose input is a text, such as `apply_patch`, is called with that text.
    fn answer(&self, _path: &str, _body: &Value, turn: &Turn, number: usize) -> (String, &'static str) {
        let item = match turn {
            Turn::Calls { tool, input: Value::String(input) } => json!({
                "type": "custom_tool_call", "id": format!("ctc_{number}"), "call_id": format!("call_{number}"),
                "name": tool, "input": input,
            }),
            Turn::Calls { tool, input } => json!({
                "type": "function_call", "id": format!("fc_{number}"), "call_id": format!("call_{number}"),
                "name": tool, "arguments": input.to_string(),
            }),
            turn => json!({
                "type": "message", "id": format!("msg_{number}"), "role": "assistant",
                "content": [{ "type": "output_text", "text": turn.pieces().concat() }],
            }),
        };
        let id = format!("resp_{number}");
        let usage = json!({
            "input_tokens": 100, "input_tokens_details": null, "output_tokens": 10, "output_tokens_details": null,
            "total_tokens": 110,
        });
        let events = [
            json!({ "type": "response.created", "response": { "id": id } }),
            json!({ "type": "response.output_item.added", "output_index": 0, "item": item }),
            json!({ "type": "response.output_item.done", "output_index": 0, "item": item }),
            json!({ "type": "response.completed", "response": { "id": id, "usage": usage } }),
        ];
        let event = |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
        (events.iter().map(event).collect(), "text/event-stream")
    }
}

fn said(item: &Value) -> Option<ModelText> {
    match item["type"].as_str()? {
        "custom_tool_call" | "function_call" => Some(ModelText::new(Role::Call, item["name"].as_str()?)),
        "custom_tool_call_output" | "function_call_output" => {
            Some(ModelText::new(Role::Tool, text(&item["output"])))
        }
        "message" => {
            let role = match item["role"].as_str()? {
                "system" => Role::System,
                "developer" => Role::Developer,
                "assistant" => Role::Assistant,
                _ => Role::User,
            };
            Some(ModelText::new(role, text(&item["content"])))
        }
        _ => None,
    }
}

/// A text, or parts of which some are texts.
fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}
