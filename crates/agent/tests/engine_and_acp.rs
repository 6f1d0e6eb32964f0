//! The program as other programs use it: over HTTP with an editor that registered, and over stdio with ACP. The model is a
//! script.

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::process::{Child, ChildStdout, Command, Stdio};
    use std::thread;
    use std::time::Duration;

    use serde_json::{Value, json};
    use tempfile::TempDir;

    struct Served {
        home: TempDir,
        child: Child,
    }

    impl Drop for Served {
        fn drop(&mut self) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }

    fn start(arguments: &[&str], turns: &[Value]) -> Served {
        let home = tempfile::tempdir().unwrap();
        for name in ["work", "config/linkspan"] {
            fs::create_dir_all(home.path().join(name)).unwrap();
        }
        fs::write(home.path().join("config/linkspan/agent.toml"), "[ide]\nenabled = false\n").unwrap();
        let script = home.path().join("script.jsonl");
        let turns: Vec<_> = turns.iter().map(Value::to_string).collect();
        fs::write(&script, turns.join("\n")).unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_linkspan-agent"))
            .args(arguments)
            .arg("--model")
            .arg(format!("script:{}", script.display()))
            .current_dir(home.path().join("work"))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", home.path())
            .env("XDG_RUNTIME_DIR", home.path().join("run"))
            .env("XDG_STATE_HOME", home.path().join("state"))
            .env("XDG_CONFIG_HOME", home.path().join("config"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Served { home, child }
    }

    fn calls(tool: &str, arguments: Value) -> Value {
        json!({ "text": "", "calls": [{ "tool": tool, "arguments": arguments }] })
    }

    /// One request; for a stream, everything up to its end.
    fn ask(port: u16, first: &str, body: &Value) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let body = body.to_string();
        let head = format!(
            "{first} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\nContent-Type: application/json"
        );
        write!(stream, "{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// An editor that answers each call with its arguments.
    fn editor() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/ide/execute", listener.local_addr().unwrap());
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut bytes = Vec::new();
                let mut piece = [0; 4096];
                let call: Value = loop {
                    let length = stream.read(&mut piece).unwrap();
                    bytes.extend_from_slice(&piece[..length]);
                    let text = String::from_utf8_lossy(&bytes).into_owned();
                    let body = text.split_once("\r\n\r\n").map(|(_, body)| body.to_owned());
                    if let Some(call) = body.and_then(|body| serde_json::from_str(&body).ok()) {
                        break call;
                    }
                };
                let result = json!({ "saw": call["args"], "tool": call["tool"] });
                let body = json!({ "id": call["id"], "success": true, "result": result }).to_string();
                let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close", body.len());
                write!(stream, "{head}\r\n\r\n{body}").unwrap();
            }
        });
        url
    }

    #[test]
    fn a_chat_panel_talks_to_the_engine_and_the_editor_that_registered_is_called() {
        let turns = [calls("ide.read_file", json!({ "path": "x" })), json!({ "text": "All of it." })];
        let mut served = start(&["serve", "--port", "0", "--mode", "yolo"], &turns);
        let mut line = String::new();
        BufReader::new(served.child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let port: u16 = line.trim().rsplit(':').next().unwrap().parse().unwrap();
        assert!(ask(port, "GET /health", &json!({})).contains("\"status\":\"ok\""));
        let registered = ask(port, "POST /register-ide-callback", &json!({ "callback_url": editor() }));
        assert!(registered.contains("\"registered\":true"), "{registered}");
        let answer = ask(port, "POST /chat", &json!({ "message": "hello" }));
        for part in [
            r#""type":"stream_start""#,
            r#""tool":"ide.read_file""#,
            r#"\"saw\": {\n    \"path\": \"x\"\n  }"#,
            r#""data":"All of it.","metadata":{"end":"done"},"type":"stream_end""#,
        ] {
            assert!(answer.contains(part), "no {part} in {answer}");
        }
        let saved = ask(port, "POST /sessions/save?name=kept", &json!({}));
        assert!(saved.contains("{\"name\":\"kept\"}"), "{saved}");
        let status = ask(port, "GET /status", &json!({}));
        assert!(
            status.contains("\"message_count\":4") && status.contains("\"provider\":\"script\""),
            "{status}"
        );
        let cleared = ask(port, "POST /sessions/clear", &json!({}));
        assert!(cleared.contains("{\"cleared\":true}"), "{cleared}");
        let tools = ask(port, "POST /tools", &json!({ "enabled": false }));
        assert!(tools.contains("{\"enabled\":false}"), "{tools}");
    }

    struct Client {
        served: Served,
        lines: BufReader<ChildStdout>,
    }

    impl Client {
        fn send(&mut self, message: &Value) {
            writeln!(self.served.child.stdin.as_mut().unwrap(), "{message}").unwrap();
        }

        /// The next message that is like this.
        fn until(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
            loop {
                let mut line = String::new();
                assert_ne!(self.lines.read_line(&mut line).unwrap(), 0, "the agent ended");
                let message: Value = serde_json::from_str(&line).unwrap();
                if fits(&message) {
                    return message;
                }
            }
        }

        fn ask(&mut self, id: u64, method: &str, params: Value) -> Value {
            self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
            self.until(|message| message["id"] == id && message["method"].is_null())["result"].clone()
        }
    }

    #[test]
    fn an_acp_client_decides_about_a_change() {
        let turns = [
            calls("write_file", json!({ "path": "f.txt", "content": "new\n" })),
            json!({ "text": "It is done." }),
        ];
        let mut served = start(&["acp"], &turns);
        let lines = BufReader::new(served.child.stdout.take().unwrap());
        let mut client = Client { served, lines };
        let work = client.served.home.path().join("work");
        fs::write(work.join("f.txt"), "old\n").unwrap();
        assert_eq!(client.ask(1, "initialize", json!({ "protocolVersion": 1 }))["protocolVersion"], 1);
        let session =
            client.ask(2, "session/new", json!({ "cwd": work, "mcpServers": [] }))["sessionId"].clone();
        let prompt = json!({ "sessionId": session, "prompt": [{ "type": "text", "text": "change it" }] });
        client.send(&json!({ "jsonrpc": "2.0", "id": 3, "method": "session/prompt", "params": prompt }));
        let asked = client.until(|message| message["method"] == "session/request_permission");
        let diff = &asked["params"]["toolCall"]["content"][0];
        assert_eq!((&diff["oldText"], &diff["newText"]), (&json!("old\n"), &json!("new\n")));
        assert_eq!(fs::read_to_string(work.join("f.txt")).unwrap(), "old\n");
        let outcome = json!({ "outcome": { "outcome": "selected", "optionId": "allow_once" } });
        client.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": outcome }));
        let done = client.until(|message| message["id"] == 3 && message["method"].is_null());
        assert_eq!(done["result"]["stopReason"], "end_turn");
        assert_eq!(fs::read_to_string(work.join("f.txt")).unwrap(), "new\n");
        // The client leaves, and so does the agent.
        drop(client.served.child.stdin.take());
        assert!(client.served.child.wait().unwrap().success());
    }

    /// Answers `echo` with its arguments, and leaves a file when it ends.
    const MCP_SERVER: &str = r#"trap 'touch ended; exit 0' TERM
while read -r line; do
  id=$(printf %s "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-06-18"}}';;
    *'"tools/list"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[{"name":"greet","description":"Greets somebody.","inputSchema":{"type":"object"}}]}}';;
    *'"tools/call"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"content":[{"type":"text","text":"Hello '$WHO' in '$(pwd)'"}]}}';;
  esac
