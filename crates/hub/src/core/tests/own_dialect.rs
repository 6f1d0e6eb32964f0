//! Agents on the hub's own socket: they live, die and come back like any other.

use serde_json::{Value, json};

use super::support::{COMMAND, EDITOR};
use super::{NEW, OLD, outcome};
use crate::core::harness::CoreHarness;
use crate::core::{ConnectionId, Event};

const AGENT: ConnectionId = ConnectionId(11);
const AGAIN: ConnectionId = ConnectionId(12);

fn attached_hub() -> CoreHarness {
    let mut hub = CoreHarness::new();
    hub.attach(EDITOR, json!({ "reviews": true, "diagnostics": true }));
    hub.event(Event::ConnectionOpened { connection: COMMAND });
    hub
}

pub(super) fn join(hub: &mut CoreHarness, connection: ConnectionId, session: &str) -> Value {
    hub.event(Event::ConnectionOpened { connection });
    let join = json!({ "window": "w1", "session": session, "name": "tester", "version": "1", "pid": 7 });
    let id = hub.request(connection, "agent/join", join);
    hub.response_to(connection, id).unwrap().clone()
}

pub(super) fn call(hub: &mut CoreHarness, connection: ConnectionId, tool: &str, arguments: Value) -> i64 {
    hub.request(connection, "tools/call", json!({ "name": tool, "arguments": arguments }))
}

fn propose(hub: &mut CoreHarness, connection: ConnectionId) -> i64 {
    call(hub, connection, "proposeChange", json!({ "path": "/ws/a.txt", "newText": NEW }))
}

pub(super) fn tool_result(hub: &CoreHarness, connection: ConnectionId, id: i64) -> Option<&Value> {
    hub.response_to(connection, id).map(|answer| &answer["result"]["structuredContent"])
}

pub(super) fn pings(hub: &CoreHarness, connection: ConnectionId) -> Vec<u64> {
    let sent = hub.to_connections.iter().filter(|(to, frame)| *to == connection && frame["method"] == "ping");
    sent.map(|(_, frame)| frame["id"].as_u64().unwrap()).collect()
}

pub(super) fn pong(hub: &mut CoreHarness, connection: ConnectionId, number: u64) {
    let answer = json!({ "jsonrpc": "2.0", "id": number, "result": {} });
    hub.event(Event::ConnectionMessage { connection, body: answer.to_string().into_bytes() });
}

fn lose(hub: &mut CoreHarness, connection: ConnectionId) {
    hub.event(Event::ConnectionClosed { connection });
}

#[test]
fn an_agent_that_joins_receives_its_window_and_has_an_id_of_its_own() {
    let mut hub = attached_hub();
    hub.connect(1, "claude");
    let joined = join(&mut hub, AGENT, "k3y");
    let editor = json!({ "name": "Editor", "version": "1" });
    assert_eq!(
        joined["result"],
        json!({ "agent": "a2", "window": "w1", "editor": editor, "folders": ["/ws"] })
    );
}

#[test]
fn an_answer_of_the_editor_that_makes_no_sense_is_not_the_agents_mistake() {
    let mut hub = attached_hub();
    hub.editor_answers.insert("diagnostics/get", json!(null));
    join(&mut hub, AGENT, "k3y");
    let asked = call(&mut hub, AGENT, "getDiagnostics", json!({}));
    let error = &tool_result(&hub, AGENT, asked).unwrap()["error"];
    assert_eq!(error["kind"], "io");
    assert!(
        error["message"].as_str().unwrap().starts_with("the editor's answer was not understood"),
        "{error}"
    );
}

