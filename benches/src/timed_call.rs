//! A request that is sent again and again over one connection, and the answer that it must get each time. Both are
//! bytes of any protocol, so that one client measures every server.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::agent::start_of;
use crate::frame::{PING, PONG, header, masked};
use crate::process::cpu_time;
use crate::stats::latencies;

/// Space for what a server sends without a request.
const ROOM: usize = 4 * 1024;
/// Length of the version and status at the start of an HTTP answer.
const STATUS: usize = 12;

/// A request and its first answer. Later answers have the same length, the same start and the same body; between
/// those may be a date.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) request: Vec<u8>,
    pub(crate) answer: Vec<u8>,
    body: usize,
}

/// How much of an answer has arrived.
pub(crate) enum AnswerState {
    Part,
    /// Must be answered; already removed from the buffer.
    Ping,
    Whole,
}

impl Call {
    /// Checks the answer, and removes it from the buffer.
    pub(crate) fn check(&self, arrived: &mut ReceiveBuffer) -> Result<()> {
        let bytes = arrived.take(self.answer.len());
        let start = self.body.min(STATUS);
        ensure!(
            bytes.get(..start) == self.answer.get(..start)
                && bytes.get(self.body..) == self.answer.get(self.body..),
            "a wrong answer: {} instead of {}",
            start_of(bytes),
            start_of(&self.answer)
        );
        Ok(())
    }
}

/// Bytes from a server that were not used yet.
#[derive(Debug, Default)]
pub(crate) struct ReceiveBuffer {
    buffer: Vec<u8>,
    end: usize,
}

impl ReceiveBuffer {
    fn bytes(&self) -> &[u8] {
        self.buffer.get(..self.end).unwrap_or_default()
    }

    /// Where to read the next bytes to; never empty.
    pub(crate) fn room(&mut self) -> &mut [u8] {
        if self.buffer.len() < self.end + ROOM {
            self.buffer.resize((self.end + ROOM).max(2 * self.buffer.len()), 0);
        }
        self.buffer.get_mut(self.end..).unwrap_or_default()
    }

    /// After a read into `room`.
    pub(crate) fn filled(&mut self, count: usize) -> Result<()> {
        ensure!(count > 0, "the server hung up");
        self.end += count;
        Ok(())
    }

    /// The bytes stay readable until the next read.
    fn take(&mut self, length: usize) -> &[u8] {
        let length = length.min(self.end);
        let rest = self.end - length;
        self.buffer.get_mut(..self.end).unwrap_or_default().rotate_left(length);
        self.end = rest;
        self.buffer.get(rest..rest + length).unwrap_or_default()
    }

    pub(crate) fn look_for(&mut self, call: &Call) -> AnswerState {
        if self.took_ping() {
            AnswerState::Ping
        } else if self.end < call.answer.len() {
            AnswerState::Part
        } else {
            AnswerState::Whole
        }
    }

    fn took_ping(&mut self) -> bool {
        match header(self.bytes()) {
            Some((header, start, payload)) if header.opcode == PING && start + payload <= self.end => {
                self.take(start + payload);
                true
            }
            _ => false,
        }
    }
}

/// Where the body of an answer starts and where all of it ends, once that is known: of an HTTP answer or of a
/// WebSocket message.
fn extent(bytes: &[u8]) -> Option<(usize, usize)> {
    if bytes.starts_with(b"HTTP/") { http_extent(bytes) } else { message_extent(bytes) }
}

fn http_extent(bytes: &[u8]) -> Option<(usize, usize)> {
    let body = bytes.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let head = String::from_utf8_lossy(bytes.get(..body)?).to_ascii_lowercase();
    let field = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    if field("transfer-encoding:") == Some("chunked") {
        return bytes.ends_with(b"\r\n0\r\n\r\n").then_some((body, bytes.len()));
    }
    let length: usize = field("content-length:").map_or(Some(0), |length| length.parse().ok())?;
    (bytes.len() >= body + length).then_some((body, body + length))
}

fn message_extent(bytes: &[u8]) -> Option<(usize, usize)> {
    let body = header(bytes)?.1;
    let mut end = 0;
    loop {
        let frame = bytes.get(end..)?;
        let (header, start, payload) = header(frame)?;
        end += start + payload;
        if header.is_final {
            return (end <= bytes.len()).then_some((body, end));
        }
    }
}

/// A connection to a server, and what was measured on it.
#[derive(Debug)]
pub(crate) struct TimedConnection {
    stream: TcpStream,
    arrived: ReceiveBuffer,
    call: Call,
    server: u32,
    pub(crate) medians: Vec<f64>,
    pub(crate) tails: Vec<f64>,
    pub(crate) server_micros: Vec<f64>,
}

