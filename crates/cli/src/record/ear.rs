//! One direction of a connection in the terms of a transcript: heads, messages, the ends of bodies. Knows HTTP,
//! WebSocket and event streams, but not what the messages mean. Pure.

use linkspan_client::http::Events;
use serde_json::{Map, Value, json};

use super::http1::{Head, Piece, Pieces, Side, Unanswered};
use super::websocket::{Frame, Frames};

/// A message that is longer is recorded as its length and hash.
pub(crate) const LARGE: usize = 1024 * 1024;
/// No event is longer.
const MAX_EVENT: usize = 256 * 1024 * 1024;

/// What was heard, in order.
#[derive(Debug)]
pub(crate) enum Heard {
    Head(Head),
    /// Bytes to be passed on as they came.
    Pass(Vec<u8>),
    /// One line of a transcript, without time and place.
    Line(Map<String, Value>),
}

#[derive(Debug)]
pub(crate) struct Ear {
    side: Side,
    pieces: Pieces,
    frames: Frames,
    /// The body under way.
    body: Gathered,
    events: Option<Events>,
    /// Nothing more can be understood; bytes are still passed on.
    deaf: bool,
}

impl Ear {
    /// The ears for both directions of a connection share what is not answered yet.
    pub(crate) fn new(side: Side, unanswered: Unanswered) -> Ear {
        Ear {
            side,
            pieces: Pieces::new(side, unanswered),
            frames: Frames::default(),
            body: Gathered::default(),
            events: None,
            deaf: false,
        }
    }

    /// Nothing is lost: what cannot be understood is passed on too.
    pub(crate) fn hear(&mut self, bytes: &[u8]) -> Vec<Heard> {
        if self.deaf {
            return vec![Heard::Pass([self.pieces.rest().as_slice(), bytes].concat())];
        }
        let (pieces, why) = self.pieces.push(bytes);
        let mut heard: Vec<Heard> = pieces.into_iter().flat_map(|piece| self.piece(piece)).collect();
        if let Some(why) = why {
            heard.extend([self.give_up(&why), Heard::Pass(self.pieces.rest())]);
        }
        heard
    }

    fn give_up(&mut self, why: &str) -> Heard {
        self.deaf = true;
        Heard::Line(line([("ev", json!("unreadable")), ("why", json!(why))]))
    }

    /// The end of the connection ends a body that has no other end.
    pub(crate) fn end(&mut self) -> Vec<Heard> {
        let mut heard = vec![Heard::Pass(self.pieces.rest())];
        heard.extend(self.end_of_body(false));
        heard
    }

    fn piece(&mut self, piece: Piece) -> Vec<Heard> {
        match piece {
            Piece::Head(head) => {
                self.events = head.is_event_stream().then(|| Events::new(MAX_EVENT));
                vec![Heard::Head(head)]
            }
            Piece::Body { raw, content } => {
                let mut heard = vec![Heard::Pass(raw)];
                match &mut self.events {
                    None => self.body.add(&content),
                    Some(events) => match events.push(&content) {
                        Ok(events) => heard.extend(events.into_iter().map(|event| {
                            let mut of = json!({ "event": event.event });
                            if let Some(id) = event.id {
                                of["id"] = json!(id);
                            }
                            let mut fields = message(event.data.as_bytes());
                            fields.insert("sse".into(), of);
                            Heard::Line(fields)
                        })),
                        Err(error) => heard.push(self.give_up(&error.to_string())),
                    },
                }
                heard
            }
            Piece::End => self.end_of_body(true),
            Piece::Upgraded(raw) => self.upgraded(raw),
        }
    }

    fn end_of_body(&mut self, whole: bool) -> Vec<Heard> {
        let mut heard = Vec::new();
        if let Some(fields) = std::mem::take(&mut self.body).end() {
            heard.push(Heard::Line(fields));
        }
        if self.events.take().is_some() && whole && self.side == Side::Response {
            heard.push(Heard::Line(line([("ev", json!("end-of-response-body"))])));
        }
        heard
    }

    fn upgraded(&mut self, raw: Vec<u8>) -> Vec<Heard> {
        let frames = self.frames.push(&raw);
        let mut heard = vec![Heard::Pass(raw)];
        match frames {
            Ok(frames) => heard.extend(frames.into_iter().map(|frame| Heard::Line(self.frame(frame)))),
            Err(error) => heard.push(self.give_up(&error.to_string())),
        }
        heard
    }

    fn frame(&self, frame: Frame) -> Map<String, Value> {
        match frame {
            Frame::Message(content) => {
                let mut fields = message(&content);
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

/// A body, of which no more is kept than is recorded.
#[derive(Debug, Default)]
struct Gathered {
    kept: Vec<u8>,
    large: Option<(blake3::Hasher, u64)>,
}

impl Gathered {
    fn add(&mut self, bytes: &[u8]) {
        if let Some((hasher, length)) = &mut self.large {
            hasher.update(bytes);
            *length += u64::try_from(bytes.len()).unwrap_or_default();
            return;
        }
        self.kept.extend_from_slice(bytes);
        if self.kept.len() > LARGE {
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
            None => Some(message(&self.kept)),
        }
    }
}

fn large(length: u64, hash: blake3::Hash) -> Map<String, Value> {
    line([("large", json!({ "bytes": length, "blake3": hash.to_hex().as_str() }))])
}

/// JSON where it is, else text, else only how much it was.
fn message(bytes: &[u8]) -> Map<String, Value> {
    if bytes.len() > LARGE {
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
        let mut ear = Ear::new(side, Unanswered::default());
        let mut heard = ear.hear(bytes);
        heard.extend(ear.end());
        let line = |heard| match heard {
            Heard::Line(fields) => Some(Value::Object(fields)),
            Heard::Head(_) | Heard::Pass(_) => None,
        };
        heard.into_iter().filter_map(line).collect()
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

    /// All bytes that are passed on, and the reasons why some were not understood.
    fn passed(side: Side, parts: &[&[u8]]) -> (Vec<u8>, usize) {
        let mut ear = Ear::new(side, Unanswered::default());
        let mut heard: Vec<Heard> = parts.iter().flat_map(|part| ear.hear(part)).collect();
        heard.extend(ear.end());
        let (mut bytes, mut unreadable) = (Vec::new(), 0);
        for heard in heard {
            match heard {
                Heard::Head(head) => bytes.extend(head.to_bytes()),
                Heard::Pass(raw) => bytes.extend(raw),
                Heard::Line(fields) => {
                    unreadable += usize::from(fields.get("ev").is_some_and(|ev| ev == "unreadable"));
                }
            }
        }
        (bytes, unreadable)
    }

    #[test]
    fn what_is_not_understood_is_passed_on_and_said() {
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
    fn what_ends_too_early_is_passed_on() {
        for bytes in
            [&b"GET / HTTP/1.1\r\nHost"[..], b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1"]
        {
            assert_eq!(passed(Side::Request, &[bytes]), (bytes.to_vec(), 0));
        }
    }
}
