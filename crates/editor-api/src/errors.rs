//! Errors as they go over the wire: JSON-RPC's own codes and ours.

use serde::{Deserialize, Serialize};

/// An error response. JSON-RPC's third member, `data`, is neither read nor sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct RpcError {
    /// The kind of error, for programs.
    pub code: i64,
    /// What happened, to what, and what to do next, for people.
    pub message: String,
}

impl RpcError {
    /// An error of that kind.
    pub fn new(code: i64, message: impl Into<String>) -> RpcError {
        RpcError { code, message: message.into() }
    }
}

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $code:literal;)+) => {
        $($(#[doc = $doc])+ pub const $name: i64 = $code;)+

        /// Every code with its name and meaning, in the order of the page.
        pub const CODES: &[(i64, &str, &str)] = &[$(($code, stringify!($name), concat!($($doc),+))),+];
    };
}

// Ours keep clear of -32001, -32002 and -32096 to -32099, which `vscode-jsonrpc` uses for itself.
codes! {
    /// The message is not JSON.
    PARSE = -32700;
    /// The message is JSON, but not a request, notification or response.
    INVALID_REQUEST = -32600;
    /// There is no such method.
    METHOD_NOT_FOUND = -32601;
    /// The parameters do not fit the method.
    INVALID_PARAMS = -32602;
    /// A bug in the answering program.
    INTERNAL = -32603;
    /// The connection has not sent `attach` yet.
    NOT_ATTACHED = -32010;
    /// There is no such review.
    UNKNOWN_REVIEW = -32011;
    /// The path is outside of the workspace folders of the window.
    OUTSIDE_WORKSPACE = -32012;
    /// The two sides do not speak the same protocol version.
    VERSION = -32013;
    /// The editor cannot do this.
    UNSUPPORTED = -32014;
    /// A rule of the configuration forbids it.
    DENIED = -32015;
    /// There is no such file, document or terminal.
    NOT_FOUND = -32016;
    /// It took too long.
    TIMEOUT = -32017;
    /// It is larger than the limit.
    TOO_LARGE = -32018;
    /// There is no such change, or nothing to undo.
    UNKNOWN_CHANGE = -32021;
    /// The file does not hold the expected bytes.
    CONFLICT = -32022;
    /// There is no such window.
    UNKNOWN_WINDOW = -32019;
}
