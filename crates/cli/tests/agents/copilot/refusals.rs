//! Who must not come in by a window's Unix socket, and what must not be sent there.

use serde_json::json;

use crate::support::copilot::Copilot;
use crate::support::raw_http::{another_user, head, with, without};
use crate::support::*;

struct GuardedSocket {
    agent: Copilot,
    serve: Serve,
    world: World,
}

fn guarded() -> GuardedSocket {
    let world = World::new();
    let serve = world.serve();
    GuardedSocket { agent: Copilot::find(&world, "s1"), serve, world }
}

impl GuardedSocket {
    /// The head of a request that is admitted.
    fn lines(&self) -> Vec<String> {
        let json = ["content-type: application/json".to_owned(), "Content-Length: 2".to_owned()];
        self.agent.lines().into_iter().chain(json).collect()
    }

    fn refused(&self, name: &str) -> u64 {
        self.world.status()["refused"][name].as_u64().unwrap_or(0)
    }

    #[track_caller]
    fn refuses(&self, status: u16, name: &str, first: &str, lines: &[String]) {
        let before = self.refused(name);
        let answer = self.agent.send(&(head(first, lines) + "{}"));
        assert_eq!(answer.status, status, "{name}: {answer:?}");
        eventually("it is counted", || (self.refused(name) == before + 1).then_some(()));
        let token = self.agent.authorization.split(' ').nth(1).unwrap();
        assert!(!answer.body.contains(token) && !self.world.log().contains(token), "{answer:?}");
    }
}

const POST: &str = "POST /mcp HTTP/1.1";

#[test]
fn without_the_nonce_of_this_window_nobody_comes_in() {
    let window = guarded();
    let lines = window.lines();
    let token = window.agent.authorization.clone();
    let secret = token.strip_prefix("Nonce ").unwrap();
    window.refuses(401, "noToken", POST, &without(&lines, "Authorization"));
    for wrong in [
        format!("Authorization: Nonce {}", "0".repeat(36)),
        format!("Authorization: Bearer {secret}"),
        format!("Authorization: {secret}"),
        "Authorization: Nonce ".to_owned(),
        format!("Authorization: Nonce {}", secret.split_at(35).0),
        format!("Authorization: Nonce {secret}0"),
    ] {
        window.refuses(401, "wrongToken", POST, &with(&lines, wrong));
    }
    let two: Vec<String> = lines.iter().cloned().chain([format!("Authorization: {token}")]).collect();
    window.refuses(400, "twoTokens", POST, &two);
    assert_eq!(window.agent.initialize().status, 200);
}

#[test]
fn a_web_page_and_a_wrong_host_are_refused_though_no_browser_gets_here() {
    let window = guarded();
    let lines = window.lines();
    let and = |line: &str| lines.iter().cloned().chain([line.to_owned()]).collect::<Vec<_>>();
    for origin in ["https://evil.example", "http://localhost", "null", ""] {
        window.refuses(403, "fromBrowser", POST, &and(&format!("Origin: {origin}")));
    }
    window.refuses(403, "fromBrowser", POST, &and("Sec-Fetch-Site: cross-site"));
    for host in ["evil.example", "localhost:80", "127.0.0.1", "localhost.evil.example", ""] {
        window.refuses(421, "wrongHost", POST, &with(&lines, format!("Host: {host}")));
    }
    window.refuses(421, "wrongHost", POST, &and("Host: localhost"));
    window.refuses(421, "wrongHost", "POST http://evil.example/mcp HTTP/1.1", &lines);
    assert_eq!(window.agent.initialize().status, 200);
}

#[test]
fn nothing_but_its_own_path_and_methods_is_served_there() {
    let window = guarded();
    let lines = window.lines();
    for path in ["/", "/mcp/", "/ide/execute", "/socket", "/session"] {
        window.refuses(404, "unknownPath", &format!("POST {path} HTTP/1.1"), &lines);
    }
    window.refuses(405, "wrongMethod", "PUT /mcp HTTP/1.1", &lines);
    window.refuses(415, "notJson", POST, &with(&lines, "content-type: text/plain"));
    window.refuses(400, "noSessionId", POST, &lines);
    // Nor is it served on the window's port, with any token.
    let port = window.serve.port;
    let lines = with(&window.lines(), format!("Host: 127.0.0.1:{port}"));
    let answer = raw_http::exchange(port, &(head(POST, &lines) + "{}"));
    assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
}

