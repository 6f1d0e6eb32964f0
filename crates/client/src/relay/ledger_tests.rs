//! Conversations of a shim with one hub after another, frame by frame.

use serde_json::json;

use super::*;

fn frame(message: Value) -> Frame {
    serde_json::to_vec(&message).unwrap()
}

fn values(frames: &[Frame]) -> Vec<Value> {
    frames.iter().map(|frame| serde_json::from_slice(frame).unwrap()).collect()
}

fn request(id: i64, method: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": { "some": "text" } })
}

fn attach(id: i64) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "attach", "params": { "folders": ["/a"], "later": 1 } })
}

fn attached(id: impl Into<Value>, port: u16) -> Value {
    let window = json!({ "window": "w1", "port": port, "hubVersion": "1", "protocol": 1 });
    json!({ "jsonrpc": "2.0", "id": id.into(), "result": window })
}

fn answer(id: impl Into<Value>) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "result": { "kind": "taken" } })
}

/// A ledger whose shim has attached and been answered.
fn ledger() -> Ledger {
    let mut ledger = Ledger::default();
    ledger.hub_up();
    ledger.shim_said(frame(attach(1)));
    assert_eq!(values(&ledger.hub_said(frame(attached(1, 9))).unwrap().to_shim), [attached(1, 9)]);
    ledger
}

/// The hub dies and another comes; gives the id under which the window was attached again.
fn restart(ledger: &mut Ledger) -> Value {
    ledger.hub_down();
    let sent = values(&ledger.hub_up().to_hub);
    let [message] = sent.as_slice() else { panic!("{sent:?}") };
    assert_eq!(message["method"], "attach");
    message["id"].clone()
}

#[test]
fn frames_pass_byte_for_byte() {
    let mut ledger = ledger();
    let odd = br#" {"id":7, "method":"x" ,"jsonrpc":"2.0","extra":"\u00e9"}"#.to_vec();
    assert_eq!(ledger.shim_said(odd.clone()).to_hub, std::slice::from_ref(&odd));
    assert_eq!(ledger.hub_said(odd.clone()).unwrap().to_shim, [odd]);
    assert_eq!(ledger.shim_said(b"not json".to_vec()).to_hub, [b"not json"]);
}

#[test]
fn a_shim_that_attaches_before_there_is_a_hub_is_attached_once() {
    let mut ledger = Ledger::default();
    assert!(ledger.shim_said(frame(attach(1))).to_hub.is_empty());
    assert_eq!(values(&ledger.hub_up().to_hub), [attach(1)]);
    let moves = ledger.hub_said(frame(attached(1, 9))).unwrap();
    assert_eq!(values(&moves.to_shim), [attached(1, 9)]);
    assert!(moves.to_hub.is_empty());
}

#[test]
fn a_new_hub_is_told_the_newest_folders_and_unknown_members() {
    let mut ledger = ledger();
    let changed = json!({ "jsonrpc": "2.0", "method": "folders/changed", "params": { "folders": ["/b"] } });
    ledger.shim_said(frame(changed));
    ledger.hub_down();
    let sent = values(&ledger.hub_up().to_hub);
    assert_eq!(sent[0]["params"], json!({ "folders": ["/b"], "later": 1 }));
}

#[test]
fn the_shim_hears_of_our_own_attach_that_the_hub_is_back() {
    let mut ledger = ledger();
    let id = restart(&mut ledger);
    let moves = ledger.hub_said(frame(attached(id, 9))).unwrap();
    let window = json!({ "window": "w1", "port": 9, "hubVersion": "1", "protocol": 1, "environment": {} });
    let back = json!({ "jsonrpc": "2.0", "method": "hub/back", "params": window });
    assert_eq!(values(&moves.to_shim), [back]);
    assert!(matches!(moves.notice, Some(Notice::Reattached { moved: false, .. })));
}

#[test]
fn a_window_that_got_another_port_is_noticed() {
    let mut ledger = ledger();
    let id = restart(&mut ledger);
    let moves = ledger.hub_said(frame(attached(id, 10))).unwrap();
    assert!(matches!(moves.notice, Some(Notice::Reattached { port: 10, moved: true })));
}

