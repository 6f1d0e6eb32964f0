//! Small HTTP servers on 127.0.0.1 that answer as the real ones do, or as no server should.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::config::WireName;

/// What a server does with a request.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    /// The whole answer, in chunks of this size.
    Stream(String, usize),
    /// The start of an answer, then the connection closes.
    Broken(String),
    /// The start of an answer, then nothing for so many milliseconds.
    Stalled(String, u64),
    /// Nothing for so many milliseconds.
    Silent(u64),
    /// A status, a further header line, and a body.
    Status(u16, &'static str, String),
    /// An answer without end.
    Flood,
}

/// A request as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct ReceivedRequest {
    /// The request line and the headers, in lower case.
    pub(crate) head: String,
    pub(crate) body: Value,
}

pub(crate) struct FakeServer {
    pub(crate) url: String,
    received: Arc<Mutex<Vec<ReceivedRequest>>>,
}

impl FakeServer {
    /// Answers one request with each of these, and further ones with the last.
    pub(crate) fn start(replies: impl IntoIterator<Item = Reply>) -> FakeServer {
        let mut replies: Vec<_> = replies.into_iter().collect();
        replies.reverse();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let received = Arc::<Mutex<Vec<ReceivedRequest>>>::default();
        let (replies, seen) = (Arc::new(Mutex::new(replies)), Arc::clone(&received));
        // Ends with the test's process.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (replies, seen) = (Arc::clone(&replies), Arc::clone(&seen));
                thread::spawn(move || serve(stream, &replies, &seen));
            }
        });
        FakeServer { url, received }
    }

    pub(crate) fn received(&self) -> Vec<ReceivedRequest> {
        self.received.lock().unwrap().clone()
    }
}

fn serve(
    mut stream: TcpStream,
    replies: &Mutex<Vec<Reply>>,
    seen: &Mutex<Vec<ReceivedRequest>>,
) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length: ") {
            length = value.parse().unwrap();
        }
        head += &format!("{line}\n");
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body = serde_json::from_slice(&body).unwrap();
    seen.lock().unwrap().push(ReceivedRequest { head, body });
    let reply = {
        let mut replies = replies.lock().unwrap();
        if replies.len() > 1 { replies.pop() } else { replies.last().cloned() }
    };
    let start = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let chunk = |stream: &mut TcpStream, bytes: &[u8]| {
        write!(stream, "{:x}\r\n", bytes.len()).ok()?;
        stream.write_all(bytes).ok()?;
        stream.write_all(b"\r\n").ok()
    };
    let pause = |ms| thread::sleep(Duration::from_millis(ms));
    match reply? {
        Reply::Stream(text, size) => {
            stream.write_all(start.as_bytes()).ok()?;
            for piece in text.as_bytes().chunks(size) {
                chunk(&mut stream, piece)?;
            }
            stream.write_all(b"0\r\n\r\n").ok()?;
        }
        Reply::Broken(text) => {
            stream.write_all(start.as_bytes()).ok()?;
            chunk(&mut stream, text.as_bytes())?;
        }
        Reply::Stalled(text, ms) => {
            stream.write_all(start.as_bytes()).ok()?;
            chunk(&mut stream, text.as_bytes())?;
            pause(ms);
        }
        Reply::Silent(ms) => pause(ms),
        Reply::Status(status, header, body) => {
            let length = body.len();
            let head = format!(
                "HTTP/1.1 {status} X\r\n{header}content-length: {length}\r\nconnection: close\r\n\r\n"
            );
            stream.write_all(format!("{head}{body}").as_bytes()).ok()?;
        }
        Reply::Flood => {
            stream.write_all(start.as_bytes()).ok()?;
            let piece = format!(": {}\n\n", "x".repeat(64 * 1024));
            while chunk(&mut stream, piece.as_bytes()).is_some() {}
        }
    }
    Some(())
}

/// An answer in the form of this wire: pieces of text, then calls, and what it cost.
pub(crate) fn answer(wire: WireName, texts: &[&str], calls: &[(&str, Value)]) -> String {
    match wire {
        WireName::Anthropic => anthropic(texts, calls),
        WireName::Openai => openai(texts, calls),
        WireName::Gemini => gemini(texts, calls),
        WireName::Ollama => ollama(texts, calls),
    }
}

/// Arguments arrive in halves, which may be cut anywhere.
fn halves(arguments: &Value) -> [String; 2] {
    let text = arguments.to_string();
    let (first, second) = text.split_at(text.len() / 2);
    [first.to_owned(), second.to_owned()]
}

