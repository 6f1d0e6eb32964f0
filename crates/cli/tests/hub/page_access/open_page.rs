//! What an open page can do, and how long the hub and it wait for each other.

use std::fs;
use std::net::TcpListener;
use std::time::Duration;

use serde_json::json;
use tungstenite::Message;

use crate::support::page_client::{PageServer, ask, link, serve_page, serve_page_in};
use crate::support::world::alive;
use crate::support::*;

#[test]
fn a_page_sees_reviews_as_they_come_and_decides_them() {
    let server = serve_page();
    let serve = server.world.serve();
    let path = server.world.file("a.txt", "one\ntwo\n");
    let mut page = server.sign_in().open();
    page.request("hub/hello", json!({ "version": "1", "protocol": 1, "role": "a forger" }));
    assert!(page.request("hub/watch", json!({}))["error"].is_null());
    let mut agent = Agent::nexus3(&server.world, serve.port);
    let call = agent.propose(&path, "one\n2\n", "a");
    let told = page.find(DEADLINE, |message| message["params"]["what"]["change"]["kind"] == "proposed");
    let review = told.unwrap()["params"]["what"]["review"].clone();
    let listed = page.request("reviews/list", json!({}))["result"]["reviews"][0].clone();
    assert_eq!((&listed["review"], &listed["bytes"]), (&review, &json!(8)));
    let shown = page.request("reviews/get", json!({ "review": review }))["result"]["shown"].clone();
    assert_eq!(shown["proposed"], "one\n2\n");
    let decision = json!({ "review": review, "revision": shown["revision"],
        "decision": { "verdict": { "kind": "accept" }, "comments": [] } });
    assert_eq!(page.request("reviews/decide", decision)["result"]["kind"], "taken");
    assert_eq!(agent.texts(call)[0], "FILE_SAVED");
    assert_eq!(server.world.read_text("a.txt"), "one\n2\n");
    let told = page.find(DEADLINE, |message| message["params"]["what"]["change"]["kind"] == "decided");
    assert_eq!(told.unwrap()["params"]["what"]["change"]["by"], "the browser page");
}

/// A review with a text of that many MiB: more than the system's buffers hold when the page does not read.
fn large_review(server: &PageServer, mib: usize) -> (Agent, Serve, String) {
    let serve = server.world.serve();
    let mut agent = Agent::nexus3(&server.world, serve.port);
    agent.propose(&server.world.path_str("large.txt"), &"x".repeat(mib << 20), "large");
    // Without optimisation, a hub on a busy machine may read so much text for longer than a command waits for an answer.
    eventually("the hub has read it", || {
        let ran = server.world.run(&["reviews", "--json"]);
        (ran.code == 0 && ran.json()["reviews"][0]["phase"] == "pending").then_some(())
    });
    let review = server.world.one_pending();
    (agent, serve, review)
}

#[test]
fn a_page_that_asks_for_much_and_reads_late_gets_all_of_it_and_holds_nobody_up() {
    let server = serve_page_in(World::with_config("[limits]\nfile_mib = 2\nmessage_mib = 2\n"));
    let (_agent, _serve, review) = large_review(&server, 1);
    let mut page = server.sign_in().open();
    page.freeze();
    let asked: Vec<i64> =
        (0..60).map(|_| page.send_request("reviews/get", json!({ "review": review }))).collect();
    // While the page does not read, its requests are not read either, so little is queued for it.
    server.sign_in().open().is_served();
    page.thaw();
    for id in asked {
        assert!(page.answer(id)["result"]["shown"].is_object());
    }
}

#[test]
fn access_that_is_taken_back_ends_what_is_being_sent() {
    let server = serve_page();
    let (_agent, _serve, review) = large_review(&server, 14);
    let mut page = server.sign_in().open();
    page.freeze();
    let asked = page.send_request("reviews/get", json!({ "review": review }));
    let mut other = server.sign_in().open();
    other.is_served();
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(ask(&server.world, "page/revoke")["result"]["sessions"], 2);
    assert_eq!(other.end(), Some(4001));
    page.thaw();
    assert_eq!(page.answer_within(asked, DEADLINE), None);
    assert_eq!(page.closed, Some(None), "no word comes after half a message");
}

#[test]
fn a_page_can_ask_for_nothing_but_to_look_and_decide() {
    let server = serve_page();
    let mut page = server.sign_in().open();
    for method in ["hub/stop", "page/link", "page/revoke", "attach", "agent/join", "review/decided", "x"] {
        let answer = page.request(method, json!({ "force": true }));
        assert_eq!(answer["error"]["code"], -32601, "{method}: {answer}");
    }
    page.notify("detach", json!({}));
    page.send_text("{");
    assert_eq!(page.next_frame(DEADLINE).unwrap()["error"]["code"], -32700);
    page.is_served();
    page.send_message(Message::binary(b"{}".to_vec())).unwrap();
    assert_eq!(page.end(), Some(1003));
}

#[test]
fn the_port_can_be_chosen_and_one_that_cannot_be_had_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let world = World::with_config(&format!("[page]\nport = {port}\n"));
    world.run(&["hub", "start"]).ok();
    let answer = ask(&world, "page/link");
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains(&port.to_string()) && message.contains("`[page]`"), "{message}");
    drop(taken);
    assert_eq!(link(&world).0, port);
    assert_eq!(link(&world).0, port);
}

#[test]
fn nothing_listens_for_browsers_before_somebody_wants_a_link() {
    let world = World::new();
    world.run(&["hub", "start"]).ok();
    assert!(!world.runtime().join("page.json").exists());
    let (port, _) = link(&world);
    let kept = fs::read_to_string(world.runtime().join("page.json")).unwrap();
    assert!(kept.contains(&port.to_string()), "{kept}");
}

#[test]
fn an_open_page_keeps_the_hub_and_a_closed_one_does_not() {
    let server = serve_page_in(World::with_config("idle_exit_seconds = 3\n"));
    let browser = server.sign_in();
    // The next hub has no unused link to wait for.
    server.world.kill_hub();
    server.world.run(&["hub", "start"]).ok();
    let mut page = browser.open();
    let hub = server.world.hub_pid().unwrap();
    std::thread::sleep(Duration::from_secs(5));
    page.is_served();
    page.goodbye();
    eventually("the hub leaves", || (!alive(hub)).then_some(()));
    assert!(!server.world.runtime().join("page.json").exists());
}

#[test]
fn a_page_that_answers_no_ping_is_let_go() {
    let server = serve_page_in(World::with_config("[limits]\nheartbeat_seconds = 1\n"));
    let browser = server.sign_in();
    let (mut lively, page) = (browser.open(), browser.open());
    page.freeze();
    eventually("it is let go", || server.world.log().contains("does not answer").then_some(()));
    lively.is_served();
    assert_eq!(server.world.log().matches("does not answer").count(), 1);
    page.thaw();
}