#[test]
fn bodies_and_heads_have_limits() {
    let world = World::with_config("[limits]\nmessage_mib = 1\n");
    let _serve = world.serve();
    let agent = Copilot::find(&world, "s1");
    let large = agent.send(&agent.posted(&format!("\"{}\"", "x".repeat(2 << 20))));
    assert_eq!(large.status, 413, "{large:?}");
    let mut lines = agent.lines();
    lines.push("content-type: application/json".to_owned());
    lines.push("Transfer-Encoding: chunked".to_owned());
    let broken = agent.send(&(head(POST, &lines) + "zz\r\n"));
    assert_eq!(broken.status, 400, "{broken:?}");
    let long = with(&lines, format!("X-Long: {}", "x".repeat(200 << 10)));
    assert!([400, 431].contains(&agent.send(&head(POST, &long)).status));
    assert_eq!(agent.initialize().status, 200);
}

#[test]
fn a_malformed_message_is_answered_and_the_session_goes_on() {
    let window = guarded();
    let mut agent = window.agent.clone();
    agent.shake_hands();
    for odd in ["", "{", "[]", "null", "{\"jsonrpc\":\"2.0\"}", "\u{1}"] {
        let answer = agent.send(&agent.posted(odd));
        assert_eq!(answer.status, 400, "{odd:?}: {answer:?}");
    }
    let unknown = agent.call(3, "no_such_tool", json!({}));
    assert_eq!(unknown["error"]["code"], -32602);
    let missing = agent.call(4, "open_diff", json!({ "original_file_path": "/x" }));
    assert_eq!(missing["error"]["code"], -32602);
    assert_eq!(agent.post(&json!({ "jsonrpc": "2.0", "id": 5, "method": "ping" })).status, 200);
}

#[test]
fn a_flood_of_sessions_keeps_no_other_agent_out() {
    let world = World::with_config("[limits]\nconnections = 3\n");
    let path = world.file("a.txt", "old\n");
    let mut editor = Editor::attach(&world);
    let waits = Copilot::ready(&world, "waits");
    let _stream = waits.listen();
    let pending = waits.open_diff(&path, "new\n", "t");
    editor.shown(&path);
    for number in 0..10 {
        Copilot::ready(&world, &format!("s{number}"));
    }
    Agent::claude(&world, editor.port()).is_served();
    editor.accept(&editor.shown(&path));
    assert_eq!(pending.decision().0, "SAVED", "an agent that waits is not evicted");
}

mod as_root {
    use super::*;

    #[test]
    fn another_user_cannot_connect_even_if_the_folders_are_open() {
        use std::os::unix::fs::PermissionsExt;
        let window = guarded();
        let socket = window.agent.socket.clone();
        let script = |socket: &std::path::Path| {
            let connect = format!(
                "import socket; s = socket.socket(socket.AF_UNIX); s.connect({:?}); \
                 s.sendall(b'GET /mcp HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n'); print(s.recv(4096).decode())",
                socket.to_str().unwrap()
            );
            let ran = another_user("exec python3 -c \"$SCRIPT\"").env("SCRIPT", connect).output();
            let ran = ran.unwrap();
            String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr)
        };
        assert!(script(&socket).contains("Permission denied"));
        // Someone opened every folder and the socket: the hub itself still asks who it is.
        for folder in socket.ancestors().skip(1).filter(|folder| folder.starts_with(window.world.root())) {
            std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        std::fs::set_permissions(&socket, std::fs::Permissions::from_mode(0o666)).unwrap();
        let said = script(&socket);
        assert!(said.contains("HTTP/1.1 403 "), "{said}");
        eventually("it is counted", || (window.refused("otherUser") == 1).then_some(()));
    }
}
