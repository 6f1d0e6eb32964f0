//! One change that an agent asks for twice, through its hook and through its editor protocol: one question, one outcome,
//! in any order, and also if one of the two leaves.

use linkspan_review::{AgentId, WindowId};
use serde_json::{Value, json};

use super::hooks::{
    HOOK, NEXT_HOOK, attached_hub, join_hook, join_hook_of, lose, propose, receive_all, told,
};
use super::support::{COMMAND, EDITOR};
use super::{NEW, OLD, first_text};
use crate::core::harness::CoreHarness;
use crate::core::{ConnectionId, Event};

const CRLF: &[u8] = b"one\r\ntwo\r\n";

/// Claude Code, connected as the agent of an editor.
fn connect(hub: &mut CoreHarness, agent: u64) -> AgentId {
    connect_as(hub, agent, "claude-code")
}

fn connect_as(hub: &mut CoreHarness, agent: u64, name: &str) -> AgentId {
    let agent = AgentId(agent);
    let dialect = linkspan_dialect::by_name("claude").unwrap();
    hub.event(Event::AgentOpened { agent, window: WindowId(1), dialect, called: None });
    let hello = json!({ "protocolVersion": "2025-06-18", "clientInfo": { "name": name, "version": "1" } });
    hub.frame(agent, &json!({ "jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": hello }));
    agent
}

/// Both ask for the same, the hook first or the editor's agent first. Returns the agent and the hook's call.
fn both_ask(hub: &mut CoreHarness, hook_first: bool) -> (AgentId, i64) {
    let agent = connect(hub, 1);
    join_hook(hub, HOOK, "p1");
    if hook_first {
        let asked = propose(hub, HOOK, NEW);
        hub.propose(agent, 1, NEW);
        (agent, asked)
    } else {
        hub.propose(agent, 1, NEW);
        (agent, propose(hub, HOOK, NEW))
    }
}

fn restarted(hub: CoreHarness) -> CoreHarness {
    let mut hub = hub.restart();
    hub.attach(EDITOR, json!({ "reviews": true, "messages": true }));
    hub.event(Event::ConnectionOpened { connection: COMMAND });
    hub
}

#[test]
fn both_receive_the_one_decision_whoever_asked_first() {
    for hook_first in [true, false] {
        let mut hub = attached_hub();
        let (agent, asked) = both_ask(&mut hub, hook_first);
        assert_eq!((hub.reviews().len(), hub.shown().len()), (1, 1));
        hub.decide(COMMAND, "accept");
        let outcome = told(&hub, HOOK, asked);
        assert_eq!((&outcome["outcome"], &outcome["text"]), (&json!("accepted"), &json!(NEW)));
        assert_eq!(hub.answers(agent, 1)[0]["result"]["content"][1]["text"], NEW);
        // Only when both have it is it delivered.
        hub.pong(agent);
        assert_eq!(hub.reviews().len(), 1, "hook first: {hook_first}");
        receive_all(&mut hub, HOOK);
        assert!(hub.reviews().is_empty());
        assert_eq!((hub.file(), hub.writes), (OLD, 0), "their agent writes");
    }
}

#[test]
fn another_agent_that_proposes_the_same_as_a_hook_is_asked_about_separately() {
    for hook_first in [true, false] {
        let mut hub = attached_hub();
        let other = connect(&mut hub, 1);
        join_hook_of(&mut hub, HOOK, "p1", "Gemini CLI", "s-1");
        if hook_first {
            propose(&mut hub, HOOK, NEW);
            hub.propose(other, 1, NEW);
        } else {
            hub.propose(other, 1, NEW);
            propose(&mut hub, HOOK, NEW);
        }
        assert_eq!(hub.reviews().len(), 2, "hook first: {hook_first}");
    }
}

