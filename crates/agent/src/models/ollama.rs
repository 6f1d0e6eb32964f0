//! The wire of Ollama: `/api/chat`, which streams one JSON object a line. Pure.

use serde_json::{Value, json};

use super::lines::Lines;
use super::tool_names::ToolNames;
use super::wire::{self, AnswerDecoder, ModelHttpRequest, Target, text_of, tokens};
use super::{ModelError, ModelEvent, ModelRequest, StopReason, openai};
use crate::message::{CallArguments, ChatMessage, ModelCall, Usage};

pub(super) fn request(request: &ModelRequest, target: &Target<'_>) -> ModelHttpRequest {
    let names = ToolNames::new(&request.tools);
    ModelHttpRequest {
        path: "/api/chat".to_owned(),
        key_header: ("authorization", "Bearer "),
        headers: &[],
        body: body(request, target, &names),
        decoder: Box::new(ChatDecoder { names, ..ChatDecoder::default() }),
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
                    let earlier = |call: &ModelCall| {
                        let arguments = wire::arguments_object(&call.arguments);
                        json!({ "function": { "name": names.to_wire(&call.name), "arguments": arguments } })
                    };
                    answer["tool_calls"] = calls.iter().map(earlier).collect();
                }
                messages.push(answer);
            }
            ChatMessage::Tools { results } => messages.extend(results.iter().map(|result| {
                let (name, content) = (names.to_wire(&result.name), wire::result_text(&result.text));
                json!({ "role": "tool", "tool_name": name, "content": content })
            })),
        }
    }
    let mut options = json!({});
    if let Some(window) = target.context_window {
        // Without it, Ollama silently forgets the start of a longer conversation.
        options["num_ctx"] = window.into();
    }
    if let Some(limit) = target.max_output_tokens {
        options["num_predict"] = limit.into();
    }
    let mut body = json!({ "model": target.model, "messages": messages, "stream": true, "options": options });
    if !request.tools.is_empty() {
        body["tools"] = openai::tools(request, names);
    }
    body
}

#[derive(Debug, Default)]
struct ChatDecoder {
    names: ToolNames,
    lines: Lines,
    is_over: bool,
}

impl AnswerDecoder for ChatDecoder {
    fn feed(&mut self, bytes: &[u8]) -> Vec<Result<ModelEvent, ModelError>> {
        let Ok(lines) = self.lines.feed(bytes) else { return vec![Err(wire::garbled("a line without end"))] };
        let mut out = Vec::new();
        for line in lines {
            self.line(&line, &mut out);
        }
        out
    }

    fn finish(&mut self) -> Vec<Result<ModelEvent, ModelError>> {
        let mut out = Vec::new();
        if let Some(line) = self.lines.rest() {
            self.line(&line, &mut out);
        }
        if !self.is_over {
            self.is_over = true;
            out.push(Err(wire::ended_early()));
        }
        out
    }
}

impl ChatDecoder {
    fn line(&mut self, line: &str, out: &mut Vec<Result<ModelEvent, ModelError>>) {
        if self.is_over || line.trim().is_empty() {
            return;
        }
        let Ok(chunk) = serde_json::from_str::<Value>(line) else {
            self.is_over = true;
            return out.push(Err(wire::garbled("a line that is not JSON")));
        };
        if let Some(error) = chunk.get("error") {
            self.is_over = true;
            return out.push(Err(wire::stream_error(error)));
        }
        for (path, event) in [
            ("/message/thinking", ModelEvent::Thought as fn(String) -> ModelEvent),
            ("/message/content", ModelEvent::Text),
        ] {
            let text = text_of(&chunk, path);
            if !text.is_empty() {
                out.push(Ok(event(text.to_owned())));
            }
        }
        let calls = chunk.pointer("/message/tool_calls").and_then(Value::as_array);
        for call in calls.into_iter().flatten() {
            let arguments = match call.pointer("/function/arguments") {
                None | Some(Value::Null) => wire::arguments(String::new()),
                Some(arguments @ Value::Object(_)) => CallArguments::Json(arguments.clone()),
                Some(Value::String(text)) => wire::arguments(text.clone()),
                Some(other) => CallArguments::Broken(other.to_string()),
            };
            let name = self.names.original(text_of(call, "/function/name"));
            let id = text_of(call, "/id").to_owned();
            out.push(Ok(ModelEvent::Call(ModelCall { id, name, arguments, opaque: None })));
        }
        if chunk.get("done").and_then(Value::as_bool).unwrap_or_default() {
            self.is_over = true;
            let (input, output) = (tokens(chunk.get("prompt_eval_count")), tokens(chunk.get("eval_count")));
            out.push(Ok(ModelEvent::Usage(Usage { input, output })));
            let is_cut = text_of(&chunk, "/done_reason") == "length";
            out.push(Ok(ModelEvent::Done(if is_cut { StopReason::Length } else { StopReason::End })));
        }
    }
}
