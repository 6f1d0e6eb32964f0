//! One request and its answer, within limits, and a way to stop it from elsewhere. Follows no redirects and uses no
//! proxy: who is asked is who was named.

use std::io::{self, Read};
use std::time::Duration;

use ureq::Agent;
use ureq::http::HeaderMap;

use super::sse::Events;

/// For a program on this machine to take a call.
const CONNECT: Duration = Duration::from_secs(2);
const MAX_HEAD: usize = 64 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Get,
    Post,
    Delete,
}

/// What to ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) method: Method,
    pub(crate) url: String,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
    /// Until all of the answer is there; none where a person may think first.
    pub(crate) deadline: Option<Duration>,
    /// Bytes of the answer.
    pub(crate) limit: usize,
}

/// What came back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) content_type: String,
    /// `mcp-session-id`.
    pub(crate) session: Option<String>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    pub(crate) fn is_event_stream(&self) -> bool {
        self.content_type.to_ascii_lowercase().starts_with("text/event-stream")
    }

    /// What was answered: the body, or the data of each event where it is a stream that ended.
    pub(crate) fn texts(&self) -> Result<Vec<String>, String> {
        if !self.is_event_stream() {
            let text = str::from_utf8(&self.body).map_err(|_| "its answer is no text".to_owned())?;
            return Ok(vec![text.to_owned()]);
        }
        let mut events = Events::new(self.body.len());
        let mut found = events.push(&self.body).map_err(|error| error.to_string())?;
        // Some servers end the stream right behind the last line.
        found.extend(events.push(b"\n\n").map_err(|error| error.to_string())?);
        Ok(found.into_iter().map(|event| event.data).collect())
    }
}

/// Why nothing came back.
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
pub(crate) struct Caller {
    agent: Agent,
}

/// Ends an exchange, whoever waits for it.
#[derive(Debug)]
pub(crate) struct Stop {
    agent: Agent,
}

impl Stop {
    pub(crate) fn now(self) {
        self.agent.shutdown();
    }
}

impl Caller {
    pub(crate) fn new() -> Caller {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(None)
            .timeout_connect(Some(CONNECT))
            .max_response_header_size(MAX_HEAD)
            .user_agent(concat!("linkspan/", env!("CARGO_PKG_VERSION")))
            .build();
        Caller { agent: Agent::new_with_config(config) }
    }

    pub(crate) fn stop(&self) -> Stop {
        Stop { agent: self.agent.clone() }
    }

    /// Asks, and reads all of the answer.
    pub(crate) fn exchange(&self, request: &Request) -> Result<Answer, HttpError> {
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

    /// Asks, and leaves the body to be read for as long as it comes. Silence of `idle` ends it.
    pub(crate) fn stream(
        &self,
        request: &Request,
        idle: Duration,
    ) -> Result<(Answer, impl Read + use<>), HttpError> {
        let response = self.send(request, Some(idle))?;
        let answer = head(response.status().as_u16(), response.headers());
        let body = response.into_body().into_with_config().limit(u64::MAX).reader();
        Ok((answer, body))
    }

    fn send(
        &self,
        request: &Request,
        idle: Option<Duration>,
    ) -> Result<ureq::http::Response<ureq::Body>, HttpError> {
        let mut built = ureq::http::Request::builder().uri(&request.url).method(match request.method {
            Method::Get => "GET",
            Method::Post => "POST",
            Method::Delete => "DELETE",
        });
        for (name, value) in &request.headers {
            built = built.header(*name, value);
        }
        let broken = |error: ureq::http::Error| HttpError::Broken(error.to_string());
        let sent = match request.method {
            Method::Post => {
                let built = built.body(request.body.as_slice()).map_err(broken)?;
                let built = self.agent.configure_request(built).timeout_global(request.deadline);
                self.agent.run(built.timeout_per_read(idle).build())
            }
            Method::Get | Method::Delete => {
                let built = built.body(()).map_err(broken)?;
                let built = self.agent.configure_request(built).timeout_global(request.deadline);
                self.agent.run(built.timeout_per_read(idle).build())
            }
        };
        sent.map_err(|error| http_error(error, request.limit))
    }
}

fn head(status: u16, headers: &HeaderMap) -> Answer {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    Answer {
        status,
        content_type: text("content-type").unwrap_or_default(),
        session: text("mcp-session-id"),
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
        let request = Request {
            method: Method::Post,
            url: format!("http://{}/", listener.local_addr().unwrap()),
            headers: vec![],
            body: b"x".to_vec(),
            deadline: None,
            limit: 10,
        };
        let caller = Caller::new();
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