#[test]
fn both_receive_a_rejection_and_a_part() {
    for hook_first in [true, false] {
        let mut hub = attached_hub();
        let (agent, asked) = both_ask(&mut hub, hook_first);
        let verdict = json!({ "kind": "reject", "reason": "no" });
        let decision = json!({ "review": "r1", "decision": { "verdict": verdict } });
        hub.request(COMMAND, "reviews/decide", decision);
        assert_eq!(told(&hub, HOOK, asked)["reason"], "no");
        assert_eq!(first_text(hub.answers(agent, 1)[0]), "DIFF_REJECTED");

        let mut hub = attached_hub();
        let (agent, asked) = both_ask(&mut hub, hook_first);
        let verdict = json!({ "kind": "acceptEdited", "text": "one\nmine\n" });
        let decision = json!({ "review": "r1", "decision": { "verdict": verdict } });
        hub.request(COMMAND, "reviews/decide", decision);
        assert_eq!(told(&hub, HOOK, asked)["text"], "one\nmine\n");
        assert_eq!(hub.answers(agent, 1)[0]["result"]["content"][1]["text"], "one\nmine\n");
    }
}

#[test]
fn each_receives_the_text_in_its_own_line_endings() {
    for hook_first in [true, false] {
        let mut hub = attached_hub();
        hub.files.insert("/ws/a.txt".into(), CRLF.to_vec());
        let agent = connect(&mut hub, 1);
        join_hook(&mut hub, HOOK, "p1");
        if !hook_first {
            hub.propose(agent, 1, NEW);
        }
        let asked = propose(&mut hub, HOOK, "one\r\n2\r\n");
        if hook_first {
            hub.propose(agent, 1, NEW);
        }
        assert_eq!(hub.reviews().len(), 1);
        hub.decide(COMMAND, "accept");
        assert_eq!(told(&hub, HOOK, asked)["text"], "one\r\n2\r\n", "hook first: {hook_first}");
        assert_eq!(hub.answers(agent, 1)[0]["result"]["content"][1]["text"], NEW);
    }
}

#[test]
fn the_review_stays_for_the_other_when_one_withdraws_or_leaves() {
    for hook_first in [true, false] {
        for hook_leaves in [true, false] {
            for by_leaving in [true, false] {
                let mut hub = attached_hub();
                let (agent, asked) = both_ask(&mut hub, hook_first);
                match (hook_leaves, by_leaving) {
                    (true, true) => lose(&mut hub, HOOK),
                    (true, false) => {
                        hub.notify(HOOK, "notifications/cancelled", json!({ "requestId": asked }));
                        assert_eq!(told(&hub, HOOK, asked)["error"]["kind"], "withdrawn");
                    }
                    (false, true) => hub.disconnect(agent),
                    (false, false) => hub.call(agent, 2, "close_tab", json!({ "tab_name": "tab" })),
                }
                let case = format!("hook first {hook_first}, leaves {hook_leaves}, gone {by_leaving}");
                assert_eq!(hub.reviews().len(), 1, "{case}");
                assert!(hub.reviews()[0].owner.is_some(), "{case}");
                assert!(hub.requests_to_editor("review/waiting").is_empty(), "{case}");
                hub.decide(COMMAND, "accept");
                if hook_leaves {
                    assert_eq!(first_text(hub.answers(agent, 1)[0]), "FILE_SAVED", "{case}");
                    hub.pong(agent);
                } else {
                    assert_eq!(told(&hub, HOOK, asked)["outcome"], "accepted", "{case}");
                    receive_all(&mut hub, HOOK);
                }
                assert!(hub.reviews().is_empty(), "{case}");
            }
        }
    }
}

#[test]
fn nobody_is_asked_when_both_have_left() {
    for hook_first in [true, false] {
        let mut hub = attached_hub();
        let (agent, _) = both_ask(&mut hub, hook_first);
        hub.call(agent, 2, "close_tab", json!({ "tab_name": "tab" }));
        lose(&mut hub, HOOK);
        assert!(hub.reviews().is_empty());
    }
}

