//! The files and variables by which agents find a window.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use linkspan_dialect::{DiscoveryFile, WindowFacts, by_name};
use serde_json::{Value, json};

fn file(dialect: &str, folders: &[PathBuf], environment: &[(&str, &str)]) -> Option<DiscoveryFile> {
    file_of(dialect, &window(folders), environment)
}

fn window(folders: &[PathBuf]) -> WindowFacts<'_> {
    WindowFacts {
        port: 41001,
        socket: Some(Path::new("/run/u/linkspan/agents/w1.sock")),
        token: "secret",
        pid: 12,
        editor_name: "Neovim",
        folders,
        port_space: None,
        mark: "mark",
        unix_ms: 1_763_193_600_000,
    }
}

/// The folders of the lock files that Claude Code's dialect writes.
fn folders_of_claude(environment: &[(&str, &str)]) -> Vec<String> {
    let files = by_name("claude").unwrap().discovery_files(&window(&[]), |name| {
        environment.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value))
    });
    files.iter().map(|file| file.directory.display().to_string()).collect()
}

fn file_of(dialect: &str, window: &WindowFacts<'_>, environment: &[(&str, &str)]) -> Option<DiscoveryFile> {
    let files = by_name(dialect).unwrap().discovery_files(window, |name| {
        environment.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value))
    });
    assert!(files.len() < 2);
    files.into_iter().next()
}

#[test]
fn a_claude_lock_has_the_keys_that_the_agent_reads() {
    let file = file("claude", &["/w/a b".into(), "/w/c".into()], &[("HOME", "/home/ada")]).unwrap();
    assert_eq!(file.path(), PathBuf::from("/home/ada/.claude/ide/41001.lock"));
    assert_eq!(
        serde_json::from_slice::<Value>(&file.contents).unwrap(),
        json!({"pid": 12, "workspaceFolders": ["/w/a b", "/w/c"], "ideName": "Neovim", "transport": "ws",
               "runningInWindows": false, "authToken": "secret"})
    );
}

#[test]
fn a_nexus3_lock_has_its_five_keys() {
    let file = file("nexus3", &["/w".into()], &[("HOME", "/home/ada")]).unwrap();
    assert_eq!(file.path(), PathBuf::from("/home/ada/.nexus3/ide/41001.lock"));
    assert_eq!(
        serde_json::from_slice::<Value>(&file.contents).unwrap(),
        json!({"pid": 12, "workspaceFolders": ["/w"], "ideName": "Neovim", "transport": "ws", "authToken": "secret"})
    );
}

#[test]
fn gemini_and_qwen_each_get_a_file_in_their_own_place() {
    let folders = ["/w/a b".into(), "/w/odd:name".into(), "/w/c".into()];
    let files = by_name("gemini")
        .unwrap()
        .discovery_files(&window(&folders), |name| (name == "HOME").then(|| "/home/ada".into()));
    let places: Vec<_> = files.iter().map(DiscoveryFile::path).collect();
    let gemini = PathBuf::from("/tmp/gemini/ide/gemini-ide-server-12-41001.json");
    assert_eq!(places, [gemini, "/home/ada/.qwen/ide/41001.lock".into()]);
    let contents: Vec<Value> =
        files.iter().map(|file| serde_json::from_slice(&file.contents).unwrap()).collect();
    let ide = json!({"name": "linkspan", "displayName": "Neovim"});
    assert_eq!(
        contents,
        [
            json!({"port": 41001, "workspacePath": "/w/a b:/w/c", "authToken": "secret", "ideInfo": ide}),
            json!({"port": 41001, "workspacePath": "/w/a b:/w/c", "authToken": "secret", "ppid": 12,
                   "ideName": "Neovim", "ideInfo": ide}),
        ]
    );
    let marked = WindowFacts { port_space: Some("here"), ..window(&folders) };
    let files = by_name("gemini")
        .unwrap()
        .discovery_files(&marked, |name| (name == "TMPDIR").then(|| "/var/tmp/x".into()));
    assert_eq!(files[0].directory, PathBuf::from("/var/tmp/x/gemini/ide"));
    assert_eq!(files.len(), 1, "without a home there is no lock");
    assert_eq!(serde_json::from_slice::<Value>(&files[0].contents).unwrap()["linkspan"], "here");
}

