//! Against real servers: shell scripts on stdio, and a listener over HTTP.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::*;
use crate::message::ToolResult;
use crate::permissions::{PermissionMode, ToolKind};
use crate::tools::testing::ToolScene;
use crate::tools::{AgentTools, Toolbox, ToolsConfig};

/// ScriptedTerminal `initialize` and `tools/list`; `call` is what it does for a call, with the request's id in `$id`.
fn script(call: &str) -> ServerConfig {
    let text = format!(
        r#"while read -r line; do
  id=$(printf %s "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) echo "noise"; echo '{{"jsonrpc":"2.0","id":'$id',"result":{{"protocolVersion":"2025-06-18"}}}}';;
    *'"tools/list"'*) echo '{{"jsonrpc":"2.0","id":'$id',"result":{{"tools":[{{"name":"do.it","description":"Does it.","inputSchema":{{"type":"object"}}}}]}}}}';;
    *'"tools/call"'*) {call};;
  esac
done"#
    );
    ServerConfig { command: Some("sh".into()), args: vec!["-c".into(), text], ..ServerConfig::default() }
}

fn tools(scene: &ToolScene, config: ServerConfig) -> AgentTools {
    let mut all = ToolsConfig::new(scene.context.bridge.clone());
    all.mcp.insert("srv".into(), config);
    AgentTools::new(all)
}

