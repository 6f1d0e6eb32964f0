//! The workspace: its files, their content, and the files that are denied to agents.

use serde_json::{Value, json};

use crate::support::ppxai::Client;
use crate::support::*;

fn fixture() -> (World, Editor, Client) {
    let world = World::new();
    world.file("src/main.py", "import os\nprint('hello')\n");
    world.file("src/util.py", "def hello(): pass\n");
    world.file("README.md", "Hello\n");
    world.file(".env", "SECRET=hello\n");
    world.file(".gitignore", "build/\n");
    world.file("build/out.py", "hello\n");
    std::fs::create_dir(world.path(".git")).unwrap();
    let editor = Editor::attach(&world);
    let client = Client::new(editor.port());
    (world, editor, client)
}

#[test]
fn the_workspace_is_told_as_the_seed_tells_it() {
    let (world, _editor, mut client) = fixture();
    let info = json!({ "name": "w", "folders": [{ "name": "w", "path": world.workspace() }] });
    assert_eq!(client.result("ide.get_workspace_info", json!({})), info);
    let (status, told) = client.send("GET /status", "");
    assert_eq!((status, &told["status"], &told["workspace"]), (200, &json!("ok"), &info));
    assert_eq!(told["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(
        told["capabilities"],
        json!(["workspace", "editor", "diagnostics", "actions", "terminal", "git"])
    );
    assert_eq!(told["tools"].as_array().unwrap().len(), 26);
}

#[test]
fn the_tokens_of_all_windows_are_kept_from_an_agent_that_has_none() {
    let world = World::new();
    let home = world.home();
    std::fs::create_dir_all(home.join(".copilot/ide")).unwrap();
    std::fs::write(home.join(".copilot/ide/other.lock"), r#"{"authToken":"x"}"#).unwrap();
    let elsewhere = home.join("claude-of-a-window");
    let serve = world.serve_with(&[&home], &[("CLAUDE_CONFIG_DIR", elsewhere.to_str().unwrap())]);
    let mut client = Client::new(serve.port);
    let (lock, other) = (format!("{}.lock", serve.port), "other.lock".to_owned());
    let folders = [".claude", ".nexus3", ".qwen", "claude-of-a-window"].map(|folder| (folder, &lock));
    for (folder, name) in folders.into_iter().chain([(".copilot", &other)]) {
        let path = home.join(folder).join("ide").join(name);
        assert!(path.exists(), "{}", path.display());
        let (code, message) = client.error("ide.read_file", json!({ "path": path }));
        assert_eq!(code, "DENIED", "{folder}: {message}");
    }
    let clio = std::fs::read_dir(home.join(".clio/ide")).unwrap().next().unwrap().unwrap().path();
    assert_eq!(client.error("ide.read_file", json!({ "path": clio })).0, "DENIED");
    assert_eq!(
        client.result("ide.search_files", json!({ "query": "authToken", "ignored": true })),
        json!([])
    );
    let listed = client.result("ide.list_files", json!({ "pattern": "**/ide/*", "ignored": true }));
    assert_eq!(listed, json!([]));
}

#[test]
fn files_are_listed_by_glob_without_what_is_ignored_or_denied() {
    let (_world, _editor, mut client) = fixture();
    let mut list = |args: Value| client.result("ide.list_files", args);
    assert_eq!(list(json!({})), json!([".gitignore", "README.md", "src/main.py", "src/util.py"]));
    assert_eq!(list(json!({ "pattern": "**/*.py" })), json!(["src/main.py", "src/util.py"]));
    assert_eq!(list(json!({ "pattern": "**/*.py", "exclude": "**/util*" })), json!(["src/main.py"]));
    assert_eq!(
        list(json!({ "pattern": "**/*.py", "ignored": true })),
        json!(["build/out.py", "src/main.py", "src/util.py"])
    );
    assert_eq!(list(json!({ "pattern": "*.rs" })), json!([]));
    let cut = client.call("ide.list_files", json!({ "limit": 2 }));
    assert_eq!((cut["result"].as_array().unwrap().len(), &cut["truncated"]), (2, &json!(true)));
    assert_eq!(client.call("ide.list_files", json!({})).get("truncated"), None);
    assert_eq!(client.error("ide.list_files", json!({ "pattern": "a[" })).0, "INVALID_ARGUMENT");
}

#[test]
fn text_is_searched_plainly_or_by_expression() {
    let (_world, _editor, mut client) = fixture();
    let mut search = |args: Value| client.result("ide.search_files", args);
    let hello = json!({ "path": "src/main.py", "line": 2, "column": 7, "text": "print('hello')" });
    let all = search(json!({ "query": "hello" }));
    assert_eq!(all.as_array().unwrap().len(), 3, "{all}");
    assert_eq!(all[1], hello);
    assert_eq!(search(json!({ "query": "Hello", "case_sensitive": true }))[0]["path"], "README.md");
    assert_eq!(search(json!({ "query": "hel", "whole_word": true })), json!([]));
    assert_eq!(search(json!({ "query": "^def \\w+", "regex": true }))[0]["path"], "src/util.py");
    let around = search(json!({ "query": "print", "context": 1 }));
    assert_eq!(around[0]["before"], json!(["import os"]));
    assert_eq!(search(json!({ "query": "hello", "pattern": "*.md" })).as_array().unwrap().len(), 1);
    let cut = client.call("ide.search_files", json!({ "query": "hello", "limit": 1 }));
    assert_eq!((cut["result"].as_array().unwrap().len(), &cut["truncated"]), (1, &json!(true)));
    for args in [json!({ "query": "" }), json!({ "query": "(", "regex": true }), json!({})] {
        assert_eq!(client.error("ide.search_files", args).0, "INVALID_ARGUMENT");
    }
}

#[test]
fn a_file_is_read_as_the_person_has_it() {
    let (world, editor, mut client) = fixture();
    let mut read = |args: Value| client.result("ide.read_file", args);
    let text = "import os\nprint('hello')\n";
    assert_eq!(read(json!({ "path": "src/main.py" })), json!({ "content": text, "language": "python" }));
    let absolute = world.path_str("src/main.py");
    assert_eq!(read(json!({ "path": absolute }))["content"], text);
    assert_eq!(read(json!({ "path": "src/main.py", "start_line": 2 }))["content"], "print('hello')\n");
    assert_eq!(
        read(json!({ "path": "src/main.py", "start_line": 1, "end_line": 1 }))["content"],
        "import os\n"
    );
    editor.open(&absolute, "unsaved\n", true);
    let unsaved = json!({ "content": "unsaved\n", "language": "python", "dirty": true });
    assert_eq!(read(json!({ "path": "src/main.py" })), unsaved);
    world.file("big.txt", "0123456789abcde\n".repeat(70_000));
    let cut = client.call("ide.read_file", json!({ "path": "big.txt" }));
    assert_eq!(
        (cut["result"]["content"].as_str().unwrap().len(), &cut["truncated"]),
        (1024 * 1024, &json!(true))
    );
    assert_eq!(client.call("ide.read_file", json!({ "path": "README.md" })).get("truncated"), None);
}

#[test]
fn what_cannot_be_read_says_why() {
    let (world, _editor, mut client) = fixture();
    world.file("image.png", [0x89, b'P', 0, 0xff]);
    std::os::unix::fs::symlink("/etc/hostname", world.path("link")).unwrap();
    for (args, code) in [
        (json!({ "path": "absent.txt" }), "NOT_FOUND"),
        (json!({ "path": "/etc/hostname" }), "OUTSIDE_WORKSPACE"),
        (json!({ "path": "../s" }), "OUTSIDE_WORKSPACE"),
        (json!({ "path": "link" }), "OUTSIDE_WORKSPACE"),
        (json!({ "path": ".env" }), "DENIED"),
        (json!({ "path": "src" }), "NOT_TEXT"),
        (json!({ "path": "image.png" }), "NOT_TEXT"),
        (json!({ "path": "a\u{0}" }), "INVALID_ARGUMENT"),
        (json!({ "path": 7 }), "INVALID_ARGUMENT"),
        (json!({}), "INVALID_ARGUMENT"),
        (json!({ "path": "README.md", "start_line": 0 }), "INVALID_ARGUMENT"),
        (json!({ "path": "README.md", "start_line": 3, "end_line": 2 }), "INVALID_ARGUMENT"),
    ] {
        let (found, message) = client.error("ide.read_file", args.clone());
        assert_eq!(found, code, "{args}: {message}");
    }
    let (code, message) = client.error("ide.read_file", json!({ "path": "README.md", "star_line": 1 }));
    assert_eq!(code, "INVALID_ARGUMENT");
    assert!(message.contains("did you mean `start_line`?"), "{message}");
    client.result("ide.read_file", json!({ "path": "README.md", "confirmed": true }));
}

#[test]
fn with_several_folders_their_names_stand_before() {
    let world = World::new();
    let (app, lib) = (world.folder("app"), world.folder("lib"));
    std::fs::write(app.join("a.txt"), "app").unwrap();
    std::fs::write(lib.join("a.txt"), "lib").unwrap();
    let editor = EditorBuilder::new(&world).folders(&[app.clone(), lib]).attach();
    let mut client = Client::new(editor.port());
    assert_eq!(client.result("ide.list_files", json!({})), json!(["app/a.txt", "lib/a.txt"]));
    assert_eq!(client.result("ide.read_file", json!({ "path": "lib/a.txt" }))["content"], "lib");
    assert_eq!(client.result("ide.read_file", json!({ "path": "a.txt" }))["content"], "app");
    editor.open(app.join("a.txt").to_str().unwrap(), "app", false);
    assert_eq!(client.result("ide.get_open_files", json!({}))[0]["path"], "app/a.txt");
}
