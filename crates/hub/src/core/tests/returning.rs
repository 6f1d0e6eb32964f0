//! A window that comes back is the same window, however soon.

use serde_json::json;

use super::desk::{COMMAND, Desk, EDITOR};
use crate::core::{Event, LocalId};

const AGAIN: LocalId = LocalId(3);

#[test]
fn a_window_that_comes_back_while_its_place_is_made_ready_is_no_second_one() {
    let mut desk = Desk::new();
    desk.window_id = Some("window-1");
    desk.attach_both(EDITOR, AGAIN);
    assert_eq!(desk.attached_window(AGAIN), "w1");
    assert_eq!(desk.closed_locals, [EDITOR], "its older connection is the one that was lost");
    desk.event(Event::LocalClosed { local: EDITOR });
    desk.event(Event::LocalClosed { local: AGAIN });
    desk.attach(LocalId(4), json!({}));
    assert_eq!(desk.attached_window(LocalId(4)), "w1");
}

#[test]
fn a_window_that_attaches_while_a_status_waits_is_called_connected_only_if_it_answers() {
    let mut desk = Desk::new();
    desk.attach(EDITOR, json!({}));
    desk.event(Event::LocalOpened { local: COMMAND });
    let status = desk.ask(COMMAND, "hub/status", json!({}));
    desk.attach(AGAIN, json!({}));
    let pinged = desk.asked_of_editor("ping")[0]["id"].clone();
    desk.answer(EDITOR, &pinged, json!(null));
    desk.wait_ms(1000);
    let windows = &desk.answer_to(COMMAND, status).unwrap()["result"]["windows"];
    assert_eq!((&windows[0]["attached"], &windows[1]["attached"]), (&json!(true), &json!(false)));
}