#[track_caller]
fn eventually(what: &str, look: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(30);
    while !look() {
        assert!(Instant::now() < until, "never: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

fn ready(tools: &AgentTools) {
    eventually("the server is ready", || tools.specs().iter().any(|spec| spec.name == "srv.do.it"));
}

fn call(scene: &ToolScene, tools: &AgentTools) -> ToolResult {
    scene.run_with(tools, "srv.do.it", json!({ "x": 1 }))
}

const ANSWER: &str =
    r#"echo '{"jsonrpc":"2.0","id":'$id',"result":{"content":[{"type":"text","text":"done"}]}}'"#;

#[test]
fn a_server_on_stdio_is_started_in_the_background_and_called() {
    let scene = ToolScene::new(PermissionMode::Yolo);
    let tools = tools(&scene, script(ANSWER));
    assert_eq!(tools.mcp_status(), [("srv".to_owned(), "not started yet".to_owned())]);
    ready(&tools);
    assert_eq!(tools.kind("srv.do.it"), Some(ToolKind::Foreign));
    assert_eq!((tools.kind("srv.other"), tools.kind("none.do.it")), (None, None));
    let result = call(&scene, &tools);
    assert_eq!((result.text.as_str(), result.is_error), ("done", false));
    assert_eq!(tools.mcp_status(), [("srv".to_owned(), "1 tools".to_owned())]);
}

#[test]
fn a_server_that_dies_is_reported_once_and_its_tools_say_so() {
    let scene = ToolScene::new(PermissionMode::Yolo);
    let tools = tools(&scene, script("echo out of memory >&2; exit 3"));
    let reports = Arc::<Mutex<Vec<String>>>::default();
    let heard = Arc::clone(&reports);
    tools.report_mcp_failures(Arc::new(move |text| heard.lock().unwrap().push(text.to_owned())));
    ready(&tools);
    let result = call(&scene, &tools);
    assert!(result.is_error && result.text.contains("not known whether"), "{result:?}");
    for _ in 0..3 {
        let result = call(&scene, &tools);
        assert!(result.is_error && result.text.contains("not available: it ended"), "{result:?}");
        assert!(result.text.contains("out of memory"), "{result:?}");
    }
    assert_eq!(reports.lock().unwrap().len(), 1);
}

#[test]
fn the_descriptions_of_a_servers_tools_have_a_limit_in_bytes() {
    let scene = ToolScene::new(PermissionMode::Yolo);
    let schema = json!({ "type": "object", "description": "x".repeat(50_000) });
    let listed: Vec<_> =
        (0..40).map(|number| json!({ "name": format!("t{number}"), "inputSchema": schema })).collect();
    scene.write("page", json!({ "tools": listed }).to_string());
    let text = format!(
        r#"while read -r line; do
  id=$(printf %s "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) echo '{{"jsonrpc":"2.0","id":'$id',"result":{{"protocolVersion":"2025-06-18"}}}}';;
    *'"tools/list"'*) printf '{{"jsonrpc":"2.0","id":%s,"result":' $id; cat {}; echo '}}';;
  esac
done"#,
        scene.path("page").display()
    );
    let args = vec!["-c".into(), text];
    let tools = tools(&scene, ServerConfig { command: Some("sh".into()), args, ..ServerConfig::default() });
    let reports = Arc::<Mutex<Vec<String>>>::default();
    let heard = Arc::clone(&reports);
    tools.report_mcp_failures(Arc::new(move |text| heard.lock().unwrap().push(text.to_owned())));
    let listed = || tools.specs().iter().filter(|spec| spec.name.starts_with("srv.")).count();
    eventually("the server is ready", || listed() > 0);
    assert_eq!(listed(), 20, "1 MiB");
    let reports = reports.lock().unwrap();
    assert!(reports.len() == 1 && reports[0].contains("gets the first 20 of them"), "{reports:?}");
}

#[test]
fn a_server_that_floods_is_ended() {
    for flood in [r#"yes '{"method":"n"}'"#, "head -c 40000000 /dev/zero | tr '\\0' x; sleep 60"] {
        let scene = ToolScene::new(PermissionMode::Yolo);
        let tools = tools(&scene, script(flood));
        ready(&tools);
        let result = call(&scene, &tools);
        assert!(result.is_error && result.text.contains("it sent"), "{result:?}");
    }
}

#[test]
fn a_call_can_be_cancelled_and_a_server_ends_with_its_connection() {
    let scene = ToolScene::new(PermissionMode::Yolo);
    scene.write("x", "");
    let pid = scene.path("pid");
    let tools = tools(&scene, script(&format!("echo $$ > {}; sleep 100", pid.display())));
    ready(&tools);
    thread::scope(|scope| {
        let running = scope.spawn(|| call(&scene, &tools));
        eventually("it is called", || std::fs::read_to_string(&pid).is_ok_and(|text| text.ends_with('\n')));
        scene.context.cancelled.cancel();
        assert!(running.join().unwrap().cancelled);
    });
    drop(tools);
    let pid = std::fs::read_to_string(&pid).unwrap();
    eventually("it is gone", || !std::path::Path::new(&format!("/proc/{}", pid.trim())).exists());
}

#[test]
fn a_server_may_change_its_tools() {
    let scene = ToolScene::new(PermissionMode::Yolo);
    let mut config = script(&format!("n=2; echo '{{\"method\":\"{}\"}}'; {ANSWER}", rpc::NEW_TOOLS));
    // The second list has another name.
    config.args[1] = config.args[1].replace("do.it\"", "do.it'$n'\"");
    let tools = tools(&scene, config);
    ready(&tools);
    assert_eq!(call(&scene, &tools).text, "done");
    eventually("the other tool is there", || tools.specs().iter().any(|spec| spec.name == "srv.do.it2"));
    assert_eq!(tools.kind("srv.do.it"), None);
}

#[test]
fn a_server_that_cannot_be_started_says_why() {
    let scene = ToolScene::new(PermissionMode::Yolo);
    let config = ServerConfig { command: Some("/no/such/program".into()), ..ServerConfig::default() };
    let tools = tools(&scene, config);
    tools.specs();
    eventually("it failed", || tools.mcp_status()[0].1.contains("cannot be started"));
}

#[test]
fn a_key_in_the_address_of_a_server_is_not_told() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let refusing = thread::spawn(move || {
        let (mut connection, _) = listener.accept().unwrap();
        let _ = connection.read(&mut [0; 4096]);
        connection.write_all(b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n").unwrap();
        // Then nobody listens.
    });
    let url = Some(format!("http://127.0.0.1:{port}/mcp?key=SECRET"));
    for wanted in ["401", "/mcp"] {
        let scene = ToolScene::new(PermissionMode::Yolo);
        let tools = tools(&scene, ServerConfig { url: url.clone(), ..ServerConfig::default() });
        tools.specs();
        eventually("it failed", || tools.mcp_status()[0].1.contains("not available"));
        let status = tools.mcp_status()[0].1.clone();
        assert!(status.contains(wanted) && !status.contains("SECRET"), "{status}");
    }
    refusing.join().unwrap();
}

#[test]
fn a_server_over_http_is_called_in_json_and_in_events() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        // A session ends with the first call in it.
        let (mut session, mut is_over) = (0, false);
        for connection in listener.incoming() {
            let mut connection = BufReader::new(connection.unwrap());
            let (mut length, mut head) = (0, String::new());
            loop {
                let mut line = String::new();
                if connection.read_line(&mut line).unwrap_or(0) < 3 {
                    break;
                }
                if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                head += &line.to_lowercase();
            }
            let mut body = vec![0; length];
            connection.read_exact(&mut body).unwrap();
            let message: Value = serde_json::from_slice(&body).unwrap_or_default();
            let id = &message["id"];
            let method = message["method"].as_str().unwrap_or_default();
            let status = if is_over && method != "initialize" { "404 Not Found" } else { "200 OK" };
            is_over = (is_over && method != "initialize") || method == "tools/call";
            session += i32::from(method == "initialize");
            let (kind, body) = match method {
                "initialize" => ("application/json", json!({ "id": id, "result": {} }).to_string()),
                // From here on the session and the user's header are there.
                _ if !head.contains(&format!("mcp-session-id: s{session}"))
                    || !head.contains("authorization: bearer x") =>
                {
                    ("text/plain", "no session".to_owned())
                }
                "tools/list" => {
                    let tool = json!({ "name": "do.it", "inputSchema": { "type": "object" } });
                    ("application/json", json!({ "id": id, "result": { "tools": [tool] } }).to_string())
                }
                "tools/call" => {
                    let answer =
                        json!({ "id": id, "result": { "content": [{ "type": "text", "text": "done" }] } });
                    let progress = json!({ "method": "notifications/progress" });
                    ("text/event-stream", format!("data: {progress}\n\ndata: {answer}\n\n"))
                }
                _ => ("text/plain", String::new()),
            };
            let answer = format!(
                "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\nmcp-session-id: s{session}\r\ncontent-length: {}\r\nconnection: \
                 close\r\n\r\n{body}",
                body.len()
            );
            let _ = connection.get_mut().write_all(answer.as_bytes());
        }
    });
    let scene = ToolScene::new(PermissionMode::Yolo);
    let config = ServerConfig {
        url: Some(format!("http://127.0.0.1:{port}/mcp")),
        headers: [("Authorization".to_owned(), "Bearer x".to_owned())].into(),
        ..ServerConfig::default()
    };
    let tools = tools(&scene, config);
    ready(&tools);
    let result = call(&scene, &tools);
    assert_eq!((result.text.as_str(), result.is_error), ("done", false));
    let ended = call(&scene, &tools);
    assert!(ended.is_error && ended.text.contains("make the call again"), "{ended:?}");
    assert_eq!(call(&scene, &tools).text, "done");
}
