//! Parses one text frame as a JSON-RPC message, or says why it is invalid. Borrows from the frame.

use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use super::{Arguments, BadArgument, fast_path, reply};

pub(crate) const PARSE: i32 = -32700;
pub(crate) const INVALID_REQUEST: i32 = -32600;
pub(crate) const METHOD_NOT_FOUND: i32 = -32601;
pub(crate) const INVALID_PARAMS: i32 = -32602;
pub(crate) const INTERNAL: i32 = -32603;
pub(crate) const OPERATION_FAILED: i32 = -32000;

/// Ids are echoed and kept while a call is open, so their size is bounded.
pub(super) const LONGEST_ID: usize = 256;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum RequestId {
    Signed(i64),
    Unsigned(u64),
    Text(String),
}

#[derive(Debug)]
pub(crate) enum Message<'a> {
    Request {
        id: RequestId,
        method: Cow<'a, str>,
        params: Params<'a>,
    },
    Notification {
        method: Cow<'a, str>,
        params: Params<'a>,
    },
    /// The agent's answer to a request of ours.
    Response {
        id: RequestId,
    },
}

#[derive(Debug)]
pub(crate) enum Params<'a> {
    Read(Arguments<'a>),
    Unread(Option<&'a RawValue>),
}

impl<'a> Params<'a> {
    pub(crate) fn read(self) -> Result<Arguments<'a>, BadArgument> {
        match self {
            Params::Read(arguments) => Ok(arguments),
            Params::Unread(raw) => Arguments::read("params", raw),
        }
    }
}

/// A frame that is not a message.
#[derive(Debug)]
pub(crate) struct Malformed {
    pub(crate) id: Option<RequestId>,
    pub(crate) code: i32,
    pub(crate) message: String,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

/// Distinguishes an explicit `null` from a missing key, which `Option` alone does not.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// A JSON string, borrowed if it has no escapes.
pub(crate) fn text(raw: &RawValue) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    #[serde(transparent)]
    struct BorrowedText<'a>(#[serde(borrow)] Cow<'a, str>);

    serde_json::from_str::<BorrowedText<'_>>(raw.get()).ok().map(|text| text.0)
}

/// The id in a request or in a `notifications/cancelled`.
pub(crate) fn request_id(raw: &RawValue) -> Option<RequestId> {
    if let Ok(number) = serde_json::from_str(raw.get()) {
        return Some(RequestId::Signed(number));
    }
    if let Ok(number) = serde_json::from_str(raw.get()) {
        return Some(RequestId::Unsigned(number));
    }
    let text = text(raw)?;
    (text.len() <= LONGEST_ID).then(|| RequestId::Text(text.into_owned()))
}

/// Whether this frame begins an MCP session.
pub fn begins_session(frame: &str) -> bool {
    matches!(parse(frame), Ok(Message::Request { method, .. }) if method == "initialize")
}

/// The answer to what newer clients ask before a session begins. They then begin one in the usual way.
pub fn answer_before_session(frame: &str) -> Option<String> {
    match parse(frame) {
        Ok(Message::Request { id, method, .. }) if method == "server/discover" => {
            Some(reply::error(Some(&id), METHOD_NOT_FOUND, "unknown method: server/discover"))
        }
        _ => None,
    }
}

pub(crate) fn parse(frame: &str) -> Result<Message<'_>, Malformed> {
    fast_path::read(frame).map_or_else(|| parse_each(frame), Ok)
}

/// Key by key, so that an error can name the invalid one.
pub(super) fn parse_each(frame: &str) -> Result<Message<'_>, Malformed> {
    let refuse = |id, message: &str| Malformed { id, code: INVALID_REQUEST, message: message.to_owned() };

    // Serde would accept an array as a struct, field by field.
    let is_object = frame.trim_ascii_start().starts_with('{');
    let envelope = if is_object { serde_json::from_str::<Envelope<'_>>(frame).ok() } else { None };
    let Some(envelope) = envelope else {
        return Err(match serde_json::from_str::<IgnoredAny>(frame) {
            Err(error) => Malformed { id: None, code: PARSE, message: format!("not JSON: {error}") },
            Ok(_) if is_object => refuse(None, "a message names each of its keys once"),
            Ok(_) => refuse(None, "a message is one JSON object; batches are not supported"),
        });
    };

    let id = envelope.id.and_then(request_id);
    if envelope.id.is_some() && id.is_none() {
        return Err(refuse(None, "an id is an integer or a string of at most 256 bytes"));
    }
    if envelope.jsonrpc.and_then(text).as_deref() != Some("2.0") {
        return Err(refuse(id, "jsonrpc must be \"2.0\""));
    }
    let Some(method) = envelope.method else {
        return match id {
            Some(id) if envelope.result.is_some() != envelope.error.is_some() => Ok(Message::Response { id }),
            id => Err(refuse(id, "the method is missing")),
        };
    };
    let Some(method) = text(method) else { return Err(refuse(id, "the method must be a string")) };
    Ok(match id {
        Some(id) => Message::Request { id, method, params: Params::Unread(envelope.params) },
        None => Message::Notification { method, params: Params::Unread(envelope.params) },
    })
}