#[test]
fn a_change_is_shown_under_the_agents_name_and_written_before_it_is_answered() {
    let mut hub = attached_hub();
    join(&mut hub, AGENT, "k3y");
    let change = propose(&mut hub, AGENT);
    let shown = &hub.shown()[0]["params"];
    assert_eq!((&shown["agent"], &shown["dialect"]), (&json!("tester"), &json!("linkspan")));
    assert_eq!(tool_result(&hub, AGENT, change), None);
    hub.decide(COMMAND, "accept");
    assert_eq!((hub.file(), hub.writes), (NEW.as_bytes(), 1));
    let told = tool_result(&hub, AGENT, change).unwrap();
    assert_eq!(
        *told,
        json!({
            "outcome": "accepted", "review": "r1", "path": "/ws/a.txt", "text": NEW, "newFile": false,
            "written": true, "taken": "all", "comments": [],
        })
    );
}

#[test]
fn only_the_answer_to_the_ping_behind_it_shows_that_an_answer_arrived() {
    let mut hub = attached_hub();
    join(&mut hub, AGENT, "k3y");
    hub.wait_seconds(30);
    let [earlier] = pings(&hub, AGENT)[..] else { panic!("no heartbeat") };
    propose(&mut hub, AGENT);
    hub.decide(COMMAND, "accept");
    pong(&mut hub, AGENT, earlier);
    pong(&mut hub, AGENT, 99);
    assert_eq!(hub.reviews().len(), 1, "still to be delivered");
    let newest = pings(&hub, AGENT).pop().unwrap();
    pong(&mut hub, AGENT, newest);
    assert!(hub.reviews().is_empty(), "delivered, and done with");
}

#[test]
fn an_agent_that_answers_no_ping_is_gone_and_its_change_stays() {
    let mut hub = attached_hub();
    join(&mut hub, AGENT, "k3y");
    propose(&mut hub, AGENT);
    hub.wait_seconds(70);
    assert!(hub.closed_connections.contains(&AGENT));
    assert_eq!((hub.reviews().len(), hub.reviews()[0].owner), (1, None));
}

#[test]
fn a_goodbye_takes_everything_back_and_ends_the_connection() {
    let mut hub = attached_hub();
    join(&mut hub, AGENT, "k3y");
    propose(&mut hub, AGENT);
    hub.notify(AGENT, "agent/leave", json!({}));
    assert!(hub.reviews().is_empty());
    assert_eq!(hub.closed_connections, [AGENT]);
    assert_eq!(hub.requests_to_editor("review/hide").len(), 1);
}

#[test]
fn nothing_that_was_sent_behind_a_goodbye_is_served() {
    let mut hub = attached_hub();
    join(&mut hub, AGENT, "k3y");
    hub.notify(AGENT, "agent/leave", json!({}));
    let sent = hub.to_connections.len();
    let join = json!({ "window": "w1", "session": "k3y", "name": "tester", "version": "1" });
    hub.request(AGENT, "agent/join", join);
    hub.request(AGENT, "hub/watch", json!({}));
    propose(&mut hub, AGENT);
    assert_eq!(hub.to_connections.len(), sent);
    assert!(hub.reviews().is_empty());
    let status = hub.request(COMMAND, "hub/status", json!({}));
    let editor_pinged = hub.to_connections.last().unwrap().1["id"].clone();
    hub.respond(EDITOR, &editor_pinged, Value::Null);
    let status = hub.response_to(COMMAND, status).expect("at once: no one else has to answer a ping");
    assert_eq!(status["result"]["windows"][0]["agents"], json!([]));
    hub.notify(EDITOR, "detach", json!({}));
    hub.event(Event::ConnectionClosed { connection: EDITOR });
    hub.wait_seconds(24 * 3600);
    assert!(hub.stopped, "nothing keeps the hub");
}

#[test]
fn nothing_that_was_sent_behind_a_hang_up_is_served() {
    let mut hub = attached_hub();
    join(&mut hub, AGENT, "k3y");
    join(&mut hub, AGAIN, "k3y");
    assert_eq!(hub.closed_connections, [AGENT]);
    let sent = hub.to_connections.len();
    hub.request(
        AGENT,
        "agent/join",
        json!({ "window": "w1", "session": "k3y", "name": "x", "version": "1" }),
    );
    assert_eq!(hub.to_connections.len(), sent);
    let id = hub.request(AGAIN, "ping", json!({}));
    assert_eq!(hub.response_to(AGAIN, id).unwrap()["result"], json!({}), "the other goes on");
}

