//! Files that agents must not read or change, by every route; and the configuration of that.

use std::fs;
use std::os::unix::fs::symlink;

use linkspan_editor_api as api;
use serde_json::{Value, json};

use crate::support::*;

fn diagnostic(message: &str) -> api::Diagnostic {
    api::Diagnostic {
        message: message.into(),
        severity: api::Severity::Error,
        range: api::Range::default(),
        source: None,
        code: None,
    }
}

fn selection(path: &str) -> api::Selection {
    api::Selection {
        path: path.into(),
        text: "s3cret".into(),
        range: api::Range::default(),
        is_empty: false,
        reversed: false,
    }
}

#[test]
fn a_denied_file_stays_out_of_every_route() {
    let world = World::with_config("deny = [\"secret/**\", \"*.key\"]\n");
    let secret = world.file("secret/plan.txt", "s3cret\n");
    world.file("server.key", "s3cret\n");
    let open = world.file("open.txt", "open\n");
    symlink("secret/plan.txt", world.path("innocent.txt")).unwrap();
    let editor = Editor::attach(&world);
    editor.open(&open, "open\n", false);
    editor.open(&secret, "s3cret\n", false);
    {
        let mut state = editor.state();
        state.selection = Some(selection(&secret));
        for document in state.documents.values_mut() {
            document.diagnostics = vec![diagnostic("s3cret or not")];
        }
    }
    for dialect in [WsDialect::Claude, WsDialect::Nexus3] {
        let mut agent = Agent::introduced(&world, editor.port(), dialect, agent::CLAUDE);
        for name in ["secret/plan.txt", "server.key", "innocent.txt", "secret/new.txt"] {
            let path = world.path_str(name);
            let change = agent.call("openDiff", agent::diff(&path, "changed\n", "tab"));
            assert!(change.get("error").is_some(), "{name}: {change}");
            let by_path = [
                ("openFile", json!({ "filePath": path })),
                ("checkDocumentDirty", json!({ "filePath": path })),
                ("saveDocument", json!({ "filePath": path })),
                ("getDiagnostics", json!({ "uri": format!("file://{path}") })),
            ];
            for (tool, arguments) in by_path {
                let answer = agent.call(tool, arguments);
                let failed = answer.get("error").is_some() || answer["result"]["isError"] == true;
                assert!(failed, "{tool} {name}: {answer}");
                assert!(!answer.to_string().contains("s3cret"), "{tool} {name}: {answer}");
            }
        }
        for tool in ["getDiagnostics", "getOpenEditors", "getCurrentSelection", "getLatestSelection"] {
            let answer = agent.call(tool, json!({})).to_string();
            assert!(
                !answer.contains("secret/plan.txt") && !answer.contains("\"s3cret\""),
                "{tool}: {answer}"
            );
        }
        editor.send(&api::SelectionChanged { selection: selection(&secret) });
        editor.send(&api::Mentioned { path: secret.clone(), lines: None });
        let version = api::DocumentVersion { path: secret.clone(), version: None };
        editor.send(&api::DiagnosticsChanged { files: vec![version] });
        editor.send(&api::Mentioned { path: open.clone(), lines: None });
        if dialect == WsDialect::Claude {
            let heard = agent.next_frame(DEADLINE).unwrap();
            assert_eq!(heard["method"], "at_mentioned", "the first thing heard is the allowed one: {heard}");
            assert_eq!(heard["params"], json!({ "filePath": open }), "a whole file has no line keys");
        }
    }
    assert!(editor.state().opened.is_empty(), "the editor was not even asked");
    assert!(world.reviews().is_empty());
    assert_eq!(world.read_text("secret/plan.txt"), "s3cret\n");
}

#[test]
fn a_denied_file_stays_out_when_the_editor_names_its_folder_by_a_symlink() {
    let world = World::with_config("deny = [\"secret/**\"]\n");
    world.file("secret/plan.txt", "s3cret\n");
    let named = world.root().join("by-another-name");
    symlink(world.workspace(), &named).unwrap();
    let editor = EditorBuilder::new(&world).folders(std::slice::from_ref(&named)).attach();
    let secret = named.join("secret/plan.txt").to_str().unwrap().to_owned();
    let open = named.join("open.txt").to_str().unwrap().to_owned();
    editor.open(&secret, "s3cret\n", false);
    editor.state().selection = Some(selection(&secret));
    let mut agent = Agent::claude(&world, editor.port());
    for tool in ["getOpenEditors", "getCurrentSelection", "getLatestSelection"] {
        let answer = agent.call(tool, json!({})).to_string();
        assert!(!answer.contains("s3cret") && !answer.contains("plan.txt"), "{tool}: {answer}");
    }
    editor.send(&api::SelectionChanged { selection: selection(&secret) });
    editor.send(&api::Mentioned { path: open, lines: None });
    assert_eq!(agent.next_frame(DEADLINE).unwrap()["method"], "at_mentioned");
}

#[test]
fn what_deny_covers_by_default() {
    let world = World::new();
    let serve = world.serve();
    let mut agent = Agent::claude(&world, serve.port);
    for name in [".env", "deep/.ENV", "certs/server.pem", "id_ed25519"] {
        let path = world.file(name, "s3cret\n");
        let answer = agent.call("openDiff", agent::diff(&path, "changed\n", "tab"));
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains("deny"), "{name}: {answer}");
    }
}

