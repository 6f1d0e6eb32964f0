//! Agents that reach for more than they were given: the tokens of other windows, and control characters in a log.

use linkspan_testkit::agent::{CLAUDE, Who};
use linkspan_testkit::{Agent, EditorBuilder, WsDialect, ppxai};
use serde_json::json;

use super::endpoint::HubEndpoint;
use super::fixture::{AttackFixture, PPXAI_TOKEN};
use super::{Attack, AttackResult, BY_AGENTS};

pub(super) fn attacks() -> Vec<Attack> {
    vec![
        Attack { name: "tokens of other windows", endpoints: "ppxai, nexus3", run: tokens, ..BY_AGENTS },
        Attack { name: "control characters in the log", endpoints: "claude, nexus3", run: log, ..BY_AGENTS },
    ]
}

fn client(port: u16) -> ppxai::Client {
    ppxai::Client::new(port).with(&HubEndpoint::Ppxai.token_line(PPXAI_TOKEN).unwrap())
}

/// With the home directory as the workspace.
fn tokens(fixture: &mut AttackFixture) -> AttackResult {
    let home = fixture.world.home();
    let editor =
        EditorBuilder::new(&fixture.world).name("Home").folders(std::slice::from_ref(&home)).attach();
    let port = editor.port();
    let mut files = fixture.world.discovery_files();
    files.extend(fixture.world.gemini_files());
    files.push(fixture.world.journal());
    assert!(files.len() > 3, "{files:?}");
    let mut tries = 0;
    for file in &files {
        let answer = client(port).call("ide.read_file", json!({ "path": file }));
        assert!(!answer.to_string().contains(&fixture.token), "{} is read: {answer}", file.display());
        assert_eq!(answer["success"], false, "{} is read: {answer}", file.display());
        tries += 1;
    }
    for tool in ["ide.search_files", "ide.list_files"] {
        let arguments = json!({ "query": fixture.token, "pattern": "**/*", "ignored": true });
        let answer = client(port).call(tool, arguments);
        let said = answer["result"].to_string();
        assert!(!said.contains(&fixture.token), "{tool}: {said:.300}");
        tries += 1;
    }
    drop(editor);
    AttackResult::new(tries, "no discovery file and no journal is read, found or listed with its token")
}

fn log(fixture: &mut AttackFixture) -> AttackResult {
    let turned = "safe\u{202e}lave\u{2066}\u{1b}[2J";
    let mut tries = 0;
    for dialect in [WsDialect::Claude, WsDialect::Nexus3] {
        let who = Who { name: turned, version: turned, ..CLAUDE };
        let mut agent = Agent::introduced(&fixture.world, fixture.port, dialect, who);
        let path = fixture.world.path_str(&format!("{turned}.txt"));
        agent.propose(&path, "text\n", turned);
        agent.is_served();
        tries += 2;
    }
    let outside = format!("/outside/{turned}");
    let mut agent = Agent::nexus3(&fixture.world, fixture.port);
    agent.call("openFile", json!({ "filePath": outside }));
    let text = fixture.world.log();
    let odd = |character: &char| {
        (character.is_control() && *character != '\n')
            || matches!(*character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
    };
    let found: Vec<char> = text.chars().filter(odd).collect();
    assert!(found.is_empty(), "the log contains {found:?}");
    AttackResult::new(tries + 1, "the log contains none of these characters")
}
