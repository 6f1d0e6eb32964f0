//! Agents on the hub's own socket: they live, die and come back like any other.

use serde_json::{Value, json};

use super::desk::{COMMAND, Desk, EDITOR};
use super::{NEW, OLD, outcome};
use crate::core::{Event, LocalId};

const AGENT: LocalId = LocalId(11);
const AGAIN: LocalId = LocalId(12);

fn desk() -> Desk {
    let mut desk = Desk::new();
    desk.attach(EDITOR, json!({ "reviews": true, "diagnostics": true }));
    desk.event(Event::LocalOpened { local: COMMAND });
    desk
}

pub(super) fn join(desk: &mut Desk, local: LocalId, session: &str) -> Value {
    desk.event(Event::LocalOpened { local });
    let join = json!({ "window": "w1", "session": session, "name": "tester", "version": "1", "pid": 7 });
    let id = desk.ask(local, "agent/join", join);
    desk.answer_to(local, id).unwrap().clone()
}

pub(super) fn call(desk: &mut Desk, local: LocalId, tool: &str, arguments: Value) -> i64 {
    desk.ask(local, "tools/call", json!({ "name": tool, "arguments": arguments }))
}

fn propose(desk: &mut Desk, local: LocalId) -> i64 {
    call(desk, local, "proposeChange", json!({ "path": "/ws/a.txt", "newText": NEW }))
}

pub(super) fn told(desk: &Desk, local: LocalId, id: i64) -> Option<&Value> {
    desk.answer_to(local, id).map(|answer| &answer["result"]["structuredContent"])
}

fn pings(desk: &Desk, local: LocalId) -> Vec<u64> {
    let sent = desk.to_locals.iter().filter(|(to, frame)| *to == local && frame["method"] == "ping");
    sent.map(|(_, frame)| frame["id"].as_u64().unwrap()).collect()
}

fn pong(desk: &mut Desk, local: LocalId, number: u64) {
    let answer = json!({ "jsonrpc": "2.0", "id": number, "result": {} });
    desk.event(Event::LocalMessage { local, body: answer.to_string().into_bytes() });
}

fn lose(desk: &mut Desk, local: LocalId) {
    desk.event(Event::LocalClosed { local });
}

#[test]
fn who_has_joined_is_told_where_it_is_and_shares_no_number_with_others() {
    let mut desk = desk();
    desk.connect(1, "claude");
    let joined = join(&mut desk, AGENT, "k3y");
    let editor = json!({ "name": "Desk", "version": "1" });
    assert_eq!(
        joined["result"],
        json!({ "agent": "a2", "window": "w1", "editor": editor, "folders": ["/ws"] })
    );
}

#[test]
fn an_answer_of_the_editor_that_makes_no_sense_is_not_the_agents_mistake() {
    let mut desk = desk();
    desk.editor_answers.insert("diagnostics/get", json!(null));
    join(&mut desk, AGENT, "k3y");
    let asked = call(&mut desk, AGENT, "getDiagnostics", json!({}));
    let error = &told(&desk, AGENT, asked).unwrap()["error"];
    assert_eq!(error["kind"], "io");
    assert!(
        error["message"].as_str().unwrap().starts_with("the editor's answer was not understood"),
        "{error}"
    );
}

#[test]
fn a_change_is_shown_under_the_agents_name_and_written_before_it_hears() {
    let mut desk = desk();
    join(&mut desk, AGENT, "k3y");
    let change = propose(&mut desk, AGENT);
    let shown = &desk.shown()[0]["params"];
    assert_eq!((&shown["agent"], &shown["dialect"]), (&json!("tester"), &json!("linkspan")));
    assert_eq!(told(&desk, AGENT, change), None);
    desk.decide(COMMAND, "accept");
    assert_eq!((desk.file(), desk.writes), (NEW.as_bytes(), 1));
    let told = told(&desk, AGENT, change).unwrap();
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
    let mut desk = desk();
    join(&mut desk, AGENT, "k3y");
    desk.wait_seconds(30);
    let [earlier] = pings(&desk, AGENT)[..] else { panic!("no heartbeat") };
    propose(&mut desk, AGENT);
    desk.decide(COMMAND, "accept");
    pong(&mut desk, AGENT, earlier);
    pong(&mut desk, AGENT, 99);
    assert_eq!(desk.reviews().len(), 1, "still to be delivered");
    let newest = pings(&desk, AGENT).pop().unwrap();
    pong(&mut desk, AGENT, newest);
    assert!(desk.reviews().is_empty(), "delivered, and done with");
}

