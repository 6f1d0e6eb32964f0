//! Anthropic's messages API, as Claude Code uses it: `POST /v1/messages`, answered as a stream of events.

use serde_json::{Value, json};

use super::{Api, ModelText, Role, ToolResult, Turn};

pub(super) struct Messages;

impl Api for Messages {
    fn serves(&self, path: &str) -> bool {
        matches!(path, "/v1/messages" | "/v1/messages/count_tokens")
    }

    /// Other requests, such as one for a title, have no tools.
    fn is_conversation(&self, path: &str, body: &Value) -> bool {
        path == "/v1/messages" && body["tools"].as_array().is_some_and(|tools| !tools.is_empty())
    }

    fn results(&self, body: &Value) -> Vec<ToolResult> {
        let messages = body["messages"].as_array().into_iter().flatten();
        let blocks = messages.filter_map(|message| message["content"].as_array()).flatten();
        let results = blocks.filter(|block| block["type"] == "tool_result");
        results
            .map(|block| ToolResult {
                text: text(&block["content"]),
                is_error: block["is_error"].as_bool().unwrap_or(false),
            })
            .collect()
    }

    fn messages(&self, body: &Value) -> Vec<ModelText> {
        let messages = body["messages"].as_array().into_iter().flatten();
        messages
            .flat_map(|message| blocks(message).into_iter().filter_map(|block| said(message, &block)))
            .collect()
    }

    fn answer(&self, path: &str, body: &Value, turn: &Turn, number: usize) -> (String, &'static str) {
        if path.ends_with("/count_tokens") {
            return (json!({ "input_tokens": 100 }).to_string(), "application/json");
        }
        let (block, stop) = match turn {
            Turn::Calls { tool, input } => (
                json!({ "type": "tool_use", "id": format!("toolu_{number}"), "name": tool, "input": input }),
                "tool_use",
            ),
            turn => (json!({ "type": "text", "text": turn.pieces().concat() }), "end_turn"),
        };
        let message = json!({
            "id": format!("msg_{number}"), "type": "message", "role": "assistant", "model": body["model"],
            "content": [block], "stop_reason": stop, "stop_sequence": null,
            "usage": { "input_tokens": 100, "output_tokens": 10 },
        });
        if body["stream"] == true {
            (stream(message, &turn.pieces()), "text/event-stream")
        } else {
            (message.to_string(), "application/json")
        }
    }
}

/// The blocks of a message, of which a bare text is one.
fn blocks(message: &Value) -> Vec<Value> {
    match &message["content"] {
        Value::Array(blocks) => blocks.clone(),
        text => vec![json!({ "type": "text", "text": text })],
    }
}

fn said(message: &Value, block: &Value) -> Option<ModelText> {
    match block["type"].as_str()? {
        "tool_use" => Some(ModelText::new(Role::Call, block["name"].as_str()?)),
        "tool_result" => Some(ModelText::new(Role::Tool, text(&block["content"]))),
        "text" => {
            let role = match message["role"].as_str()? {
                "system" => Role::System,
                "assistant" => Role::Assistant,
                _ => Role::User,
            };
            Some(ModelText::new(role, block["text"].as_str()?))
        }
        _ => None,
    }
}

/// The same message as events, its text in pieces.
fn stream(mut message: Value, pieces: &[&str]) -> String {
    let stop = message["stop_reason"].take();
    let mut block = message["content"].take()[0].take();
    message["content"] = json!([]);
    let deltas: Vec<Value> = if block["type"] == "tool_use" {
        let input = block["input"].take().to_string();
        block["input"] = json!({});
        vec![json!({ "type": "input_json_delta", "partial_json": input })]
    } else {
        block["text"] = json!("");
        pieces.iter().map(|text| json!({ "type": "text_delta", "text": text })).collect()
    };
    let mut events = vec![
        json!({ "type": "message_start", "message": message }),
        json!({ "type": "content_block_start", "index": 0, "content_block": block }),
    ];
    events.extend(
        deltas.iter().map(|delta| json!({ "type": "content_block_delta", "index": 0, "delta": delta })),
    );
    events.extend([
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({
            "type": "message_delta", "delta": { "stop_reason": stop, "stop_sequence": null },
            "usage": { "output_tokens": 10 },
        }),
        json!({ "type": "message_stop" }),
    ]);
    let event = |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
    events.iter().map(event).collect()
}

/// Content is a text, or blocks of which some are texts.
fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            blocks.iter().filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}