impl TimedConnection {
    /// Sends the request once: the answer must contain `says`, and later answers are compared with it.
    pub(crate) fn open(
        mut stream: TcpStream,
        request: Vec<u8>,
        says: &str,
        server: u32,
    ) -> Result<TimedConnection> {
        stream.write_all(&request)?;
        let mut arrived = ReceiveBuffer::default();
        let (body, length) = loop {
            if arrived.took_ping() {
                stream.write_all(&masked(PONG, b""))?;
            }
            if let Some(extent) = extent(arrived.bytes()) {
                break extent;
            }
            let count = stream.read(arrived.room()).context("waiting for the first answer")?;
            arrived.filled(count)?;
        };
        let answer = arrived.take(length).to_vec();
        let start = start_of(&answer);
        ensure!(start.contains(says), "expected {says}, got {start}");
        let (medians, tails, server_micros) = Default::default();
        Ok(TimedConnection {
            stream,
            arrived,
            call: Call { request, answer, body },
            server,
            medians,
            tails,
            server_micros,
        })
    }

    /// The time until the last byte of the answer has arrived. The answer is checked afterwards.
    pub(crate) fn call(&mut self) -> Result<Duration> {
        let start = Instant::now();
        self.stream.write_all(&self.call.request)?;
        loop {
            match self.arrived.look_for(&self.call) {
                AnswerState::Whole => break,
                AnswerState::Ping => self.stream.write_all(&masked(PONG, b""))?,
                AnswerState::Part => {
                    let count = self.stream.read(self.arrived.room()).context("waiting for an answer")?;
                    self.arrived.filled(count)?;
                }
            }
        }
        let taken = start.elapsed();
        self.call.check(&mut self.arrived)?;
        Ok(taken)
    }

    pub(crate) fn round(&mut self, calls: u32) -> Result<()> {
        let before = cpu_time(self.server)?;
        let times = (0..calls).map(|_| self.call()).collect::<Result<Vec<_>>>()?;
        let spent = cpu_time(self.server)?.saturating_sub(before);
        let (middle, tail) = latencies(&times);
        self.medians.push(middle);
        self.tails.push(tail);
        self.server_micros.push(spent.as_secs_f64() * 1e6 / f64::from(calls));
        Ok(())
    }

    /// A round that does not count: it brings programs into memory, and gives just-in-time compilers time.
    pub(crate) fn warm_up(&mut self, calls: u32) -> Result<()> {
        for _ in 0..calls {
            self.call()?;
        }
        Ok(())
    }

    /// The answer, byte for byte, for a floor to send.
    pub(crate) fn answer(&self) -> &[u8] {
        &self.call.answer
    }

    /// The answer without its header.
    pub(crate) fn body(&self) -> &[u8] {
        self.call.answer.get(self.call.body..).unwrap_or_default()
    }

    /// The connection, to run many of them in one thread.
    pub(crate) fn into_parts(self) -> (TcpStream, Call) {
        (self.stream, self.call)
    }
}

/// A whole HTTP request; `headers` are whole lines.
pub(crate) fn post(port: u16, path: &str, headers: &str, body: &serde_json::Value) -> Vec<u8> {
    let body = body.to_string();
    let length = body.len();
    let head =
        format!("POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n");
    format!("{head}{headers}Content-Length: {length}\r\n\r\n{body}").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_ends_where_its_protocol_says() {
        let counted = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
        assert_eq!(extent(counted), Some((counted.len() - 2, counted.len())));
        assert_eq!(extent(counted.split_last().unwrap().1), None);
        let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n";
        assert_eq!(extent(chunked).map(|(_, end)| end), Some(chunked.len()));
        assert_eq!(extent(&[0x81, 2, b'h', b'i']), Some((2, 4)));
        assert_eq!(extent(&[0x01, 1, b'h', 0x80, 1, b'i']), Some((2, 6)));
        assert_eq!(extent(&[0x01, 1, b'h', 0x80, 1]), None);
    }

    #[test]
    fn an_answer_with_another_body_is_wrong_and_one_with_another_date_is_not() {
        let answer = |date: u8, body: u8| {
            let head = format!("HTTP/1.1 200 OK\r\nDate: {date}\r\nContent-Length: 1\r\n\r\n");
            [head.as_bytes(), &[body]].concat()
        };
        let first = answer(1, b'a');
        let call = Call { request: Vec::new(), body: first.len() - 1, answer: first };
        let check = |bytes: Vec<u8>| call.check(&mut ReceiveBuffer { end: bytes.len(), buffer: bytes });
        assert!(check(answer(2, b'a')).is_ok());
        assert!(check(answer(1, b'b')).is_err());
    }

    #[test]
    fn a_ping_before_an_answer_is_taken_out() {
        let call = Call { request: Vec::new(), answer: vec![0x81, 1, b'x'], body: 2 };
        let mut arrived = ReceiveBuffer { buffer: vec![0x89, 1, b'p', 0x81, 1, b'x'], end: 6 };
        assert!(matches!(arrived.look_for(&call), AnswerState::Ping));
        assert!(matches!(arrived.look_for(&call), AnswerState::Whole));
        assert!(call.check(&mut arrived).is_ok());
    }
}
