//! The wire of OpenAI's chat completions with server-sent events, which many other servers speak. Pure.

use serde_json::{Value, json};

use super::lines::Sse;
use super::tool_names::ToolNames;
use super::wire::{self, AnswerDecoder, ModelHttpRequest, Target, text_of, tokens};
use super::{ModelError, ModelEvent, ModelRequest, StopReason};
use crate::message::{CallArguments, ChatMessage, ModelCall, Usage};

pub(super) fn request(request: &ModelRequest, target: &Target<'_>) -> ModelHttpRequest {
    let names = ToolNames::new(&request.tools);
    ModelHttpRequest {
        path: "/chat/completions".to_owned(),
        key_header: ("authorization", "Bearer "),
        headers: &[],
        body: body(request, target, &names),
        decoder: Box::new(ChunksDecoder { names, ..ChunksDecoder::default() }),
    }
}

fn body(request: &ModelRequest, target: &Target<'_>, names: &ToolNames) -> Value {
    let mut messages = Vec::new();
    if !request.system.is_empty() {
        messages.push(json!({ "role": "system", "content": request.system }));
    }
    for message in request.messages.iter().filter(|message| !wire::is_blank(message)) {
        match message {
            ChatMessage::User { text, attachments } => {
                messages.push(json!({ "role": "user", "content": wire::user_text(text, attachments) }));
            }
            ChatMessage::Summary { text } => {
                messages.push(json!({ "role": "user", "content": wire::summary_text(text) }));
            }
            ChatMessage::Assistant { text, calls } => {
                let mut answer = json!({ "role": "assistant", "content": text });
                if !calls.is_empty() {
                    answer["tool_calls"] = calls.iter().map(|call| earlier(call, names)).collect();
                }
                messages.push(answer);
            }
            ChatMessage::Tools { results } => messages.extend(results.iter().map(|result| {
                let content = wire::result_text(&result.text);
                json!({ "role": "tool", "tool_call_id": result.call_id, "content": content })
            })),
        }
    }
    let mut body = json!({
        "model": target.model,
        "messages": messages,
        "stream": true,
        "stream_options": { "include_usage": true },
    });
    if !request.tools.is_empty() {
        body["tools"] = tools(request, names);
    }
    if let Some(limit) = target.max_output_tokens {
        // OpenAI's newer models reject the older name, which the other servers know.
        let key = if target.provider == "openai" { "max_completion_tokens" } else { "max_tokens" };
        body[key] = limit.into();
    }
    body
}

/// Ollama has them, too.
pub(super) fn tools(request: &ModelRequest, names: &ToolNames) -> Value {
    let tool = |tool: &super::ToolSpec| {
        json!({
            "type": "function",
            "function": {
                "name": names.to_wire(&tool.name),
                "description": tool.description,
                "parameters": wire::schema(&tool.schema),
            },
        })
    };
    request.tools.iter().map(tool).collect()
}

fn earlier(call: &ModelCall, names: &ToolNames) -> Value {
    let arguments = match &call.arguments {
        CallArguments::Json(value) => value.to_string(),
        // Some servers parse it, and refuse what they cannot.
        CallArguments::Broken(_) => wire::arguments_object(&call.arguments).to_string(),
    };
    let function = json!({ "name": names.to_wire(&call.name), "arguments": arguments });
    json!({ "id": call.id, "type": "function", "function": function })
}

#[derive(Debug, Default)]
struct ChunksDecoder {
    names: ToolNames,
    sse: Sse,
    calls: Vec<PartialCall>,
    usage: Usage,
    reason: Option<StopReason>,
    is_over: bool,
}

#[derive(Debug, Default)]
struct PartialCall {
    index: u64,
    id: String,
    name: String,
    arguments: String,
}

impl AnswerDecoder for ChunksDecoder {
    fn feed(&mut self, bytes: &[u8]) -> Vec<Result<ModelEvent, ModelError>> {
        let Ok(events) = self.sse.feed(bytes) else { return vec![Err(wire::garbled("a line without end"))] };
        let mut out = Vec::new();
        for data in events {
            self.chunk(&data, &mut out);
        }
        out
    }

