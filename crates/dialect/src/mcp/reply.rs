//! The frames that go out: results, errors, notifications.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use super::envelope::{INTERNAL, RequestId};

/// A tool's answer in the shape that its dialect chose for it.
#[derive(Debug)]
pub(crate) enum Encoded<'a> {
    /// Text items of a result.
    Texts(Vec<Cow<'a, str>>),
    /// A result that says that the tool failed.
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

    /// Both the object and a text that says the same.
    pub(crate) fn structured(
        value: &impl Serialize,
        text: impl Into<Cow<'a, str>>,
        failed: bool,
    ) -> Encoded<'a> {
        // Our types have string keys and no serialiser of their own that fails.
        let content = to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned());
        Encoded::Structured { content, text: text.into(), failed }
    }

    /// For answers to what no tool of the dialect asks.
    pub(crate) fn unasked() -> Encoded<'a> {
        Encoded::Error(INTERNAL, "no tool of this dialect asks this".into())
    }

    pub(crate) fn into_frame(self, id: &RequestId) -> String {
        match self {
            Encoded::Texts(texts) => {
                let content = texts.into_iter().map(Text::new).collect();
                result(id, &ToolResult { content, structured_content: None, is_error: false })
            }
            Encoded::ToolFailed(message) => {
                let content = vec![Text::new(message.into())];
                result(id, &ToolResult { content, structured_content: None, is_error: true })
            }
            Encoded::Structured { content, text, failed } => {
                let (structured_content, content) = (Some(content), vec![Text::new(text)]);
                result(id, &ToolResult { content, structured_content, is_error: failed })
            }
            Encoded::Error(code, message) => error(Some(id), code, &message),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolResult<'a> {
    content: Vec<Text<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_content: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_error: bool,
}

#[derive(Serialize)]
struct Text<'a> {
    r#type: &'static str,
    text: Cow<'a, str>,
}

impl<'a> Text<'a> {
    fn new(text: Cow<'a, str>) -> Text<'a> {
        Text { r#type: "text", text }
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
    /// `null` when the frame at fault had no id that could be read.
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

/// Our types have string keys and no serialiser of their own that fails, so this cannot fail.
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