#[test]
fn both_ask_again_after_a_restart_in_any_order() {
    for hook_first in [true, false] {
        for decided in [true, false] {
            for hook_is_back_first in [true, false] {
                let mut hub = attached_hub();
                both_ask(&mut hub, hook_first);
                if decided {
                    hub.decide(COMMAND, "accept");
                }
                let mut hub = restarted(hub);
                let (agent, asked) = both_ask(&mut hub, hook_is_back_first);
                let case = format!("hook first {hook_first}, then {hook_is_back_first}, decided {decided}");
                assert_eq!(hub.reviews().len(), 1, "{case}");
                if !decided {
                    hub.decide(COMMAND, "accept");
                }
                assert_eq!(told(&hub, HOOK, asked)["outcome"], "accepted", "{case}");
                assert_eq!(first_text(hub.answers(agent, 1)[0]), "FILE_SAVED", "{case}");
            }
        }
    }
}

#[test]
fn who_is_left_after_a_restart_has_the_review_of_the_other() {
    for hook_first in [true, false] {
        let mut hub = attached_hub();
        both_ask(&mut hub, hook_first);
        let mut hub = restarted(hub);
        // The one that did not own it is the only one to come back.
        if hook_first {
            let agent = connect(&mut hub, 1);
            hub.propose(agent, 1, NEW);
            hub.decide(COMMAND, "accept");
            assert_eq!(first_text(hub.answers(agent, 1)[0]), "FILE_SAVED");
        } else {
            join_hook(&mut hub, HOOK, "p1");
            let asked = propose(&mut hub, HOOK, NEW);
            hub.decide(COMMAND, "accept");
            assert_eq!(told(&hub, HOOK, asked)["review"], "r1");
        }
        assert_eq!(hub.reviews().len(), 1);
    }
}

#[test]
fn two_agents_without_hooks_are_asked_about_separately() {
    let mut hub = attached_hub();
    let one = connect_as(&mut hub, 1, "one");
    let other = connect_as(&mut hub, 3, "other");
    hub.propose(one, 1, NEW);
    hub.propose(other, 1, NEW);
    assert_eq!(hub.reviews().len(), 2);
}

#[test]
fn another_text_is_another_question() {
    let mut hub = attached_hub();
    let agent = connect(&mut hub, 1);
    join_hook(&mut hub, HOOK, "p1");
    propose(&mut hub, HOOK, NEW);
    hub.propose(agent, 1, "one\n3\n");
    assert_eq!(hub.reviews().len(), 2);
}

#[test]
fn what_the_hook_was_allowed_to_write_is_not_asked_about_again() {
    let restarts = [false, true];
    for (restart, taken) in restarts.iter().flat_map(|restart| [(*restart, NEW), (*restart, "one\nmine\n")]) {
        let mut hub = attached_hub();
        join_hook(&mut hub, HOOK, "p1");
        propose(&mut hub, HOOK, NEW);
        let verdict = json!({ "kind": "acceptEdited", "text": taken });
        hub.request(COMMAND, "reviews/decide", json!({ "review": "r1", "decision": { "verdict": verdict } }));
        receive_all(&mut hub, HOOK);
        lose(&mut hub, HOOK);
        assert!(hub.reviews().is_empty());
        if restart {
            hub = restarted(hub);
        }
        let recorded = hub.journal.len();
        let agent = connect(&mut hub, 1);
        hub.propose(agent, 1, taken);
        assert_eq!(first_text(hub.answers(agent, 1)[0]), "FILE_SAVED", "restart {restart}");
        assert_eq!(hub.answers(agent, 1)[0]["result"]["content"][1]["text"], taken);
        assert!(hub.reviews().is_empty());
        assert_eq!(hub.journal.len(), recorded, "nothing is decided a second time");
        // The write is still expected.
        hub.files.insert("/ws/a.txt".into(), taken.as_bytes().to_vec());
        hub.wait_seconds(120);
        assert_eq!(hub.on_disk.len(), 1);
    }
}

