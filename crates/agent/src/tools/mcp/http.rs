//! A server over Streamable HTTP: each message is a request of its own, whose answer is JSON or a stream of events. The
//! user named the address, so any address is reached.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use http_body_util::BodyExt;
use hyper::body::Incoming as Body;
use hyper::{Method, Response, StatusCode, Uri};
use linkspan_client::confirm::Cancellation;
use serde_json::Value;

use super::config::ServerConfig;
use super::rpc::{self, Incoming, RpcFailure};
use crate::tools::answer::ToolFailure;
use crate::tools::http::{HttpRequest, Reach, read_body, send, wait_for, without_secrets};

const LARGEST: usize = 16 * 1024 * 1024;
const SESSION: &str = "mcp-session-id";
/// The server forgot us, and did nothing. We introduce ourselves again.
pub(super) const SESSION_ENDED: &str = "it ended the session";

pub(super) struct HttpConnection {
    uri: Uri,
    headers: Vec<(String, String)>,
    session: Mutex<Option<String>>,
    last_id: AtomicI64,
}

impl HttpConnection {
    pub(super) fn new(config: &ServerConfig) -> Result<HttpConnection, String> {
        let url = config.url.as_deref().unwrap_or_default();
        let uri = url.parse().map_err(|error| format!("its `url` is not a URL: {error}"))?;
        let headers = config.headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        Ok(HttpConnection { uri, headers, session: Mutex::default(), last_id: AtomicI64::new(0) })
    }

    pub(super) fn request(
        &self,
        method: &str,
        params: &Value,
        time: Duration,
        cancelled: &Cancellation,
    ) -> Result<Value, RpcFailure> {
        let id = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let message = rpc::request(id, method, params);
        // The inner error is an answer; the outer one means that there is none.
        let asked = async {
            let response = self.post(&message).await?;
            self.answer(id, response).await
        };
        match wait_for(time, cancelled, asked) {
            Ok(answer) => answer.map_err(RpcFailure::Refused),
            Err(ToolFailure::Cancelled(_)) => Err(RpcFailure::Cancelled),
            Err(ToolFailure::Error(why)) => Err(RpcFailure::Lost(why)),
        }
    }

    pub(super) fn notify(&self, method: &str, params: &Value) {
        let message = rpc::notification(method, params);
        let never = Cancellation::new();
        // Nothing depends on it.
        let _ = wait_for(Duration::from_secs(10), &never, async { self.post(&message).await.map(drop) });
    }

    async fn post(&self, message: &Value) -> Result<Response<Body>, String> {
        let mut headers = vec![
            ("content-type".to_owned(), "application/json".to_owned()),
            ("accept".to_owned(), "application/json, text/event-stream".to_owned()),
            ("mcp-protocol-version".to_owned(), rpc::REVISION.to_owned()),
        ];
        headers.extend(self.headers.iter().cloned());
        let session = self.session.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let has_session = session.is_some();
        headers.extend(session.map(|session| (SESSION.to_owned(), session)));
        let body = message.to_string().into_bytes();
        let request = HttpRequest { method: Method::POST, uri: self.uri.clone(), headers, body };
        let response = send(request, Reach::Anywhere).await?;
        if let Some(session) = response.headers().get(SESSION).and_then(|session| session.to_str().ok()) {
            *self.session.lock().unwrap_or_else(PoisonError::into_inner) = Some(session.to_owned());
        }
        match response.status() {
            status if status.is_success() => Ok(response),
            StatusCode::NOT_FOUND if has_session => Err(SESSION_ENDED.to_owned()),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                let address = without_secrets(&self.uri);
                Err(format!("{} ({address}): check its `headers`", response.status()))
            }
            status => {
                let (body, _) = read_body(response.into_body(), 1000).await.unwrap_or_default();
                Err(format!("{status}: {}", String::from_utf8_lossy(&body).trim()))
            }
        }
    }

    async fn answer(&self, id: i64, response: Response<Body>) -> Result<Result<Value, String>, String> {
        let kind = response.headers().get("content-type").and_then(|kind| kind.to_str().ok());
        let is_stream = kind.is_some_and(|kind| kind.starts_with("text/event-stream"));
        let mut body = response.into_body();
        if !is_stream {
            let (bytes, is_cut) = read_body(body, LARGEST).await?;
            if is_cut {
                return Err("it sent an answer of more than 16 MiB".to_owned());
            }
            return answer_in(&bytes, id).ok_or_else(|| "it sent no answer to the request".to_owned());
        }
        let (mut events, mut all) = (EventData::default(), 0);
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| format!("the stream broke off: {error}"))?;
            let Some(data) = frame.data_ref() else { continue };
            all += data.len();
            if all > LARGEST {
                return Err("it sent more than 16 MiB in answer to one request".to_owned());
            }
            for event in events.push(data) {
                if let Some(answer) = answer_in(&event, id) {
                    return Ok(answer);
                }
            }
        }
        Err("the stream ended without an answer".to_owned())
    }
}

fn answer_in(message: &[u8], wanted: i64) -> Option<Result<Value, String>> {
    match rpc::read(serde_json::from_slice(message).ok()?)? {
        Incoming::Answer { id, result } if id == wanted => Some(result),
        _ => None,
    }
}

/// The data of events, as bytes arrive.
#[derive(Default)]
struct EventData {
    line: Vec<u8>,
    data: Vec<u8>,
}

impl EventData {
    fn push(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut whole = Vec::new();
        for byte in bytes {
            if *byte != b'\n' {
                self.line.push(*byte);
                continue;
            }
            let line = std::mem::take(&mut self.line);
            let line = line.strip_suffix(b"\r").unwrap_or(&line);
            if line.is_empty() {
                let data = std::mem::take(&mut self.data);
                if !data.is_empty() {
                    whole.push(data);
                }
            } else if let Some(data) = line.strip_prefix(b"data:") {
                if !self.data.is_empty() {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(data.strip_prefix(b" ").unwrap_or(data));
            }
        }
        whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_however_they_are_split() {
        let stream =
            b": comment\r\nevent: message\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\ndata:2\n\n\nid: 3\n\ndata: un";
        for size in 1..stream.len() {
            let mut events = EventData::default();
            let whole: Vec<Vec<u8>> = stream.chunks(size).flat_map(|chunk| events.push(chunk)).collect();
            assert_eq!(whole, [b"{\"a\":\n1}".to_vec(), b"2".to_vec()]);
        }
    }
}
