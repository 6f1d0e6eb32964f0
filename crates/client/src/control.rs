//! One connection to the hub, for sending requests and waiting for the answers. Each request has a deadline.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::marker::PhantomData;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use linkspan_editor_api::{
    AgentJoin, Decoder, FramingError, HistoryUndo, HistoryUndoTurn, HookReport, HookReportResult, HubHello,
    HubHelloResult, Limits, Message, Notification, PROTOCOL, ParseError, Ping, Request, RequestId,
    ReviewsDecide, RpcError, encode, errors, version_notice,
};
use serde_json::value::RawValue;

use crate::dial::is_timeout;

const DEADLINE: Duration = Duration::from_secs(10);
/// Added for requests for which an editor may have to save first, with everything that it does on saving.
const SAVING: Duration = Duration::from_secs(30);
/// Most answers are smaller, and every page of memory costs a command time.
pub(crate) const READ_BYTES: usize = 8 * 1024;

/// A connection to the hub.
#[derive(Debug)]
pub struct Control {
    stream: UnixStream,
    decoder: Decoder,
    last_id: i64,
    deadline: Duration,
    /// Requests that are sent when the first answer is waited for.
    unsent: Vec<u8>,
    /// Answers that arrived before they were waited for.
    early: BTreeMap<i64, Result<Box<RawValue>, RpcError>>,
}