#[test]
fn a_copilot_lock_names_the_socket_and_the_header_to_send() {
    let folders = ["/w/a b".into()];
    let file = file("copilot", &folders, &[("HOME", "/home/ada")]).unwrap();
    assert_eq!(file.directory, PathBuf::from("/home/ada/.copilot/ide"));
    assert_eq!(
        serde_json::from_slice::<Value>(&file.contents).unwrap(),
        json!({"socketPath": "/run/u/linkspan/agents/w1.sock", "scheme": "unix",
               "headers": {"Authorization": "Nonce secret"}, "pid": 12, "ideName": "Neovim",
               "timestamp": 1_763_193_600_000_u64, "workspaceFolders": ["/w/a b"], "isTrusted": true})
    );
    let moved = [("HOME", "/home/ada"), ("COPILOT_HOME", "/opt/copilot")];
    let lookup = |name: &str| moved.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into());
    let copilot = by_name("copilot").unwrap();
    let places = copilot.discovery_files(&window(&folders), lookup);
    let places: Vec<_> = places.iter().map(|file| file.directory.display().to_string()).collect();
    assert_eq!(places, ["/opt/copilot/ide", "/home/ada/.copilot/ide"]);
    let without_socket = WindowFacts { socket: None, ..window(&folders) };
    assert_eq!(file_of("copilot", &without_socket, &[("HOME", "/home/ada")]), None);
}

#[test]
fn a_copilot_lock_is_named_like_a_uuid_and_differs_from_window_to_window() {
    let name = |mark, port| {
        let window = WindowFacts { mark, port, ..window(&[]) };
        file_of("copilot", &window, &[("HOME", "/home/ada")]).unwrap().file_name
    };
    assert_eq!(name("0123456789abcdef", 41001), "01234567-89ab-4def-8000-00000000a029.lock");
    assert_ne!(name("0123456789abcdef", 41001), name("0123456789abcdef", 41002));
    assert_eq!(name("é", 1).len(), "01234567-89ab-4def-8000-00000000a029.lock".len());
}

#[test]
fn terminals_tell_gemini_and_qwen_the_port_and_keep_the_token() {
    let folders = ["/w/a".into(), "/w/b".into()];
    let variables = by_name("gemini").unwrap().terminal_environment(&window(&folders));
    let find = |name: &str| variables.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    for agent in ["GEMINI_CLI", "QWEN_CODE"] {
        assert_eq!(find(&format!("{agent}_IDE_SERVER_PORT")), Some("41001"));
        assert_eq!(find(&format!("{agent}_IDE_WORKSPACE_PATH")), Some("/w/a:/w/b"));
    }
    assert!(variables.iter().all(|(_, value)| !value.contains("secret")));
}

#[test]
fn our_mark_is_one_more_key() {
    let window = WindowFacts { port_space: Some("here"), ..window(&[]) };
    for dialect in ["claude", "nexus3"] {
        let file = file_of(dialect, &window, &[("HOME", "/home/ada")]).unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&file.contents).unwrap()["linkspan"], "here");
    }
}

#[test]
fn a_lock_is_where_the_agent_looks_with_its_own_variable_and_without_it() {
    let environment = [("HOME", "/home/ada"), ("CLAUDE_CONFIG_DIR", "/tmp/second")];
    assert_eq!(folders_of_claude(&environment), ["/tmp/second/ide", "/home/ada/.claude/ide"]);
    for nothing_new in ["", "/home/ada/.claude", "relative"] {
        let environment = [("HOME", "/home/ada"), ("CLAUDE_CONFIG_DIR", nothing_new)];
        assert_eq!(folders_of_claude(&environment), ["/home/ada/.claude/ide"]);
    }
    assert_eq!(folders_of_claude(&[("CLAUDE_CONFIG_DIR", "/tmp/second")]), ["/tmp/second/ide"]);
}

#[test]
fn without_a_home_there_is_no_file() {
    assert_eq!(file("claude", &[], &[]), None);
    assert_eq!(file("nexus3", &[], &[("HOME", "relative")]), None);
}

#[test]
fn a_folder_that_json_cannot_name_is_left_out() {
    let unnameable = PathBuf::from(OsString::from_vec(b"/w/\xff".to_vec()));
    let file = file("claude", &[unnameable, "/w".into()], &[("HOME", "/h")]).unwrap();
    let lock: Value = serde_json::from_slice(&file.contents).unwrap();
    assert_eq!(lock["workspaceFolders"], json!(["/w"]));
}

#[test]
fn terminals_learn_the_port_where_the_agent_looks_for_it() {
    let variables = by_name("claude").unwrap().terminal_environment(&window(&[]));
    let expected = [("CLAUDE_CODE_SSE_PORT", "41001"), ("ENABLE_IDE_INTEGRATION", "true")];
    assert_eq!(variables, expected.map(|(key, value)| (key.to_owned(), value.to_owned())));
    assert!(by_name("nexus3").unwrap().terminal_environment(&window(&[])).is_empty());
}
