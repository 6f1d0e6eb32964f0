//! Sessions that the agent names, connections that are lost, and hubs that are killed.

use serde_json::{Value, json};

use super::fixture::{NEW, OLD, TAB, fixture};
use crate::support::copilot::{self, Copilot};
use crate::support::*;

/// The names of connected agents.
fn agents(world: &World) -> Vec<Value> {
    world.status()["windows"][0]["agents"].as_array().unwrap().clone()
}

/// The one pending review has its agent again.
fn waited_for(world: &World) {
    eventually("an agent waits", || (world.reviews().first()?["ownerGone"] == false).then_some(()));
}

#[test]
fn a_session_that_ends_and_begins_again_at_once_works() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let mut editor = Editor::attach(&world);
    let mut agent = Copilot::find(&world, "8e5d2a20-ae95-41cf-9480-139dfb9640a8");
    for _ in 0..3 {
        agent.begun = false;
        agent.shake_hands();
        let stream = agent.listen();
        assert_eq!(agent.delete().status, 200);
        drop(stream);
    }
    assert_eq!(agent.post(&json!({ "jsonrpc": "2.0", "id": 5, "method": "ping" })).status, 404);
    agent.begun = false;
    agent.shake_hands();
    let _stream = agent.listen();
    assert_eq!(agents(&world).len(), 1);
    let pending = agent.open_diff(&path, NEW, TAB);
    editor.accept(&editor.shown(&path));
    assert_eq!(pending.decision().0, "SAVED");
}

#[test]
fn a_second_hello_of_a_connected_session_is_refused_and_disturbs_nothing() {
    let mut fixture = fixture();
    let pending = fixture.propose();
    let mut other = fixture.agent.clone();
    other.begun = false;
    assert_eq!(other.initialize().status, 409);
    assert_eq!(fixture.agent.initialize().status, 409);
    assert_eq!(agents(&fixture.world).len(), 1);
    let shown = fixture.editor.shown(&fixture.path);
    fixture.editor.accept(&shown);
    assert_eq!(pending.decision().0, "SAVED");
}

#[test]
fn an_agent_that_lost_its_stream_begins_again_with_the_same_id() {
    let mut fixture = fixture();
    fixture.stream.cut_off();
    fixture.agent.begun = false;
    eventually("it may begin again", || (fixture.agent.initialize().status == 200).then_some(()));
    fixture.agent.begun = true;
    let _stream = fixture.agent.listen();
    assert_eq!(agents(&fixture.world).len(), 1);
}

#[test]
fn an_id_that_is_not_a_word_names_no_session() {
    let world = World::new();
    let _serve = world.serve();
    for odd in ["", "a b", "ä", "../x", &"x".repeat(65), "a\u{1f}b"] {
        let agent = Copilot::find(&world, odd);
        assert_eq!(agent.initialize().status, 400, "{odd:?}");
    }
    let agent = Copilot::find(&world, &"x".repeat(64));
    assert_eq!(agent.initialize().status, 200);
}

#[test]
fn a_proposal_whose_connection_is_lost_waits_without_an_agent_and_is_asked_again_without_a_second_question() {
    let mut fixture = fixture();
    let pending = fixture.propose();
    let review = fixture.world.one_pending();
    pending.cut_off();
    eventually("it is gone", || agents(&fixture.world).is_empty().then_some(()));
    assert_eq!(fixture.world.one_pending(), review, "a lost socket is not a decision");
    fixture.agent.begun = false;
    fixture.agent.shake_hands();
    let _stream = fixture.agent.listen();
    let pending = fixture.agent.open_diff(&fixture.path, NEW, "[Copilot CLI] - a.txt (another)");
    waited_for(&fixture.world);
    fixture.world.run(&["accept", &review]).ok();
    assert_eq!(pending.decision().0, "SAVED");
    fixture.delivered();
}

#[test]
fn a_decision_that_the_agent_did_not_wait_for_is_answered_when_it_asks_again() {
    let mut fixture = fixture();
    let pending = fixture.propose();
    let review = fixture.world.one_pending();
    pending.cut_off();
    eventually("it is gone", || agents(&fixture.world).is_empty().then_some(()));
    fixture.world.run(&["reject", &review]).ok();
    fixture.agent.begun = false;
    fixture.agent.shake_hands();
    let _stream = fixture.agent.listen();
    let pending = fixture.agent.open_diff(&fixture.path, NEW, TAB);
    assert_eq!(pending.decision().0, "REJECTED");
    fixture.delivered();
}

#[test]
fn a_goodbye_withdraws_what_is_open() {
    let fixture = fixture();
    let pending = fixture.propose();
    assert_eq!(fixture.agent.delete().status, 200);
    eventually("it is withdrawn", || fixture.world.reviews().is_empty().then_some(()));
    drop(pending);
    assert!(agents(&fixture.world).is_empty());
}

