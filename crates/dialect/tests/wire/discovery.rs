//! The files and variables by which agents find a window.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use linkspan_dialect::{DiscoveryFile, WindowFacts, by_name};
use serde_json::{Value, json};

fn file(dialect: &str, folders: &[PathBuf], environment: &[(&str, &str)]) -> Option<DiscoveryFile> {
    file_of(dialect, &window(folders), environment)
}

fn window(folders: &[PathBuf]) -> WindowFacts<'_> {
    WindowFacts {
        port: 41001,
        token: "secret",
        pid: 12,
        editor_name: "Neovim",
        folders,
        port_space: None,
        mark: "mark",
        unix_ms: 1_763_193_600_000,
    }
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
fn our_mark_is_one_more_key() {
    let window = WindowFacts { port_space: Some("here"), ..window(&[]) };
    for dialect in ["claude", "nexus3"] {
        let file = file_of(dialect, &window, &[("HOME", "/home/ada")]).unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&file.contents).unwrap()["linkspan"], "here");
    }
}

#[test]
fn the_agents_own_variable_moves_its_lock() {
    let environment = [("HOME", "/home/ada"), ("CLAUDE_CONFIG_DIR", "/tmp/second")];
    assert_eq!(file("claude", &[], &environment).unwrap().directory, PathBuf::from("/tmp/second/ide"));
    let environment = [("HOME", "/home/ada"), ("CLAUDE_CONFIG_DIR", "")];
    assert_eq!(file("claude", &[], &environment).unwrap().directory, PathBuf::from("/home/ada/.claude/ide"));
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
