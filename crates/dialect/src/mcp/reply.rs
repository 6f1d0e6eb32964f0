//! Outgoing frames: results, errors, notifications.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use super::envelope::{INTERNAL, RequestId};

/// A tool's answer as its dialect encodes it.
#[derive(Debug)]
pub(crate) enum Encoded<'a> {
    /// Text items of a result.
    Texts(Vec<Cow<'a, str>>),
    /// A result of a tool that failed.
    ToolFailed(&'a str),
    /// An object for programs, and the same as a text for models.
    Structured { content: Box<RawValue>, text: Cow<'a, str>, failed: bool },
    /// A JSON-RPC error.
    Error(i32, Cow<'a, str>),
}

impl<'a> Encoded<'a> {
    pub(crate) fn text(text: impl Into<Cow<'a, str>>) -> Encoded<'a> {
        Encoded::Texts(vec![text.into()])
    }

    /// A value, as JSON inside the text.
    pub(crate) fn json(value: &impl Serialize) -> Encoded<'a> {
        Encoded::text(json(value))
    }

    /// An object, and a text with the same contents.
    pub(crate) fn structured(
        value: &impl Serialize,
        text: impl Into<Cow<'a, str>>,
        failed: bool,
    ) -> Encoded<'a> {
        // Our types have string keys and only serialisers that cannot fail.
        let content = to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned());
        Encoded::Structured { content, text: text.into(), failed }
    }

    /// For an answer that no tool of the dialect expects.
    pub(crate) fn unasked() -> Encoded<'a> {
        Encoded::Error(INTERNAL, "no tool of this dialect has such an answer".into())
    }

    pub(crate) fn into_frame(self, id: &RequestId) -> String {
        match self {
            Encoded::Texts(texts) => {
                let content = texts.into_iter().map(TextContent::new).collect();
                result(id, &CallToolResult { content, structured_content: None, is_error: false })
            }
            Encoded::ToolFailed(message) => {
                let content = vec![TextContent::new(message.into())];
                result(id, &CallToolResult { content, structured_content: None, is_error: true })
            }
            Encoded::Structured { content, text, failed } => {
                let (structured_content, content) = (Some(content), vec![TextContent::new(text)]);
                result(id, &CallToolResult { content, structured_content, is_error: failed })
            }
            Encoded::Error(code, message) => error(Some(id), code, &message),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CallToolResult<'a> {
    content: Vec<TextContent<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_content: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_error: bool,
}

#[derive(Serialize)]
struct TextContent<'a> {
    r#type: &'static str,
    text: Cow<'a, str>,
}

impl<'a> TextContent<'a> {
    fn new(text: Cow<'a, str>) -> TextContent<'a> {
        TextContent { r#type: "text", text }
    }
}

#[derive(Serialize)]
struct ResultFrame<'a, R> {
    jsonrpc: &'static str,
    id: &'a RequestId,
    result: &'a R,
}

#[derive(Serialize)]
struct ErrorFrame<'a> {
    jsonrpc: &'static str,
    /// `null` if the id of the invalid frame could not be read.
    id: Option<&'a RequestId>,
    error: ErrorObject<'a>,
}

#[derive(Serialize)]
struct ErrorObject<'a> {
    code: i32,
    message: &'a str,
}

#[derive(Serialize)]
struct NotificationFrame<'a, P> {
    jsonrpc: &'static str,
    method: &'a str,
    params: &'a P,
}

/// Our types have string keys and only serialisers that cannot fail, so this cannot fail.
pub(crate) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

pub(crate) fn result(id: &RequestId, result: &impl Serialize) -> String {
    json(&ResultFrame { jsonrpc: "2.0", id, result })
}

/// A result that is JSON already.
pub(crate) fn raw_result(id: &RequestId, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, json(id))
}

pub(crate) fn error(id: Option<&RequestId>, code: i32, message: &str) -> String {
    json(&ErrorFrame { jsonrpc: "2.0", id, error: ErrorObject { code, message } })
}

pub(crate) fn notification(method: &str, params: &impl Serialize) -> String {
    json(&NotificationFrame { jsonrpc: "2.0", method, params })
}

/// Makes the agent list the tools again.
pub(crate) fn tools_changed() -> String {
    r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#.to_owned()
}