#[test]
fn after_a_killed_hub_the_same_window_is_found_and_the_same_review_goes_on() {
    let mut fixture = fixture();
    let before = copilot::lock(&fixture.world);
    let pending = fixture.propose();
    let review = fixture.world.one_pending();
    fixture.world.kill_hub();
    fixture.stream.ended();
    drop(pending);
    let shown = fixture.editor.until("it is shown again", |state| state.shown.get(1).cloned());
    assert_eq!(shown.review, review);
    eventually("the lock is there again", || (copilot::locks(&fixture.world).len() == 1).then_some(()));
    let after = copilot::lock(&fixture.world);
    assert_eq!((&after["socketPath"], &after["headers"]), (&before["socketPath"], &before["headers"]));
    let ping = json!({ "jsonrpc": "2.0", "id": 5, "method": "ping" });
    assert_eq!(fixture.agent.post(&ping).status, 404, "the session begins again");
    fixture.agent.begun = false;
    fixture.agent.shake_hands();
    let _stream = fixture.agent.listen();
    let pending = fixture.agent.open_diff(&fixture.path, NEW, TAB);
    waited_for(&fixture.world);
    fixture.editor.accept(&shown);
    assert_eq!(pending.decision().0, "SAVED");
    fixture.delivered();
}

#[test]
fn a_killed_hub_leaves_nothing_that_the_next_one_does_not_remove() {
    let world = World::new();
    let editor = Editor::attach(&world);
    let stale = world.runtime().join("agents/w999.sock");
    drop(std::os::unix::net::UnixListener::bind(&stale).unwrap());
    let window = copilot::locks(&world);
    editor.freeze();
    world.kill_hub();
    assert_eq!(world.agent_sockets().len(), 2);
    // Any command starts the next hub; the frozen editor does not come back to it.
    world.run(&["reviews"]).ok();
    eventually("the lock is removed", || copilot::locks(&world).is_empty().then_some(()));
    assert!(world.agent_sockets().is_empty(), "{:?}", world.agent_sockets());
    editor.thaw();
    eventually("the window is found again", || (copilot::locks(&world) == window).then_some(()));
}

#[test]
fn a_socket_that_was_removed_is_made_again_and_the_agent_stays_connected() {
    let mut fixture = fixture();
    let pending = fixture.propose();
    std::fs::remove_file(&fixture.agent.socket).unwrap();
    eventually("it is there again", || fixture.agent.socket.exists().then_some(()));
    let shown = fixture.editor.shown(&fixture.path);
    fixture.editor.accept(&shown);
    assert_eq!(pending.decision().0, "SAVED");
    fixture.delivered();
}

#[test]
fn lock_and_socket_are_private_and_go_with_the_window() {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    let world = World::with_config("window_grace_seconds = 0\n");
    let editor = Editor::attach(&world);
    let [lock] = copilot::locks(&world).try_into().unwrap();
    let socket = Copilot::find(&world, "x").socket;
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().mode() & 0o777;
    assert!(std::fs::metadata(&socket).unwrap().file_type().is_socket());
    assert_eq!([&lock, &socket].map(|path| mode(path)), [0o600; 2]);
    assert_eq!([&lock, &socket].map(|path| mode(path.parent().unwrap())), [0o700; 2]);
    editor.detach();
    eventually("both are gone", || (!lock.exists() && !socket.exists()).then_some(()));
}

#[test]
fn a_socket_path_that_is_too_long_is_a_problem_in_the_status_and_keeps_no_other_agent_out() {
    let world = World::new();
    let room = 107 - "/linkspan/agents/w1.sock".len();
    let root = world.root().join("r");
    let long = root.join("x".repeat(room - root.as_os_str().len()));
    std::fs::create_dir_all(&long).unwrap();
    let status = |variable: &std::path::Path| {
        let run = world.command(&["status", "--json"]).env("XDG_RUNTIME_DIR", variable).output().unwrap();
        serde_json::from_slice::<Value>(&run.stdout).unwrap()
    };
    let serve = world.serve_with(&[&world.workspace()], &[("XDG_RUNTIME_DIR", long.to_str().unwrap())]);
    let status = status(&long);
    let dialects = status["windows"][0]["dialects"].as_array().unwrap();
    let copilot = dialects.iter().find(|dialect| dialect["name"] == "copilot").unwrap();
    let problem = copilot["problems"][0].as_str().unwrap();
    assert!(problem.contains("XDG_RUNTIME_DIR") && problem.contains("w1.sock"), "{problem}");
    assert_eq!(copilot["discoveryFiles"], json!([]));
    Agent::introduced(&world, serve.port, WsDialect::Claude, agent::CLAUDE).is_served();
    drop(serve);
    let stop = world.command(&["hub", "stop"]).env("XDG_RUNTIME_DIR", &long).output().unwrap();
    assert!(stop.status.success(), "{stop:?}");
}

#[test]
fn a_dialect_that_is_off_has_no_lock_and_no_socket() {
    let world = World::with_config("dialects_off = [\"copilot\"]\n");
    let _serve = world.serve();
    assert!(copilot::locks(&world).is_empty() && world.agent_sockets().is_empty());
    let status = world.status();
    let dialects = status["windows"][0]["dialects"].as_array().unwrap();
    assert!(dialects.iter().all(|dialect| dialect["name"] != "copilot"), "{dialects:?}");
}
