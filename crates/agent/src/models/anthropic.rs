//! The wire of Anthropic: the messages API with server-sent events. Pure.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::lines::Sse;
use super::tool_names::{ToolNames, plain};
use super::wire::{self, AnswerDecoder, ModelHttpRequest, Target, text_of, tokens};
use super::{ModelError, ModelEvent, ModelRequest, StopReason};
use crate::message::{ChatMessage, ModelCall, Usage};

/// Every model of this wire can write so much.
const MAX_TOKENS: u32 = 16_384;

pub(super) fn request(request: &ModelRequest, target: &Target<'_>) -> ModelHttpRequest {
    let names = ToolNames::new(&request.tools);
    ModelHttpRequest {
        path: "/v1/messages".to_owned(),
        key_header: ("x-api-key", ""),
        headers: &[("anthropic-version", "2023-06-01")],
        body: body(request, target, &names),
        decoder: Box::new(MessagesDecoder { names, ..MessagesDecoder::default() }),
    }
}

fn body(request: &ModelRequest, target: &Target<'_>, names: &ToolNames) -> Value {
    let mut messages = Vec::new();
    for message in request.messages.iter().filter(|message| !wire::is_blank(message)) {
        let (role, parts) = parts(message, names);
        wire::push_parts(&mut messages, role, parts);
    }
    // What comes again with the next request is cheaper then.
    let cache = json!({ "type": "ephemeral" });
    if let Some(Value::Object(last)) = messages.last_mut().and_then(|(_, parts)| parts.last_mut()) {
        last.insert("cache_control".to_owned(), cache.clone());
    }
    let messages: Vec<_> =
        messages.into_iter().map(|(role, content)| json!({ "role": role, "content": content })).collect();
    let mut body = json!({
        "model": target.model,
        "max_tokens": target.max_output_tokens.unwrap_or(MAX_TOKENS),
        "stream": true,
        "messages": messages,
    });
    if !request.system.is_empty() {
        body["system"] = json!([{ "type": "text", "text": request.system, "cache_control": cache }]);
    }
    if !request.tools.is_empty() {
        let tool = |tool: &super::ToolSpec| {
            json!({
                "name": names.to_wire(&tool.name),
                "description": tool.description,
                "input_schema": wire::schema(&tool.schema),
            })
        };
        body["tools"] = request.tools.iter().map(tool).collect();
    }
    body
}

fn parts(message: &ChatMessage, names: &ToolNames) -> (&'static str, Vec<Value>) {
    let text = |text: &str| json!({ "type": "text", "text": text });
    match message {
        ChatMessage::User { text: said, attachments } => {
            let all = attachments.iter().chain([said]).filter(|said| !said.trim().is_empty());
            let mut parts: Vec<_> = all.map(|said| text(said)).collect();
            if parts.is_empty() {
                parts.push(text("(empty)"));
            }
            ("user", parts)
        }
        ChatMessage::Summary { text: said } => ("user", vec![text(&wire::summary_text(said))]),
        ChatMessage::Assistant { text: said, calls } => {
            let mut parts = Vec::new();
            if !said.trim().is_empty() {
                parts.push(text(said.trim_end()));
            }
            parts.extend(calls.iter().map(|call| {
                json!({
                    "type": "tool_use",
                    "id": plain(&call.id),
                    "name": names.to_wire(&call.name),
                    "input": wire::arguments_object(&call.arguments),
                })
            }));
            ("assistant", parts)
        }
        ChatMessage::Tools { results } => {
            let result = |result: &crate::message::ToolResult| {
                json!({
                    "type": "tool_result",
                    "tool_use_id": plain(&result.call_id),
                    "content": wire::result_text(&result.text),
                    "is_error": result.is_error,
                })
            };
            ("user", results.iter().map(result).collect())
        }
    }
}

#[derive(Debug, Default)]
struct MessagesDecoder {
    names: ToolNames,
    sse: Sse,
    /// Calls whose arguments are still coming, by their block.
    calls: BTreeMap<u64, (String, String, String)>,
    usage: Usage,
    reason: Option<StopReason>,
    is_over: bool,
}

