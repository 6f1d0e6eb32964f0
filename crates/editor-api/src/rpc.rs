//! The JSON-RPC 2.0 envelope. Parameters and results stay raw text until their type is known.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, de::DeserializeOwned};
use serde_json::value::{RawValue, to_raw_value};

use crate::errors::{self, RpcError};
use crate::method::{Notification, Request};

/// Longest string that is accepted as an id.
const MAX_ID_BYTES: usize = 256;

/// Ties a response to its request.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RequestId {
    /// A whole number.
    Number(i64),
    /// A string of at most 256 bytes.
    String(String),
}

/// One message.
#[derive(Debug, Clone)]
pub enum Message {
    /// Expects an answer.
    Request {
        /// The id that the answer carries.
        id: RequestId,
        /// Name of the method.
        method: String,
        /// Its parameters; `{}` when there were none.
        params: Box<RawValue>,
    },
    /// Expects no answer.
    Notification {
        /// Name of the method.
        method: String,
        /// Its parameters; `{}` when there were none.
        params: Box<RawValue>,
    },
    /// An answer.
    Response {
        /// The request it answers; `None` in an error about a message whose id could not be read.
        id: Option<RequestId>,
        /// The answer.
        result: Result<Box<RawValue>, RpcError>,
    },
}

/// One message in the bytes that were received: a large one is not copied.
#[derive(Debug, Clone)]
pub enum MessageRef<'a> {
    /// Expects an answer.
    Request {
        /// The id that the answer carries.
        id: RequestId,
        /// Name of the method.
        method: String,
        /// Its parameters; `{}` when there were none.
        params: Cow<'a, RawValue>,
    },
    /// Expects no answer.
    Notification {
        /// Name of the method.
        method: String,
        /// Its parameters; `{}` when there were none.
        params: Cow<'a, RawValue>,
    },
    /// An answer.
    Response {
        /// The request it answers; `None` in an error about a message whose id could not be read.
        id: Option<RequestId>,
        /// The answer.
        result: Result<&'a RawValue, RpcError>,
    },
}

/// Why bytes are not a message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// They are not JSON.
    #[error("the message is not JSON: {0}")]
    Malformed(String),
    /// They are JSON, but not a JSON-RPC message.
    #[error("the message is not a JSON-RPC message: {reason}")]
    Invalid {
        /// Its id, if that could be read.
        id: Option<RequestId>,
        /// What is wrong with it.
        reason: String,
    },
}

impl ParseError {
    /// The answer to send.
    pub fn to_message(&self) -> Message {
        let (id, code) = match self {
            ParseError::Malformed(_) => (None, errors::PARSE),
            ParseError::Invalid { id, .. } => (id.clone(), errors::INVALID_REQUEST),
        };
        Message::error(id, RpcError::new(code, self.to_string()))
    }
}

/// All members raw, so that a wrong one does not hide the id.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default)]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<&'a RawValue>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

/// Tells `null` from nothing: `"result": null` is a result.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

