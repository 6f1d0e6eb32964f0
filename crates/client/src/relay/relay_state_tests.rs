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

/// A state whose shim has attached and been answered.
fn state() -> RelayState {
    let mut state = RelayState::default();
    state.hub_up();
    state.shim_said(frame(attach(1)));
    assert_eq!(values(&state.hub_said(frame(attached(1, 9))).unwrap().to_shim), [attached(1, 9)]);
    state
}

/// The hub dies and another comes; gives the id under which the window was attached again.
fn restart(state: &mut RelayState) -> Value {
    state.hub_down();
    let sent = values(&state.hub_up().to_hub);
    let [message] = sent.as_slice() else { panic!("{sent:?}") };
    assert_eq!(message["method"], "attach");
    message["id"].clone()
}

#[test]
fn frames_pass_byte_for_byte() {
    let mut state = state();
    let odd = br#" {"id":7, "method":"x" ,"jsonrpc":"2.0","extra":"\u00e9"}"#.to_vec();
    assert_eq!(state.shim_said(odd.clone()).to_hub, std::slice::from_ref(&odd));
    assert_eq!(state.hub_said(odd.clone()).unwrap().to_shim, [odd]);
    assert_eq!(state.shim_said(b"not json".to_vec()).to_hub, [b"not json"]);
}

#[test]
fn a_shim_that_attaches_before_there_is_a_hub_is_attached_once() {
    let mut state = RelayState::default();
    assert!(state.shim_said(frame(attach(1))).to_hub.is_empty());
    assert_eq!(values(&state.hub_up().to_hub), [attach(1)]);
    let output = state.hub_said(frame(attached(1, 9))).unwrap();
    assert_eq!(values(&output.to_shim), [attached(1, 9)]);
    assert!(output.to_hub.is_empty());
}

#[test]
fn a_new_hub_is_told_the_newest_folders_and_unknown_members() {
    let mut state = state();
    let changed = json!({ "jsonrpc": "2.0", "method": "folders/changed", "params": { "folders": ["/b"] } });
    state.shim_said(frame(changed));
    state.hub_down();
    let sent = values(&state.hub_up().to_hub);
    assert_eq!(sent[0]["params"], json!({ "folders": ["/b"], "later": 1 }));
}

#[test]
fn the_shim_hears_of_our_own_attach_that_the_hub_is_back() {
    let mut state = state();
    let id = restart(&mut state);
    let output = state.hub_said(frame(attached(id, 9))).unwrap();
    let window = json!({ "window": "w1", "port": 9, "hubVersion": "1", "protocol": 1, "environment": {} });
    let back = json!({ "jsonrpc": "2.0", "method": "hub/back", "params": window });
    assert_eq!(values(&output.to_shim), [back]);
    assert!(matches!(output.notice, Some(Notice::Reattached { moved: false, .. })));
}

#[test]
fn a_window_that_got_another_port_is_noticed() {
    let mut state = state();
    let id = restart(&mut state);
    let output = state.hub_said(frame(attached(id, 10))).unwrap();
    assert!(matches!(output.notice, Some(Notice::Reattached { port: 10, moved: true })));
}

#[test]
fn an_unanswered_decision_is_sent_again_and_an_answered_one_is_not() {
    let mut state = state();
    state.shim_said(frame(request(2, "review/decided")));
    state.shim_said(frame(request(3, "review/decided")));
    state.hub_said(frame(answer(2))).unwrap();
    let id = restart(&mut state);
    let output = state.hub_said(frame(attached(id, 9))).unwrap();
    assert_eq!(values(&output.to_hub), [request(3, "review/decided")]);
    assert_eq!(values(&state.hub_said(frame(answer(3))).unwrap().to_shim), [answer(3)]);
    let id = restart(&mut state);
    assert!(state.hub_said(frame(attached(id, 9))).unwrap().to_hub.is_empty());
}

#[test]
fn what_is_said_while_there_is_no_hub_follows_the_attach_in_order() {
    let mut state = state();
    state.shim_said(frame(request(2, "review/decided")));
    state.hub_down();
    let edited = json!({ "jsonrpc": "2.0", "method": "review/edited", "params": {} });
    assert!(state.shim_said(frame(edited.clone())).to_hub.is_empty());
    assert!(state.shim_said(frame(request(3, "review/decided"))).to_hub.is_empty());
    let id = values(&state.hub_up().to_hub)[0]["id"].clone();
    let output = state.hub_said(frame(attached(id, 9))).unwrap();
    assert_eq!(values(&output.to_hub), [request(2, "review/decided"), edited, request(3, "review/decided")]);
}

#[test]
fn an_answer_to_a_dead_hub_is_dropped() {
    let mut state = state();
    state.hub_said(frame(request(5, "document/text"))).unwrap();
    let id = restart(&mut state);
    state.hub_said(frame(attached(id, 9))).unwrap();
    assert!(state.shim_said(frame(answer(5))).to_hub.is_empty());
}

#[test]
fn the_same_id_from_two_hubs_finds_each_its_own_answer() {
    let mut state = state();
    state.hub_said(frame(request(5, "document/text"))).unwrap();
    let id = restart(&mut state);
    state.hub_said(frame(attached(id, 9))).unwrap();
    let shown = values(&state.hub_said(frame(request(5, "document/text"))).unwrap().to_shim);
    assert_ne!(shown[0]["id"], 5);
    assert_eq!(shown[0]["params"], request(5, "")["params"]);
    assert!(state.shim_said(frame(answer(5))).to_hub.is_empty());
    let reply = state.shim_said(frame(answer(shown[0]["id"].clone())));
    assert_eq!(values(&reply.to_hub), [answer(5)]);
}

#[test]
fn a_hub_that_does_not_let_the_window_in_again_ends_it() {
    let mut state = state();
    let id = restart(&mut state);
    let no = json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32013, "message": "too old" } });
    assert_eq!(state.hub_said(frame(no)).unwrap_err().message, "too old");
}

#[test]
fn a_window_that_was_never_let_in_is_not_attached_again() {
    let mut state = RelayState::default();
    state.hub_up();
    state.shim_said(frame(attach(1)));
    let no = json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": -32013, "message": "too old" } });
    assert_eq!(values(&state.hub_said(frame(no.clone())).unwrap().to_shim), [no]);
    state.hub_down();
    assert!(state.hub_up().to_hub.is_empty());
}

#[test]
fn leaving_while_there_is_no_hub_brings_no_window_back() {
    let mut state = state();
    state.hub_down();
    state.shim_said(frame(json!({ "jsonrpc": "2.0", "method": "detach" })));
    assert!(state.hub_up().to_hub.is_empty());
}

#[test]
fn a_decision_outlasts_any_number_of_notifications_while_there_is_no_hub() {
    let mut state = state();
    state.hub_down();
    state.shim_said(frame(request(2, "review/decided")));
    let moved = frame(json!({ "jsonrpc": "2.0", "method": "selection/changed", "params": {} }));
    for _ in 0..2 * KEPT_FRAMES {
        state.shim_said(moved.clone());
    }
    let id = values(&state.hub_up().to_hub)[0]["id"].clone();
    let output = state.hub_said(frame(attached(id, 9))).unwrap();
    assert_eq!(values(&output.to_hub[..1]), [request(2, "review/decided")]);
    assert!(output.to_hub.len() <= KEPT_FRAMES);
}
