//! What an open page may ask, what it is called, and how long a hub stays for it.

use linkspan_editor_api::{METHODS, PageLinkResult, errors};
use serde_json::{Value, json};

use super::support::{COMMAND, EDITOR};
use super::{NEW, hub_and_agent, outcome};
use crate::core::harness::CoreHarness;
use crate::core::{ConnectionId, Event};

const PAGE: ConnectionId = ConnectionId(7);

fn link(expires_in_seconds: u64) -> PageLinkResult {
    PageLinkResult { url: "http://127.0.0.1:1/#s".into(), port: 1, expires_in_seconds }
}

/// A hub with only a command connected.
fn idle() -> CoreHarness {
    let mut hub = CoreHarness::new();
    hub.event(Event::ConnectionOpened { connection: COMMAND });
    hub
}

#[test]
fn a_page_looks_and_decides_and_can_ask_for_nothing_else() {
    let (mut hub, _) = hub_and_agent("claude");
    hub.event(Event::PageOpened { connection: PAGE });
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
        "history/undoTurn",
        "chat/agents",
        "chat/list",
        "chat/start",
        "chat/open",
        "chat/items",
        "chat/files",
        "chat/symbols",
        "chat/prompt",
        "chat/cancel",
        "chat/setMode",
        "chat/close",
        "ping",
    ];
    for method in METHODS {
        let id = hub.request(PAGE, method.name, json!({}));
        let answer = hub.response_to(PAGE, id);
        let code = answer.map_or(&Value::Null, |answer| &answer["error"]["code"]);
        assert_eq!(*code != errors::METHOD_NOT_FOUND, allowed.contains(&method.name), "{}", method.name);
        hub.notify(PAGE, method.name, json!({}));
    }
    assert!(!hub.stopped);
    assert_eq!(hub.attached_window(EDITOR), "w1");
}

#[test]
fn a_decision_in_the_page_is_named_after_the_page_whatever_the_page_calls_itself() {
    let (mut hub, agent) = hub_and_agent("nexus3");
    hub.event(Event::PageOpened { connection: PAGE });
    let hello = hub.request(PAGE, "hub/hello", json!({ "version": "1", "protocol": 1, "role": "VS Code" }));
    assert!(hub.response_to(PAGE, hello).unwrap()["error"].is_null());
    hub.propose(agent, 1, NEW);
    let decision = hub.decide(PAGE, "accept");
    assert_eq!(outcome(&hub, PAGE, decision), "taken");
    let hidden = hub.requests_to_editor("review/hide");
    assert_eq!(hidden[0]["params"]["reason"]["by"], "the browser page");
}

#[test]
fn an_open_page_keeps_the_hub_and_a_closed_one_does_not() {
    let mut hub = idle();
    hub.event(Event::PageOpened { connection: PAGE });
    hub.wait_seconds(3600);
    assert!(!hub.stopped);
    hub.event(Event::ConnectionClosed { connection: PAGE });
    hub.wait_seconds(601);
    assert!(hub.stopped);
}

#[test]
fn a_hub_stays_as_long_as_a_link_it_gave_can_be_used() {
    for (expires, stays_until) in [(3600, 3600 + 300), (1, 600 + 300)] {
        let mut hub = idle();
        hub.page_link = Ok(link(expires));
        hub.wait_seconds(300);
        let id = hub.request(COMMAND, "page/link", json!({}));
        assert_eq!(hub.response_to(COMMAND, id).unwrap()["result"], json!(link(expires)));
        hub.wait_seconds(stays_until - 300 - 2);
        assert!(!hub.stopped, "{expires}");
        hub.wait_seconds(4);
        assert!(hub.stopped, "{expires}");
    }
}

#[test]
fn a_hub_does_not_stay_for_links_that_were_taken_back() {
    let mut hub = idle();
    hub.page_link = Ok(link(3600));
    hub.request(COMMAND, "page/link", json!({}));
    let id = hub.request(COMMAND, "page/revoke", json!({}));
    assert_eq!(hub.response_to(COMMAND, id).unwrap()["result"], json!({ "sessions": 2, "links": 1 }));
    hub.wait_seconds(601);
    assert!(hub.stopped);
}

#[test]
fn a_page_that_cannot_be_served_is_an_error_that_says_why() {
    let mut hub = idle();
    let id = hub.request(COMMAND, "page/link", json!({}));
    assert_eq!(hub.response_to(COMMAND, id).unwrap()["error"]["message"], "no port");
}

#[test]
fn access_that_may_come_back_after_a_crash_is_no_success() {
    let mut hub = idle();
    hub.page_revoked = Err("page.json stays".to_owned());
    let id = hub.request(COMMAND, "page/revoke", json!({}));
    assert_eq!(hub.response_to(COMMAND, id).unwrap()["error"]["message"], "page.json stays");
}
