//! A home of its own for each test, and editors that behave as the test says.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, thread};

use linkspan_editor_api::{PORT_SPACE_BOOT, PORT_SPACE_NETWORK, Places, port_space};
use serde_json::{Value, json};
use tungstenite::Message;
use tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tungstenite::http::{HeaderValue, StatusCode};
use tungstenite::protocol::CloseFrame;
use tungstenite::protocol::frame::coding::CloseCode;

use crate::discover::*;

pub(super) const TOKEN: &str = "the-token";

pub(super) struct DiscoveryFixture {
    _root: tempfile::TempDir,
    pub(super) root: PathBuf,
    pub(super) surroundings: Surroundings,
}

impl DiscoveryFixture {
    /// An agent in the folder `w` of a home that has nothing else.
    pub(super) fn new() -> DiscoveryFixture {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().canonicalize().unwrap();
        let cwd = path.join("w");
        fs::create_dir(&cwd).unwrap();
        let home = path.join("h");
        let places =
            Places { runtime: home.join("run"), state: home.join("s"), config: home.join("c"), home };
        let uid = rustix::process::geteuid().as_raw();
        // Real editors may have left something in the real one.
        let variables = BTreeMap::from([("TMPDIR".into(), path.join("t").into())]);
        let surroundings = Surroundings { cwd, places, variables, uid, wsl: None };
        DiscoveryFixture { _root: root, root: path, surroundings }
    }

    pub(super) fn folder(&self, name: &str) -> PathBuf {
        let path = self.root.join(name);
        fs::create_dir_all(&path).unwrap();
        path
    }

    pub(super) fn lock_folder(&self, dialect: &str) -> PathBuf {
        self.folder(&format!("h/.{dialect}/ide"))
    }

    /// The agent works somewhere else.
    pub(super) fn stand_in(&mut self, cwd: &Path) {
        self.surroundings.cwd = cwd.to_owned();
    }

    pub(super) fn set(&mut self, variable: &str, value: impl Into<std::ffi::OsString>) {
        self.surroundings.variables.insert(variable.into(), value.into());
    }

    /// A lock file with these contents.
    pub(super) fn file(&self, dialect: &str, port: u16, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.lock_folder(dialect).join(format!("{port}.lock"));
        fs::write(&path, contents).unwrap();
        path
    }

    /// A lock file of an editor that has this folder.
    pub(super) fn lock(&self, port: u16, folder: &Path) -> PathBuf {
        self.file("claude", port, lock(folder).to_string())
    }

    pub(super) fn look(&self) -> Discovery {
        discover(&self.surroundings)
    }

    /// The one candidate there is.
    #[track_caller]
    pub(super) fn only(&self) -> Candidate {
        let mut found = self.look().candidates;
        assert_eq!(found.len(), 1, "{found:#?}");
        found.remove(0)
    }

    #[track_caller]
    pub(super) fn refused(&self) -> Reason {
        match self.only().verdict {
            CandidateVerdict::Not(reason) => reason,
            CandidateVerdict::Usable => panic!("usable"),
        }
    }
}

pub(super) fn lock(folder: &Path) -> Value {
    json!({"pid": std::process::id(), "workspaceFolders": [folder], "ideName": "Other Editor", "transport": "ws",
           "authToken": TOKEN})
}

/// A lock file as our hub on this machine writes it.
pub(super) fn lock_of_ours(folder: &Path) -> Value {
    let mut ours = lock(folder);
    let boot = fs::read_to_string(PORT_SPACE_BOOT).unwrap();
    ours["linkspan"] = port_space(&boot, &fs::read_link(PORT_SPACE_NETWORK).unwrap()).unwrap().into();
    ours
}

