//! Agents that mean harm, or are broken: the hub stays, nothing is written, and the conversation says what happened.

use std::fs;

use serde_json::json;

use super::{Session, TEXT};
use crate::support::{ChatClient, StandIn, World, eventually, hosted};

#[test]
fn garbage_half_lines_and_unknown_methods_harm_nobody() {
    let mut session = Session::new();
    session.client.prompt(&session.chat, "hello");
    let (prompt, _) = session.agent.prompted();
    session.agent.send_bytes(b"hello?\n\xff\xfe\x00\n{\"jsonrpc\":\n[]\nnull\n{\"id\":[]}\n\n");
    for (id, method) in [(20, "terminal/create"), (21, "_x/y"), (22, "elicitation/create")] {
        session.agent.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": {} }));
        assert_eq!(session.agent.answer(id)["error"]["code"], -32601, "{method}");
    }
    session.agent.update(json!({ "sessionUpdate": "something_new", "x": [1] }));
    session.agent.send_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":0,\"res");
    session.agent.send_bytes(b"ult\":{}}\n");
    session.agent.ends(&prompt, "end_turn");
    session.is("idle");
}

#[test]
fn a_line_of_fifty_megabytes_ends_the_agent_and_nothing_else() {
    let world = World::new();
    let program = world.file("long", "#!/bin/sh\nhead -c 52428800 /dev/zero | tr '\\0' x\nexec sleep 600\n");
    world.program("chmod").args(["700", &program]).status().unwrap();
    hosted::add_agent(&world, "long", program.as_ref(), &[], &[]);
    let _serve = world.serve();
    let mut client = ChatClient::connect(&world);
    let chat = client.start(&world, "long");
    let stopped = client.is(&chat, "stopped");
    assert!(stopped["summary"]["state"]["why"].as_str().unwrap().contains("16 MiB"), "{stopped}");
    world.run(&["status"]).ok();
}

#[test]
fn paths_outside_the_folder_are_neither_read_nor_written_nor_shown() {
    let mut session = Session::new();
    let outside = session.world.home().join("secret");
    fs::write(&outside, "secret").unwrap();
    let link = session.world.workspace().join("link");
    std::os::unix::fs::symlink(&outside, &link).unwrap();
    session.client.prompt(&session.chat, "hello");
    let (prompt, _) = session.agent.prompted();
    let paths = [outside.display().to_string(), link.display().to_string(), "../h/secret".to_owned()];
    for (id, path) in (30..).zip(&paths) {
        let params = json!({ "sessionId": "s1", "path": path });
        session
            .agent
            .send(&json!({ "jsonrpc": "2.0", "id": id, "method": "fs/read_text_file", "params": params }));
        assert!(session.agent.answer(id)["error"].is_object(), "{path}");
        session.agent.wants(id + 10, path, "secret", "mine");
        assert_eq!(session.agent.option(id + 10).as_deref(), Some("no"), "{path}");
        let params = json!({ "sessionId": "s1", "path": path, "content": "mine" });
        session.agent.send(
            &json!({ "jsonrpc": "2.0", "id": id + 20, "method": "fs/write_text_file", "params": params }),
        );
        assert!(session.agent.answer(id + 20)["error"].is_object(), "{path}");
    }
    session.agent.ends(&prompt, "end_turn");
    assert_eq!(fs::read_to_string(&outside).unwrap(), "secret");
    assert!(session.world.reviews().is_empty());
    assert!(session.notices().contains("did not accept"));
}

#[test]
fn duplicate_ids_and_two_edits_of_one_file_are_each_decided_once() {
    let mut session = Session::new();
    let (prompt, review) = session.wants(&TEXT.replace("two", "2"));
    session.agent.wants(7, &session.path.clone(), TEXT, "other");
    session.agent.wants(8, &session.path.clone(), TEXT, &TEXT.replace("three", "3"));
    eventually("two reviews", || (session.world.reviews().len() == 2).then_some(()));
    session.client.ask(
        "reviews/decide",
        json!({ "review": review, "decision": { "verdict": { "kind": "reject" }, "comments": [] } }),
    );
    assert_eq!(session.agent.option(7).as_deref(), Some("no"));
    session.agent.ends(&prompt, "end_turn");
    session.is("idle");
    eventually("a turn that is over leaves no question", || session.world.reviews().is_empty().then_some(()));
    assert_eq!(session.world.read_text("a.txt"), TEXT);
}

#[test]
fn an_agent_that_dies_at_once_says_why_in_its_own_words() {
    let world = World::new();
    let program = world.file("broken", "#!/bin/sh\necho 'no API key was found' >&2\nexit 3\n");
    world.program("chmod").args(["700", &program]).status().unwrap();
    hosted::add_agent(&world, "broken", program.as_ref(), &[], &[]);
    let _serve = world.serve();
    let mut client = ChatClient::connect(&world);
    let chat = client.start(&world, "broken");
    let stopped = client.is(&chat, "stopped");
    let why = stopped["summary"]["state"]["why"].as_str().unwrap();
    assert!(why.contains("no API key was found") && why.contains('3'), "{why}");
}

#[test]
fn an_agent_sees_only_the_variables_that_it_needs() {
    let world = World::new();
    let seen = world.path_str("seen");
    let program = world.file("nosy", format!("#!/bin/sh\nenv > {seen}\n"));
    world.program("chmod").args(["700", &program]).status().unwrap();
    hosted::add_agent(&world, "nosy", program.as_ref(), &[], &["FOR_AGENTS"]);
    let _serve = world.serve_with(&[&world.workspace()], &[("FOR_AGENTS", "1"), ("SECRET_OF_OTHERS", "1")]);
    let mut client = ChatClient::connect(&world);
    let chat = client.start(&world, "nosy");
    client.is(&chat, "stopped");
    let seen = world.read_text("seen");
    assert!(seen.contains("FOR_AGENTS=1") && seen.contains("HOME=") && !seen.contains("SECRET"), "{seen}");
}

#[test]
fn a_table_that_others_can_write_starts_nothing() {
    let world = World::new();
    let _agent = StandIn::new(&world);
    let file = world.config_file().with_file_name("agents.toml");
    world.program("chmod").args(["666", file.to_str().unwrap()]).status().unwrap();
    let _serve = world.serve();
    let mut client = ChatClient::connect(&world);
    let answer = client.ask("chat/agents", json!({}));
    assert!(answer["error"]["message"].as_str().unwrap().contains("written by others"), "{answer}");
    let folder = world.workspace();
    let answer = client.ask("chat/start", json!({ "agent": StandIn::ID, "folder": folder }));
    assert!(answer["error"].is_object(), "{answer}");
}
