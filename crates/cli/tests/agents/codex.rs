//! Codex's daemon and its `/ide`, with a stand-in that plays captured frames over the real socket.

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::{Read, Write};
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::net::{UnixListener, UnixStream};
    use std::path::{Path, PathBuf};
    use std::time::Duration;

    use serde_json::{Value, json};
    use tungstenite::Message;

    use crate::support::real_agent::listed;
    use crate::support::*;

    const TEXT: &str = "one\ntwo\nthree\n";

    fn update(world: &World) -> Value {
        json!({ "path": world.path_str("a.txt"), "kind": { "type": "update", "move_path": null },
            "diff": "@@ -1,3 +1,4 @@\n-one\n+ONE\n two\n three\n+four\n" })
    }

    fn add(world: &World) -> Value {
        json!({ "path": world.path_str("b.txt"), "kind": { "type": "add" }, "diff": "new\n" })
    }

    fn world() -> World {
        let world = World::new();
        world.file("a.txt", TEXT);
        world
    }

    #[track_caller]
    fn decided(hub: &mut DaemonClient, request: u64, decision: &str) {
        assert_eq!(hub.receive(), Some(json!({ "id": request, "result": { "decision": decision } })));
    }

    #[test]
    fn a_captured_approval_gets_the_recorded_answer() {
        let world = world();
        let daemon = CodexDaemon::start(&world);
        let _serve = world.serve();
        let mut hub = daemon.follower(&world);
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../testdata/wire/codex/codex-0.166.0-app-server-decline-and-steer.jsonl");
        let text =
            fs::read_to_string(path).unwrap().replace("/w/", &format!("{}/", world.workspace().display()));
        let frames = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let sent: Vec<Value> = frames
            .filter(|line| line["dir"] == "agent->client" && line["frame"]["method"].is_string())
            .map(|mut line| {
                let params = &mut line["frame"]["params"];
                if params["threadId"].is_string() {
                    params["threadId"] = json!("t1");
                }
                line["frame"].clone()
            })
            .collect();
        let asked = sent.iter().position(|frame| !frame["id"].is_null()).unwrap();
        sent[..=asked].iter().for_each(|frame| hub.send(frame));
        let reviews = world.pending(2);
        world.run(&["reject", &reviews[0], "--comment", "line 2 must be Two"]).ok();
        world.run(&["reject", &reviews[1]]).ok();
        decided(&mut hub, 0, "decline");
        let steer = hub.reply("turn/steer", &json!({ "turnId": "u" }));
        let turn = &sent[asked]["params"]["turnId"];
        assert_eq!((&steer["params"]["threadId"], &steer["params"]["expectedTurnId"]), (&json!("t1"), turn));
        assert!(steer["params"]["input"][0]["text"].as_str().unwrap().contains("Reason: line 2 must be Two"));
        sent[asked + 1..].iter().for_each(|frame| hub.send(frame));
        assert!(hub.is_silent());
        assert_eq!(world.read_text("a.txt"), TEXT);
    }

    #[test]
    fn a_part_is_written_only_after_codex_confirmed_the_no() {
        let world = world();
        let daemon = CodexDaemon::start(&world);
        let _serve = world.serve();
        let mut hub = daemon.follower(&world);
        hub.asks(5, "i1", &json!([update(&world), add(&world)]));
        let reviews = world.pending(2);
        world.run(&["accept", &reviews[0], "--hunk", "2"]).ok();
        world.run(&["accept", &reviews[1]]).ok();
        decided(&mut hub, 5, "decline");
        assert!(hub.is_silent());
        assert_eq!(world.read_text("a.txt"), TEXT);
        hub.item_done("i1", "declined");
        let steer = hub.reply("turn/steer", &json!({}));
        let told = steer["params"]["input"][0]["text"].as_str().unwrap();
        assert!(told.contains("1 of 2 hunks accepted and written."), "{told}");
        assert_eq!(world.read_text("a.txt"), "one\ntwo\nthree\nfour\n");
        assert_eq!(world.read_text("b.txt"), "new\n");
        world.run(&["undo", &reviews[0]]).ok();
        assert_eq!(world.read_text("a.txt"), TEXT);
    }

    #[test]
    fn it_is_listed_only_while_it_answers_and_found_again() {
        let world = world();
        let _serve = world.serve();
        assert_eq!(listed(&world.status(), "agents"), Vec::<String>::new());
        let daemon = CodexDaemon::start(&world);
        let mut hub = daemon.accept();
        assert_eq!(listed(&world.status(), "agents"), Vec::<String>::new(), "it has not answered");
        hub.reply("initialize", &json!({ "userAgent": "codex-tui/0.166.0" }));
        let stream = hub.answers_pings();
        eventually("it is listed", || (listed(&world.status(), "agents") == ["Codex"]).then_some(()));
        stream.shutdown(std::net::Shutdown::Both).unwrap();
        eventually("it is gone", || listed(&world.status(), "agents").is_empty().then_some(()));
        daemon.follower(&world);
    }

    #[test]
    fn it_may_be_lost_at_each_step() {
        let world = world();
        let daemon = CodexDaemon::start(&world);
        let _serve = world.serve();
        // Before and after each frame of the greeting.
        drop(daemon.connection(Duration::from_secs(10)).expect("before the handshake"));
        drop(daemon.accept());
        let mut hub = daemon.follower(&world);
        hub.asks(0, "i1", &json!([update(&world), add(&world)]));
        let reviews = world.pending(2);
        drop(hub);
        let mut hub = daemon.follower(&world);
        hub.asks(0, "i1", &json!([update(&world), add(&world)]));
        assert_eq!(world.pending(2), reviews, "the same reviews");
        eventually("they are waited for", || {
            world.reviews().iter().all(|review| review["ownerGone"] != true).then_some(())
        });
        world.run(&["accept", &reviews[1]]).ok();
        world.run(&["accept", &reviews[0], "--hunk", "1"]).ok();
        decided(&mut hub, 0, "decline");
        drop(hub);
        // It did not hear the no, and asks again. Only when it has confirmed, what was accepted is written.
        let mut hub = daemon.follower(&world);
        hub.asks(0, "i1", &json!([update(&world), add(&world)]));
        decided(&mut hub, 0, "decline");
        assert!(world.read_text("a.txt") != "ONE\ntwo\nthree\n" && !world.path("b.txt").exists());
        hub.item_done("i1", "declined");
        let steer = hub.reply("turn/steer", &json!({}));
        assert!(
            steer["params"]["input"][0]["text"].as_str().unwrap().contains("accepted and written"),
            "{steer}"
        );
        assert_eq!(world.read_text("a.txt"), "ONE\ntwo\nthree\n");
    }

    #[test]
    fn nothing_that_is_not_understood_is_answered() {
        let world = world();
        let daemon = CodexDaemon::start(&world);
        let _serve = world.serve();
        let mut hub = daemon.follower(&world);
        for (id, method) in
            ["item/commandExecution/requestApproval", "item/tool/call", "x"].iter().enumerate()
        {
            hub.send(&json!({ "id": id, "method": method, "params": { "threadId": "t1", "command": "ls" } }));
        }
        hub.send_message(Message::text("no json"));
        hub.send_message(Message::binary(vec![0, 1, 2]));
        hub.send(&json!([1, 2, 3]));
        hub.asks(9, "i1", &json!([{ "path": "/etc/passwd", "kind": { "type": "add" }, "diff": "x" }]));
        hub.asks(
            10,
            "i2",
            &json!([{ "path": world.path_str("a.txt"), "kind": { "type": "new" }, "diff": "x" }]),
        );
        hub.asks(
            11,
            "i3",
            &json!([{ "path": world.path_str("a.txt"), "kind": { "type": "update" }, "diff": "??" }]),
        );
        // An item that is unknown is looked up.
        hub.reply("thread/resume", &json!({ "thread": { "id": "t1", "turns": [] } }));
        assert!(hub.is_silent());
        assert_eq!(world.reviews(), Vec::<Value>::new());
        // It is still there.
        hub.asks(12, "i4", &json!([update(&world)]));
        world.run(&["accept", &world.one_pending()]).ok();
        decided(&mut hub, 12, "accept");
    }

    #[test]
    fn a_message_that_is_too_large_ends_the_connection_and_not_the_hub() {
        let world = World::with_config("[limits]\nmessage_mib = 1\n");
        let daemon = CodexDaemon::start(&world);
        let _serve = world.serve();
        let mut hub = daemon.follower(&world);
        hub.send_message(Message::text("x".repeat(2 * 1024 * 1024)));
        assert_eq!(hub.receive(), None);
        daemon.follower(&world);
    }

    #[test]
    fn it_can_be_switched_off() {
        let world = World::with_config("dialects_off = [\"codex\"]\n");
        let daemon = CodexDaemon::start(&world);
        let _serve = world.serve();
        assert!(daemon.connection(Duration::from_secs(3)).is_none());
        assert!(!ide_socket(&world).exists());
    }

    fn ide_socket(world: &World) -> PathBuf {
        world.home().join(".codex/ipc/ipc.sock")
    }

    /// Asks as Codex's terminal program does.
    fn ide_context(world: &World, root: &Path) -> Value {
        let mut stream = UnixStream::connect(ide_socket(world)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let body = json!({
            "type": "request", "requestId": "q1", "sourceClientId": "codex-tui", "version": 0,
            "method": "ide-context", "params": { "workspaceRoot": root },
        });
        let body = body.to_string();
        stream.write_all(&u32::try_from(body.len()).unwrap().to_le_bytes()).unwrap();
        stream.write_all(body.as_bytes()).unwrap();
        let mut length = [0; 4];
        stream.read_exact(&mut length).unwrap();
        let mut answer = vec![0; u32::from_le_bytes(length) as usize];
        stream.read_exact(&mut answer).unwrap();
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        assert_eq!((&answer["type"], &answer["requestId"]), (&json!("response"), &json!("q1")));
        answer
    }

    #[test]
    fn codex_is_told_where_the_user_is() {
        let world = World::with_config("deny = [\"secret.txt\"]\n");
        let (a, secret) = (world.file("a.txt", TEXT), world.file("secret.txt", "x"));
        fs::create_dir_all(world.home().join(".codex")).unwrap();
        let editor = Editor::attach(&world);
        editor.open(&a, TEXT, false);
        editor.open(&secret, "x", false);
        eventually("the socket is served", || ide_socket(&world).exists().then_some(()));
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let socket = ide_socket(&world);
        assert_eq!(mode(socket.parent().unwrap()), 0o700);
        // In a folder that nobody else can enter, it is there before its mode is.
        eventually("the socket's mode", || (mode(&socket) == 0o600).then_some(()));
        let answer = ide_context(&world, &world.workspace());
        assert_eq!(answer["resultType"], "success", "{answer}");
        let open = &answer["result"]["ideContext"]["openTabs"];
        assert_eq!(open, &json!([{ "label": "a.txt", "path": "a.txt", "fsPath": a }]), "{answer}");
        let other = ide_context(&world, Path::new("/elsewhere"));
        assert_eq!((&other["resultType"], &other["error"]), (&json!("error"), &json!("no-client-found")));
        // Nonsense gets no answer, and harms nobody.
        let mut stream = UnixStream::connect(&socket).unwrap();
        stream.write_all(&u32::MAX.to_le_bytes()).unwrap();
        assert_eq!(stream.read(&mut [0; 4]).unwrap(), 0);
        ide_context(&world, &world.workspace());
    }

    #[test]
    fn a_socket_of_another_program_is_not_taken() {
        let world = world();
        let socket = ide_socket(&world);
        fs::create_dir_all(socket.parent().unwrap()).unwrap();
        let other = UnixListener::bind(&socket).unwrap();
        let editor = Editor::attach(&world);
        other.set_nonblocking(true).unwrap();
        eventually("the hub looks", || other.accept().ok());
        drop(editor);
        assert!(socket.exists());
    }
}