#[test]
fn a_cancelled_call_takes_its_change_back() {
    let mut hub = attached_hub();
    join(&mut hub, AGENT, "k3y");
    let change = propose(&mut hub, AGENT);
    hub.notify(AGENT, "notifications/cancelled", json!({ "requestId": change }));
    assert!(hub.reviews().is_empty());
    assert_eq!(tool_result(&hub, AGENT, change).unwrap()["error"]["kind"], "withdrawn");
}

#[test]
fn a_cancelled_call_whose_change_was_decided_before_receives_the_decision() {
    let mut hub = attached_hub();
    join(&mut hub, AGENT, "k3y");
    let change = propose(&mut hub, AGENT);
    hub.hold_records = true;
    hub.decide(COMMAND, "reject");
    hub.notify(AGENT, "notifications/cancelled", json!({ "requestId": change }));
    assert_eq!(tool_result(&hub, AGENT, change), None, "not before it is recorded");
    hub.release_records(Ok(()));
    assert_eq!(tool_result(&hub, AGENT, change).unwrap()["outcome"], "rejected");
}

#[test]
fn an_agent_that_comes_back_can_withdraw_what_it_asked_before() {
    let mut hub = attached_hub();
    join(&mut hub, AGENT, "k3y");
    propose(&mut hub, AGENT);
    lose(&mut hub, AGENT);
    join(&mut hub, AGAIN, "k3y");
    hub.hold_reads = true;
    let again = propose(&mut hub, AGAIN);
    hub.notify(AGAIN, "notifications/cancelled", json!({ "requestId": again }));
    assert_eq!(tool_result(&hub, AGAIN, again).unwrap()["error"]["kind"], "withdrawn");
    hub.release_reads();
    assert!(hub.reviews().is_empty(), "no agent waits for it");
    assert_eq!(hub.shown().len(), 1);
}

#[test]
fn only_the_same_session_finds_its_answer_again() {
    let mut hub = attached_hub();
    join(&mut hub, AGENT, "k3y");
    propose(&mut hub, AGENT);
    lose(&mut hub, AGENT);
    hub.decide(COMMAND, "reject");
    join(&mut hub, ConnectionId(13), "other");
    let stranger = propose(&mut hub, ConnectionId(13));
    assert_eq!(tool_result(&hub, ConnectionId(13), stranger), None, "a question of its own");
    join(&mut hub, AGAIN, "k3y");
    let again = propose(&mut hub, AGAIN);
    assert_eq!(tool_result(&hub, AGAIN, again).unwrap()["outcome"], "rejected");
    assert_eq!(tool_result(&hub, AGAIN, again).unwrap()["review"], "r1");
}

#[test]
fn the_answer_is_found_after_a_restart_of_the_hub() {
    let mut first = attached_hub();
    join(&mut first, AGENT, "k3y");
    propose(&mut first, AGENT);
    first.decide(COMMAND, "accept");
    let mut hub = first.restart();
    hub.attach(EDITOR, json!({ "reviews": true }));
    join(&mut hub, ConnectionId(13), "other");
    let stranger = propose(&mut hub, ConnectionId(13));
    join(&mut hub, AGAIN, "k3y");
    let again = propose(&mut hub, AGAIN);
    assert_eq!(tool_result(&hub, AGAIN, again).unwrap()["outcome"], "accepted");
    assert_eq!(tool_result(&hub, ConnectionId(13), stranger), None);
    assert_eq!((hub.writes, hub.file()), (0, NEW.as_bytes()), "written once, by the first hub");
}