impl AnswerDecoder for MessagesDecoder {
    fn feed(&mut self, bytes: &[u8]) -> Vec<Result<ModelEvent, ModelError>> {
        let Ok(events) = self.sse.feed(bytes) else { return vec![Err(wire::garbled("a line without end"))] };
        let mut out = Vec::new();
        for data in events {
            self.event(&data, &mut out);
        }
        out
    }

    fn finish(&mut self) -> Vec<Result<ModelEvent, ModelError>> {
        let mut out = Vec::new();
        if let Some(data) = self.sse.rest() {
            self.event(&data, &mut out);
        }
        // Some servers of this wire end without `message_stop`.
        if !self.is_over && self.reason.is_some() {
            self.end(&mut out);
        }
        if !self.is_over {
            out.push(Err(wire::ended_early()));
        }
        out
    }
}

impl MessagesDecoder {
    fn event(&mut self, data: &str, out: &mut Vec<Result<ModelEvent, ModelError>>) {
        if self.is_over {
            return;
        }
        let Ok(event) = serde_json::from_str::<Value>(data) else {
            self.is_over = true;
            return out.push(Err(wire::garbled("an event that is not JSON")));
        };
        let index = event.get("index").and_then(Value::as_u64).unwrap_or_default();
        match text_of(&event, "/type") {
            "message_start" => self.count(event.pointer("/message/usage")),
            "content_block_start" => match text_of(&event, "/content_block/type") {
                "tool_use" => {
                    let id = text_of(&event, "/content_block/id").to_owned();
                    let name = self.names.original(text_of(&event, "/content_block/name"));
                    // Some servers send the whole input here.
                    let input = event
                        .pointer("/content_block/input")
                        .filter(|input| input.as_object().is_some_and(|input| !input.is_empty()));
                    let input = input.map(Value::to_string).unwrap_or_default();
                    self.calls.insert(index, (id, name, input));
                }
                "text" => push_text(out, ModelEvent::Text, text_of(&event, "/content_block/text")),
                _ => {}
            },
            "content_block_delta" => match text_of(&event, "/delta/type") {
                "text_delta" => push_text(out, ModelEvent::Text, text_of(&event, "/delta/text")),
                "thinking_delta" => push_text(out, ModelEvent::Thought, text_of(&event, "/delta/thinking")),
                "input_json_delta" => {
                    if let Some((_, _, arguments)) = self.calls.get_mut(&index) {
                        arguments.push_str(text_of(&event, "/delta/partial_json"));
                    }
                }
                _ => {}
            },
            "content_block_stop" => out.extend(self.calls.remove(&index).map(call)),
            "message_delta" => {
                self.count(event.get("usage"));
                match text_of(&event, "/delta/stop_reason") {
                    "" => {}
                    "max_tokens" | "model_context_window_exceeded" => self.reason = Some(StopReason::Length),
                    "refusal" => self.reason = Some(StopReason::Refusal),
                    _ => self.reason = Some(StopReason::End),
                }
            }
            "message_stop" => self.end(out),
            "error" => {
                self.is_over = true;
                out.push(Err(wire::stream_error(event.get("error").unwrap_or(&event))));
            }
            _ => {}
        }
    }

    fn count(&mut self, usage: Option<&Value>) {
        let Some(usage) = usage else { return };
        let input = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
        let input = input.iter().fold(0u64, |sum, key| sum.saturating_add(tokens(usage.get(*key))));
        self.usage.input = self.usage.input.max(input);
        self.usage.output = self.usage.output.max(tokens(usage.get("output_tokens")));
    }

    fn end(&mut self, out: &mut Vec<Result<ModelEvent, ModelError>>) {
        self.is_over = true;
        out.extend(std::mem::take(&mut self.calls).into_values().map(call));
        out.push(Ok(ModelEvent::Usage(self.usage)));
        out.push(Ok(ModelEvent::Done(self.reason.unwrap_or(StopReason::End))));
    }
}

fn call((id, name, arguments): (String, String, String)) -> Result<ModelEvent, ModelError> {
    Ok(ModelEvent::Call(ModelCall { id, name, arguments: wire::arguments(arguments), opaque: None }))
}

fn push_text(out: &mut Vec<Result<ModelEvent, ModelError>>, event: fn(String) -> ModelEvent, text: &str) {
    if !text.is_empty() {
        out.push(Ok(event(text.to_owned())));
    }
}
