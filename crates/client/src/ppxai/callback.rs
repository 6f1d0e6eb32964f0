//! The other direction of ppxai: an editor registers with the engine, and the engine calls its tools there. Types of
//! both requests, and the engine's client. Only this machine is ever called.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{MAX_BYTES, asks_a_person, body, headers};
use crate::http::{HttpCaller, HttpMethod, HttpRequest, LoopbackUrl, LoopbackUrlError};

const DEADLINE: Duration = Duration::from_secs(30);

/// `POST /register-ide-callback`: where the engine calls the tools of an editor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegisterIdeCallback {
    /// The address, such as `http://127.0.0.1:54321/ide/execute`.
    pub callback_url: String,
    /// The capabilities of the editor, such as `workspace` and `terminal`.
    #[serde(default)]
    pub capabilities: Vec<String>,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolRequest {
    /// The id of the answer.
    pub id: String,
    /// Its name, such as `ide.read_file`.
    pub tool: String,
    /// Its arguments.
    #[serde(default)]
    pub args: Value,
}

/// The answer to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolReply {
    /// The id of the call.
    pub id: String,
    /// Whether there is a result.
    pub success: bool,
    /// The result of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Why a callback cannot be called, or did not answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallbackError {
    /// It is on another machine, or not an address.
    #[error("the callback is rejected: {0}")]
    Address(#[from] LoopbackUrlError),
    /// It does not answer, or the answer is invalid.
    #[error("the callback at {url} failed: {reason}")]
    Failed {
        /// Where.
        url: String,
        /// Why.
        reason: String,
    },
    /// The tool reports a failure.
    #[error("{0}")]
    Tool(String),
}

/// An editor that registered.
#[derive(Debug, Clone)]
pub struct Callback {
    url: LoopbackUrl,
    token: Option<String>,
    /// Its capabilities.
    pub capabilities: Vec<String>,
}

impl Callback {
    /// Accepts a registration for this machine.
    pub fn new(registered: RegisterIdeCallback, token: Option<String>) -> Result<Callback, CallbackError> {
        let url = registered.callback_url.parse()?;
        Ok(Callback { url, token, capabilities: registered.capabilities })
    }

    /// Calls a tool and waits for its result; without limit if the user decides.
    pub fn call(&self, call: &ToolRequest) -> Result<Value, CallbackError> {
        let failed = |reason: String| CallbackError::Failed { url: self.url.to_string(), reason };
        let request = HttpRequest {
            method: HttpMethod::Post,
            url: self.url.to_string(),
            headers: headers(self.token.as_deref()),
            body: serde_json::to_vec(call).map_err(|error| failed(error.to_string()))?,
            deadline: (!asks_a_person(&call.tool)).then_some(DEADLINE),
            limit: MAX_BYTES,
        };
        let body = body(HttpCaller::new().exchange(&request)).map_err(failed)?;
        let reply: ToolReply =
            serde_json::from_slice(&body).map_err(|error| failed(format!("invalid response: {error}")))?;
        if reply.id != call.id {
            return Err(failed("it answered another call".into()));
        }
        match (reply.success, reply.error) {
            (true, _) => Ok(reply.result.unwrap_or_default()),
            (false, Some(why)) => Err(CallbackError::Tool(why)),
            (false, None) => Err(CallbackError::Tool("it failed without a reason".into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn callback(url: &str) -> Result<Callback, CallbackError> {
        Callback::new(RegisterIdeCallback { callback_url: url.into(), capabilities: vec![] }, None)
    }

    #[test]
    fn only_this_machine_is_called() {
        for url in ["http://127.0.0.1:1/x", "http://[::1]:1/x", "http://localhost:1/x"] {
            assert!(callback(url).is_ok(), "{url}");
        }
        for url in ["http://example.com/x", "http://169.254.169.254/latest", "file:///etc/passwd"] {
            let error = callback(url).unwrap_err();
            assert!(matches!(error, CallbackError::Address(_)) && error.to_string().contains(url), "{error}");
        }
    }

    #[test]
    fn a_callback_where_nobody_listens_says_so() {
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let call = ToolRequest { id: "1".into(), tool: "ide.read_file".into(), args: json!({}) };
        let error =
            callback(&format!("http://127.0.0.1:{port}/ide/execute")).unwrap().call(&call).unwrap_err();
        assert!(error.to_string().contains("nothing listens"), "{error}");
    }
}