fn anthropic(texts: &[&str], calls: &[(&str, Value)]) -> String {
    let usage = json!({ "input_tokens": 90, "cache_read_input_tokens": 10, "output_tokens": 1 });
    let mut events =
        vec![json!({ "type": "message_start", "message": { "role": "assistant", "usage": usage } })];
    let mut index = 0;
    if !texts.is_empty() {
        let block = json!({ "type": "text", "text": "" });
        events.push(json!({ "type": "content_block_start", "index": index, "content_block": block }));
        events.push(json!({ "type": "ping" }));
        for text in texts {
            let delta = json!({ "type": "text_delta", "text": text });
            events.push(json!({ "type": "content_block_delta", "index": index, "delta": delta }));
        }
        events.push(json!({ "type": "content_block_stop", "index": index }));
        index += 1;
    }
    for (number, (name, arguments)) in calls.iter().enumerate() {
        let block = json!({ "type": "tool_use", "id": format!("toolu_{number}"), "name": name, "input": {} });
        events.push(json!({ "type": "content_block_start", "index": index, "content_block": block }));
        for half in halves(arguments) {
            let delta = json!({ "type": "input_json_delta", "partial_json": half });
            events.push(json!({ "type": "content_block_delta", "index": index, "delta": delta }));
        }
        events.push(json!({ "type": "content_block_stop", "index": index }));
        index += 1;
    }
    let reason = if calls.is_empty() { "end_turn" } else { "tool_use" };
    let delta = json!({ "stop_reason": reason, "stop_sequence": null });
    events.push(json!({ "type": "message_delta", "delta": delta, "usage": { "output_tokens": 7 } }));
    events.push(json!({ "type": "message_stop" }));
    let lines =
        events.iter().map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()));
    lines.collect()
}

fn openai(texts: &[&str], calls: &[(&str, Value)]) -> String {
    let chunk = |delta: Value, reason: Value| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": reason });
        json!({ "object": "chat.completion.chunk", "choices": [choice], "usage": null })
    };
    let mut chunks = vec![chunk(json!({ "role": "assistant", "content": "" }), Value::Null)];
    chunks.extend(texts.iter().map(|text| chunk(json!({ "content": text }), Value::Null)));
    for (index, (name, _)) in calls.iter().enumerate() {
        let function = json!({ "name": name, "arguments": "" });
        let start = json!({ "index": index, "id": format!("call_{index}"), "type": "function", "function": function });
        chunks.push(chunk(json!({ "tool_calls": [start] }), Value::Null));
    }
    // The pieces of parallel calls are mixed.
    for half in 0..2 {
        for (index, (_, arguments)) in calls.iter().enumerate() {
            let function = json!({ "arguments": halves(arguments)[half] });
            let piece = json!({ "index": index, "function": function });
            chunks.push(chunk(json!({ "tool_calls": [piece] }), Value::Null));
        }
    }
    chunks.push(chunk(json!({}), json!(if calls.is_empty() { "stop" } else { "tool_calls" })));
    chunks.push(json!({ "choices": [], "usage": { "prompt_tokens": 100, "completion_tokens": 7 } }));
    let lines: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    lines + "data: [DONE]\n\n"
}

fn gemini(texts: &[&str], calls: &[(&str, Value)]) -> String {
    let chunk = |parts: Value, reason: Option<&str>| {
        let mut candidate = json!({ "content": { "role": "model", "parts": parts }, "index": 0 });
        if let Some(reason) = reason {
            candidate["finishReason"] = reason.into();
        }
        let usage = json!({ "promptTokenCount": 100, "candidatesTokenCount": 4, "thoughtsTokenCount": 3 });
        json!({ "candidates": [candidate], "usageMetadata": usage })
    };
    let mut chunks: Vec<_> = texts.iter().map(|text| chunk(json!([{ "text": text }]), None)).collect();
    let parts = calls.iter().enumerate().map(|(index, (name, arguments))| {
        let mut part = json!({ "functionCall": { "name": name, "args": arguments } });
        if index == 0 {
            part["thoughtSignature"] = "c2lnbmVk".into();
        }
        part
    });
    chunks.push(chunk(parts.collect(), Some("STOP")));
    chunks.iter().map(|chunk| format!("data: {chunk}\r\n\r\n")).collect()
}

fn ollama(texts: &[&str], calls: &[(&str, Value)]) -> String {
    let line = |message: Value| json!({ "model": "m", "message": message, "done": false });
    let mut lines: Vec<_> =
        texts.iter().map(|text| line(json!({ "role": "assistant", "content": text }))).collect();
    if !calls.is_empty() {
        let function = |(name, arguments): &(&str, Value)| json!({ "function": { "name": name, "arguments": arguments } });
        let calls: Vec<_> = calls.iter().map(function).collect();
        lines.push(line(json!({ "role": "assistant", "content": "", "tool_calls": calls })));
    }
    let message = json!({ "role": "assistant", "content": "" });
    lines.push(json!({
        "model": "m", "message": message, "done": true, "done_reason": "stop", "prompt_eval_count": 100, "eval_count": 7
    }));
    lines.iter().map(|line| format!("{line}\n")).collect()
}
