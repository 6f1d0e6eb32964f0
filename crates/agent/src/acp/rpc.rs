//! JSON-RPC 2.0, one message per line. Reads lines with a limit, and says what a message is; must not know any method.

use std::io;

use serde_json::{Value, json};
use tokio::io::{AsyncBufRead, AsyncBufReadExt};

/// A prompt may hold whole files. A longer line is not read.
pub(super) const LONGEST_LINE: usize = 32 * 1024 * 1024;

pub(super) const PARSE_ERROR: i64 = -32700;
pub(super) const INVALID_REQUEST: i64 = -32600;
pub(super) const METHOD_NOT_FOUND: i64 = -32601;
pub(super) const INVALID_PARAMS: i64 = -32602;
pub(super) const INTERNAL_ERROR: i64 = -32603;
/// ACP's own: there is no such session.
pub(super) const NOT_FOUND: i64 = -32002;

/// What the other side sent.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Incoming {
    Request {
        id: Value,
        method: String,
        params: Value,
    },
    Notification {
        method: String,
        params: Value,
    },
    /// To a request of ours; the error is for people.
    Response {
        id: Value,
        result: Result<Value, String>,
    },
    /// Not a message; the answer says why.
    Invalid(Value),
}

impl Incoming {
    pub(super) fn parse(line: &[u8]) -> Incoming {
        let message = match serde_json::from_slice(line) {
            Ok(Value::Object(message)) => message,
            Ok(_) => {
                let why = "a message is one object; batches are not supported";
                return Incoming::Invalid(error(&Value::Null, INVALID_REQUEST, why));
            }
            Err(why) => {
                let why = format!("the message is not valid JSON: {why}");
                return Incoming::Invalid(error(&Value::Null, PARSE_ERROR, &why));
            }
        };
        let id = message.get("id").filter(|id| id.is_string() || id.is_number() || id.is_null()).cloned();
        let params = message.get("params").cloned().unwrap_or_default();
        match (message.get("method"), id) {
            (Some(Value::String(method)), Some(id)) if !id.is_null() => {
                Incoming::Request { id, method: method.clone(), params }
            }
            (Some(Value::String(method)), _) if !message.contains_key("id") => {
                Incoming::Notification { method: method.clone(), params }
            }
            (None, Some(id)) if message.contains_key("result") => {
                Incoming::Response { id, result: Ok(message.get("result").cloned().unwrap_or_default()) }
            }
            (None, Some(id)) if message.contains_key("error") => {
                let why = message.get("error").and_then(|error| error.get("message")).and_then(Value::as_str);
                Incoming::Response { id, result: Err(why.unwrap_or("without a reason").to_owned()) }
            }
            (_, id) => {
                let why = "the message is neither a request, nor a notification, nor a response";
                Incoming::Invalid(error(&id.unwrap_or_default(), INVALID_REQUEST, why))
            }
        }
    }
}

pub(super) fn response(id: &Value, result: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

pub(super) fn error(id: &Value, code: i64, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

pub(super) fn notification(method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

pub(super) fn request(id: u64, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// What came on a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Whole(Vec<u8>),
    /// Longer than allowed; its rest was skipped.
    TooLong,
    End,
}

/// Reads lines. What was read of a line stays here if reading is interrupted, so that it can be awaited in a `select!`.
#[derive(Debug)]
pub(super) struct Lines<R> {
    input: R,
    longest: usize,
    line: Vec<u8>,
    skipping: bool,
}

impl<R: AsyncBufRead + Unpin> Lines<R> {
    pub(super) fn new(input: R, longest: usize) -> Lines<R> {
        Lines { input, longest, line: Vec::new(), skipping: false }
    }

    /// The next line that is not empty.
    pub(super) async fn next(&mut self) -> io::Result<Line> {
        loop {
            let piece = self.input.fill_buf().await?;
            if piece.is_empty() {
                // A last line without its end is not a message.
                return Ok(Line::End);
            }
            let end = piece.iter().position(|byte| *byte == b'\n');
            let content = piece.get(..end.unwrap_or(piece.len())).unwrap_or_default();
            if !self.skipping {
                self.line.extend_from_slice(content);
            }
            let used = content.len() + usize::from(end.is_some());
            self.input.consume(used);
            if self.line.len() > self.longest {
                self.skipping = true;
                self.line = Vec::new();
            }
            if end.is_some() {
                let line = std::mem::take(&mut self.line);
                if std::mem::take(&mut self.skipping) {
                    return Ok(Line::TooLong);
                }
                if !line.trim_ascii().is_empty() {
                    return Ok(Line::Whole(line));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(input: &[u8]) -> Vec<Line> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut lines = Lines::new(tokio::io::BufReader::with_capacity(3, input), 8);
            let mut all = Vec::new();
            while all.last() != Some(&Line::End) {
                all.push(lines.next().await.unwrap());
            }
            all
        })
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped_to_its_end() {
        let whole = |text: &str| Line::Whole(text.as_bytes().to_vec());
        assert_eq!(
            lines(b"12345678\n\r\n123456789 and more\nnext\ncut off"),
            [whole("12345678"), Line::TooLong, whole("next"), Line::End]
        );
    }

    #[test]
    fn each_kind_of_message_is_told_apart() {
        let parse = |text: &str| Incoming::parse(text.as_bytes());
        let request = Incoming::Request { id: json!("a"), method: "m".into(), params: json!([1]) };
        assert_eq!(parse(r#"{"jsonrpc":"2.0","id":"a","method":"m","params":[1]}"#), request);
        let notification = Incoming::Notification { method: "m".into(), params: Value::Null };
        assert_eq!(parse(r#"{"method":"m"}"#), notification);
        assert_eq!(
            parse(r#"{"id":1,"result":null}"#),
            Incoming::Response { id: json!(1), result: Ok(Value::Null) }
        );
        let failed = Incoming::Response { id: json!(1), result: Err("no".into()) };
        assert_eq!(parse(r#"{"id":1,"error":{"code":1,"message":"no"}}"#), failed);
        for (bad, code) in [
            ("{", PARSE_ERROR),
            ("[]", INVALID_REQUEST),
            ("1", INVALID_REQUEST),
            ("{}", INVALID_REQUEST),
            (r#"{"id":1}"#, INVALID_REQUEST),
            (r#"{"id":[1],"method":"m"}"#, INVALID_REQUEST),
            (r#"{"id":null,"method":"m"}"#, INVALID_REQUEST),
            (r#"{"id":1,"method":7}"#, INVALID_REQUEST),
        ] {
            let Incoming::Invalid(answer) = parse(bad) else { panic!("{bad}") };
            assert_eq!(answer["error"]["code"], code, "{bad}");
        }
    }
}
