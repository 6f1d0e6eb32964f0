//! Decodes one direction of a connection into the lines of a transcript: heads, messages, ends of bodies. Knows HTTP,
//! WebSocket and event streams, but not the meaning of messages. Pure.

use linkspan_client::http::Events;
use serde_json::{Map, Value, json};

use super::http1::{Head, Piece, Pieces, Side, Unanswered};
use super::websocket::{Frame, Frames};

/// A longer message is recorded as its length and hash.
pub(crate) const LARGE: usize = 1024 * 1024;
/// The length limit of one event.
const MAX_EVENT: usize = 256 * 1024 * 1024;

/// A decoded part of the stream, in order.
#[derive(Debug)]
pub(crate) enum Decoded {
    Head(Head),
    /// Bytes to forward unchanged.
    Pass(Vec<u8>),
    /// One line of a transcript, without time and connection.
    Line(Map<String, Value>),
}

#[derive(Debug)]
pub(crate) struct Decoder {
    side: Side,
    pieces: Pieces,
    frames: Frames,
    /// The current body.
    body: Body,
    /// A longer message is decoded to its length and hash.
    limit: usize,
    events: Option<Events>,
    /// The rest cannot be decoded; bytes are still forwarded.
    failed: bool,
}

impl Decoder {
    /// The decoders for both directions of a connection share `unanswered`.
    pub(crate) fn new(side: Side, unanswered: Unanswered) -> Decoder {
        Decoder {
            side,
            pieces: Pieces::new(side, unanswered),
            frames: Frames::default(),
            body: Body::new(LARGE),
            limit: LARGE,
            events: None,
            failed: false,
        }
    }

    /// Decodes messages of every length.
    pub(crate) fn whole(self) -> Decoder {
        Decoder { body: Body::new(usize::MAX), limit: usize::MAX, ..self }
    }

    /// Bytes that cannot be decoded are forwarded too.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<Decoded> {
        if self.failed {
            return vec![Decoded::Pass([self.pieces.rest().as_slice(), bytes].concat())];
        }
        let (pieces, why) = self.pieces.push(bytes);
        let mut decoded: Vec<Decoded> = pieces.into_iter().flat_map(|piece| self.piece(piece)).collect();
        if let Some(why) = why {
            decoded.extend([self.give_up(&why), Decoded::Pass(self.pieces.rest())]);
        }
        decoded
    }

    fn give_up(&mut self, why: &str) -> Decoded {
        self.failed = true;
        Decoded::Line(line([("ev", json!("unreadable")), ("why", json!(why))]))
    }

    /// The end of the connection, which also ends a body without a length.
    pub(crate) fn end(&mut self) -> Vec<Decoded> {
        let mut decoded = vec![Decoded::Pass(self.pieces.rest())];
        decoded.extend(self.end_of_body(false));
        decoded
    }

    fn piece(&mut self, piece: Piece) -> Vec<Decoded> {
        match piece {
            Piece::Head(head) => {
                self.events = head.is_event_stream().then(|| Events::new(MAX_EVENT));
                vec![Decoded::Head(head)]
            }
            Piece::Body { raw, content } => {
                let mut decoded = vec![Decoded::Pass(raw)];
                match &mut self.events {
                    None => self.body.add(&content),
                    Some(events) => match events.push(&content) {
                        Ok(events) => decoded.extend(events.into_iter().map(|event| {
                            let mut of = json!({ "event": event.event });
                            if let Some(id) = event.id {
                                of["id"] = json!(id);
                            }
                            let mut fields = message(event.data.as_bytes(), self.limit);
                            fields.insert("sse".into(), of);
                            Decoded::Line(fields)
                        })),
                        Err(error) => decoded.push(self.give_up(&error.to_string())),
                    },
                }
                decoded
            }
            Piece::End => self.end_of_body(true),
            Piece::Upgraded(raw) => self.upgraded(raw),
        }
    }

    fn end_of_body(&mut self, whole: bool) -> Vec<Decoded> {
        let mut decoded = Vec::new();
        if let Some(fields) = std::mem::replace(&mut self.body, Body::new(self.limit)).end() {
            decoded.push(Decoded::Line(fields));
        }
        if self.events.take().is_some() && whole && self.side == Side::Response {
            decoded.push(Decoded::Line(line([("ev", json!("end-of-response-body"))])));
        }
        decoded
    }

    fn upgraded(&mut self, raw: Vec<u8>) -> Vec<Decoded> {
        let frames = self.frames.push(&raw);
        let mut decoded = vec![Decoded::Pass(raw)];
        match frames {
            Ok(frames) => decoded.extend(frames.into_iter().map(|frame| Decoded::Line(self.frame(frame)))),
            Err(error) => decoded.push(self.give_up(&error.to_string())),
        }
        decoded
    }

    fn frame(&self, frame: Frame) -> Map<String, Value> {
        match frame {
            Frame::Message(content) => {
                let mut fields = message(&content, self.limit);
                if self.side == Side::Request {
                    fields.insert("masked".into(), json!(true));
                }
                fields
            }
            Frame::Close(code) => line([("ev", json!("close-frame")), ("code", json!(code))]),
            Frame::Ping(payload) => line([("ev", json!("ping-frame")), ("payload", json!(payload))]),
            Frame::Pong => line([("ev", json!("pong-frame"))]),
        }
    }
}

