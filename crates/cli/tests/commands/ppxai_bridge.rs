//! `linkspan ide connect URL`: a foreign ppxai bridge, and commands that use it.

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::path::PathBuf;
    use std::thread;

    use serde_json::{Value, json};

    use crate::support::*;

    const TOKEN: &str = "token-of-the-bridge";

    /// A bridge on the workspace that admits clients with the token; returns its address.
    fn bridge(world: &World) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let workspace = world.workspace();
        thread::spawn(move || {
            for agent in listener.incoming().flatten() {
                let workspace = workspace.clone();
                thread::spawn(move || answer(agent, &workspace));
            }
        });
        format!("http://127.0.0.1:{port}")
    }

    fn answer(mut agent: TcpStream, workspace: &PathBuf) {
        let mut reader = BufReader::new(agent.try_clone().unwrap());
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head).unwrap() == 0 {
                return;
            }
        }
        let header = |name: &str| {
            let mut headers = head.lines().filter_map(|line| line.split_once(": "));
            headers.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned())
        };
        let mut body = vec![0; header("content-length").map_or(0, |length| length.parse().unwrap())];
        reader.read_exact(&mut body).unwrap();
        let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
        let (status, answer) = if header("x-ppxai-token").as_deref() != Some(TOKEN) {
            ("401 Unauthorized", json!({}))
        } else if head.starts_with("GET /status") {
            ("200 OK", json!({ "status": "ok", "version": "1.15.0" }))
        } else {
            let result = match asked["tool"].as_str().unwrap() {
                "ide.get_workspace_info" => {
                    json!({ "name": "w", "folders": [{ "name": "w", "path": workspace }] })
                }
                "ide.read_file" => json!({ "content": "one\n", "language": "plaintext" }),
                "ide.apply_edit" => json!(asked["args"]["files"][0]["edits"][0]["oldText"] == "one\n"),
                "ide.git_log" => json!([{ "hash": "abc", "limit": asked["args"]["limit"] }]),
                _ => Value::Null,
            };
            ("200 OK", json!({ "id": asked["id"], "success": true, "result": result }))
        };
        let answer = answer.to_string();
        let head =
            format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", answer.len());
        let _ = agent.write_all(format!("{head}{answer}").as_bytes());
    }

    fn run(world: &World, token: Option<&str>, args: &[&str]) -> CommandResult {
        let mut command = world.command(args);
        command.envs(token.map(|token| ("PPXAI_BRIDGE_TOKEN", token)));
        world::finish(
            command
                .stdout(std::process::Stdio::piped())
                .stderr(std::process::Stdio::piped())
                .spawn()
                .unwrap(),
        )
    }

    #[test]
    fn a_bridge_is_chosen_by_its_address_and_asked_by_every_command() {
        let world = World::new();
        let url = bridge(&world);
        let with = |args: &[&str]| run(&world, Some(TOKEN), args);
        let connected = with(&["ide", "connect", &url, "--json"]).ok().json();
        assert_eq!(connected["connected"], url.as_str());
        let status = with(&["ide", "--json"]).ok().json();
        assert_eq!((&status["connected"], &status["windows"][0]["dialect"]), (&json!(url), &json!("ppxai")));
        assert!(with(&["ide"]).ok().stdout.contains("used here"));
        assert_eq!(with(&["folders", "--json"]).ok().json()["folders"], json!([world.workspace()]));
        let log = with(&["call", "ide.git_log", r#"{"limit": 1}"#]).ok().stdout;
        assert_eq!(serde_json::from_str::<Value>(&log).unwrap(), json!([{ "hash": "abc", "limit": 1 }]));
        assert_eq!(with(&["tools", "--json"]).ok().json()["tools"].as_array().unwrap().len(), 26);

        let (old, new) = (world.file("a.txt", "one\n"), world.file("b.txt", "two\n"));
        let decided = with(&["diff", &old, "--new", &new]);
        assert_eq!(decided.code, 0, "{decided:?}");
        assert_eq!(world.read_text("a.txt"), "one\n", "the bridge writes, not we");

        let history = with(&["ide", "history"]);
        assert!(
            history.code == 5 && history.stderr.contains("not a window of Linkspan's hub"),
            "{history:?}"
        );
        with(&["ide", "disconnect"]).ok();
        assert_eq!(with(&["folders"]).code, 7);
    }

    #[test]
    fn what_is_wrong_with_an_address_is_said() {
        let world = World::new();
        let url = bridge(&world);
        let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let closed = format!("http://localhost:{closed}");
        for (url, token, says) in [
            ("http://example.com:54321", None, "not this machine"),
            ("https://127.0.0.1:54321", None, "http://"),
            (closed.as_str(), None, "nothing listens"),
            (url.as_str(), None, "PPXAI_BRIDGE_TOKEN"),
            (url.as_str(), Some("wrong"), "PPXAI_BRIDGE_TOKEN"),
        ] {
            let ran = run(&world, token, &["ide", "connect", url]);
            assert!(ran.code != 0 && ran.stderr.contains(says), "{url}: {ran:?}");
            assert!(!world.state().join("linkspan/ide.json").exists(), "nothing was chosen");
        }
    }

    #[test]
    fn history_and_undo_are_those_of_the_window_of_this_folder() {
        let world = World::new();
        let (here, beside) = (world.workspace(), world.folder("beside"));
        let mut mine = EditorBuilder::new(&world).folders(&[here]).attach();
        let mut other = EditorBuilder::new(&world).folders(std::slice::from_ref(&beside)).attach();
        let mine_path = world.file("a.txt", "one\n");
        let other_path = beside.join("b.txt").to_str().unwrap().to_owned();
        std::fs::write(&other_path, "one\n").unwrap();
        for (editor, path) in [(&mut other, &other_path), (&mut mine, &mine_path)] {
            let mut agent = Agent::nexus3(&world, editor.port());
            let asked = agent.propose(path, "two\n", "a");
            let shown = editor.shown(path);
            editor.accept(&shown);
            agent.texts(asked);
            agent.is_served();
        }
        let entries = world.json(&["ide", "history"])["entries"].as_array().unwrap().clone();
        assert_eq!(entries.len(), 1, "{entries:?}");
        assert_eq!(entries[0]["path"], mine_path.as_str());
        let all = world.json(&["history"])["entries"].as_array().unwrap().clone();
        let foreign = all.iter().find(|entry| entry["path"] == other_path.as_str()).unwrap();
        let refused = world.run(&["ide", "undo", foreign["review"].as_str().unwrap()]);
        assert!(refused.code == 4 && refused.stderr.contains("not a change of window"), "{refused:?}");
        world.run(&["ide", "undo", "--last"]).ok();
        assert_eq!(world.read_text("a.txt"), "one\n");
        assert_eq!(world.run(&["ide", "undo", "--last"]).code, 4, "the other window's stays");
    }

    #[test]
    fn history_and_undo_are_those_of_the_window_behind_the_well_known_port() {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let world = World::with_config(&format!("ppxai_port = {port}\n"));
        let mut editor = Editor::attach(&world);
        let path = world.file("a.txt", "one\n");
        let mut agent = Agent::nexus3(&world, editor.port());
        let asked = agent.propose(&path, "two\n", "a");
        let shown = editor.shown(&path);
        editor.accept(&shown);
        agent.texts(asked);
        agent.is_served();
        let url = format!("http://127.0.0.1:{port}");
        eventually("the port is listened on", || {
            (world.run(&["ide", "connect", &url]).code == 0).then_some(())
        });
        let entries = world.json(&["ide", "history"])["entries"].clone();
        assert_eq!(entries[0]["path"], path.as_str(), "{entries}");
        world.run(&["ide", "undo", "--last"]).ok();
        assert_eq!(world.read_text("a.txt"), "one\n");
    }
}