#[test]
fn who_answers_no_ping_is_gone_and_its_change_stays() {
    let mut desk = desk();
    join(&mut desk, AGENT, "k3y");
    propose(&mut desk, AGENT);
    desk.wait_seconds(70);
    assert!(desk.closed_locals.contains(&AGENT));
    assert_eq!((desk.reviews().len(), desk.reviews()[0].owner), (1, None));
}

#[test]
fn a_goodbye_takes_everything_back_and_ends_the_connection() {
    let mut desk = desk();
    join(&mut desk, AGENT, "k3y");
    propose(&mut desk, AGENT);
    desk.tell(AGENT, "agent/leave", json!({}));
    assert!(desk.reviews().is_empty());
    assert_eq!(desk.closed_locals, [AGENT]);
    assert_eq!(desk.asked_of_editor("review/hide").len(), 1);
}

#[test]
fn nothing_that_was_sent_behind_a_goodbye_is_served() {
    let mut desk = desk();
    join(&mut desk, AGENT, "k3y");
    desk.tell(AGENT, "agent/leave", json!({}));
    let sent = desk.to_locals.len();
    let join = json!({ "window": "w1", "session": "k3y", "name": "tester", "version": "1" });
    desk.ask(AGENT, "agent/join", join);
    desk.ask(AGENT, "hub/watch", json!({}));
    propose(&mut desk, AGENT);
    assert_eq!(desk.to_locals.len(), sent);
    assert!(desk.reviews().is_empty());
    let status = desk.ask(COMMAND, "hub/status", json!({}));
    let editor_pinged = desk.to_locals.last().unwrap().1["id"].clone();
    desk.answer(EDITOR, &editor_pinged, Value::Null);
    let status = desk.answer_to(COMMAND, status).expect("at once: nobody else is asked for a sign of life");
    assert_eq!(status["result"]["windows"][0]["agents"], json!([]));
    desk.tell(EDITOR, "detach", json!({}));
    desk.event(Event::LocalClosed { local: EDITOR });
    desk.wait_seconds(24 * 3600);
    assert!(desk.stopped, "nothing keeps the hub");
}

#[test]
fn nothing_that_was_sent_behind_a_hang_up_is_served() {
    let mut desk = desk();
    join(&mut desk, AGENT, "k3y");
    join(&mut desk, AGAIN, "k3y");
    assert_eq!(desk.closed_locals, [AGENT]);
    let sent = desk.to_locals.len();
    desk.ask(AGENT, "agent/join", json!({ "window": "w1", "session": "k3y", "name": "x", "version": "1" }));
    assert_eq!(desk.to_locals.len(), sent);
    let id = desk.ask(AGAIN, "ping", json!({}));
    assert_eq!(desk.answer_to(AGAIN, id).unwrap()["result"], json!({}), "the other goes on");
}

#[test]
fn a_cancelled_call_takes_its_change_back() {
    let mut desk = desk();
    join(&mut desk, AGENT, "k3y");
    let change = propose(&mut desk, AGENT);
    desk.tell(AGENT, "notifications/cancelled", json!({ "requestId": change }));
    assert!(desk.reviews().is_empty());
    assert_eq!(told(&desk, AGENT, change).unwrap()["error"]["kind"], "withdrawn");
}

#[test]
fn a_cancelled_call_whose_change_was_decided_before_is_told_the_decision() {
    let mut desk = desk();
    join(&mut desk, AGENT, "k3y");
    let change = propose(&mut desk, AGENT);
    desk.hold_records = true;
    desk.decide(COMMAND, "reject");
    desk.tell(AGENT, "notifications/cancelled", json!({ "requestId": change }));
    assert_eq!(told(&desk, AGENT, change), None, "not before it is recorded");
    desk.let_go(Ok(()));
    assert_eq!(told(&desk, AGENT, change).unwrap()["outcome"], "rejected");
}

#[test]
fn who_comes_back_can_take_back_what_it_asked_before() {
    let mut desk = desk();
    join(&mut desk, AGENT, "k3y");
    propose(&mut desk, AGENT);
    lose(&mut desk, AGENT);
    join(&mut desk, AGAIN, "k3y");
    desk.hold_reads = true;
    let again = propose(&mut desk, AGAIN);
    desk.tell(AGAIN, "notifications/cancelled", json!({ "requestId": again }));
    assert_eq!(told(&desk, AGAIN, again).unwrap()["error"]["kind"], "withdrawn");
    desk.let_reads_go();
    assert!(desk.reviews().is_empty(), "nobody waits for it");
    assert_eq!(desk.shown().len(), 1);
}

