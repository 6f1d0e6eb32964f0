//! Changes that the user allowed elsewhere, and that their agents write themselves: recorded, and not shown.

use linkspan_review::{Phase, ReviewId};
use serde_json::json;

use super::own_dialect::{call, join, tool_result};
use super::support::{COMMAND, EDITOR};
use super::{NEW, OLD};
use crate::core::harness::CoreHarness;
use crate::core::{ConnectionId, Event};

const AGENT: ConnectionId = ConnectionId(11);
const R1: ReviewId = ReviewId(1);

fn recording_hub() -> CoreHarness {
    let mut hub = CoreHarness::new();
    hub.attach(EDITOR, json!({ "reviews": true }));
    hub.event(Event::ConnectionOpened { connection: COMMAND });
    join(&mut hub, AGENT, "k3y");
    hub
}

fn record(hub: &mut CoreHarness, path: &str, allowed_by: &str) -> i64 {
    call(hub, AGENT, "recordChange", json!({ "path": path, "newText": NEW, "allowedBy": allowed_by }))
}

#[test]
fn it_is_recorded_before_its_agent_writes_it_and_nobody_is_asked() {
    for (allowed_by, place) in
        [("yolo", "yolo mode"), ("sandboxed", "sandboxed mode"), ("terminal", "the agent's terminal")]
    {
        let mut hub = recording_hub();
        hub.hold_records = true;
        let asked = record(&mut hub, "/ws/a.txt", allowed_by);
        assert_eq!(tool_result(&hub, AGENT, asked), None, "answered before it is recorded");
        hub.hold_records = false;
        hub.release_records(Ok(()));
        let told = tool_result(&hub, AGENT, asked).unwrap();
        assert_eq!((&told["outcome"], &told["written"]), (&json!("accepted"), &json!(false)), "{told}");
        assert!(hub.shown().is_empty());
        assert_eq!((hub.file(), hub.writes), (OLD, 0), "only its agent writes it");
        assert_eq!(hub.decided_by.get(&R1).map(String::as_str), Some(place));
        let before = &hub.journal[&R1].base;
        assert_eq!(before.as_ref().map(|base| base.text.as_bytes()), Some(OLD), "what an undo restores");
        hub.files.insert("/ws/a.txt".into(), NEW.as_bytes().to_vec());
        hub.wait_seconds(1);
        assert_eq!(hub.on_disk, [R1]);
    }
}

#[test]
fn what_cannot_be_recorded_is_refused_and_never_asked_about() {
    let mut hub = recording_hub();
    let asked = record(&mut hub, "/ws/a.txt", "whatever");
    assert_eq!(hub.response_to(AGENT, asked).unwrap()["error"]["code"], -32602);
    hub.files.insert("/ws/a.txt".into(), b"\x00\xff\xfe\x00\x01".to_vec());
    let asked = record(&mut hub, "/ws/a.txt", "yolo");
    assert_eq!(tool_result(&hub, AGENT, asked).unwrap()["error"]["kind"], "notText");
    assert!(hub.shown().is_empty());
    assert!(!hub.reviews().iter().any(|review| review.phase == Phase::Pending), "nobody is asked");
}