    fn finish(&mut self) -> Vec<Result<ModelEvent, ModelError>> {
        let mut out = Vec::new();
        if let Some(data) = self.sse.rest() {
            self.chunk(&data, &mut out);
        }
        if !self.is_over && self.reason.is_some() {
            self.end(&mut out);
        }
        if !self.is_over {
            out.push(Err(wire::ended_early()));
        }
        out
    }
}

impl ChunksDecoder {
    fn chunk(&mut self, data: &str, out: &mut Vec<Result<ModelEvent, ModelError>>) {
        if self.is_over {
            return;
        }
        if data.trim() == "[DONE]" {
            return self.end(out);
        }
        let Ok(chunk) = serde_json::from_str::<Value>(data) else {
            self.is_over = true;
            return out.push(Err(wire::garbled("an event that is not JSON")));
        };
        if let Some(error) = chunk.get("error").filter(|error| !error.is_null()) {
            self.is_over = true;
            return out.push(Err(wire::stream_error(error)));
        }
        if let Some(usage) = chunk.get("usage").filter(|usage| usage.is_object()) {
            let (input, output) =
                (tokens(usage.get("prompt_tokens")), tokens(usage.get("completion_tokens")));
            self.usage = Usage { input, output };
        }
        let Some(choice) = chunk.pointer("/choices/0") else { return };
        for (path, event) in [
            ("/delta/reasoning_content", ModelEvent::Thought as fn(String) -> ModelEvent),
            ("/delta/reasoning", ModelEvent::Thought),
            ("/delta/content", ModelEvent::Text),
        ] {
            let text = text_of(choice, path);
            if !text.is_empty() {
                out.push(Ok(event(text.to_owned())));
            }
        }
        let refusal = text_of(choice, "/delta/refusal");
        if !refusal.is_empty() {
            out.push(Ok(ModelEvent::Text(refusal.to_owned())));
            self.reason = Some(StopReason::Refusal);
        }
        let calls = choice.pointer("/delta/tool_calls").and_then(Value::as_array);
        for delta in calls.into_iter().flatten() {
            self.call_delta(delta);
        }
        match text_of(choice, "/finish_reason") {
            "" => {}
            "length" => self.reason = Some(StopReason::Length),
            "content_filter" => self.reason = Some(StopReason::Refusal),
            _ => self.reason = self.reason.or(Some(StopReason::End)),
        }
    }

    fn call_delta(&mut self, delta: &Value) {
        let (id, name) = (text_of(delta, "/id"), text_of(delta, "/function/name"));
        let index = delta.get("index").and_then(Value::as_u64).unwrap_or_default();
        let known = self.calls.iter_mut().rfind(|call| call.index == index);
        // Some servers give each whole call the same index.
        let call = match known {
            Some(call) if id.is_empty() || call.id == id || call.id.is_empty() => call,
            _ => self.calls.push_mut(PartialCall { index, ..PartialCall::default() }),
        };
        if call.id.is_empty() {
            id.clone_into(&mut call.id);
        }
        if call.name.is_empty() {
            name.clone_into(&mut call.name);
        }
        match delta.pointer("/function/arguments") {
            Some(Value::String(piece)) => call.arguments.push_str(piece),
            Some(whole @ Value::Object(_)) => call.arguments = whole.to_string(),
            _ => {}
        }
    }

    fn end(&mut self, out: &mut Vec<Result<ModelEvent, ModelError>>) {
        self.is_over = true;
        for call in std::mem::take(&mut self.calls) {
            let (name, arguments) = (self.names.original(&call.name), wire::arguments(call.arguments));
            out.push(Ok(ModelEvent::Call(ModelCall { id: call.id, name, arguments, opaque: None })));
        }
        out.push(Ok(ModelEvent::Usage(self.usage)));
        out.push(Ok(ModelEvent::Done(self.reason.unwrap_or(StopReason::End))));
    }
}