#[test]
fn an_unanswered_decision_is_sent_again_and_an_answered_one_is_not() {
    let mut ledger = ledger();
    ledger.shim_said(frame(request(2, "review/decided")));
    ledger.shim_said(frame(request(3, "review/decided")));
    ledger.hub_said(frame(answer(2))).unwrap();
    let id = restart(&mut ledger);
    let moves = ledger.hub_said(frame(attached(id, 9))).unwrap();
    assert_eq!(values(&moves.to_hub), [request(3, "review/decided")]);
    assert_eq!(values(&ledger.hub_said(frame(answer(3))).unwrap().to_shim), [answer(3)]);
    let id = restart(&mut ledger);
    assert!(ledger.hub_said(frame(attached(id, 9))).unwrap().to_hub.is_empty());
}

#[test]
fn what_is_said_while_there_is_no_hub_follows_the_attach_in_order() {
    let mut ledger = ledger();
    ledger.shim_said(frame(request(2, "review/decided")));
    ledger.hub_down();
    let edited = json!({ "jsonrpc": "2.0", "method": "review/edited", "params": {} });
    assert!(ledger.shim_said(frame(edited.clone())).to_hub.is_empty());
    assert!(ledger.shim_said(frame(request(3, "review/decided"))).to_hub.is_empty());
    let id = values(&ledger.hub_up().to_hub)[0]["id"].clone();
    let moves = ledger.hub_said(frame(attached(id, 9))).unwrap();
    assert_eq!(values(&moves.to_hub), [request(2, "review/decided"), edited, request(3, "review/decided")]);
}

#[test]
fn an_answer_to_a_dead_hub_is_dropped() {
    let mut ledger = ledger();
    ledger.hub_said(frame(request(5, "document/text"))).unwrap();
    let id = restart(&mut ledger);
    ledger.hub_said(frame(attached(id, 9))).unwrap();
    assert!(ledger.shim_said(frame(answer(5))).to_hub.is_empty());
}

#[test]
fn the_same_id_from_two_hubs_finds_each_its_own_answer() {
    let mut ledger = ledger();
    ledger.hub_said(frame(request(5, "document/text"))).unwrap();
    let id = restart(&mut ledger);
    ledger.hub_said(frame(attached(id, 9))).unwrap();
    let shown = values(&ledger.hub_said(frame(request(5, "document/text"))).unwrap().to_shim);
    assert_ne!(shown[0]["id"], 5);
    assert_eq!(shown[0]["params"], request(5, "")["params"]);
    assert!(ledger.shim_said(frame(answer(5))).to_hub.is_empty());
    let reply = ledger.shim_said(frame(answer(shown[0]["id"].clone())));
    assert_eq!(values(&reply.to_hub), [answer(5)]);
}

#[test]
fn a_hub_that_does_not_let_the_window_in_again_ends_it() {
    let mut ledger = ledger();
    let id = restart(&mut ledger);
    let no = json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32013, "message": "too old" } });
    assert_eq!(ledger.hub_said(frame(no)).unwrap_err().message, "too old");
}

#[test]
fn a_window_that_was_never_let_in_is_not_attached_again() {
    let mut ledger = Ledger::default();
    ledger.hub_up();
    ledger.shim_said(frame(attach(1)));
    let no = json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": -32013, "message": "too old" } });
    assert_eq!(values(&ledger.hub_said(frame(no.clone())).unwrap().to_shim), [no]);
    ledger.hub_down();
    assert!(ledger.hub_up().to_hub.is_empty());
}

#[test]
fn leaving_while_there_is_no_hub_brings_no_window_back() {
    let mut ledger = ledger();
    ledger.hub_down();
    ledger.shim_said(frame(json!({ "jsonrpc": "2.0", "method": "detach" })));
    assert!(ledger.hub_up().to_hub.is_empty());
}

#[test]
fn a_decision_outlasts_any_number_of_notifications_while_there_is_no_hub() {
    let mut ledger = ledger();
    ledger.hub_down();
    ledger.shim_said(frame(request(2, "review/decided")));
    let moved = frame(json!({ "jsonrpc": "2.0", "method": "selection/changed", "params": {} }));
    for _ in 0..2 * KEPT_FRAMES {
        ledger.shim_said(moved.clone());
    }
    let id = values(&ledger.hub_up().to_hub)[0]["id"].clone();
    let moves = ledger.hub_said(frame(attached(id, 9))).unwrap();
    assert_eq!(values(&moves.to_hub[..1]), [request(2, "review/decided")]);
    assert!(moves.to_hub.len() <= KEPT_FRAMES);
}
