//! An editor with a server of its own: Claude Code's protocol on a WebSocket, found by a lock file that Linkspan did not
//! write. Shares no code with Linkspan.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};
use tungstenite::Message;
use tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tungstenite::http::{HeaderValue, StatusCode};

use super::World;

/// Answers a call of a tool; null means no answer until the connection ends.
type Tools = dyn Fn(&str, &Value) -> Value + Send + Sync;

pub struct ForeignEditor {
    pub port: u16,
    lock: PathBuf,
    called: Arc<Mutex<Vec<(String, Value)>>>,
    offered: Arc<Mutex<Value>>,
}

impl ForeignEditor {
    /// On the workspace, with a lock file that has the right token.
    pub fn start(
        world: &World,
        tools: impl Fn(&str, &Value) -> Value + Send + Sync + 'static,
    ) -> ForeignEditor {
        ForeignEditor::on(world, &world.workspace(), "secret-token-of-the-editor", tools)
    }

    /// On some folder; the lock file has this token, and the editor accepts `secret-token-of-the-editor`.
    pub fn on(
        world: &World,
        folder: &Path,
        token: &str,
        tools: impl Fn(&str, &Value) -> Value + Send + Sync + 'static,
    ) -> ForeignEditor {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let called = Arc::new(Mutex::new(Vec::new()));
        let (tools, heard): (Arc<Tools>, _) = (Arc::new(tools), Arc::clone(&called));
        let offered = Arc::new(Mutex::new(json!([{
            "name": "getDiagnostics",
            "description": "Get diagnostics. Of all files.",
            "inputSchema": { "type": "object" },
        }])));
        let listed = Arc::clone(&offered);
        // Ends with the test's process.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (tools, heard, listed) = (Arc::clone(&tools), Arc::clone(&heard), Arc::clone(&listed));
                thread::spawn(move || serve(stream, &*tools, &heard, &listed));
            }
        });
        let folders = world.home().join(".claude/ide");
        fs::create_dir_all(&folders).unwrap();
        let lock = folders.join(format!("{port}.lock"));
        let text = json!({
            "pid": std::process::id(),
            "workspaceFolders": [folder],
            "ideName": "ForeignEditor Editor",
            "transport": "ws",
            "authToken": token,
        });
        fs::write(&lock, text.to_string()).unwrap();
        ForeignEditor { port, lock, called, offered }
    }

    /// The answer to `tools/list` from now on.
    pub fn offers(&self, tools: Value) {
        *self.offered.lock().unwrap() = tools;
    }

    /// The calls so far, with their arguments.
    pub fn called(&self) -> Vec<(String, Value)> {
        self.called.lock().unwrap().clone()
    }
}

impl Drop for ForeignEditor {
    fn drop(&mut self) {
        fs::remove_file(&self.lock).unwrap();
    }
}

/// A tool's answer of one text.
pub fn text(text: impl Into<String>) -> Value {
    json!({ "content": [{ "type": "text", "text": text.into() }] })
}

#[expect(clippy::result_large_err, reason = "tungstenite wants the callback like this")]
fn check_token(request: &Request, mut response: Response) -> Result<Response, ErrorResponse> {
    let token = request.headers().get("x-claude-code-ide-authorization");
    if token.is_some_and(|token| token == "secret-token-of-the-editor") {
        response.headers_mut().insert("sec-websocket-protocol", HeaderValue::from_static("mcp"));
        return Ok(response);
    }
    let mut refused = ErrorResponse::new(None);
    *refused.status_mut() = StatusCode::UNAUTHORIZED;
    Err(refused)
}

fn serve(stream: TcpStream, tools: &Tools, called: &Mutex<Vec<(String, Value)>>, offered: &Mutex<Value>) {
    let Ok(mut socket) = tungstenite::accept_hdr(stream, check_token) else { return };
    while let Ok(message) = socket.read() {
        let Message::Text(text) = message else { continue };
        let asked: Value = serde_json::from_str(&text).unwrap();
        let (Some(id), Some(method)) = (asked.get("id"), asked["method"].as_str()) else { continue };
        let result = match method {
            "initialize" => json!({
                "protocolVersion": "2024-11-05",
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "foreign", "version": "1" },
            }),
            "tools/list" => json!({ "tools": *offered.lock().unwrap() }),
            "tools/call" => {
                let name = asked["params"]["name"].as_str().unwrap().to_owned();
                let arguments = asked["params"]["arguments"].clone();
                let answer = tools(&name, &arguments);
                called.lock().unwrap().push((name, arguments));
                if answer.is_null() {
                    continue;
                }
                answer
            }
            _ => json!({}),
        };
        let answer = json!({ "jsonrpc": "2.0", "id": id, "result": result });
        if socket.send(Message::text(answer.to_string())).is_err() {
            return;
        }
    }
}