#[test]
fn only_the_same_session_finds_its_answer_again() {
    let mut desk = desk();
    join(&mut desk, AGENT, "k3y");
    propose(&mut desk, AGENT);
    lose(&mut desk, AGENT);
    desk.decide(COMMAND, "reject");
    join(&mut desk, LocalId(13), "other");
    let stranger = propose(&mut desk, LocalId(13));
    assert_eq!(told(&desk, LocalId(13), stranger), None, "a question of its own");
    join(&mut desk, AGAIN, "k3y");
    let again = propose(&mut desk, AGAIN);
    assert_eq!(told(&desk, AGAIN, again).unwrap()["outcome"], "rejected");
    assert_eq!(told(&desk, AGAIN, again).unwrap()["review"], "r1");
}

#[test]
fn the_answer_is_found_after_a_restart_of_the_hub() {
    let mut first = desk();
    join(&mut first, AGENT, "k3y");
    propose(&mut first, AGENT);
    first.decide(COMMAND, "accept");
    let mut desk = first.restart();
    desk.attach(EDITOR, json!({ "reviews": true }));
    join(&mut desk, LocalId(13), "other");
    let stranger = propose(&mut desk, LocalId(13));
    join(&mut desk, AGAIN, "k3y");
    let again = propose(&mut desk, AGAIN);
    assert_eq!(told(&desk, AGAIN, again).unwrap()["outcome"], "accepted");
    assert_eq!(told(&desk, LocalId(13), stranger), None);
    assert_eq!((desk.writes, desk.file()), (0, NEW.as_bytes()), "written once, by the first hub");
}

#[test]
fn who_joins_again_before_it_was_seen_to_leave_takes_its_own_place() {
    let mut desk = desk();
    join(&mut desk, AGENT, "k3y");
    propose(&mut desk, AGENT);
    join(&mut desk, AGAIN, "k3y");
    assert_eq!(desk.closed_locals, [AGENT]);
    let again = propose(&mut desk, AGAIN);
    assert_eq!(desk.reviews().len(), 1, "nobody is asked twice");
    desk.decide(COMMAND, "accept");
    assert_eq!(told(&desk, AGAIN, again).unwrap()["outcome"], "accepted");
}

#[test]
fn a_wrong_join_says_what_is_wrong() {
    let mut desk = desk();
    desk.event(Event::LocalOpened { local: AGENT });
    let mut refused = |window: &str, session: &str| {
        let join = json!({ "window": window, "session": session, "name": "tester", "version": "1" });
        let id = desk.ask(AGENT, "agent/join", join);
        desk.answer_to(AGENT, id).unwrap()["error"].clone()
    };
    let unknown = refused("w9", "k3y");
    assert_eq!(unknown["code"], linkspan_editor_api::errors::UNKNOWN_WINDOW);
    assert_eq!(unknown["message"], "there is no window `w9`: there are w1 (Desk, /ws)");
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
    let mut desk = desk();
    let join = json!({ "window": "w1", "session": "k3y", "name": "tester", "version": "1" });
    let id = desk.ask(EDITOR, "agent/join", join);
    let code = &desk.answer_to(EDITOR, id).unwrap()["error"]["code"];
    assert_eq!(*code, linkspan_editor_api::errors::INVALID_REQUEST);
}

#[test]
fn two_given_texts_are_compared_whatever_the_file_holds() {
    let mut desk = desk();
    join(&mut desk, AGENT, "k3y");
    let texts = json!({ "path": "/ws/none.txt", "oldText": "a\r\n", "newText": "a\n" });
    let compared = call(&mut desk, AGENT, "compareTexts", texts.clone());
    let shown = &desk.shown()[0]["params"];
    assert_eq!((&shown["base"], &shown["proposed"]), (&json!("a\r\n"), &json!("a\n")));
    desk.files.insert("/ws/none.txt".into(), b"there by now\n".to_vec());
    desk.hold_reads = true;
    let decision = desk.decide(COMMAND, "accept");
    assert_eq!(outcome(&desk, COMMAND, decision), "taken", "without a look at the file");
    let told = told(&desk, AGENT, compared).unwrap();
    assert_eq!(
        (&told["outcome"], &told["written"], &told["text"]),
        (&json!("accepted"), &json!(false), &json!("a\n"))
    );
    assert_eq!((desk.writes, desk.file()), (0, OLD));
}

