//! One request and its answer, within limits, and a way to stop it from elsewhere. Follows no redirects and uses no
//! proxy: only the named server is contacted.

use std::io::{self, Read};
use std::time::Duration;

use linkspan_editor_api::wire_names::header;
use ureq::Agent;
use ureq::http::HeaderMap;

use super::sse::Events;

/// How long a program on this machine has to accept a connection.
const CONNECT: Duration = Duration::from_secs(2);
const MAX_HEAD: usize = 64 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HttpMethod {
    Get,
    Post,
    Delete,
}

/// One HTTP request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HttpRequest {
    pub(crate) method: HttpMethod,
    pub(crate) url: String,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
    /// Until the answer is complete; none if the user may take time first.
    pub(crate) deadline: Option<Duration>,
    /// Bytes of the answer.
    pub(crate) limit: usize,
}

/// The response.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct HttpResponse {
    pub(crate) status: u16,
    pub(crate) content_type: String,
    /// `mcp-session-id`.
    pub(crate) session: Option<String>,
    pub(crate) body: Vec<u8>,
}

impl HttpResponse {
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    pub(crate) fn is_event_stream(&self) -> bool {
        self.content_type.to_ascii_lowercase().starts_with("text/event-stream")
    }

    /// The answers: the body, or the data of each event if it is a stream that ended.
    pub(crate) fn texts(&self) -> Result<Vec<String>, String> {
        if !self.is_event_stream() {
            let text = str::from_utf8(&self.body).map_err(|_| "its answer is not text".to_owned())?;
            return Ok(vec![text.to_owned()]);
        }
        let mut events = Events::new(self.body.len());
        let mut found = events.push(&self.body).map_err(|error| error.to_string())?;
        // Some servers end the stream right after the last line.
        found.extend(events.push(b"\n\n").map_err(|error| error.to_string())?);
        Ok(found.into_iter().map(|event| event.data).collect())
    }
}

/// Why there is no response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum HttpError {
    #[error("nothing listens there")]
    NothingListens,
    #[error("it does not answer in time")]
    NoAnswer,
    #[error("its answer is larger than {limit} bytes")]
    TooLarge { limit: usize },
    #[error("{0}")]
    Broken(String),
}

/// Makes one exchange.
#[derive(Debug)]
pub(crate) struct HttpCaller {
    agent: Agent,
}

/// Ends an exchange from another thread.
#[derive(Debug)]
pub(crate) struct StopHandle {
    agent: Agent,
}

impl StopHandle {
    pub(crate) fn now(self) {
        self.agent.shutdown();
    }
}

impl HttpCaller {
    pub(crate) fn new() -> HttpCaller {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(None)
            .timeout_connect(Some(CONNECT))
            .max_response_header_size(MAX_HEAD)
            .user_agent(concat!("linkspan/", env!("CARGO_PKG_VERSION")))
            .build();
        HttpCaller { agent: Agent::new_with_config(config) }
    }

    pub(crate) fn stop(&self) -> StopHandle {
        StopHandle { agent: self.agent.clone() }
    }

    /// Sends the request and reads the whole response.
    pub(crate) fn exchange(&self, request: &HttpRequest) -> Result<HttpResponse, HttpError> {
        let response = self.send(request, None)?;
        let mut answer = head(response.status().as_u16(), response.headers());
        let limit = u64::try_from(request.limit).unwrap_or(u64::MAX);
        answer.body = response
            .into_body()
            .into_with_config()
            .limit(limit)
            .read_to_vec()
            .map_err(|error| http_error(error, request.limit))?;
        Ok(answer)
    }

    /// Sends the request and returns the body as a stream. It ends after `idle` without data.
    pub(crate) fn stream(
        &self,
        request: &HttpRequest,
        idle: Duration,
    ) -> Result<(HttpResponse, impl Read + use<>), HttpError> {
        let response = self.send(request, Some(idle))?;
        let answer = head(response.status().as_u16(), response.headers());
        let body = response.into_body().into_with_config().limit(u64::MAX).reader();
        Ok((answer, body))
    }

    fn send(
        &self,
        request: &HttpRequest,
        idle: Option<Duration>,
    ) -> Result<ureq::http::Response<ureq::Body>, HttpError> {
        let mut built = ureq::http::Request::builder().uri(&request.url).method(match request.method {
            HttpMethod::Get => "GET",
            HttpMethod::Post => "POST",
            HttpMethod::Delete => "DELETE",
        });
        for (name, value) in &request.headers {
            built = built.header(*name, value);
        }
        let broken = |error: ureq::http::Error| HttpError::Broken(error.to_string());
        let sent = match request.method {
            HttpMethod::Post => {
                let built = built.body(request.body.as_slice()).map_err(broken)?;
                let built = self.agent.configure_request(built).timeout_global(request.deadline);
                self.agent.run(built.timeout_per_read(idle).build())
            }
            HttpMethod::Get | HttpMethod::Delete => {
                let built = built.body(()).map_err(broken)?;
                let built = self.agent.configure_request(built).timeout_global(request.deadline);
                self.agent.run(built.timeout_per_read(idle).build())
            }
        };
        sent.map_err(|error| http_error(error, request.limit))
    }
}

fn head(status: u16, headers: &HeaderMap) -> HttpResponse {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    HttpResponse {
        status,
        content_type: text("content-type").unwrap_or_default(),
        session: text(header::MCP_SESSION_ID),
        body: Vec::new(),
    }
}

fn http_error(error: ureq::Error, limit: usize) -> HttpError {
    match error {
        ureq::Error::Io(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            HttpError::NothingListens
        }
        ureq::Error::Timeout(_) => HttpError::NoAnswer,
        ureq::Error::BodyExceedsLimit(_) => HttpError::TooLarge { limit },
        error => HttpError::Broken(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    #[test]
    fn an_exchange_that_is_stopped_hangs_up_and_ends_at_once() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let request = HttpRequest {
            method: HttpMethod::Post,
            url: format!("http://{}/", listener.local_addr().unwrap()),
            headers: vec![],
            body: b"x".to_vec(),
            deadline: None,
            limit: 10,
        };
        let caller = HttpCaller::new();
        let stop = caller.stop();
        let asking = thread::spawn(move || caller.exchange(&request));
        let (mut server, _) = listener.accept().unwrap();
        server.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let mut heard = Vec::new();
        while !heard.ends_with(b"\r\n\r\nx") {
            let mut bytes = [0; 1024];
            let length = server.read(&mut bytes).unwrap();
            heard.extend(&bytes[..length]);
        }
        stop.now();
        assert_eq!(server.read(&mut [0]).unwrap(), 0, "the server sees the end");
        assert!(asking.join().unwrap().is_err());
    }
}