impl<'a> MessageRef<'a> {
    /// Reads one message.
    pub fn parse(bytes: &'a [u8]) -> Result<MessageRef<'a>, ParseError> {
        let envelope: Envelope<'a> =
            serde_json::from_slice(bytes).map_err(|error| match error.classify() {
                serde_json::error::Category::Data => {
                    ParseError::Invalid { id: None, reason: error.to_string() }
                }
                _ => ParseError::Malformed(error.to_string()),
            })?;
        // serde also reads a struct from an array of its members.
        if !bytes.trim_ascii_start().starts_with(b"{") {
            return Err(ParseError::Invalid { id: None, reason: "it is not an object".into() });
        }
        let id = match envelope.id.map(RawValue::get) {
            None | Some("null") => None,
            Some(raw) => Some(read_id(raw).ok_or_else(|| ParseError::Invalid {
                id: None,
                reason: format!("`id` is not a whole number or a string of at most {MAX_ID_BYTES} bytes"),
            })?),
        };
        let invalid = |reason: &str| ParseError::Invalid { id: id.clone(), reason: reason.into() };
        if envelope.jsonrpc.map(RawValue::get) != Some(r#""2.0""#) {
            return Err(invalid(r#"`jsonrpc` is not "2.0""#));
        }
        if let Some(method) = envelope.method {
            let method =
                serde_json::from_str(method.get()).map_err(|_| invalid("`method` is not a string"))?;
            let params = match envelope.params {
                Some(params) if params.get().starts_with(['{', '[']) => Cow::Borrowed(params),
                Some(_) => return Err(invalid("`params` is not an object or array")),
                None => Cow::Owned(raw(&serde_json::Map::new())),
            };
            return match (id, envelope.id) {
                (Some(id), _) => Ok(MessageRef::Request { id, method, params }),
                (None, None) => Ok(MessageRef::Notification { method, params }),
                (None, Some(_)) => {
                    Err(ParseError::Invalid { id: None, reason: "`id` of a request is null".into() })
                }
            };
        }
        let result = match (envelope.result, envelope.error) {
            (_, Some(error)) => Err(serde_json::from_str(error.get())
                .map_err(|_| invalid("`error` is not an object with `code` and `message`"))?),
            (Some(result), None) => Ok(result),
            (None, None) => return Err(invalid("there is no `method`, `result` or `error`")),
        };
        if envelope.id.is_none() {
            return Err(invalid("a response has no `id`"));
        }
        Ok(MessageRef::Response { id, result })
    }
}

impl From<MessageRef<'_>> for Message {
    fn from(message: MessageRef<'_>) -> Message {
        match message {
            MessageRef::Request { id, method, params } => {
                Message::Request { id, method, params: params.into_owned() }
            }
            MessageRef::Notification { method, params } => {
                Message::Notification { method, params: params.into_owned() }
            }
            MessageRef::Response { id, result } => {
                Message::Response { id, result: result.map(RawValue::to_owned) }
            }
        }
    }
}

impl Message {
    /// Reads one message.
    pub fn parse(bytes: &[u8]) -> Result<Message, ParseError> {
        MessageRef::parse(bytes).map(Message::from)
    }

    /// A request.
    pub fn request<R: Request>(id: RequestId, params: &R) -> Message {
        Message::Request { id, method: R::METHOD.into(), params: raw(params) }
    }

    /// A request as JSON, without framing, for parameters that are too large to be written twice. `room` is their
    /// approximate length: a buffer that grows while it is written is moved again and again.
    pub fn request_bytes<R: Request>(id: &RequestId, params: &R, room: usize) -> Vec<u8> {
        let request = WireRequest { jsonrpc: "2.0", id, method: R::METHOD, params };
        let mut bytes = Vec::with_capacity(room.saturating_add(128));
        // As in `to_bytes`.
        match serde_json::to_writer(&mut bytes, &request) {
            Ok(()) => bytes,
            Err(_) => Vec::new(),
        }
    }

    /// A notification.
    pub fn notification<N: Notification>(params: &N) -> Message {
        Message::Notification { method: N::METHOD.into(), params: raw(params) }
    }

    /// An answer.
    pub fn response<T: Serialize>(id: RequestId, result: &T) -> Message {
        let result = to_raw_value(result).map_err(|error| RpcError::new(errors::INTERNAL, error.to_string()));
        Message::Response { id: Some(id), result }
    }

    /// An error answer; without an id if the id of the request could not be read.
    pub fn error(id: Option<RequestId>, error: RpcError) -> Message {
        Message::Response { id, result: Err(error) }
    }

    /// The message as JSON, without framing.
    pub fn to_bytes(&self) -> Vec<u8> {
        let wire = match self {
            Message::Request { id, method, params } => WireMessage {
                id: Some(Some(id)),
                method: Some(method),
                params: Some(params),
                ..WireMessage::EMPTY
            },
            Message::Notification { method, params } => {
                WireMessage { method: Some(method), params: Some(params), ..WireMessage::EMPTY }
            }
            Message::Response { id, result } => WireMessage {
                id: Some(id.as_ref()),
                result: result.as_deref().ok(),
                error: result.as_ref().err(),
                ..WireMessage::EMPTY
            },
        };
        // Strings, numbers and JSON that was valid before: writing these to memory does not fail.
        serde_json::to_vec(&wire).unwrap_or_default()
    }
}

#[derive(Serialize)]
struct WireRequest<'a, R> {
    jsonrpc: &'static str,
    id: &'a RequestId,
    method: &'a str,
    params: &'a R,
}

#[derive(Serialize)]
struct WireMessage<'a> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Option<&'a RequestId>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a RpcError>,
}

impl WireMessage<'_> {
    const EMPTY: Self =
        WireMessage { jsonrpc: "2.0", id: None, method: None, params: None, result: None, error: None };
}

/// Reads the parameters of a method whose type is known.
pub fn decode<T: DeserializeOwned>(params: &RawValue) -> Result<T, RpcError> {
    serde_json::from_str(params.get())
        .map_err(|error| RpcError::new(errors::INVALID_PARAMS, error.to_string()))
}

/// Our own types have string keys and parts that cannot fail, so `null` never replaces one of them.
fn raw<T: Serialize>(value: &T) -> Box<RawValue> {
    to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

fn read_id(raw: &str) -> Option<RequestId> {
    let id = serde_json::from_str(raw).ok()?;
    match &id {
        RequestId::String(text) if text.len() > MAX_ID_BYTES => None,
        _ => Some(id),
    }
}
