//! What an open page may ask, what it is called, and how long a hub stays for it.

use linkspan_editor_api::{METHODS, PageLinkResult, errors};
use serde_json::{Value, json};

use super::desk::{COMMAND, Desk, EDITOR};
use super::{NEW, desk, outcome};
use crate::core::{Event, LocalId};

const PAGE: LocalId = LocalId(7);

fn link(expires_in_seconds: u64) -> PageLinkResult {
    PageLinkResult { url: "http://127.0.0.1:1/#s".into(), port: 1, expires_in_seconds }
}

/// A hub that nobody is connected to but a command.
fn idle() -> Desk {
    let mut desk = Desk::new();
    desk.event(Event::LocalOpened { local: COMMAND });
    desk
}

#[test]
fn a_page_looks_and_decides_and_can_ask_for_nothing_else() {
    let (mut desk, _) = desk("claude");
    desk.event(Event::PageOpened { local: PAGE });
    let allowed = [
        "hub/hello",
        "hub/status",
        "hub/windows",
        "hub/watch",
        "reviews/list",
        "reviews/get",
        "reviews/decide",
        "asks/list",
        "asks/answer",
        "history/list",
        "history/undo",
        "ping",
    ];
    for method in METHODS {
        let id = desk.ask(PAGE, method.name, json!({}));
        let answer = desk.answer_to(PAGE, id);
        let code = answer.map_or(&Value::Null, |answer| &answer["error"]["code"]);
        assert_eq!(*code != errors::METHOD_NOT_FOUND, allowed.contains(&method.name), "{}", method.name);
        desk.tell(PAGE, method.name, json!({}));
    }
    assert!(!desk.stopped);
    assert_eq!(desk.attached_window(EDITOR), "w1");
}

#[test]
fn a_decision_in_the_page_is_told_as_made_there_whatever_the_page_calls_itself() {
    let (mut desk, agent) = desk("nexus3");
    desk.event(Event::PageOpened { local: PAGE });
    let hello = desk.ask(PAGE, "hub/hello", json!({ "version": "1", "protocol": 1, "role": "VS Code" }));
    assert!(desk.answer_to(PAGE, hello).unwrap()["error"].is_null());
    desk.propose(agent, 1, NEW);
    let decision = desk.decide(PAGE, "accept");
    assert_eq!(outcome(&desk, PAGE, decision), "taken");
    let hidden = desk.asked_of_editor("review/hide");
    assert_eq!(hidden[0]["params"]["reason"]["by"], "the browser page");
}

#[test]
fn an_open_page_keeps_the_hub_and_a_closed_one_does_not() {
    let mut desk = idle();
    desk.event(Event::PageOpened { local: PAGE });
    desk.wait_seconds(3600);
    assert!(!desk.stopped);
    desk.event(Event::LocalClosed { local: PAGE });
    desk.wait_seconds(601);
    assert!(desk.stopped);
}

#[test]
fn a_hub_stays_as_long_as_a_link_it_gave_can_be_used() {
    for (expires, stays_until) in [(3600, 3600 + 300), (1, 600 + 300)] {
        let mut desk = idle();
        desk.page_link = Ok(link(expires));
        desk.wait_seconds(300);
        let id = desk.ask(COMMAND, "page/link", json!({}));
        assert_eq!(desk.answer_to(COMMAND, id).unwrap()["result"], json!(link(expires)));
        desk.wait_seconds(stays_until - 300 - 2);
        assert!(!desk.stopped, "{expires}");
        desk.wait_seconds(4);
        assert!(desk.stopped, "{expires}");
    }
}

#[test]
fn a_hub_does_not_stay_for_links_that_were_taken_back() {
    let mut desk = idle();
    desk.page_link = Ok(link(3600));
    desk.ask(COMMAND, "page/link", json!({}));
    let id = desk.ask(COMMAND, "page/revoke", json!({}));
    assert_eq!(desk.answer_to(COMMAND, id).unwrap()["result"], json!({ "sessions": 2, "links": 1 }));
    desk.wait_seconds(601);
    assert!(desk.stopped);
}

#[test]
fn a_page_that_cannot_be_served_is_an_error_that_says_why() {
    let mut desk = idle();
    let id = desk.ask(COMMAND, "page/link", json!({}));
    assert_eq!(desk.answer_to(COMMAND, id).unwrap()["error"]["message"], "no port");
}

#[test]
fn access_that_may_come_back_after_a_crash_is_no_success() {
    let mut desk = idle();
    desk.page_revoked = Err("page.json stays".to_owned());
    let id = desk.ask(COMMAND, "page/revoke", json!({}));
    assert_eq!(desk.answer_to(COMMAND, id).unwrap()["error"]["message"], "page.json stays");
}
