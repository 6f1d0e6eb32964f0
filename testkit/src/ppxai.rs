//! A ppxai client by hand: one connection, one request after the other.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread::{self, JoinHandle};

use serde_json::{Value, json};

use super::raw_http;

/// The status and the body.
pub type Answer = (u16, Value);

pub struct Client {
    stream: TcpStream,
    port: u16,
    pub headers: Vec<String>,
}

impl Client {
    pub fn new(port: u16) -> Client {
        Client {
            stream: raw_http::connect(port),
            port,
            headers: vec!["User-Agent: python-httpx/0.28".to_owned()],
        }
    }

    pub fn called(port: u16, name: &str) -> Client {
        Client { headers: vec![format!("User-Agent: {name}/1.0")], ..Client::new(port) }
    }

    pub fn with(mut self, header: &str) -> Client {
        self.headers.push(header.to_owned());
        self
    }

    /// Any request.
    pub fn send(&mut self, first: &str, body: &str) -> Answer {
        self.write(first, body);
        self.read()
    }

    pub fn write(&mut self, first: &str, body: &str) {
        let mut lines = vec![format!("Host: 127.0.0.1:{}", self.port)];
        lines.extend(self.headers.iter().cloned());
        if !body.is_empty() {
            if !lines.iter().any(|line| line.starts_with("Content-Type")) {
                lines.push("Content-Type: application/json".to_owned());
            }
            lines.push(format!("Content-Length: {}", body.len()));
        }
        let head = raw_http::head(&format!("{first} HTTP/1.1"), &lines);
        self.stream.write_all((head + body).as_bytes()).unwrap();
    }

    /// One whole answer.
    pub fn read(&mut self) -> Answer {
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") {
            self.stream.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).unwrap().to_lowercase();
        assert!(!head.contains("access-control"), "{head}");
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
        self.stream.read_exact(&mut body).unwrap();
        let body = serde_json::from_slice(&body)
            .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&body).into_owned()));
        (status, body)
    }

    pub fn execute(&mut self, request: &Value) -> Answer {
        self.send("POST /ide/execute", &request.to_string())
    }

    /// The whole answer of a tool.
    #[track_caller]
    pub fn call(&mut self, tool: &str, args: Value) -> Value {
        let (status, answer) = self.execute(&json!({ "id": "7", "tool": tool, "args": args }));
        assert_eq!((status, &answer["id"]), (200, &json!("7")), "{answer}");
        answer
    }

    /// The result of a tool, which must succeed.
    #[track_caller]
    pub fn result(&mut self, tool: &str, args: Value) -> Value {
        result(self.call(tool, args))
    }

    /// The code and message of a tool, which must fail.
    #[track_caller]
    pub fn error(&mut self, tool: &str, args: Value) -> (String, String) {
        error(&self.call(tool, args))
    }

    /// Calls a tool and waits in the background.
    pub fn asking(mut self, tool: &str, args: Value) -> JoinHandle<Value> {
        let tool = tool.to_owned();
        thread::spawn(move || self.call(&tool, args))
    }
}

#[track_caller]
pub fn result(answer: Value) -> Value {
    assert_eq!(answer["success"], true, "{answer}");
    assert!(answer.get("error").is_none(), "{answer}");
    answer["result"].clone()
}

#[track_caller]
pub fn error(answer: &Value) -> (String, String) {
    assert_eq!(answer["success"], false, "{answer}");
    let word = |name: &str| answer[name].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
    (word("code"), word("error"))
}
