//! A stand-in for Codex's daemon: it listens where the real one does, and a test says what it sends.

use std::fs;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tungstenite::{Message, WebSocket};

use crate::World;

/// The hub looks for the socket at most this seldom after a loss.
const PATIENCE: Duration = Duration::from_secs(20);

pub struct CodexDaemon {
    listener: UnixListener,
    socket: PathBuf,
}

/// The hub as the daemon sees it.
pub struct DaemonClient {
    socket: WebSocket<UnixStream>,
}

impl CodexDaemon {
    pub fn start(world: &World) -> CodexDaemon {
        let socket = world.home().join(".codex/app-server-control/app-server-control.sock");
        fs::create_dir_all(socket.parent().unwrap()).unwrap();
        let _ = fs::remove_file(&socket);
        let listener = UnixListener::bind(&socket).unwrap();
        listener.set_nonblocking(true).unwrap();
        CodexDaemon { listener, socket }
    }

    /// Waits until the hub connects.
    #[track_caller]
    pub fn accept(&self) -> DaemonClient {
        let stream = self.connection(PATIENCE).expect("the hub connects");
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        DaemonClient { socket: tungstenite::accept(stream).unwrap() }
    }

    /// A connection before its handshake, if there is one in time.
    pub fn connection(&self, within: Duration) -> Option<UnixStream> {
        let until = Instant::now() + within;
        while Instant::now() < until {
            if let Ok((stream, _)) = self.listener.accept() {
                stream.set_nonblocking(false).unwrap();
                return Some(stream);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        None
    }

    /// A hub that follows a thread in the workspace.
    #[track_caller]
    pub fn follower(&self, world: &World) -> DaemonClient {
        let mut hub = self.accept();
        let cwd = world.workspace();
        let thread = json!({ "id": "t1", "cwd": cwd, "ephemeral": false, "turns": [] });
        hub.reply("initialize", &json!({ "userAgent": "codex-tui/0.166.0 (Linux)" }));
        assert_eq!(hub.receive().unwrap()["method"], "initialized");
        hub.reply("thread/loaded/list", &json!({ "data": ["t1"], "nextCursor": null }));
        hub.reply("thread/read", &json!({ "thread": thread }));
        hub.reply("thread/resume", &json!({ "thread": thread }));
        hub
    }
}

impl Drop for CodexDaemon {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.socket);
    }
}

impl DaemonClient {
    /// The next frame of the hub; none when it has closed the connection.
    pub fn receive(&mut self) -> Option<Value> {
        loop {
            match self.socket.read() {
                Ok(Message::Text(text)) => return Some(serde_json::from_str(text.as_str()).unwrap()),
                Ok(Message::Close(_)) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }

    /// Waits for a request of this method, and answers it.
    #[track_caller]
    pub fn reply(&mut self, method: &str, result: &Value) -> Value {
        let asked = self.receive().unwrap_or_else(|| panic!("closed before {method}"));
        assert_eq!(asked["method"], method, "{asked}");
        self.send(&json!({ "id": asked["id"], "result": result }));
        asked
    }

    pub fn send(&mut self, frame: &Value) {
        self.send_message(Message::text(frame.to_string()));
    }

    /// The hub may have closed the connection.
    pub fn send_message(&mut self, message: Message) {
        let _ = self.socket.send(message);
    }

    /// Reads whatever the hub sends, and so answers its pings, until the stream that is returned is shut down.
    pub fn answers_pings(mut self) -> UnixStream {
        let stream = self.socket.get_ref().try_clone().unwrap();
        std::thread::spawn(move || while self.receive().is_some() {});
        stream
    }

    /// Whether the hub says nothing for a moment.
    pub fn is_silent(&mut self) -> bool {
        self.socket.get_mut().set_read_timeout(Some(Duration::from_millis(500))).unwrap();
        let said = self.receive();
        self.socket.get_mut().set_read_timeout(Some(PATIENCE)).unwrap();
        said.is_none()
    }

    /// Announces a patch, and asks whether it may be applied.
    pub fn asks(&mut self, request: u64, item: &str, changes: &Value) {
        let started = json!({ "type": "fileChange", "id": item, "changes": changes, "status": "inProgress" });
        let params = json!({ "threadId": "t1", "turnId": "u1", "item": started });
        self.send(&json!({ "method": "item/started", "params": params }));
        let params = json!({ "threadId": "t1", "turnId": "u1", "itemId": item, "startedAtMs": 1 });
        self.send(&json!({ "method": "item/fileChange/requestApproval", "id": request, "params": params }));
    }

    pub fn item_done(&mut self, item: &str, status: &str) {
        let done = json!({ "type": "fileChange", "id": item, "changes": [], "status": status });
        self.send(&json!({ "method": "item/completed", "params": { "threadId": "t1", "item": done } }));
    }
}