#[test]
fn what_the_editors_agent_was_allowed_to_write_is_not_asked_about_by_its_hook() {
    let mut hub = attached_hub();
    let agent = connect(&mut hub, 1);
    hub.propose(agent, 1, NEW);
    hub.decide(COMMAND, "accept");
    hub.pong(agent);
    join_hook(&mut hub, HOOK, "p1");
    let asked = propose(&mut hub, HOOK, NEW);
    let outcome = told(&hub, HOOK, asked);
    assert_eq!((&outcome["outcome"], &outcome["review"]), (&json!("accepted"), &json!("r1")));
    assert!(hub.reviews().is_empty());
}

#[test]
fn an_accept_answers_only_the_same_change_of_the_same_agent_for_a_minute() {
    let accepted = |hub: &mut CoreHarness| {
        join_hook(hub, HOOK, "p1");
        propose(hub, HOOK, NEW);
        hub.decide(COMMAND, "accept");
        receive_all(hub, HOOK);
        lose(hub, HOOK);
    };
    // Another agent.
    let mut hub = attached_hub();
    accepted(&mut hub);
    let other = connect_as(&mut hub, 1, "Qwen Code");
    hub.propose(other, 1, NEW);
    assert_eq!(hub.reviews().len(), 1);
    // Another text.
    let mut hub = attached_hub();
    accepted(&mut hub);
    let agent = connect(&mut hub, 1);
    hub.propose(agent, 1, "one\n3\n");
    assert_eq!(hub.reviews().len(), 1);
    // The file changed since: the user has not seen what would be overwritten.
    let mut hub = attached_hub();
    accepted(&mut hub);
    hub.files.insert("/ws/a.txt".into(), b"my own\n".to_vec());
    let agent = connect(&mut hub, 1);
    hub.propose(agent, 1, NEW);
    assert_eq!(hub.reviews().len(), 1);
    // Later.
    let mut hub = attached_hub();
    accepted(&mut hub);
    hub.wait_seconds(61);
    let agent = connect(&mut hub, 1);
    hub.propose(agent, 1, NEW);
    assert_eq!(hub.reviews().len(), 1);
}

/// The user accepts what a hook of this session asks, and the process ends.
fn accept_hook(hub: &mut CoreHarness, connection: ConnectionId, process: &str, session: &str) {
    join_hook_of(hub, connection, process, "Claude Code", session);
    propose(hub, connection, NEW);
    hub.decide(COMMAND, "accept");
    receive_all(hub, connection);
    lose(hub, connection);
    assert!(hub.reviews().is_empty());
}

#[test]
fn an_accept_of_one_session_answers_no_hook_of_the_same_or_another_session() {
    for session in ["s-1", "s-2"] {
        let mut hub = attached_hub();
        accept_hook(&mut hub, HOOK, "p1", "s-1");
        join_hook_of(&mut hub, NEXT_HOOK, "p2", "Claude Code", session);
        let asked = propose(&mut hub, NEXT_HOOK, NEW);
        assert_eq!((hub.reviews().len(), told(&hub, NEXT_HOOK, asked)), (1, Value::Null), "{session}");
    }
}

#[test]
fn one_accept_answers_one_further_question() {
    let mut hub = attached_hub();
    accept_hook(&mut hub, HOOK, "p1", "s-1");
    let agent = connect(&mut hub, 1);
    hub.propose(agent, 1, NEW);
    assert_eq!((first_text(hub.answers(agent, 1)[0]), hub.reviews().len()), ("FILE_SAVED", 0));
    hub.propose(agent, 2, NEW);
    assert_eq!(hub.reviews().len(), 1, "asked again");
}