#[test]
fn an_agent_that_joins_again_before_its_connection_ends_replaces_itself() {
    let mut hub = attached_hub();
    join(&mut hub, AGENT, "k3y");
    propose(&mut hub, AGENT);
    join(&mut hub, AGAIN, "k3y");
    assert_eq!(hub.closed_connections, [AGENT]);
    let again = propose(&mut hub, AGAIN);
    assert_eq!(hub.reviews().len(), 1, "the user is not asked twice");
    hub.decide(COMMAND, "accept");
    assert_eq!(tool_result(&hub, AGAIN, again).unwrap()["outcome"], "accepted");
}

#[test]
fn a_wrong_join_says_what_is_wrong() {
    let mut hub = attached_hub();
    hub.event(Event::ConnectionOpened { connection: AGENT });
    let mut refused = |window: &str, session: &str| {
        let join = json!({ "window": window, "session": session, "name": "tester", "version": "1" });
        let id = hub.request(AGENT, "agent/join", join);
        hub.response_to(AGENT, id).unwrap()["error"].clone()
    };
    let unknown = refused("w9", "k3y");
    assert_eq!(unknown["code"], linkspan_editor_api::errors::UNKNOWN_WINDOW);
    assert_eq!(unknown["message"], "there is no window `w9`: there are w1 (Editor, /ws)");
    let long = "x".repeat(65);
    for session in ["", "a b", "a\u{1f}b", "\u{e9}", long.as_str()] {
        assert_eq!(refused("w1", session)["code"], linkspan_editor_api::errors::INVALID_PARAMS, "{session}");
    }
    assert_eq!(refused("w1", "k3y"), Value::Null);
    // From here on it speaks MCP, which has no such method.
    assert_eq!(refused("w1", "k3y")["code"], -32601);
}

#[test]
fn an_editor_cannot_become_an_agent() {
    let mut hub = attached_hub();
    let join = json!({ "window": "w1", "session": "k3y", "name": "tester", "version": "1" });
    let id = hub.request(EDITOR, "agent/join", join);
    let code = &hub.response_to(EDITOR, id).unwrap()["error"]["code"];
    assert_eq!(*code, linkspan_editor_api::errors::INVALID_REQUEST);
}

#[test]
fn two_given_texts_are_compared_whatever_the_file_holds() {
    let mut hub = attached_hub();
    join(&mut hub, AGENT, "k3y");
    let texts = json!({ "path": "/ws/none.txt", "oldText": "a\r\n", "newText": "a\n" });
    let compared = call(&mut hub, AGENT, "compareTexts", texts.clone());
    let shown = &hub.shown()[0]["params"];
    assert_eq!((&shown["base"], &shown["proposed"]), (&json!("a\r\n"), &json!("a\n")));
    hub.files.insert("/ws/none.txt".into(), b"there by now\n".to_vec());
    hub.hold_reads = true;
    let decision = hub.decide(COMMAND, "accept");
    assert_eq!(outcome(&hub, COMMAND, decision), "taken", "without a look at the file");
    let told = tool_result(&hub, AGENT, compared).unwrap();
    assert_eq!(
        (&told["outcome"], &told["written"], &told["text"]),
        (&json!("accepted"), &json!(false), &json!("a\n"))
    );
    assert_eq!((hub.writes, hub.file()), (0, OLD));
}

