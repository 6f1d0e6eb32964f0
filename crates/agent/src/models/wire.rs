//! What the wires have in common: the request that each builds and the decoder that each has. Pure.

use serde_json::{Map, Value, json};

use super::{ModelError, ModelEvent, ModelRequest, anthropic, gemini, ollama, openai};
use crate::config::WireName;
use crate::message::{CallArguments, ChatMessage};

/// What a body is built for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target<'a> {
    pub(super) provider: &'a str,
    pub(super) model: &'a str,
    pub(super) context_window: Option<u64>,
    pub(super) max_output_tokens: Option<u32>,
}

/// A request as its wire wants it.
#[derive(Debug)]
pub(super) struct ModelHttpRequest {
    /// After the base URL.
    pub(super) path: String,
    /// The header that carries the key, and what comes before the key.
    pub(super) key_header: (&'static str, &'static str),
    pub(super) headers: &'static [(&'static str, &'static str)],
    pub(super) body: Value,
    pub(super) decoder: Box<dyn AnswerDecoder>,
}

/// Turns the bytes of an answer into events.
pub(super) trait AnswerDecoder: std::fmt::Debug + Send {
    /// The next bytes. Nothing follows an error or [`ModelEvent::Done`].
    fn feed(&mut self, bytes: &[u8]) -> Vec<Result<ModelEvent, ModelError>>;

    /// The answer has ended.
    fn finish(&mut self) -> Vec<Result<ModelEvent, ModelError>>;
}

pub(super) fn request(wire: WireName, request: &ModelRequest, target: &Target<'_>) -> ModelHttpRequest {
    match wire {
        WireName::Anthropic => anthropic::request(request, target),
        WireName::Openai => openai::request(request, target),
        WireName::Gemini => gemini::request(request, target),
        WireName::Ollama => ollama::request(request, target),
    }
}

/// The text of a message of the user, with its attachments first, as one text.
pub(super) fn user_text(text: &str, attachments: &[String]) -> String {
    let mut parts: Vec<&str> = attachments.iter().map(String::as_str).collect();
    parts.push(text);
    let text = parts.join("\n\n");
    if text.trim().is_empty() { "(empty)".to_owned() } else { text }
}

/// How a summary is introduced to the model.
pub(super) fn summary_text(text: &str) -> String {
    format!("The conversation before this was summarised, because it was too long:\n\n{text}")
}

/// Arguments of an earlier call, which every wire wants as an object.
pub(super) fn arguments_object(arguments: &CallArguments) -> Value {
    match arguments {
        CallArguments::Json(Value::Object(object)) => Value::Object(object.clone()),
        CallArguments::Json(other) => json!({ "arguments": other }),
        CallArguments::Broken(text) => json!({ "invalid_json": text }),
    }
}

/// Some servers reject an empty result.
pub(super) fn result_text(text: &str) -> &str {
    if text.is_empty() { "(no output)" } else { text }
}

/// What a model streamed as arguments. Many send nothing for a tool without arguments.
pub(super) fn arguments(text: String) -> CallArguments {
    if text.trim().is_empty() {
        return CallArguments::Json(Value::Object(Map::new()));
    }
    match serde_json::from_str::<Value>(&text) {
        Ok(value) if value.is_object() => CallArguments::Json(value),
        _ => CallArguments::Broken(text),
    }
}

/// A schema that every wire accepts: an object.
pub(super) fn schema(schema: &Value) -> Value {
    match schema {
        Value::Object(object) if object.get("type") == Some(&Value::from("object")) => schema.clone(),
        Value::Object(object) => {
            let mut object = object.clone();
            object.insert("type".to_owned(), "object".into());
            object.entry("properties").or_insert_with(|| json!({}));
            Value::Object(object)
        }
        _ => json!({ "type": "object", "properties": {} }),
    }
}

pub(super) fn tokens(value: Option<&Value>) -> u64 {
    value.and_then(Value::as_u64).unwrap_or_default()
}

pub(super) fn text_of<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// The answer cannot be understood.
pub(super) fn garbled(what: &str) -> ModelError {
    ModelError::Transient { message: format!("the model's server sent {what}"), retry_after: None }
}

/// The answer ended before it was complete.
pub(super) fn ended_early() -> ModelError {
    let message = "the model's server closed the connection in the middle of its answer".to_owned();
    ModelError::Transient { message, retry_after: None }
}

/// An error inside a stream that began well.
pub(super) fn stream_error(error: &Value) -> ModelError {
    let message = super::status::message_of(error);
    let kind = [text_of(error, "/type"), text_of(error, "/code"), text_of(error, "/status")].concat();
    if super::status::is_too_long(&message) {
        return ModelError::Permanent { message: super::status::TOO_LONG.to_owned(), too_long: true };
    }
    let permanent = ["invalid_request", "authentication", "permission", "not_found", "INVALID_ARGUMENT"];
    if permanent.iter().any(|permanent| kind.contains(permanent)) {
        return ModelError::Permanent { message, too_long: false };
    }
    ModelError::Transient { message, retry_after: None }
}

/// Messages of one role in a row become one, which some servers require.
pub(super) fn push_parts(
    messages: &mut Vec<(&'static str, Vec<Value>)>,
    role: &'static str,
    parts: Vec<Value>,
) {
    match messages.last_mut() {
        Some((last, existing)) if *last == role => existing.extend(parts),
        _ => messages.push((role, parts)),
    }
}

/// Whether it has anything to say.
pub(super) fn is_blank(message: &ChatMessage) -> bool {
    matches!(message, ChatMessage::Assistant { text, calls } if text.trim().is_empty() && calls.is_empty())
}
