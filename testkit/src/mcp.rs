//! A client of `linkspan mcp` that a test drives message by message. Any line of output that is not JSON-RPC fails the
//! test.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use super::world::signal;
use super::{DEADLINE, World, eventually};

/// How a client begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// With a handshake, at this revision.
    Handshake(&'static str),
    /// Without one: each request names the client.
    Now,
}

pub struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    heard: Arc<(Mutex<Vec<Value>>, Condvar)>,
    era: Era,
    capabilities: Value,
    last_id: i64,
    /// How long an answer may take.
    pub patience: Duration,
}

impl Client {
    pub fn start(world: &World) -> Client {
        Client::start_in(world, &world.workspace(), Era::Handshake("2025-11-25"), json!({}))
    }

    pub fn of(world: &World, era: Era) -> Client {
        Client::start_in(world, &world.workspace(), era, json!({}))
    }

    pub fn start_in(world: &World, folder: &Path, era: Era, capabilities: Value) -> Client {
        let mut client = Client::silent(world, folder);
        client.era = era;
        client.capabilities = capabilities;
        if let Era::Handshake(version) = era {
            let params = json!({
                "protocolVersion": version,
                "capabilities": client.capabilities,
                "clientInfo": { "name": "test-agent", "version": "1.0" },
            });
            let answer = client.request("initialize", params);
            assert_eq!(answer["result"]["protocolVersion"], version, "{answer}");
            client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        }
        client
    }

    /// A client that has sent nothing yet.
    pub fn silent(world: &World, folder: &Path) -> Client {
        let mut command = world.command(&["mcp"]);
        command.current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdin = child.stdin.take();
        let heard = Arc::new((Mutex::new(Vec::new()), Condvar::new()));
        let (lines, shared) = (BufReader::new(child.stdout.take().unwrap()).lines(), Arc::clone(&heard));
        thread::spawn(move || {
            for line in lines {
                let line = line.unwrap();
                let message = serde_json::from_str(&line).unwrap_or_else(|_| json!({ "not JSON": line }));
                shared.0.lock().unwrap().push(message);
                shared.1.notify_all();
            }
        });
        Client { child, stdin, heard, era: Era::Now, capabilities: json!({}), last_id: 0, patience: DEADLINE }
    }

    pub fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string());
    }

    pub fn send_line(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(line.as_bytes()).unwrap();
        stdin.write_all(b"\n").unwrap();
        stdin.flush().unwrap();
    }

    /// Sends a request without waiting; returns its id.
    pub fn ask(&mut self, method: &str, mut params: Value) -> i64 {
        self.last_id += 1;
        if self.era == Era::Now {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
            params["_meta"]["io.modelcontextprotocol/clientInfo"] =
                json!({ "name": "test-agent", "version": "1.0" });
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
        }
        let id = self.last_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    #[track_caller]
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        self.answer(id)
    }

    /// Calls a tool without waiting.
    pub fn start_call(&mut self, tool: &str, arguments: Value) -> i64 {
        let token = format!("token {}", self.last_id + 1);
        let params = json!({ "name": tool, "arguments": arguments, "_meta": { "progressToken": token } });
        self.ask("tools/call", params)
    }

    /// Calls a tool; returns its result.
    #[track_caller]
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let id = self.start_call(tool, arguments);
        self.result(id)
    }

    /// The data of a tool that must succeed.
    #[track_caller]
    pub fn data(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        assert_ne!(result["isError"], true, "{result}");
        result["structuredContent"].clone()
    }

    /// The message of a tool that must fail.
    #[track_caller]
    pub fn refusal(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{result}");
        assert!(result.get("structuredContent").is_none(), "an error is not of the output's shape: {result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    #[track_caller]
    pub fn result(&self, id: i64) -> Value {
        let answer = self.answer(id);
        assert!(answer["result"].is_object(), "{answer}");
        answer["result"].clone()
    }

    #[track_caller]
    pub fn answer(&self, id: i64) -> Value {
        self.until(&format!("an answer to {id}"), |message| {
            message["id"] == id && message.get("method").is_none()
        })
    }

    /// The first matching message, also one that arrived earlier.
    #[track_caller]
    pub fn until(&self, what: &str, like: impl Fn(&Value) -> bool) -> Value {
        let until = Instant::now() + self.patience;
        let mut heard = self.heard.0.lock().unwrap();
        loop {
            if let Some(found) = heard.iter().find(|message| like(message)) {
                return found.clone();
            }
            let left = until.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "never: {what}; heard {heard:?}");
            heard = self.heard.1.wait_timeout(heard, left.min(Duration::from_millis(100))).unwrap().0;
        }
    }

    pub fn heard(&self) -> Vec<Value> {
        self.heard.0.lock().unwrap().clone()
    }

    /// The progress notifications of the call `id`.
    pub fn progress(&self, id: i64) -> Vec<Value> {
        let token = format!("token {id}");
        let of_it = |message: &Value| {
            message["method"] == "notifications/progress" && message["params"]["progressToken"] == token
        };
        self.heard().into_iter().filter(of_it).map(|message| message["params"].clone()).collect()
    }

    pub fn cancel(&mut self, id: i64) {
        let params = json!({ "requestId": id, "reason": "the test changed its mind" });
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }));
    }

    /// Closes standard input; returns the exit code.
    pub fn hang_up(&mut self) -> i32 {
        self.stdin = None;
        self.ended()
    }

    pub fn terminate(&mut self) -> i32 {
        signal(self.child.id(), Signal::TERM);
        self.ended()
    }

    fn ended(&mut self) -> i32 {
        let child = &mut self.child;
        eventually("the server ends", || child.try_wait().unwrap()).code().unwrap_or(-1)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if thread::panicking() {
            let _ = self.child.kill();
            let _ = self.child.wait();
            return;
        }
        self.hang_up();
        for message in self.heard() {
            assert_eq!(message["jsonrpc"], "2.0", "standard output is the protocol's: {message}");
        }
    }
}