/// A pending request. Requests before the first wait are sent together.
#[must_use]
#[derive(Debug)]
pub(crate) struct PendingRequest<R> {
    id: i64,
    question: PhantomData<R>,
}

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// The hub reports an error.
    #[error("{0}")]
    Answer(RpcError),
    /// The hub has an incompatible version.
    #[error("{0}")]
    Version(String),
    /// The hub is too slow.
    #[error("the hub did not answer `{method}` within {seconds} s: see `linkspan hub log`")]
    Timeout {
        /// The method.
        method: &'static str,
        /// How long we waited.
        seconds: u64,
    },
    /// The hub closed the connection.
    #[error("the hub closed the connection: see `linkspan hub log`, then try again")]
    Closed,
    /// The socket failed.
    #[error("the connection to the hub failed: {0}")]
    Io(#[from] io::Error),
    /// The bytes are not framed.
    #[error("the hub sent something that is not a message: {0}")]
    Framing(#[from] FramingError),
    /// The message is not JSON-RPC.
    #[error("the hub sent something that is not a message: {0}")]
    Parse(#[from] ParseError),
    /// The answer does not have its type.
    #[error("the hub's answer to `{method}` is invalid: {reason}")]
    Result {
        /// The method.
        method: &'static str,
        /// Why.
        reason: String,
    },
}

/// How the hub introduces itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hello {
    /// Its answer.
    pub hub: HubHelloResult,
    /// The notice for the user when it has a different, compatible version.
    pub notice: Option<String>,
}

impl Control {
    pub(crate) fn new(stream: UnixStream) -> Control {
        Control {
            stream,
            decoder: Decoder::new(Limits::OF_A_HUB),
            last_id: 0,
            deadline: DEADLINE,
            unsent: Vec::new(),
            early: BTreeMap::new(),
        }
    }

    /// The id of the last request.
    pub(crate) fn last_id(&self) -> i64 {
        self.last_id
    }

    /// The socket, and the bytes that were read from it and not handled.
    pub(crate) fn into_parts(self) -> (UnixStream, Decoder) {
        (self.stream, self.decoder)
    }

    /// Introduces us, as a `role` for the hub's log, and checks that the versions are compatible.
    pub fn hello(&mut self, role: &str) -> Result<Hello, ControlError> {
        let hello = self.ask_hello(role);
        self.answer_to_hello(hello)
    }

    /// Introduces us and sends a request at once. If the versions are incompatible, its answer is ignored, so do not
    /// use it for a request that could do harm then.
    pub fn hello_and<R: Request>(
        &mut self,
        role: &str,
        question: &R,
    ) -> Result<(Hello, R::Result), ControlError> {
        let (hello, asked) = (self.ask_hello(role), self.ask(question));
        Ok((self.answer_to_hello(hello)?, self.answer(asked)?))
    }

    /// Introduces us and reports an event of an agent's hooks.
    pub fn report_hook(&mut self, report: &HookReport) -> Result<HookReportResult, ControlError> {
        self.hello_and("hook", report).map(|(_, result)| result)
    }

    /// Introduces us and joins a window as an agent. Returns the socket, on which the agent's messages follow, and what
    /// was read from it already.
    pub fn join(mut self, join: &AgentJoin) -> Result<(UnixStream, Decoder), ControlError> {
        self.hello_and("agent", join)?;
        Ok(self.into_parts())
    }

    pub(crate) fn ask_hello(&mut self, role: &str) -> PendingRequest<HubHello> {
        let version = env!("CARGO_PKG_VERSION").into();
        self.ask(&HubHello { version, protocol: PROTOCOL, role: role.into() })
    }

    pub(crate) fn answer_to_hello(&mut self, hello: PendingRequest<HubHello>) -> Result<Hello, ControlError> {
        let hub = self.answer(hello)?;
        let notice = version_notice(&hub.version, env!("CARGO_PKG_VERSION"));
        if hub.protocol != PROTOCOL {
            return Err(ControlError::Version(notice.unwrap_or_else(|| {
                format!(
                    "the running hub speaks protocol {}, this is {PROTOCOL}: run `linkspan hub stop`; \
                     it starts again by itself",
                    hub.protocol
                )
            })));
        }
        Ok(Hello { hub, notice })
    }

    /// Sends a request and waits for the answer.
    pub fn request<R: Request>(&mut self, params: &R) -> Result<R::Result, ControlError> {
        let asked = self.ask(params);
        self.answer(asked)
    }

    /// Sends a request without waiting for the answer.
    pub(crate) fn ask<R: Request>(&mut self, params: &R) -> PendingRequest<R> {
        self.last_id += 1;
        let message = Message::request(RequestId::Number(self.last_id), params);
        self.unsent.extend(encode(&message.to_bytes()));
        PendingRequest { id: self.last_id, question: PhantomData }
    }

    /// Waits for an answer, in the order of the requests.
    pub(crate) fn answer<R: Request>(&mut self, asked: PendingRequest<R>) -> Result<R::Result, ControlError> {
        let patience = match R::METHOD {
            ReviewsDecide::METHOD | HistoryUndo::METHOD => self.deadline + SAVING,
            // One file after another.
            HistoryUndoTurn::METHOD => self.deadline + 10 * SAVING,
            _ => self.deadline,
        };
        let deadline = Instant::now() + patience;
        let seconds = patience.as_secs();
        let timeout = || ControlError::Timeout { method: R::METHOD, seconds };
        let unsent = std::mem::take(&mut self.unsent);
        if !unsent.is_empty() {
            self.stream.set_write_timeout(Some(self.deadline))?;
            match self.stream.write_all(&unsent) {
                Err(error) if is_timeout(&error) => return Err(timeout()),
                // The hub may have sent the reason before it closed.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
                other => other?,
            }
        }
        loop {
            if let Some(result) = self.early.remove(&asked.id) {
                let result = result.map_err(answer)?;
                return serde_json::from_str(result.get())
                    .map_err(|error| ControlError::Result { method: R::METHOD, reason: error.to_string() });
            }
            match self.receive(deadline)?.ok_or_else(timeout)? {
                // With an older id it answers a request that timed out.
                Message::Response { id: Some(RequestId::Number(id)), result }
                    if (asked.id..=self.last_id).contains(&id) =>
                {
                    self.early.insert(id, result);
                }
                // An error about a message of ours whose id could not be read.
                Message::Response { id: None, result: Err(error) } => return Err(answer(error)),
                _ => {}
            }
        }
    }

    /// The next notification of this kind; `None` if there is none within `wait`. Unknown kinds of a newer hub are
    /// skipped.
    pub fn notification<N: Notification>(&mut self, wait: Duration) -> Result<Option<N>, ControlError> {
        let deadline = Instant::now() + wait;
        loop {
            match self.receive(deadline)? {
                None => return Ok(None),
                Some(Message::Notification { method, params }) if method == N::METHOD => {
                    if let Ok(told) = serde_json::from_str(params.get()) {
                        return Ok(Some(told));
                    }
                }
                Some(_) => {}
            }
        }
    }

    /// The next message that is not a request; requests are answered here. `None` when the time is up.
    fn receive(&mut self, deadline: Instant) -> Result<Option<Message>, ControlError> {
        loop {
            while let Some(frame) = self.decoder.next()? {
                match Message::parse(&frame)? {
                    Message::Request { id, method, .. } => {
                        let reply = if method == <Ping as Request>::METHOD {
                            Message::response(id, &())
                        } else {
                            let message = format!("a command does not support `{method}`");
                            Message::error(Some(id), RpcError::new(errors::METHOD_NOT_FOUND, message))
                        };
                        self.stream.write_all(&encode(&reply.to_bytes()))?;
                    }
                    message => return Ok(Some(message)),
                }
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            self.stream.set_read_timeout(Some(left))?;
            let mut buffer = [0; READ_BYTES];
            match self.stream.read(&mut buffer) {
                Ok(0) => return Err(ControlError::Closed),
                Ok(length) => self.decoder.push(buffer.get(..length).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {
                    return Err(ControlError::Closed);
                }
                Err(error) if is_timeout(&error) => return Ok(None),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Waits until the hub closes the connection; `false` if it does not within the deadline.
    pub fn wait_closed(mut self) -> bool {
        let deadline = Instant::now() + self.deadline;
        let mut buffer = [0; READ_BYTES];
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || self.stream.set_read_timeout(Some(left)).is_err() {
                return false;
            }
            match self.stream.read(&mut buffer) {
                Ok(0) => return true,
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return true,
                Ok(_) | Err(_) => {}
            }
        }
    }
}

fn answer(error: RpcError) -> ControlError {
    if error.code == errors::VERSION {
        ControlError::Version(error.message)
    } else {
        ControlError::Answer(error)
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use linkspan_editor_api::{HubEvent, HubStatus, ReviewsList};
    use serde_json::json;

    use super::*;

    /// A hub that reads one message, then sends these.
    fn hub_that_says(replies: Vec<String>) -> Control {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        thread::spawn(move || {
            let mut first = [0; 4096];
            let _ = theirs.read(&mut first).unwrap();
            for reply in replies {
                theirs.write_all(&encode(reply.as_bytes())).unwrap();
            }
            // Our answers to its pings must not meet a closed socket.
            while matches!(theirs.read(&mut first), Ok(1..)) {}
        });
        Control::new(ours)
    }

    fn hello_of(version: &str, protocol: u32) -> String {
        let result = json!({ "version": version, "protocol": protocol, "pid": 1, "startedAtMs": 0 });
        json!({ "jsonrpc": "2.0", "id": 1, "result": result }).to_string()
    }

    #[test]
    fn pings_and_notifications_do_not_hide_the_answer() {
        let mut connection = hub_that_says(vec![
            json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string(),
            json!({ "jsonrpc": "2.0", "method": "something/new", "params": {} }).to_string(),
            json!({ "jsonrpc": "2.0", "id": 77, "result": null }).to_string(),
            hello_of(env!("CARGO_PKG_VERSION"), PROTOCOL),
        ]);
        let hello = connection.hello("command").unwrap();
        assert_eq!((hello.hub.pid, hello.notice), (1, None));
    }

    #[test]
    fn another_version_is_a_notice_and_another_protocol_an_error() {
        let hello = hub_that_says(vec![hello_of("0.0.1", PROTOCOL)]).hello("command").unwrap();
        assert!(hello.notice.unwrap().contains("linkspan hub stop"));

        let error = hub_that_says(vec![hello_of("0.0.1", PROTOCOL + 1)]).hello("command").unwrap_err();
        assert!(matches!(error, ControlError::Version(text) if text.contains("0.0.1")));

        let mut same_name = hub_that_says(vec![hello_of(env!("CARGO_PKG_VERSION"), PROTOCOL + 1)]);
        assert!(matches!(same_name.hello("command"), Err(ControlError::Version(_))));
    }

    #[test]
    fn what_the_hub_tells_is_heard_between_pings_and_not_waited_for_for_ever() {
        let told = json!({ "window": "w1", "what": { "kind": "away" } });
        let mut control = hub_that_says(vec![
            hello_of(env!("CARGO_PKG_VERSION"), PROTOCOL),
            json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string(),
            json!({ "jsonrpc": "2.0", "method": "hub/event", "params": { "of": "a newer hub" } }).to_string(),
            json!({ "jsonrpc": "2.0", "method": "hub/event", "params": told }).to_string(),
        ]);
        control.hello("command").unwrap();
        let event: Option<HubEvent> = control.notification(DEADLINE).unwrap();
        assert_eq!(event.unwrap().window, "w1");
        let none: Option<HubEvent> = control.notification(Duration::from_millis(10)).unwrap();
        assert_eq!(none, None);
    }

    #[test]
    fn what_is_asked_together_is_answered_in_any_order() {
        let told = json!({ "reviews": [] });
        let mut control = hub_that_says(vec![
            json!({ "jsonrpc": "2.0", "id": 2, "result": told }).to_string(),
            hello_of(env!("CARGO_PKG_VERSION"), PROTOCOL),
        ]);
        let (hello, list) = control.hello_and("command", &ReviewsList::default()).unwrap();
        assert_eq!((hello.hub.pid, list.reviews), (1, Vec::new()));
    }

    #[test]
    fn a_hub_that_does_not_understand_us_is_not_asked_further() {
        let mut control = hub_that_says(vec![
            hello_of("0.0.1", PROTOCOL + 1),
            json!({ "jsonrpc": "2.0", "id": 2, "result": { "reviews": [] } }).to_string(),
        ]);
        let error = control.hello_and("command", &ReviewsList::default()).unwrap_err();
        assert!(matches!(error, ControlError::Version(_)));
    }

    #[test]
    fn a_silent_hub_is_not_waited_for_for_ever() {
        let mut connection = hub_that_says(vec![]);
        connection.deadline = Duration::from_millis(50);
        assert!(matches!(connection.request(&HubStatus {}), Err(ControlError::Timeout { .. })));
    }

    #[test]
    fn a_hub_that_goes_away_is_told_from_one_that_says_no() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        drop(theirs);
        assert!(matches!(Control::new(ours).request(&HubStatus {}), Err(ControlError::Closed)));

        let no = json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": -32011, "message": "no r9" } });
        let error = hub_that_says(vec![no.to_string()]).request(&HubStatus {}).unwrap_err();
        assert!(matches!(error, ControlError::Answer(RpcError { code: errors::UNKNOWN_REVIEW, .. })));
    }
}