#[test]
fn one_word_of_one_agent_is_one_set() {
    let mut hub = attached_hub();
    join(&mut hub, AGENT, "k3y");
    join(&mut hub, AGAIN, "other");
    let mut change = |connection, path: &str, set: Option<&str>| {
        call(&mut hub, connection, "proposeChange", json!({ "path": path, "newText": "x", "set": set }));
    };
    change(AGENT, "/ws/a.txt", Some("both"));
    change(AGENT, "/ws/b.txt", Some("both"));
    change(AGENT, "/ws/c.txt", Some("alone"));
    change(AGENT, "/ws/d.txt", None);
    change(AGAIN, "/ws/a.txt", Some("both"));
    let sets: Vec<_> = hub.reviews().iter().map(|review| review.set.map(|set| set.to_string())).collect();
    let set = |name: &str| Some(name.to_owned());
    assert_eq!(sets, [set("s1"), set("s1"), set("s2"), None, set("s3")]);
    let mut hub = hub.restart();
    hub.attach(EDITOR, json!({ "reviews": true }));
    join(&mut hub, AGENT, "new");
    let fresh = json!({ "path": "/ws/e.txt", "newText": "x", "set": "both" });
    call(&mut hub, AGENT, "proposeChange", fresh);
    assert_eq!(
        hub.reviews().pop().unwrap().set.map(|set| set.0),
        Some(4),
        "a set of an earlier life is not joined"
    );
}

#[test]
fn the_editors_deadline_is_as_much_later_as_it_was_told_to_wait() {
    let mut hub = attached_hub();
    join(&mut hub, AGENT, "k3y");
    let asked = call(&mut hub, AGENT, "getDiagnostics", json!({ "waitMs": 7_000 }));
    assert_eq!(hub.requests_to_editor("diagnostics/get")[0]["params"]["waitMs"], 7_000);
    hub.wait_seconds(11);
    assert_eq!(tool_result(&hub, AGENT, asked), None);
    hub.wait_seconds(1);
    assert_eq!(tool_result(&hub, AGENT, asked).unwrap()["error"]["kind"], "timeout");
    call(&mut hub, AGENT, "getDiagnostics", json!({ "waitMs": u32::MAX }));
    assert_eq!(hub.requests_to_editor("diagnostics/get")[1]["params"]["waitMs"], 120_000, "not without end");
}

#[test]
fn an_editor_that_comes_back_with_more_makes_the_agent_list_its_tools_again() {
    let mut hub = attached_hub();
    join(&mut hub, AGENT, "k3y");
    hub.notify(AGENT, "notifications/initialized", json!({}));
    hub.event(Event::ConnectionClosed { connection: EDITOR });
    hub.attach(ConnectionId(3), json!({ "reviews": true, "language": true }));
    let told = |(to, frame): &&(ConnectionId, Value)| {
        *to == AGENT && frame["method"] == "notifications/tools/list_changed"
    };
    assert_eq!(hub.to_connections.iter().filter(told).count(), 1);
}

#[test]
fn places_in_denied_files_are_not_spoken_of() {
    let mut hub = CoreHarness::new();
    hub.attach(EDITOR, json!({ "language": true }));
    join(&mut hub, AGENT, "k3y");
    let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 0, "character": 1 } });
    let at = |path: &str| json!({ "path": path, "range": range });
    let found = json!({ "locations": [at("/ws/.env"), at("/ws/b.txt")] });
    hub.editor_answers.insert("language/references", found);
    let place = json!({ "path": "/ws/a.txt", "line": 0, "character": 0 });
    let asked = call(&mut hub, AGENT, "findReferences", place.clone());
    assert_eq!(*tool_result(&hub, AGENT, asked).unwrap(), json!({ "locations": [at("/ws/b.txt")] }));
    let asked = call(&mut hub, AGENT, "getVisibleRange", json!({ "path": "/ws/a.txt" }));
    assert_eq!(tool_result(&hub, AGENT, asked).unwrap()["error"]["kind"], "unsupported");
}

#[test]
fn bytes_that_are_no_text_are_refused_and_the_next_frame_is_served() {
    let mut hub = attached_hub();
    join(&mut hub, AGENT, "k3y");
    hub.event(Event::ConnectionMessage { connection: AGENT, body: vec![0xff, 0xfe] });
    let (_, refused) = hub.to_connections.last().unwrap();
    assert_eq!((&refused["error"]["code"], &refused["id"]), (&json!(-32600), &Value::Null));
    let id = hub.request(AGENT, "ping", json!({}));
    assert_eq!(hub.response_to(AGENT, id).unwrap()["result"], json!({}));
}
