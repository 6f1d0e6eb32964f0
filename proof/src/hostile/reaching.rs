//! Agents that reach for more than they were given: the tokens of other windows, and words that turn a log around.

use linkspan_testkit::agent::{CLAUDE, Who};
use linkspan_testkit::{Agent, Dialect, EditorBuilder, ppxai};
use serde_json::json;

use super::door::Door;
use super::stage::{PPXAI_TOKEN, Stage};
use super::{Attack, OF_AGENTS, Seen};

pub(super) fn attacks() -> Vec<Attack> {
    vec![
        Attack { name: "tokens of other windows", doors: "ppxai, nexus3", run: tokens, ..OF_AGENTS },
        Attack { name: "a log turned around", doors: "claude, nexus3", run: log, ..OF_AGENTS },
    ]
}

fn client(port: u16) -> ppxai::Client {
    ppxai::Client::new(port).with(&Door::Ppxai.token_line(PPXAI_TOKEN).unwrap())
}

/// With the home directory as the workspace.
fn tokens(stage: &mut Stage) -> Seen {
    let home = stage.world.home();
    let editor = EditorBuilder::new(&stage.world).name("Home").folders(std::slice::from_ref(&home)).attach();
    let port = editor.port();
    let mut files = stage.world.discovery_files();
    files.extend(stage.world.gemini_files());
    files.push(stage.world.journal());
    assert!(files.len() > 3, "{files:?}");
    let mut tries = 0;
    for file in &files {
        let answer = client(port).call("ide.read_file", json!({ "path": file }));
        assert!(!answer.to_string().contains(&stage.token), "{} is read: {answer}", file.display());
        assert_eq!(answer["success"], false, "{} is read: {answer}", file.display());
        tries += 1;
    }
    for tool in ["ide.search_files", "ide.list_files"] {
        let arguments = json!({ "query": stage.token, "pattern": "**/*", "ignored": true });
        let answer = client(port).call(tool, arguments);
        let said = answer["result"].to_string();
        assert!(!said.contains(&stage.token), "{tool}: {said:.300}");
        tries += 1;
    }
    drop(editor);
    Seen::new(tries, "no discovery file and no journal is read, found or listed with its token")
}

fn log(stage: &mut Stage) -> Seen {
    let turned = "safe\u{202e}lave\u{2066}\u{1b}[2J";
    let mut tries = 0;
    for dialect in [Dialect::Claude, Dialect::Nexus3] {
        let who = Who { name: turned, version: turned, ..CLAUDE };
        let mut agent = Agent::introduced(&stage.world, stage.port, dialect, who);
        let path = stage.world.path_str(&format!("{turned}.txt"));
        agent.propose(&path, "text\n", turned);
        agent.is_served();
        tries += 2;
    }
    let outside = format!("/outside/{turned}");
    let mut agent = Agent::nexus3(&stage.world, stage.port);
    agent.call("openFile", json!({ "filePath": outside }));
    let text = stage.world.log();
    let odd = |character: &char| {
        (character.is_control() && *character != '\n')
            || matches!(*character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
    };
    let found: Vec<char> = text.chars().filter(odd).collect();
    assert!(found.is_empty(), "the log holds {found:?}");
    Seen::new(tries + 1, "the log holds none of these characters")
}