#[test]
fn a_path_outside_the_workspace_is_refused() {
    let world = World::new();
    let outside = world.folder("outside");
    fs::write(outside.join("a.txt"), "one\n").unwrap();
    symlink(&outside, world.path("way-out")).unwrap();
    let serve = world.serve();
    for dialect in [WsDialect::Claude, WsDialect::Nexus3] {
        let mut agent = Agent::introduced(&world, serve.port, dialect, agent::CLAUDE);
        let paths = [
            outside.join("a.txt"),
            world.path("../outside/a.txt"),
            world.path("way-out/a.txt"),
            world.path("way-out/new.txt"),
            "/etc/passwd".into(),
        ];
        for path in paths {
            let path = path.to_str().unwrap();
            let answer = agent.call("openDiff", agent::diff(path, "two\n", "tab"));
            assert!(answer.get("error").is_some(), "{path}: {answer}");
        }
        let relative = agent.call("openDiff", agent::diff("a.txt", "two\n", "tab"));
        assert!(relative.get("error").is_some(), "{relative}");
        agent.is_served();
    }
    assert_eq!(fs::read_to_string(outside.join("a.txt")).unwrap(), "one\n");
    assert!(!outside.join("new.txt").exists());
}

#[test]
fn a_workspace_can_forbid_more() {
    let world = World::new();
    world.file(
        ".linkspan.toml",
        "deny = [\"generated/**\"]\ndialects_off = [\"nexus3\"]\n[limits]\nfile_mib = 1\n",
    );
    let generated = world.file("generated/a.rs", "one\n");
    let large = world.file("large.txt", "x\n".repeat(600_000));
    let serve = world.serve();
    let mut agent = Agent::claude(&world, serve.port);
    for path in [generated, large] {
        let answer = agent.call("openDiff", agent::diff(&path, "two\n", "tab"));
        assert!(answer.get("error").is_some(), "{path}: {answer}");
    }
    assert_eq!(world.discovery_files().len(), 1, "only the dialect that is left is announced");
    let token = WsDialect::Claude.lock(&world, serve.port)["authToken"].as_str().unwrap().to_owned();
    if let Ok(mut other) = Agent::open(serve.port, &[(WsDialect::Nexus3.header(), &token)]) {
        assert_eq!(other.end(), Some(1008), "switched off is switched off");
    }
}

#[test]
fn a_workspace_cannot_allow_more() {
    let world = World::with_config("dialects_off = [\"nexus3\"]\n[limits]\nfile_mib = 1\n");
    world.file(".linkspan.toml", "deny = []\ndialects_off = []\n[limits]\nfile_mib = 100\n");
    let large = world.file("large.txt", "x\n".repeat(600_000));
    let secret = world.file(".env", "s3cret\n");
    let serve = world.serve();
    let mut agent = Agent::claude(&world, serve.port);
    for path in [large, secret] {
        let answer = agent.call("openDiff", agent::diff(&path, "two\n", "tab"));
        assert!(answer.get("error").is_some(), "{path}: {answer}");
    }
    assert_eq!(world.discovery_files().len(), 1);
}

#[test]
fn a_broken_workspace_file_keeps_the_window_out_and_says_why() {
    let world = World::new();
    world.file(".linkspan.toml", "denied = [\"*\"]\n");
    let refused = EditorBuilder::new(&world).try_attach().err().unwrap();
    assert!(refused.message.contains(".linkspan.toml"), "{refused}");
    assert!(refused.message.contains("did you mean `deny`?"), "{refused}");
    let serve = world.run(&["serve", "."]);
    assert_eq!(serve.code, 5, "{serve:?}");
    assert!(serve.stderr.contains("did you mean `deny`?"), "{serve:?}");
}

#[test]
fn a_broken_config_is_an_error_that_names_the_nearest_key() {
    let world = World::with_config("idle_exit_second = 3\n");
    for args in [&["hub", "start"][..], &["serve"], &["reviews"]] {
        let ran = world.run(args);
        assert_eq!(ran.code, 3, "{args:?}: {ran:?}");
        assert!(ran.stderr.contains("did you mean `idle_exit_seconds`?"), "{args:?}: {ran:?}");
    }
    let value: Value = world.run(&["hub", "start", "--json"]).json();
    assert!(value["error"]["message"].as_str().unwrap().contains("config.toml"), "{value}");
}

#[test]
fn a_person_hears_once_that_a_file_is_too_large_to_be_reviewed() {
    let world = World::with_config("[limits]\nfile_mib = 1\n");
    let large = "0123456789abcdef".repeat(100_000);
    let (a, b) = (world.file("a.txt", &large), world.file("b.txt", &large));
    let capabilities = api::Capabilities { messages: true, ..editor::all_capabilities() };
    let editor = EditorBuilder::new(&world).capabilities(capabilities).attach();
    let mut agent = Agent::nexus3(&world, editor.port());
    for path in [&a, &a, &b] {
        let call = agent.propose(path, "short\n", "tab");
        assert!(agent.answer(call)["error"]["message"].as_str().unwrap().contains("limits.file_mib"));
    }
    // A request to the editor after all that.
    agent.call("getOpenEditors", json!({}));
    let told = editor.state().messages.clone();
    assert_eq!(told.len(), 2, "{told:?}");
    for (message, path) in told.iter().zip([&a, &b]) {
        assert_eq!(message.level, api::MessageLevel::Warning);
        assert!(message.text.contains(path) && message.text.contains("limits.file_mib"), "{message:?}");
        assert!(message.text.starts_with("nexus3-client "), "{message:?}");
    }
}