#[test]
fn the_further_answer_has_the_users_comments() {
    let mut hub = attached_hub();
    let agent = connect(&mut hub, 1);
    hub.propose(agent, 1, NEW);
    let comments = json!([{ "line": 2, "text": "why 2?" }]);
    let decision = json!({ "verdict": { "kind": "accept" }, "comments": comments });
    hub.request(COMMAND, "reviews/decide", json!({ "review": "r1", "decision": decision }));
    hub.pong(agent);
    join_hook(&mut hub, HOOK, "p1");
    let asked = propose(&mut hub, HOOK, NEW);
    assert_eq!(told(&hub, HOOK, asked)["comments"], comments);
}

#[test]
fn an_accept_that_answered_both_answers_nothing_more() {
    let mut hub = attached_hub();
    let (agent, _) = both_ask(&mut hub, true);
    hub.decide(COMMAND, "accept");
    hub.pong(agent);
    receive_all(&mut hub, HOOK);
    assert!(hub.reviews().is_empty());
    hub.propose(agent, 2, NEW);
    assert_eq!(hub.reviews().len(), 1);
}

#[test]
fn a_repeated_edit_of_an_agent_without_a_hook_is_a_new_question() {
    let mut hub = attached_hub();
    let agent = connect(&mut hub, 1);
    hub.propose(agent, 1, NEW);
    hub.decide(COMMAND, "accept");
    hub.pong(agent);
    hub.propose(agent, 2, NEW);
    assert_eq!(hub.reviews().len(), 1);
}

#[test]
fn a_rejected_change_is_asked_about_again_when_it_was_delivered() {
    let mut hub = attached_hub();
    join_hook(&mut hub, HOOK, "p1");
    propose(&mut hub, HOOK, NEW);
    hub.decide(COMMAND, "reject");
    receive_all(&mut hub, HOOK);
    lose(&mut hub, HOOK);
    join_hook(&mut hub, NEXT_HOOK, "p2");
    propose(&mut hub, NEXT_HOOK, NEW);
    assert_eq!(hub.shown().len(), 2);
}

/// Gemini CLI, connected as the agent of an editor.
fn listening(hub: &mut CoreHarness) -> AgentId {
    let agent = AgentId(1);
    let dialect = linkspan_dialect::by_name("gemini").unwrap();
    let (window, key) = (WindowId(1), "k".to_owned());
    hub.event(Event::SessionOpened { agent, window, dialect, key, known: None });
    let client = json!({ "name": "streamable-http-client", "version": "0.61.0" });
    let hello = json!({ "protocolVersion": "2025-06-18", "clientInfo": client });
    hub.frame(agent, &json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello }));
    hub.event(Event::StreamOpened { agent, stream: 1, received: Vec::new() });
    agent
}

#[test]
fn who_asks_while_the_change_is_being_recorded_is_answered_once_it_is() {
    let mut hub = attached_hub();
    let agent = listening(&mut hub);
    join_hook_of(&mut hub, HOOK, "p1", "Gemini CLI", "g-1");
    hub.hold_records = true;
    propose(&mut hub, HOOK, NEW);
    hub.call(agent, 71, "openDiff", json!({ "filePath": "/ws/a.txt", "newContent": NEW }));
    assert!(hub.answers(agent, 71).is_empty());
    hub.hold_records = false;
    hub.release_records(Ok(()));
    assert_eq!(hub.answers(agent, 71).len(), 1);
}

