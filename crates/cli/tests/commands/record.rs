//! `linkspan record` between real parties, and `linkspan replay` of the recording: the same meaning, and no secret in
//! it.

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::fs::PermissionsExt;
    use std::path::{Path, PathBuf};
    use std::process::{Child, Stdio};
    use std::sync::{Arc, Mutex};
    use std::thread;

    use serde_json::{Value, json};

    use crate::support::world::finish;
    use crate::support::*;

    /// A recorder, until it is dropped.
    struct Recorder {
        child: Child,
        port: u16,
        file: PathBuf,
    }

    impl Recorder {
        fn start(world: &World, to: &str) -> Recorder {
            let file = world.root().join(format!("{}.jsonl", to.rsplit([':', '/']).next().unwrap()));
            let arguments = ["record", "--to", to, "-o", file.to_str().unwrap(), "--json"];
            let mut command = world.command(&arguments);
            let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            let mut said = String::new();
            BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut said).unwrap();
            let said: Value = serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"));
            Recorder { child, port: said["port"].as_u64().unwrap().try_into().unwrap(), file }
        }

        /// The recording, once the last connection has ended.
        fn transcript(&self, connections: usize) -> String {
            eventually("the connections are over", || {
                let text = fs::read_to_string(&self.file).ok()?;
                (text.matches("\"closed\"").count() >= connections).then_some(text)
            })
        }
    }

    impl Drop for Recorder {
        fn drop(&mut self) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }

    fn replay(world: &World, file: &Path, more: &[&str]) -> Child {
        let arguments = [&["replay", file.to_str().unwrap(), "--json", "--timeout", "10"], more].concat();
        world.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    #[test]
    fn a_conversation_of_claude_code_is_recorded_without_its_token_and_replays_against_a_new_hub() {
        let world = World::new();
        let path = world.file("a.txt", "one\ntwo\n");
        let mut editor = Editor::attach(&world);
        let lock = WsDialect::Claude.lock(&world, editor.port());
        let token = lock["authToken"].as_str().unwrap().to_owned();
        let recorder = Recorder::start(&world, &editor.port().to_string());
        assert_eq!(fs::metadata(&recorder.file).unwrap().permissions().mode() & 0o777, 0o600);

        let headers = [(WsDialect::Claude.header(), token.as_str()), ("Sec-WebSocket-Protocol", "mcp")];
        let mut agent = Agent::open(recorder.port, &headers).unwrap();
        agent.introduce(agent::CLAUDE);
        agent.request("tools/list", json!({}));
        let echoed = agent.call("openDiff", json!({ "old_file_path": token, "new_file_path": token }));
        assert!(echoed.get("result").is_some() || echoed.get("error").is_some());
        let asked = agent.propose(&path, "one\nTWO\n", "a.txt");
        let shown = editor.shown(&path);
        editor.accept(&shown);
        assert_eq!(agent.texts(asked), ["FILE_SAVED", "one\nTWO\n"]);
        // Otherwise the hub cannot know that the decision has arrived, and delivers it again without asking.
        agent.is_served();
        agent.goodbye();

        let transcript = recorder.transcript(1);
        assert!(!transcript.contains(&token), "the token is in the transcript");
        assert!(transcript.contains("REDACTED") && transcript.contains("FILE_SAVED"), "{transcript}");
        let first: Value = serde_json::from_str(transcript.lines().nth(1).unwrap()).unwrap();
        assert_eq!((&first["dir"], &first["http"]), (&json!("cli->ide"), &json!("GET / HTTP/1.1")));

        editor.detach();
        for (decides, same) in [(true, true), (false, false)] {
            world.run(&["hub", "stop", "--force"]).ok();
            let mut editor = Editor::attach(&world);
            let playing = replay(&world, &recorder.file, &["--to", &editor.port().to_string()]);
            let shown = editor.shown(&path);
            match decides {
                true => editor.accept(&shown),
                false => editor.reject(&shown),
            }
            let played = finish(playing);
            let document: Value = serde_json::from_str(&played.stdout).unwrap();
            assert_eq!(document["same"], same, "{document:#}");
            assert_eq!(played.code, i32::from(!same));
            let exchanges = document["exchanges"].as_array().unwrap();
            let of_change = exchanges.iter().rfind(|one| one["what"] == "the answer to `openDiff`").unwrap();
            assert_eq!(of_change["same"], same, "{of_change}");
            editor.detach();
        }
    }

    const SECRET: &str = "a-very-secret-token";
    const SESSION: &str = "session-of-now";

    /// A Gemini-style editor that answers clients with the token as the capture does.
    fn companion(name: &str) -> u16 {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/wire").join(name);
        let lines: Vec<Value> = fs::read_to_string(path)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let stream: Arc<Mutex<Option<TcpStream>>> = Arc::default();
        let lines = Arc::new(lines);
        thread::spawn(move || {
            for agent in listener.incoming().flatten() {
                let (lines, stream) = (Arc::clone(&lines), Arc::clone(&stream));
                thread::spawn(move || answer(agent, port, &lines, &stream));
            }
        });
        port
    }

    fn answer(mut agent: TcpStream, port: u16, lines: &[Value], stream: &Mutex<Option<TcpStream>>) {
        let mut reader = BufReader::new(agent.try_clone().unwrap());
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head).unwrap() == 0 {
                return;
            }
        }
        let header = |name: &str| {
            head.lines()
                .filter_map(|line| line.split_once(": "))
                .find(|(known, _)| known.eq_ignore_ascii_case(name))
        };
        assert_eq!(header("host").unwrap().1, format!("127.0.0.1:{port}"), "it is called by its own name");
        assert_eq!(header("authorization").unwrap().1, format!("Bearer {SECRET}"));
        if head.starts_with("GET") {
            let head =
                "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
            agent.write_all(head.as_bytes()).unwrap();
            *stream.lock().unwrap() = Some(agent);
            return;
        }
        let length = header("content-length").map_or(0, |(_, length)| length.parse().unwrap());
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let asked: Value = serde_json::from_slice(&body).unwrap();
        let is_session_known = header("mcp-session-id").is_some_and(|(_, session)| session == SESSION);
        assert!(is_session_known || asked["method"] == "initialize", "the session is that of now");
        let answer = lines.iter().find(|line| {
            line["dir"] == "ide->cli" && asked["id"].is_i64() && line["msg"]["id"] == asked["id"]
        });
        let (status, body) = match answer {
            Some(line) => ("200 OK", line["msg"].to_string()),
            None => ("202 Accepted", String::new()),
        };
        let head = format!(
            "HTTP/1.1 {status}\r\nmcp-session-id: {SESSION}\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        agent.write_all(format!("{head}{body}").as_bytes()).unwrap();
        if asked["params"]["name"] == "openDiff" {
            let told = lines
                .iter()
                .rfind(|line| line["sse"].is_object() && line["msg"]["method"].is_string())
                .unwrap();
            let told = format!(": {SECRET}\n\nevent: message\ndata: {}\n\n", told["msg"]);
            let chunk = format!("{:x}\r\n{told}\r\n", told.len());
            let stream = stream.lock().unwrap();
            stream.as_ref().expect("the stream is open").write_all(chunk.as_bytes()).unwrap();
        }
    }

    #[test]
    fn a_gemini_style_conversation_goes_through_the_recorder_unchanged_and_replays() {
        for name in ["gemini-0.61.0-accept.jsonl", "gemini-0.61.0-reject.jsonl"] {
            let world = World::new();
            let editor = companion(name);
            let recorder = Recorder::start(&world, &format!("http://127.0.0.1:{editor}"));
            let capture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/wire").join(name);
            let through = ["--to", &recorder.port.to_string(), "--token", SECRET];
            let played = finish(replay(&world, &capture, &through)).ok();
            assert_eq!(played.json()["same"], true, "{}", played.stdout);

            let transcript = fs::read_to_string(&recorder.file).unwrap();
            assert!(!transcript.contains(SECRET), "the token is in the transcript");
            let decided = if name.contains("accept") { "ide/diffAccepted" } else { "ide/diffRejected" };
            let line = transcript.lines().find(|line| line.contains(decided)).unwrap();
            let line: Value = serde_json::from_str(line).unwrap();
            assert_eq!((&line["dir"], &line["sse"]["event"]), (&json!("ide->cli"), &json!("message")));

            let again = ["--to", &editor.to_string(), "--token", SECRET];
            let played = finish(replay(&world, &recorder.file, &again)).ok();
            assert_eq!(played.json()["same"], true, "{}", played.stdout);
        }
    }

    #[test]
    fn strangers_are_not_passed_on() {
        let world = World::new();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let recorder = Recorder::start(&world, &listener.local_addr().unwrap().port().to_string());
        let mut page = TcpStream::connect(("127.0.0.1", recorder.port)).unwrap();
        let (mut passed, _) = listener.accept().unwrap();
        page.write_all(b"POST /ide/execute HTTP/1.1\r\nHost: evil.example:80\r\nContent-Length: 0\r\n\r\n")
            .unwrap();
        let mut answer = String::new();
        page.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
        let mut heard = Vec::new();
        passed.read_to_end(&mut heard).unwrap();
        assert_eq!(heard, b"");
    }

    #[test]
    fn what_cannot_be_recorded_or_played_is_said() {
        let world = World::new();
        for (arguments, says) in [
            (&["record", "--to", "http://example.com:1"][..], "not this machine"),
            (&["record", "--to", "0"], "http://"),
            (&["record", "--to", "http://127.0.0.1:1/mcp"], "must not include a path"),
            (&["replay", "nothing.jsonl", "--to", "1"], "cannot read"),
            (&["replay", "empty.jsonl", "--to", "1"], "no message of an agent"),
            (&["replay", "one.jsonl", "--to", "1"], "LINKSPAN_REPLAY_TOKEN"),
            (&["replay", "one.jsonl", "--to", "1", "--token", "t"], "nothing listens"),
        ] {
            world.file("empty.jsonl", "");
            let headers = json!(["Host: 127.0.0.1:9", "X-Ppxai-Token: REDACTED"]);
            let line =
                json!({ "conn": 1, "dir": "cli->ide", "http": "GET /status HTTP/1.1", "headers": headers });
            world.file("one.jsonl", line.to_string());
            let ran = world.run(arguments);
            assert!(ran.code != 0 && ran.stderr.contains(says), "{arguments:?}: {}", ran.stderr);
        }
        let mut with_token = world.command(&["replay", "one.jsonl", "--to", "1"]);
        with_token.env("LINKSPAN_REPLAY_TOKEN", "t").stdout(Stdio::piped()).stderr(Stdio::piped());
        let ran = finish(with_token.spawn().unwrap());
        assert!(ran.stderr.contains("nothing listens"), "{}", ran.stderr);
        let path = world.file("there.jsonl", "mine");
        let ran = world.run(&["record", "--to", "1", "-o", &path]);
        assert!(ran.stderr.contains("exists already"), "{}", ran.stderr);
        assert_eq!(world.read_text("there.jsonl"), "mine");
    }
}
