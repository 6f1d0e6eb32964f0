//! The wire of Gemini: `streamGenerateContent` with server-sent events. Pure.

use serde_json::{Value, json};

use super::lines::Sse;
use super::tool_names::ToolNames;
use super::wire::{self, AnswerDecoder, ModelHttpRequest, Target, text_of, tokens};
use super::{ModelError, ModelEvent, ModelRequest, StopReason};
use crate::message::{CallArguments, ChatMessage, ModelCall, Usage};

/// Stands for the signature of a call that another model made; Gemini 3 wants one.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

pub(super) fn request(request: &ModelRequest, target: &Target<'_>) -> ModelHttpRequest {
    let names = ToolNames::new(&request.tools);
    let model = target.model.strip_prefix("models/").unwrap_or(target.model);
    ModelHttpRequest {
        path: format!("/models/{model}:streamGenerateContent?alt=sse"),
        key_header: ("x-goog-api-key", ""),
        headers: &[],
        body: body(request, target, &names),
        decoder: Box::new(ContentDecoder { names, ..ContentDecoder::default() }),
    }
}

fn body(request: &ModelRequest, target: &Target<'_>, names: &ToolNames) -> Value {
    let wants_signatures = target.model.contains("gemini-3");
    let mut contents = Vec::new();
    for message in request.messages.iter().filter(|message| !wire::is_blank(message)) {
        let text = |text: &str| vec![json!({ "text": text })];
        match message {
            ChatMessage::User { text: said, attachments } => {
                wire::push_parts(&mut contents, "user", text(&wire::user_text(said, attachments)));
            }
            ChatMessage::Summary { text: said } => {
                wire::push_parts(&mut contents, "user", text(&wire::summary_text(said)));
            }
            ChatMessage::Assistant { text: said, calls } => {
                let mut parts = if said.is_empty() { Vec::new() } else { text(said) };
                for (index, call) in calls.iter().enumerate() {
                    let args = wire::arguments_object(&call.arguments);
                    let mut part =
                        json!({ "functionCall": { "name": names.to_wire(&call.name), "args": args } });
                    let made_up = (wants_signatures && index == 0).then_some(NO_SIGNATURE);
                    if let Some(signature) = call.opaque.as_deref().or(made_up) {
                        part["thoughtSignature"] = signature.into();
                    }
                    parts.push(part);
                }
                wire::push_parts(&mut contents, "model", parts);
            }
            ChatMessage::Tools { results } => {
                let parts = results.iter().map(|result| {
                    let key = if result.is_error { "error" } else { "output" };
                    let response = json!({ key: wire::result_text(&result.text) });
                    json!({ "functionResponse": { "name": names.to_wire(&result.name), "response": response } })
                });
                wire::push_parts(&mut contents, "user", parts.collect());
            }
        }
    }
    let contents: Vec<_> =
        contents.into_iter().map(|(role, parts)| json!({ "role": role, "parts": parts })).collect();
    let mut body = json!({ "contents": contents });
    if !request.system.is_empty() {
        body["systemInstruction"] = json!({ "parts": [{ "text": request.system }] });
    }
    if !request.tools.is_empty() {
        let tool = |tool: &super::ToolSpec| {
            json!({
                "name": names.to_wire(&tool.name),
                "description": tool.description,
                "parametersJsonSchema": wire::schema(&tool.schema),
            })
        };
        let declarations: Vec<_> = request.tools.iter().map(tool).collect();
        body["tools"] = json!([{ "functionDeclarations": declarations }]);
    }
    if let Some(limit) = target.max_output_tokens {
        body["generationConfig"] = json!({ "maxOutputTokens": limit });
    }
    body
}

#[derive(Debug, Default)]
struct ContentDecoder {
    names: ToolNames,
    sse: Sse,
    usage: Usage,
    reason: Option<StopReason>,
    is_over: bool,
}

impl AnswerDecoder for ContentDecoder {
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
        if self.is_over {
            return out;
        }
        self.is_over = true;
        match self.reason {
            Some(reason) => {
                out.push(Ok(ModelEvent::Usage(self.usage)));
                out.push(Ok(ModelEvent::Done(reason)));
            }
            None => out.push(Err(wire::ended_early())),
        }
        out
    }
}

impl ContentDecoder {
    fn chunk(&mut self, data: &str, out: &mut Vec<Result<ModelEvent, ModelError>>) {
        if self.is_over {
            return;
        }
        let Ok(chunk) = serde_json::from_str::<Value>(data) else {
            self.is_over = true;
            return out.push(Err(wire::garbled("an event that is not JSON")));
        };
        if let Some(error) = chunk.get("error") {
            self.is_over = true;
            return out.push(Err(wire::stream_error(error)));
        }
        if let Some(usage) = chunk.get("usageMetadata") {
            let output = tokens(usage.get("candidatesTokenCount"));
            let output = output.saturating_add(tokens(usage.get("thoughtsTokenCount")));
            self.usage = Usage { input: tokens(usage.get("promptTokenCount")), output };
        }
        if chunk.pointer("/promptFeedback/blockReason").is_some() {
            self.reason = Some(StopReason::Refusal);
        }
        let parts = chunk.pointer("/candidates/0/content/parts").and_then(Value::as_array);
        for part in parts.into_iter().flatten() {
            self.part(part, out);
        }
        match text_of(&chunk, "/candidates/0/finishReason") {
            "" => {}
            "STOP" => self.reason = Some(StopReason::End),
            "MAX_TOKENS" => self.reason = Some(StopReason::Length),
            "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "LANGUAGE" => {
                self.reason = Some(StopReason::Refusal);
            }
            "MALFORMED_FUNCTION_CALL" => {
                self.is_over = true;
                out.push(Err(wire::garbled("a tool call that it could not write itself")));
            }
            _ => self.reason = Some(StopReason::End),
        }
    }

    fn part(&self, part: &Value, out: &mut Vec<Result<ModelEvent, ModelError>>) {
        let text = text_of(part, "/text");
        if !text.is_empty() {
            let is_thought = part.get("thought").and_then(Value::as_bool).unwrap_or_default();
            let event = if is_thought { ModelEvent::Thought } else { ModelEvent::Text };
            out.push(Ok(event(text.to_owned())));
        }
        let Some(call) = part.get("functionCall") else { return };
        let arguments = match call.get("args") {
            None | Some(Value::Null) => wire::arguments(String::new()),
            Some(args @ Value::Object(_)) => CallArguments::Json(args.clone()),
            Some(other) => CallArguments::Broken(other.to_string()),
        };
        let signature = text_of(part, "/thoughtSignature");
        let opaque = (!signature.is_empty()).then(|| signature.to_owned());
        let (id, name) = (text_of(call, "/id").to_owned(), self.names.original(text_of(call, "/name")));
        out.push(Ok(ModelEvent::Call(ModelCall { id, name, arguments, opaque })));
    }
}