done
touch ended"#;

    #[test]
    fn the_servers_that_a_client_names_are_tools_of_its_session_and_end_with_it() {
        let turns = [calls("my-server.greet", json!({})), json!({ "text": "It greeted." })];
        let mut served = start(&["acp"], &turns);
        let lines = BufReader::new(served.child.stdout.take().unwrap());
        let mut client = Client { served, lines };
        let work = client.served.home.path().join("work").canonicalize().unwrap();
        let initialized = client.ask(1, "initialize", json!({ "protocolVersion": 1 }));
        assert_eq!(
            initialized["agentCapabilities"]["mcpCapabilities"],
            json!({ "http": true, "sse": false })
        );
        let server = json!({
            "name": "my server", "command": "/bin/sh", "args": ["-c", MCP_SERVER],
            "env": [{ "name": "WHO", "value": "Ada" }],
        });
        let named = json!({ "cwd": work, "mcpServers": [server] });
        let session = client.ask(2, "session/new", named)["sessionId"].clone();
        let prompt = json!({ "sessionId": session, "prompt": [{ "type": "text", "text": "greet" }] });
        client.send(&json!({ "jsonrpc": "2.0", "id": 3, "method": "session/prompt", "params": prompt }));
        // The same permission is asked for as for a configured server.
        let asked = client.until(|message| message["method"] == "session/request_permission");
        let outcome = json!({ "outcome": { "outcome": "selected", "optionId": "allow_once" } });
        client.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": outcome }));
        let updated = client.until(|message| message["params"]["update"]["status"] == "completed");
        assert!(updated.to_string().contains(&format!("Hello Ada in {}", work.display())), "{updated}");
        client.until(|message| message["id"] == 3 && message["method"].is_null());

        // Another session does not have it.
        let other =
            client.ask(4, "session/new", json!({ "cwd": work, "mcpServers": [] }))["sessionId"].clone();
        assert!(other.is_string() && !work.join("ended").exists());
        client.ask(5, "session/close", json!({ "sessionId": session }));
        let until = std::time::Instant::now() + Duration::from_secs(30);
        while !work.join("ended").exists() {
            assert!(std::time::Instant::now() < until, "the server goes on");
            thread::sleep(Duration::from_millis(10));
        }
        client.send(&json!({
            "jsonrpc": "2.0", "id": 6, "method": "session/new",
            "params": { "cwd": work, "mcpServers": [{ "name": "old", "type": "sse", "url": "http://127.0.0.1:1" }] },
        }));
        let refused = client.until(|message| message["id"] == 6);
        assert!(
            refused["error"]["message"].as_str().unwrap().contains("`old`: the old HTTP + SSE"),
            "{refused}"
        );
    }
}
