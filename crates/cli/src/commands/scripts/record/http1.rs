//! One direction of an HTTP/1.1 connection, split into heads and parts of bodies as the bytes arrive. Pure; keeps every
//! byte unchanged, so that it can be forwarded.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const MAX_HEAD: usize = 64 * 1024;
const MAX_CHUNK_LINE: usize = 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Request,
    Response,
}

/// A part of the stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    Head(Head),
    /// Bytes of a body as they arrived, and the content in them.
    Body {
        raw: Vec<u8>,
        content: Vec<u8>,
    },
    /// The body is complete.
    End,
    /// Bytes after an upgrade.
    Upgraded(Vec<u8>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Head {
    /// The request line or the status line.
    pub(crate) line: String,
    /// Unchanged: `name: value`.
    pub(crate) headers: Vec<String>,
}

impl Head {
    fn parse(bytes: &[u8]) -> Result<Head, String> {
        let text = str::from_utf8(bytes).map_err(|_| "a head is not UTF-8".to_owned())?;
        let mut lines = text.trim_end_matches("\r\n").split("\r\n").map(str::to_owned);
        let line = lines.next().unwrap_or_default();
        let is_http =
            line.starts_with("HTTP/1.") || line.ends_with(" HTTP/1.1") || line.ends_with(" HTTP/1.0");
        if !is_http {
            return Err("it is not HTTP/1".to_owned());
        }
        Ok(Head { line, headers: lines.collect() })
    }

    /// The value of the first header of that name.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find_map(|header| {
            let (known, value) = header.split_once(':')?;
            known.trim().eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// Removes headers for which `keep` is false.
    pub(crate) fn retain(&mut self, keep: impl Fn(&str) -> bool) {
        self.headers.retain(|header| keep(header.split(':').next().unwrap_or_default().trim()));
    }

    pub(crate) fn set(&mut self, name: &str, value: &str) {
        let found = self.headers.iter_mut().find(|header| {
            header.split_once(':').is_some_and(|(known, _)| known.trim().eq_ignore_ascii_case(name))
        });
        match found {
            Some(header) => {
                let known = header.split(':').next().unwrap_or(name).to_owned();
                *header = format!("{known}: {value}");
            }
            None => self.headers.push(format!("{name}: {value}")),
        }
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut text = format!("{}\r\n", self.line);
        for header in &self.headers {
            text += header;
            text += "\r\n";
        }
        (text + "\r\n").into_bytes()
    }

    pub(crate) fn status(&self) -> Option<u16> {
        self.line.strip_prefix("HTTP/1.")?.split(' ').nth(1)?.parse().ok()
    }

    pub(crate) fn is_upgrade(&self) -> bool {
        self.header("upgrade").is_some_and(|to| to.eq_ignore_ascii_case("websocket"))
    }

    pub(crate) fn is_event_stream(&self) -> bool {
        self.header("content-type")
            .is_some_and(|kind| kind.to_ascii_lowercase().starts_with("text/event-stream"))
    }

    fn body(&self, side: Side) -> Result<State, String> {
        let no_body = matches!(self.status(), Some(100 | 102..=199 | 204 | 304));
        if no_body {
            return Ok(State::Head);
        }
        let upgraded = match side {
            Side::Request => self.is_upgrade(),
            Side::Response => self.status() == Some(101),
        };
        if upgraded {
            return Ok(State::Upgraded);
        }
        if self
            .header("transfer-encoding")
            .is_some_and(|coding| coding.to_ascii_lowercase().contains("chunked"))
        {
            return Ok(State::ChunkLine);
        }
        match (self.header("content-length"), side) {
            (Some(length), _) => match length.parse() {
                Ok(length) => Ok(State::Body(length)),
                Err(_) => Err("a body has an invalid length".to_owned()),
            },
            (None, Side::Request) => Ok(State::Body(0)),
            (None, Side::Response) => Ok(State::UntilEnd),
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum State {
    Head,
    Body(u64),
    UntilEnd,
    ChunkLine,
    Chunk(u64),
    AfterChunk,
    /// Lines after the last chunk.
    Trailer,
    Upgraded,
}

/// Shared by both directions of a connection: whether each unanswered request, oldest first, is a `HEAD`. Its answer has
/// no body, even if its head has a length.
#[derive(Debug, Clone, Default)]
pub(crate) struct Unanswered(Arc<Mutex<VecDeque<bool>>>);

impl Unanswered {
    pub(crate) fn requested(&self, request_line: &[u8]) {
        self.locked().push_back(request_line.starts_with(b"HEAD "));
    }

    /// Whether this answers a `HEAD`.
    fn answered(&self, head: &Head) -> bool {
        let is_last = !matches!(head.status(), Some(100 | 102..=199));
        is_last && self.locked().pop_front().unwrap_or(false)
    }

    fn locked(&self) -> MutexGuard<'_, VecDeque<bool>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Splits one direction into pieces.
#[derive(Debug)]
pub(crate) struct Pieces {
    side: Side,
    unanswered: Unanswered,
    state: State,
    buffer: Vec<u8>,
}

impl Pieces {
    pub(crate) fn new(side: Side, unanswered: Unanswered) -> Pieces {
        Pieces { side, unanswered, state: State::Head, buffer: Vec::new() }
    }

    /// Adds bytes; returns the complete pieces, and an error if the rest cannot be parsed.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> (Vec<Piece>, Option<String>) {
        self.buffer.extend_from_slice(bytes);
        let mut pieces = Vec::new();
        loop {
            match self.step(&mut pieces) {
                Ok(true) => {}
                Ok(false) => return (pieces, None),
                Err(why) => return (pieces, Some(why)),
            }
        }
    }

    /// The bytes that are not parsed yet.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.buffer)
    }

    fn take(&mut self, length: usize) -> Vec<u8> {
        let rest = self.buffer.split_off(length.min(self.buffer.len()));
        std::mem::replace(&mut self.buffer, rest)
    }

    /// The length of a line with its line ending, once it is complete.
    fn line(&self) -> Result<Option<usize>, String> {
        match self.buffer.iter().position(|byte| *byte == b'\n') {
            Some(end) => Ok(Some(end + 1)),
            None if self.buffer.len() > MAX_CHUNK_LINE => {
                Err("a line of a chunked body is too long".to_owned())
            }
            None => Ok(None),
        }
    }

    /// Returns `false` if more bytes are needed.
    fn step(&mut self, pieces: &mut Vec<Piece>) -> Result<bool, String> {
        match self.state {
            State::Head => {
                let end = self.buffer.windows(4).position(|window| window == b"\r\n\r\n");
                let Some(end) = end else {
                    let endless = self.buffer.len() > MAX_HEAD;
                    return if endless { Err("a head is too long".to_owned()) } else { Ok(false) };
                };
                let head = Head::parse(self.buffer.get(..end + 2).unwrap_or_default())?;
                let body = head.body(self.side)?;
                self.state = match self.side {
                    Side::Request => {
                        self.unanswered.requested(head.line.as_bytes());
                        body
                    }
                    Side::Response if self.unanswered.answered(&head) => State::Head,
                    Side::Response => body,
                };
                self.take(end + 4);
                pieces.push(Piece::Head(head));
                if matches!(self.state, State::Head | State::Body(0)) {
                    self.state = State::Head;
                    pieces.push(Piece::End);
                }
                Ok(true)
            }
            State::Upgraded if !self.buffer.is_empty() => {
                pieces.push(Piece::Upgraded(self.rest()));
                Ok(false)
            }
            State::UntilEnd if !self.buffer.is_empty() => {
                let raw = self.rest();
                pieces.push(Piece::Body { content: raw.clone(), raw });
                Ok(false)
            }
            State::Body(left) | State::Chunk(left) if !self.buffer.is_empty() => {
                let raw = self.take(usize::try_from(left).unwrap_or(usize::MAX));
                let left = left - u64::try_from(raw.len()).unwrap_or(left);
                pieces.push(Piece::Body { content: raw.clone(), raw });
                match (self.state, left) {
                    (State::Body(_), 0) => {
                        self.state = State::Head;
                        pieces.push(Piece::End);
                    }
                    (State::Body(_), left) => self.state = State::Body(left),
                    (_, 0) => self.state = State::AfterChunk,
                    (_, left) => self.state = State::Chunk(left),
                }
                Ok(true)
            }
            State::ChunkLine => {
                let Some(length) = self.line()? else { return Ok(false) };
                let text = String::from_utf8_lossy(self.buffer.get(..length).unwrap_or_default());
                let size = text.split(';').next().unwrap_or_default().trim();
                let size = u64::from_str_radix(size, 16).map_err(|_| "a chunk has no size".to_owned())?;
                let raw = self.take(length);
                self.state = if size == 0 { State::Trailer } else { State::Chunk(size) };
                pieces.push(Piece::Body { raw, content: Vec::new() });
                Ok(true)
            }
            State::AfterChunk => {
                let Some(length) = self.line()? else { return Ok(false) };
                let raw = self.take(length);
                self.state = State::ChunkLine;
                pieces.push(Piece::Body { raw, content: Vec::new() });
                Ok(true)
            }
            State::Trailer => {
                let Some(length) = self.line()? else { return Ok(false) };
                let raw = self.take(length);
                let last = matches!(raw.as_slice(), b"\r\n" | b"\n");
                pieces.push(Piece::Body { raw, content: Vec::new() });
                if last {
                    self.state = State::Head;
                    pieces.push(Piece::End);
                }
                Ok(true)
            }
            State::Upgraded | State::UntilEnd | State::Body(_) | State::Chunk(_) => Ok(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The heads, the contents of the bodies, and all bytes as they would be forwarded.
    fn read(side: Side, text: &str, step: usize) -> Result<(Vec<String>, Vec<String>, String), String> {
        let mut pieces = Pieces::new(side, Unanswered::default());
        let (mut heads, mut bodies, mut passed) = (vec![], vec![], vec![]);
        let mut body = Vec::new();
        for part in text.as_bytes().chunks(step) {
            let (cut, why) = pieces.push(part);
            if let Some(why) = why {
                return Err(why);
            }
            for piece in cut {
                match piece {
                    Piece::Head(head) => {
                        passed.extend(head.to_bytes());
                        heads.push(head.line);
                    }
                    Piece::Body { raw, content } => {
                        passed.extend(raw);
                        body.extend(content);
                    }
                    Piece::End => bodies.push(String::from_utf8(std::mem::take(&mut body)).unwrap()),
                    Piece::Upgraded(raw) => passed.extend(raw),
                }
            }
        }
        Ok((heads, bodies, String::from_utf8(passed).unwrap()))
    }

    #[test]
    fn messages_follow_each_other_and_are_unchanged_for_any_piece_size() {
        let requests = "POST /a HTTP/1.1\r\nContent-Length: 2\r\n\r\nhiGET /b HTTP/1.1\r\nHost: x\r\n\r\n";
        let answers = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n3;x=y\r\n yo\r\n0\r\n\r\n\
                       HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\nraw";
        for step in [1, 2, 7, 1000] {
            let (heads, bodies, passed) = read(Side::Request, requests, step).unwrap();
            assert_eq!(heads, ["POST /a HTTP/1.1", "GET /b HTTP/1.1"]);
            assert_eq!((bodies, passed.as_str()), (vec!["hi".into(), String::new()], requests));
            let (_, bodies, passed) = read(Side::Response, answers, step).unwrap();
            assert_eq!((bodies, passed.as_str()), (vec!["hi yo".to_owned(), String::new()], answers));
        }
    }

    #[test]
    fn other_protocols_and_endless_heads_are_errors() {
        for text in ["SSH-2.0-OpenSSH\r\n\r\n", "GET / HTTP/2\r\n\r\n", "\r\n\r\n"] {
            assert!(read(Side::Request, text, 1000).is_err(), "{text}");
        }
        assert!(read(Side::Request, &"x".repeat(MAX_HEAD + 1), 1000).is_err());
        let bad = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n";
        assert!(read(Side::Response, bad, 1000).is_err());
    }

    #[test]
    fn one_header_is_set_and_others_stay() {
        let mut head = Head::parse(b"GET / HTTP/1.1\r\nhOST: a:1\r\nX: y\r\n").unwrap();
        head.set("host", "b:2");
        head.retain(|name| !name.eq_ignore_ascii_case("x"));
        assert_eq!(head.to_bytes(), b"GET / HTTP/1.1\r\nhOST: b:2\r\n\r\n");
    }

    #[test]
    fn the_answer_to_a_head_has_no_body() {
        let unanswered = Unanswered::default();
        let requests = b"HEAD /a HTTP/1.1\r\n\r\nGET /b HTTP/1.1\r\n\r\n";
        Pieces::new(Side::Request, unanswered.clone()).push(requests);
        let answers = b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n\
                        HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
        let (pieces, why) = Pieces::new(Side::Response, unanswered).push(answers);
        let heads = pieces.iter().filter(|piece| matches!(piece, Piece::Head(_))).count();
        let bodies = pieces.iter().filter(|piece| matches!(piece, Piece::Body { .. })).count();
        assert_eq!((heads, bodies, why), (3, 1, None));
    }
}