/// A port that was free a moment ago.
pub(super) fn closed_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// How an editor behaves.
#[derive(Debug, Clone, Copy)]
pub(super) enum EditorBehaviour {
    /// As claudecode.nvim does: HTTP 400 for a bad token.
    Refusing,
    /// As the real extension does: upgrades, and closes with 1008 for a bad token.
    ClosingLate,
    /// Accepts connections and says nothing.
    Silent,
    /// Upgrades and says nothing.
    SilentAfterUpgrade,
    /// One byte of an answer, and one more each moment.
    Dripping,
    /// Another program that got the port.
    NotHttp,
    /// A web server.
    NotFound,
    /// Upgrades, and answers `initialize` with an error.
    Complaining,
}

/// An editor, until the end of the process.
pub(super) struct OtherEditor {
    pub(super) port: u16,
    visits: Arc<AtomicUsize>,
}

impl OtherEditor {
    pub(super) fn new(manner: EditorBehaviour) -> OtherEditor {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let visits = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&visits);
        thread::spawn(move || {
            for stream in listener.incoming() {
                counter.fetch_add(1, Ordering::SeqCst);
                thread::spawn(move || serve(stream.unwrap(), manner));
            }
        });
        OtherEditor { port, visits }
    }

    /// How often somebody came.
    pub(super) fn visits(&self) -> usize {
        self.visits.load(Ordering::SeqCst)
    }
}

#[expect(clippy::result_large_err, reason = "as the WebSocket library has it")]
fn serve(mut stream: TcpStream, manner: EditorBehaviour) {
    let mut head = [0; 1024];
    match manner {
        EditorBehaviour::Silent => while matches!(stream.read(&mut head), Ok(1..)) {},
        EditorBehaviour::Dripping => {
            let mut answer = b"HTTP/1.1 101 Switching Protocols\r\nX: ".iter().chain(b"x".iter().cycle());
            while stream.write_all(&[*answer.next().unwrap()]).is_ok() {
                thread::sleep(std::time::Duration::from_millis(20));
            }
        }
        EditorBehaviour::NotHttp => drop(stream.write_all(b"SSH-2.0-OpenSSH_9.6\r\n")),
        EditorBehaviour::NotFound => {
            let _ = stream.read(&mut head);
            let _ = stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
        }
        _ => {
            let mut known = false;
            let look = |request: &Request, mut response: Response| {
                let headers = request.headers();
                let names = ["x-claude-code-ide-authorization", "x-nexus3-ide-authorization"];
                known = names.iter().any(|name| headers.get(*name).is_some_and(|token| token == TOKEN));
                if matches!(manner, EditorBehaviour::Refusing) && !known {
                    let mut refusal = ErrorResponse::new(None);
                    *refusal.status_mut() = StatusCode::BAD_REQUEST;
                    return Err(refusal);
                }
                if headers.get("sec-websocket-protocol").is_some_and(|offered| offered == "mcp") {
                    response.headers_mut().insert("sec-websocket-protocol", HeaderValue::from_static("mcp"));
                }
                Ok(response)
            };
            if let Ok(socket) = tungstenite::accept_hdr(stream, look) {
                converse(socket, manner, known);
            }
        }
    }
}

fn converse(mut socket: tungstenite::WebSocket<TcpStream>, manner: EditorBehaviour, known: bool) {
    if !known {
        let _ = socket.close(Some(CloseFrame { code: CloseCode::Policy, reason: "no".into() }));
    } else if !matches!(manner, EditorBehaviour::SilentAfterUpgrade) {
        let hello: Value = serde_json::from_str(socket.read().unwrap().to_text().unwrap()).unwrap();
        assert_eq!(hello["method"], "initialize");
        let early = json!({"jsonrpc": "2.0", "method": "selection_changed", "params": {}});
        socket.send(Message::text(early.to_string())).unwrap();
        let answer = match manner {
            EditorBehaviour::Complaining => {
                json!({"id": hello["id"], "error": {"code": -32600, "message": "no"}})
            }
            _ => json!({"jsonrpc": "2.0", "id": hello["id"], "result": {"protocolVersion": "2024-11-05"}}),
        };
        socket.send(Message::text(answer.to_string())).unwrap();
    }
    while socket.read().is_ok() {}
}