/// A body; no more of it is kept than is recorded.
#[derive(Debug)]
struct Body {
    limit: usize,
    kept: Vec<u8>,
    large: Option<(blake3::Hasher, u64)>,
}

impl Body {
    fn new(limit: usize) -> Body {
        Body { limit, kept: Vec::new(), large: None }
    }

    fn add(&mut self, bytes: &[u8]) {
        if let Some((hasher, length)) = &mut self.large {
            hasher.update(bytes);
            *length += u64::try_from(bytes.len()).unwrap_or_default();
            return;
        }
        self.kept.extend_from_slice(bytes);
        if self.kept.len() > self.limit {
            let mut hasher = blake3::Hasher::new();
            hasher.update(&self.kept);
            self.large = Some((hasher, u64::try_from(self.kept.len()).unwrap_or(u64::MAX)));
            self.kept = Vec::new();
        }
    }

    fn end(self) -> Option<Map<String, Value>> {
        match self.large {
            Some((hasher, length)) => Some(large(length, hasher.finalize())),
            None if self.kept.is_empty() => None,
            None => Some(message(&self.kept, self.limit)),
        }
    }
}

fn large(length: u64, hash: blake3::Hash) -> Map<String, Value> {
    line([("large", json!({ "bytes": length, "blake3": hash.to_hex().as_str() }))])
}

/// JSON if it is JSON, else text, else its length and hash.
fn message(bytes: &[u8], limit: usize) -> Map<String, Value> {
    if bytes.len() > limit {
        return large(u64::try_from(bytes.len()).unwrap_or(u64::MAX), blake3::hash(bytes));
    }
    match (serde_json::from_slice::<Value>(bytes), str::from_utf8(bytes)) {
        (Ok(value), _) => line([("msg", value)]),
        (Err(_), Ok(text)) => line([("text", json!(text))]),
        (Err(_), Err(_)) => large(u64::try_from(bytes.len()).unwrap_or(u64::MAX), blake3::hash(bytes)),
    }
}

fn line<const N: usize>(fields: [(&str, Value); N]) -> Map<String, Value> {
    fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(side: Side, bytes: &[u8]) -> Vec<Value> {
        let mut decoder = Decoder::new(side, Unanswered::default());
        let mut decoded = decoder.push(bytes);
        decoded.extend(decoder.end());
        let line = |decoded| match decoded {
            Decoded::Line(fields) => Some(Value::Object(fields)),
            Decoded::Head(_) | Decoded::Pass(_) => None,
        };
        decoded.into_iter().filter_map(line).collect()
    }

    #[test]
    fn bodies_and_events_are_messages() {
        let body = b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n{\"a\":1}";
        assert_eq!(lines(Side::Response, body), [json!({ "msg": { "a": 1 } })]);
        let events = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nid: 3\ndata: {}\n\n: x\n\n";
        let sse = json!({ "event": "message", "id": "3" });
        assert_eq!(lines(Side::Response, events), [json!({ "msg": {}, "sse": sse })]);
        let text = b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno";
        assert_eq!(lines(Side::Response, text), [json!({ "text": "no" })]);
    }

    #[test]
    fn a_large_message_is_its_length_and_hash() {
        let body = vec![b'x'; LARGE + 1];
        let head = format!("POST / HTTP/1.1\r\nContent-Length: {}\r\n\r\n", body.len());
        let expected = json!({ "bytes": LARGE + 1, "blake3": blake3::hash(&body).to_hex().as_str() });
        assert_eq!(lines(Side::Request, &[head.as_bytes(), &body].concat()), [json!({ "large": expected })]);
    }

    /// All forwarded bytes, and how many errors were recorded.
    fn passed(side: Side, parts: &[&[u8]]) -> (Vec<u8>, usize) {
        let mut decoder = Decoder::new(side, Unanswered::default());
        let mut decoded: Vec<Decoded> = parts.iter().flat_map(|part| decoder.push(part)).collect();
        decoded.extend(decoder.end());
        let (mut bytes, mut unreadable) = (Vec::new(), 0);
        for decoded in decoded {
            match decoded {
                Decoded::Head(head) => bytes.extend(head.to_bytes()),
                Decoded::Pass(raw) => bytes.extend(raw),
                Decoded::Line(fields) => {
                    unreadable += usize::from(fields.get("ev").is_some_and(|ev| ev == "unreadable"));
                }
            }
        }
        (bytes, unreadable)
    }

    #[test]
    fn bytes_that_cannot_be_decoded_are_forwarded_and_reported() {
        let cut_before = b"POST /a HTTP/1.1\r\nContent-Length: 2\r\n\r\nhi\x16\x03\x01hello\r\n\r\nrest";
        let bad_chunk = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\nzz\r\nrest";
        for (side, bytes) in [
            (Side::Request, &b"\x16\x03\x01hello\r\n\r\n"[..]),
            (Side::Request, cut_before),
            (Side::Response, bad_chunk),
        ] {
            for step in [1, 5, 1000] {
                let parts: Vec<&[u8]> = bytes.chunks(step).collect();
                assert_eq!(passed(side, &parts), (bytes.to_vec(), 1));
            }
        }
    }

    #[test]
    fn an_incomplete_message_is_forwarded() {
        for bytes in
            [&b"GET / HTTP/1.1\r\nHost"[..], b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1"]
        {
            assert_eq!(passed(Side::Request, &[bytes]), (bytes.to_vec(), 0));
        }
    }
}
