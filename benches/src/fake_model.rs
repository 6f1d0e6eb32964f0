//! A model's server on this machine, in the wire of OpenAI's chat completions: answers each request with so many tokens
//! as the last message asks for, and remembers when it sent each.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::{Value, json};

/// In a prompt, followed by how many tokens are wanted and how many microseconds apart.
pub(crate) const STREAM: &str = "please stream";

#[derive(Debug)]
pub(crate) struct FakeModel {
    pub(crate) port: u16,
    state: Arc<Mutex<Observed>>,
}

#[derive(Debug, Default)]
struct Observed {
    /// When each token was written.
    sent: Vec<Instant>,
    /// When the last request had arrived.
    requested: Option<Instant>,
}

impl FakeModel {
    pub(crate) fn start() -> Result<FakeModel> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let model = FakeModel { port: listener.local_addr()?.port(), state: Arc::default() };
        let state = Arc::clone(&model.state);
        thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let state = Arc::clone(&state);
                // A client that hangs up is not our problem.
                thread::spawn(move || serve(connection, &state).is_ok());
            }
        });
        Ok(model)
    }

    /// The base URL.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// When each token since the last call was written.
    pub(crate) fn take_sent(&self) -> Vec<Instant> {
        std::mem::take(&mut lock(&self.state).sent)
    }

    /// When the last request since the last call had arrived.
    pub(crate) fn take_requested(&self) -> Option<Instant> {
        lock(&self.state).requested.take()
    }
}

/// The token at this place, which the reader recognises.
pub(crate) fn token(index: usize) -> String {
    format!("t{index:06} ")
}

fn lock(state: &Mutex<Observed>) -> std::sync::MutexGuard<'_, Observed> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn serve(connection: TcpStream, state: &Mutex<Observed>) -> Result<()> {
    connection.set_nodelay(true)?;
    let mut reader = BufReader::new(connection.try_clone()?);
    let mut writer = connection;
    let (mut line, mut length) = (String::new(), 0);
    loop {
        line.clear();
        if reader.read_line(&mut line)? == 0 || line == "\r\n" {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    lock(state).requested = Some(Instant::now());
    let request: Value = serde_json::from_slice(&body)?;
    let (tokens, pause) = wanted(&request);
    writer.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")?;
    for index in 0..tokens {
        let sent = Instant::now();
        event(&mut writer, &json!({ "content": token(index) }), &Value::Null)?;
        lock(state).sent.push(sent);
        thread::sleep(pause);
    }
    event(&mut writer, &json!({}), &json!("stop"))?;
    writer.write_all(b"data: [DONE]\n\n")?;
    Ok(())
}

fn event(writer: &mut TcpStream, delta: &Value, finish: &Value) -> Result<()> {
    let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
    let chunk = json!({
        "id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": [choice],
    });
    writer.write_all(format!("data: {chunk}\n\n").as_bytes())?;
    Ok(())
}

/// How many tokens the last message asks for, and the time between them.
fn wanted(request: &Value) -> (usize, Duration) {
    let messages = request.get("messages").and_then(Value::as_array);
    let last = messages.and_then(|messages| messages.last()).map(Value::to_string).unwrap_or_default();
    let numbers = last.split_once(STREAM).map_or("", |(_, after)| after);
    let mut numbers = numbers.split(|other: char| !other.is_ascii_digit()).filter(|word| !word.is_empty());
    let mut next = || numbers.next().and_then(|word| word.parse::<u64>().ok());
    let (tokens, micros) = (next().unwrap_or(1), next().unwrap_or(0));
    (usize::try_from(tokens).unwrap_or(1), Duration::from_micros(micros))
}
