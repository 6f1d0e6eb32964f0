//! A window that comes back is the same window, however soon.

use serde_json::json;

use super::support::{COMMAND, EDITOR};
use crate::core::harness::CoreHarness;
use crate::core::{ConnectionId, Event};

const AGAIN: ConnectionId = ConnectionId(3);

#[test]
fn a_window_that_comes_back_while_its_place_is_made_ready_is_no_second_one() {
    let mut hub = CoreHarness::new();
    hub.window_id = Some("window-1");
    hub.attach_both(EDITOR, AGAIN);
    assert_eq!(hub.attached_window(AGAIN), "w1");
    assert_eq!(hub.closed_connections, [EDITOR], "its older connection is the one that was lost");
    hub.event(Event::ConnectionClosed { connection: EDITOR });
    hub.event(Event::ConnectionClosed { connection: AGAIN });
    hub.attach(ConnectionId(4), json!({}));
    assert_eq!(hub.attached_window(ConnectionId(4)), "w1");
}

#[test]
fn a_window_that_attaches_while_a_status_waits_is_called_connected_only_if_it_answers() {
    let mut hub = CoreHarness::new();
    hub.attach(EDITOR, json!({}));
    hub.event(Event::ConnectionOpened { connection: COMMAND });
    let status = hub.request(COMMAND, "hub/status", json!({}));
    hub.attach(AGAIN, json!({}));
    let pinged = hub.requests_to_editor("ping")[0]["id"].clone();
    hub.respond(EDITOR, &pinged, json!(null));
    hub.wait_ms(1000);
    let windows = &hub.response_to(COMMAND, status).unwrap()["result"]["windows"];
    assert_eq!((&windows[0]["attached"], &windows[1]["attached"]), (&json!(true), &json!(false)));
}

#[test]
fn a_window_that_comes_back_learns_which_reviews_to_keep_on_its_screen() {
    let mut hub = CoreHarness::new();
    hub.window_id = Some("window-1");
    hub.attach(EDITOR, json!({ "reviews": true }));
    let (one, other) = (hub.connect(1, "claude"), hub.connect(2, "claude"));
    hub.propose(one, 1, "one");
    hub.propose(other, 1, "two");
    hub.event(Event::ConnectionOpened { connection: COMMAND });
    hub.event(Event::ConnectionClosed { connection: EDITOR });
    hub.decide(COMMAND, "reject");
    hub.attach(AGAIN, json!({ "reviews": true }));
    let attached = hub.to_connections.iter().filter(|(to, _)| *to == AGAIN).map(|(_, message)| message);
    let pending: Vec<_> =
        attached.filter_map(|message| message["result"]["pendingReviews"].as_array()).collect();
    assert_eq!(pending, [&vec![json!("r2")]]);
}
