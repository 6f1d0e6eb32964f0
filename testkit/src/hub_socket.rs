//! One connection to the hub's own socket, with its framing.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use linkspan_editor_api::{Decoder, Limits, encode};
use serde_json::{Value, json};

use super::{DEADLINE, World};

pub struct HubSocket {
    pub stream: UnixStream,
    decoder: Decoder,
}

impl HubSocket {
    pub fn connect(world: &World) -> HubSocket {
        HubSocket::over(UnixStream::connect(world.socket()).unwrap())
    }

    /// Either end of a connection.
    pub fn over(stream: UnixStream) -> HubSocket {
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        HubSocket { stream, decoder: Decoder::new(Limits::default()) }
    }

    /// The next message; `None` when the hub has closed the connection.
    #[track_caller]
    pub fn receive(&mut self) -> Option<Value> {
        self.receive_within(DEADLINE).unwrap_or_else(|| panic!("the hub sent nothing"))
    }

    /// `None` when nothing arrives in time; the inner `None` when the hub has closed the connection.
    #[expect(clippy::option_option, reason = "a timeout and a closed connection are different")]
    pub(crate) fn receive_within(&mut self, timeout: Duration) -> Option<Option<Value>> {
        let mut bytes = [0; 4096];
        let until = Instant::now() + timeout;
        loop {
            if let Some(body) = self.decoder.next().unwrap() {
                return Some(Some(serde_json::from_slice(&body).unwrap()));
            }
            let left = until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
            self.stream.set_read_timeout(Some(left)).unwrap();
            match self.stream.read(&mut bytes) {
                Ok(0) => return Some(None),
                Ok(length) => self.decoder.push(&bytes[..length]),
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return Some(None),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    return None;
                }
                Err(error) => panic!("{error}"),
            }
        }
    }

    pub fn send(&mut self, body: &str) {
        self.stream.write_all(&encode(body.as_bytes())).unwrap();
    }

    #[track_caller]
    pub fn exchange(&mut self, body: &str) -> Option<Value> {
        self.send(body);
        self.receive()
    }

    #[track_caller]
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let message = json!({ "jsonrpc": "2.0", "id": "q", "method": method, "params": params });
        let answer = self.exchange(&message.to_string()).expect("no answer");
        assert_eq!(answer["id"], "q", "{answer}");
        answer
    }
}