#[test]
fn an_agent_whose_stream_was_lost_still_hears_what_became_of_the_change() {
    let mut hub = attached_hub();
    let agent = listening(&mut hub);
    hub.call(agent, 71, "openDiff", json!({ "filePath": "/ws/a.txt", "newContent": NEW }));
    join_hook_of(&mut hub, HOOK, "p1", "Gemini CLI", "g-1");
    let asked = propose(&mut hub, HOOK, NEW);
    hub.event(Event::StreamClosed { agent, stream: 1 });
    hub.wait_seconds(6);
    assert!(hub.requests_to_editor("review/waiting").is_empty(), "the hook waits for it");
    hub.decide(COMMAND, "reject");
    assert_eq!(told(&hub, HOOK, asked)["outcome"], "rejected");
    hub.event(Event::StreamOpened { agent, stream: 2, received: Vec::new() });
    let rejected = hub.to_agents.iter().filter(|(to, _)| *to == agent);
    assert_eq!(rejected.filter(|(_, frame)| frame["method"] == "ide/diffRejected").count(), 1);
}

/// Gemini CLI answers its hook, and asks once more on its stream.
#[test]
fn an_agent_on_a_stream_is_told_that_its_change_is_accepted() {
    for pending in [false, true] {
        let mut hub = attached_hub();
        join_hook_of(&mut hub, HOOK, "p1", "Gemini CLI", "g-1");
        propose(&mut hub, HOOK, NEW);
        if !pending {
            hub.decide(COMMAND, "accept");
            receive_all(&mut hub, HOOK);
            lose(&mut hub, HOOK);
        }
        let agent = listening(&mut hub);
        hub.call(agent, 71, "openDiff", json!({ "filePath": "/ws/a.txt", "newContent": NEW }));
        assert_eq!(hub.answers(agent, 71).len(), 1, "shown, as far as the agent knows");
        if pending {
            lose(&mut hub, HOOK);
            assert_eq!(hub.reviews().len(), 1);
            hub.decide(COMMAND, "accept");
        }
        let accepted = hub.to_agents.iter().filter(|(to, _)| *to == agent);
        let accepted: Vec<_> = accepted.filter(|(_, frame)| frame["method"] == "ide/diffAccepted").collect();
        assert_eq!(accepted.len(), 1, "pending {pending}");
        assert_eq!(accepted[0].1["params"]["content"], NEW);
        // With a new owner it is shown once more, as the same question.
        assert!(hub.shown().iter().all(|shown| shown["params"]["review"] == "r1"), "{:?}", hub.shown());
    }
}

/// Copilot CLI writes exactly its own text, or nothing.
fn copilot(hub: &mut CoreHarness) -> AgentId {
    let agent = AgentId(1);
    let dialect = linkspan_dialect::by_name("copilot").unwrap();
    let (window, key) = (WindowId(1), "k".to_owned());
    hub.event(Event::SessionOpened { agent, window, dialect, key, known: None });
    let client = json!({ "name": "copilot-cli", "version": "1.0.0" });
    let hello = json!({ "protocolVersion": "2025-06-18", "clientInfo": client });
    hub.frame(agent, &json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello }));
    hub.event(Event::StreamOpened { agent, stream: 1, received: Vec::new() });
    agent
}

#[test]
fn copilot_is_not_asked_about_again_after_its_hook_unless_it_would_write_other_bytes() {
    for (before, asks_again) in [(OLD, false), (CRLF, true)] {
        let mut hub = attached_hub();
        hub.files.insert("/ws/a.txt".into(), before.to_vec());
        join_hook_of(&mut hub, HOOK, "p1", "GitHub Copilot CLI", "c-1");
        propose(&mut hub, HOOK, NEW);
        hub.decide(COMMAND, "accept");
        receive_all(&mut hub, HOOK);
        lose(&mut hub, HOOK);
        assert!(hub.reviews().is_empty());
        let agent = copilot(&mut hub);
        let change =
            json!({ "original_file_path": "/ws/a.txt", "new_file_contents": NEW, "tab_name": "tab" });
        hub.call(agent, 71, "open_diff", change);
        assert_eq!(hub.reviews().len(), usize::from(asks_again));
        let answer = hub.answers(agent, 71).first().map(ToString::to_string).unwrap_or_default();
        assert_eq!(answer.contains("SAVED"), !asks_again, "{answer}");
    }
}
