//! Hubs that are killed or stopped while Gemini CLI waits: the next one continues, and nothing is delivered twice.

use serde_json::{Value, json};

use super::tests::{NEW, back, fixture};
use crate::support::eventually;

#[test]
fn a_diff_that_was_open_when_the_hub_was_killed_is_decided_at_the_next_one() {
    let mut fixture = fixture();
    let port = fixture.editor.port();
    let agent = fixture.agent();
    let mut stream = agent.listen(None);
    agent.open_diff(&fixture.path, NEW);
    fixture.editor.shown(&fixture.path);
    fixture.world.kill_hub();
    stream.ended();
    back(&fixture, port);
    let mut stream = agent.listen(stream.last.as_deref());
    stream.notification("ide/contextUpdate");
    let again = fixture.editor.until("it is shown again", |state| state.shown.get(1).cloned());
    fixture.editor.accept(&again);
    assert_eq!(stream.notification("ide/diffAccepted"), fixture.decided("ide/diffAccepted"));
    let window = &fixture.world.status()["windows"][0];
    let back = &window["returnedAgents"][0];
    assert_eq!((&back["name"], &back["version"]), (&json!("Gemini CLI"), &json!("0.61.0")));
    assert_eq!(window["agents"], json!([]), "Gemini CLI shows itself as disconnected then");
}

#[test]
fn a_decision_that_was_not_delivered_is_told_by_the_next_hub_and_only_once() {
    let mut fixture = fixture();
    let port = fixture.editor.port();
    let agent = fixture.agent();
    agent.open_diff(&fixture.path, NEW);
    let shown = fixture.editor.shown(&fixture.path);
    fixture.editor.accept(&shown);
    fixture.world.kill_hub();
    back(&fixture, port);
    let mut stream = agent.listen(None);
    assert_eq!(stream.notification("ide/diffAccepted"), fixture.decided("ide/diffAccepted"));
    assert_eq!(stream.rest(), Vec::<Value>::new());
    eventually("it is delivered", || {
        fixture.world.json(&["reviews", "--all"])["reviews"].as_array()?.is_empty().then_some(())
    });
}

#[test]
fn a_file_asked_for_through_a_symlink_is_told_by_that_name_after_a_restart_too() {
    let mut fixture = fixture();
    let port = fixture.editor.port();
    std::os::unix::fs::symlink(&fixture.path, fixture.world.path("link.txt")).unwrap();
    let link = fixture.world.path_str("link.txt");
    let agent = fixture.agent();
    agent.open_diff(&link, NEW);
    let shown = fixture.editor.shown(&fixture.path);
    fixture.editor.accept(&shown);
    fixture.world.kill_hub();
    back(&fixture, port);
    let told = agent.listen(None).notification("ide/diffAccepted");
    assert_eq!(told["params"]["filePath"], json!(link));
}

#[test]
fn a_decision_that_the_agent_received_before_the_hub_was_killed_is_not_told_as_the_answer_to_its_next_change()
{
    let mut fixture = fixture();
    let port = fixture.editor.port();
    let agent = fixture.agent();
    let mut stream = agent.listen_silently(None);
    agent.open_diff(&fixture.path, NEW);
    let shown = fixture.editor.shown(&fixture.path);
    fixture.editor.accept(&shown);
    stream.notification("ide/diffAccepted");
    let last = stream.last.clone();
    fixture.world.kill_hub();
    stream.ended();
    back(&fixture, port);
    // It continues with its next change of the same file, and has only that id.
    agent.open_diff(&fixture.path, "one\nTWO\n3\n");
    let mut stream = agent.listen(last.as_deref());
    assert_eq!(stream.rest(), Vec::<Value>::new(), "an old decision");
    let next = fixture.editor.until("the next change is shown", |state| {
        state.shown.iter().find(|shown| shown.proposed.contains("3")).cloned()
    });
    fixture.editor.accept(&next);
    let told = stream.notification("ide/diffAccepted");
    assert_eq!(told["params"]["content"], "one\nTWO\n3\n");
}

#[test]
fn a_hub_that_is_stopped_by_force_says_no_to_nobody_and_the_next_one_goes_on() {
    let mut fixture = fixture();
    let agent = fixture.agent();
    let mut stream = agent.listen(None);
    agent.open_diff(&fixture.path, NEW);
    fixture.editor.shown(&fixture.path);
    fixture.world.run(&["hub", "stop", "--force"]).ok();
    assert_eq!(stream.rest(), Vec::<Value>::new());
    stream.ended();
    // The editor starts the next one, on the same port.
    back(&fixture, agent.port);
    let mut stream = agent.listen(stream.last.as_deref());
    stream.notification("ide/contextUpdate");
    let again = fixture.editor.until("it is shown again", |state| state.shown.get(1).cloned());
    fixture.editor.accept(&again);
    assert_eq!(stream.notification("ide/diffAccepted"), fixture.decided("ide/diffAccepted"));
}