#[test]
fn one_word_of_one_agent_is_one_set() {
    let mut desk = desk();
    join(&mut desk, AGENT, "k3y");
    join(&mut desk, AGAIN, "other");
    let mut change = |local, path: &str, set: Option<&str>| {
        call(&mut desk, local, "proposeChange", json!({ "path": path, "newText": "x", "set": set }));
    };
    change(AGENT, "/ws/a.txt", Some("both"));
    change(AGENT, "/ws/b.txt", Some("both"));
    change(AGENT, "/ws/c.txt", Some("alone"));
    change(AGENT, "/ws/d.txt", None);
    change(AGAIN, "/ws/a.txt", Some("both"));
    let sets: Vec<_> = desk.reviews().iter().map(|review| review.set.map(|set| set.to_string())).collect();
    let set = |name: &str| Some(name.to_owned());
    assert_eq!(sets, [set("s1"), set("s1"), set("s2"), None, set("s3")]);
    let mut desk = desk.restart();
    desk.attach(EDITOR, json!({ "reviews": true }));
    join(&mut desk, AGENT, "new");
    let fresh = json!({ "path": "/ws/e.txt", "newText": "x", "set": "both" });
    call(&mut desk, AGENT, "proposeChange", fresh);
    assert_eq!(
        desk.reviews().pop().unwrap().set.map(|set| set.0),
        Some(4),
        "a set of an earlier life is not joined"
    );
}

#[test]
fn the_editors_deadline_is_as_much_later_as_it_was_told_to_wait() {
    let mut desk = desk();
    join(&mut desk, AGENT, "k3y");
    let asked = call(&mut desk, AGENT, "getDiagnostics", json!({ "waitMs": 7_000 }));
    assert_eq!(desk.asked_of_editor("diagnostics/get")[0]["params"]["waitMs"], 7_000);
    desk.wait_seconds(11);
    assert_eq!(told(&desk, AGENT, asked), None);
    desk.wait_seconds(1);
    assert_eq!(told(&desk, AGENT, asked).unwrap()["error"]["kind"], "timeout");
    call(&mut desk, AGENT, "getDiagnostics", json!({ "waitMs": u32::MAX }));
    assert_eq!(desk.asked_of_editor("diagnostics/get")[1]["params"]["waitMs"], 120_000, "not for ever");
}

#[test]
fn an_editor_that_comes_back_with_more_makes_the_agent_list_its_tools_again() {
    let mut desk = desk();
    join(&mut desk, AGENT, "k3y");
    desk.tell(AGENT, "notifications/initialized", json!({}));
    desk.event(Event::LocalClosed { local: EDITOR });
    desk.attach(LocalId(3), json!({ "reviews": true, "language": true }));
    let told = |(to, frame): &&(LocalId, Value)| {
        *to == AGENT && frame["method"] == "notifications/tools/list_changed"
    };
    assert_eq!(desk.to_locals.iter().filter(told).count(), 1);
}

#[test]
fn places_in_denied_files_are_not_spoken_of() {
    let mut desk = Desk::new();
    desk.attach(EDITOR, json!({ "language": true }));
    join(&mut desk, AGENT, "k3y");
    let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 0, "character": 1 } });
    let at = |path: &str| json!({ "path": path, "range": range });
    let found = json!({ "locations": [at("/ws/.env"), at("/ws/b.txt")] });
    desk.editor_answers.insert("language/references", found);
    let place = json!({ "path": "/ws/a.txt", "line": 0, "character": 0 });
    let asked = call(&mut desk, AGENT, "findReferences", place.clone());
    assert_eq!(*told(&desk, AGENT, asked).unwrap(), json!({ "locations": [at("/ws/b.txt")] }));
    let asked = call(&mut desk, AGENT, "getVisibleRange", json!({ "path": "/ws/a.txt" }));
    assert_eq!(told(&desk, AGENT, asked).unwrap()["error"]["kind"], "unsupported");
}

#[test]
fn bytes_that_are_no_text_are_refused_and_the_next_frame_is_served() {
    let mut desk = desk();
    join(&mut desk, AGENT, "k3y");
    desk.event(Event::LocalMessage { local: AGENT, body: vec![0xff, 0xfe] });
    let (_, refused) = desk.to_locals.last().unwrap();
    assert_eq!((&refused["error"]["code"], &refused["id"]), (&json!(-32600), &Value::Null));
    let id = desk.ask(AGENT, "ping", json!({}));
    assert_eq!(desk.answer_to(AGENT, id).unwrap()["result"], json!({}));
}
