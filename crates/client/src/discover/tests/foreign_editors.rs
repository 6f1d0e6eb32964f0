//! Editors of Clio, Gemini and Qwen: where they are looked for, and that they are asked in their own words.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::fixture::*;
use crate::connection::tests::http_server::{HttpServer, ServerReply};
use crate::connection::tests::server::{FakeServer, Say, ServerKind};
use crate::discover::*;

fn clio() -> FakeServer {
    FakeServer::start(ServerKind::Clio, |_| {
        vec![Say::Json(json!({ "type": "connected", "capabilities": ["diff"] }))]
    })
}

fn gemini() -> HttpServer {
    HttpServer::start(|heard| match heard.header("authorization") {
        Some("Bearer the-token") => {
            let result = json!({ "protocolVersion": "2025-06-18" });
            ServerReply::json(&json!({ "jsonrpc": "2.0", "id": heard.body["id"], "result": result }))
                .with("mcp-session-id", "s-1")
        }
        _ => ServerReply::Whole(401, vec![], String::new()),
    })
}

fn bridge_file(fixture: &DiscoveryFixture, contents: &Value) {
    fs::write(fixture.lock_folder("clio").join("bridge.json"), contents.to_string()).unwrap();
}

fn gemini_lock(port: u16, folder: &Path, token: &str) -> Value {
    let info = json!({ "name": "vscode", "displayName": "VS Code" });
    json!({ "port": port, "workspacePath": folder, "authToken": token, "ideInfo": info })
}

#[test]
fn clios_one_file_names_the_port() {
    let (fixture, editor) = (DiscoveryFixture::new(), clio());
    let port = editor.candidate.wire.port();
    bridge_file(
        &fixture,
        &json!({ "port": port, "ideName": "vscode", "workspaceFolders": [fixture.surroundings.cwd] }),
    );
    let found = fixture.only();
    assert_eq!((found.wire.clone(), found.verdict), (Wire::Clio { port }, CandidateVerdict::Usable));
    bridge_file(&fixture, &json!({ "ideName": "vscode", "workspaceFolders": [fixture.surroundings.cwd] }));
    assert!(matches!(fixture.refused(), Reason::Malformed(why) if why.contains("port")));
}

#[test]
fn a_terminal_of_clio_names_its_own_window_whatever_the_file_says() {
    let (mut fixture, other, own) = (DiscoveryFixture::new(), clio(), clio());
    let (other, own) = (other.candidate.wire.port(), own.candidate.wire.port());
    bridge_file(&fixture, &json!({ "port": other, "workspaceFolders": [fixture.surroundings.cwd] }));
    fixture.set("CLIO_IDE_PORT", own.to_string());
    let found = fixture.look();
    let best = found.best().unwrap();
    assert_eq!((best.wire.port(), best.matched), (own, Some(Match::OwnTerminal)));
    assert_eq!(best.found, FoundBy::Variable("CLIO_IDE_PORT"));
    assert_eq!(found.candidates.len(), 2);
    fixture.set("CLIO_IDE_PORT", other.to_string());
    assert!(matches!(fixture.only().found, FoundBy::LockFile(_)), "the file tells more than the variable");
}

#[test]
fn geminis_files_are_in_the_temporary_directory_and_qwens_at_home() {
    let (fixture, editor) = (DiscoveryFixture::new(), gemini());
    let (port, cwd) = (editor.port, &fixture.surroundings.cwd);
    let gemini = fixture.folder("t/gemini/ide").join(format!("gemini-ide-server-7-{port}.json"));
    let qwen = fixture.lock_folder("qwen").join(format!("{port}.lock"));
    for place in [gemini, qwen] {
        fs::write(&place, gemini_lock(port, cwd, TOKEN).to_string()).unwrap();
        let found = fixture.only();
        assert_eq!((found.editor.as_str(), found.verdict), ("VS Code", CandidateVerdict::Usable));
        assert!(matches!(found.wire, Wire::Gemini { token: Some(_), .. }));
        assert_eq!(found.found, FoundBy::LockFile(place.clone()));
        let goodbye = editor.hears("DELETE /mcp");
        assert_eq!(goodbye.header("mcp-session-id"), Some("s-1"), "nothing is left behind there");
        fs::write(&place, gemini_lock(port, cwd, "old").to_string()).unwrap();
        assert_eq!(fixture.refused(), Reason::BadToken);
        fs::write(&place, gemini_lock(closed_port(), cwd, TOKEN).to_string()).unwrap();
        fs::remove_file(place).unwrap();
    }
}

#[test]
fn geminis_variables_are_enough_for_us() {
    let (mut fixture, editor) = (DiscoveryFixture::new(), gemini());
    fixture.set("GEMINI_CLI_IDE_SERVER_PORT", editor.port.to_string());
    assert_eq!(fixture.refused(), Reason::BadToken);
    fixture.set("GEMINI_CLI_IDE_AUTH_TOKEN", TOKEN);
    let found = fixture.only();
    assert_eq!((found.matched, found.verdict), (Some(Match::OwnTerminal), CandidateVerdict::Usable));
    fixture.set("GEMINI_CLI_IDE_SERVER_PORT", closed_port().to_string());
    assert_eq!(fixture.refused(), Reason::NothingListens);
}

#[test]
fn another_program_on_the_port_of_these_is_no_editor() {
    let fixture = DiscoveryFixture::new();
    let web = HttpServer::start(|_| ServerReply::Whole(404, vec![], String::new()));
    bridge_file(&fixture, &json!({ "port": web.port, "workspaceFolders": [fixture.surroundings.cwd] }));
    assert!(matches!(fixture.refused(), Reason::NotAnEditor(_)));
    fs::remove_dir_all(fixture.lock_folder("clio")).unwrap();
    let qwen = fixture.lock_folder("qwen").join(format!("{}.lock", web.port));
    fs::write(qwen, gemini_lock(web.port, &fixture.surroundings.cwd, TOKEN).to_string()).unwrap();
    assert!(matches!(fixture.refused(), Reason::NotAnEditor(why) if why.contains("404")));
}
