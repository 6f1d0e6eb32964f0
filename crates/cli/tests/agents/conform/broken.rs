//! The kit fails exactly the points that a server breaks.

use serde_json::Value;

use super::stand_in::{Fault, StandIn};
use super::{conform, with_result};
use crate::support::*;

pub(super) fn checked(fault: Option<Fault>) -> (Value, i32) {
    let world = World::new();
    let server = StandIn::start(&world, fault);
    conform(&world, &[server.lock.to_str().unwrap(), "--timeout", "15"])
}

#[track_caller]
fn breaks(fault: Fault, expected: &[&str]) {
    let (report, code) = checked(Some(fault));
    assert_eq!(with_result(&report, "fail", "required"), expected, "{fault:?}: {report:#}");
    assert_eq!((code, &report["conforms"]), (1, &Value::Bool(false)), "{fault:?}");
}

#[test]
fn a_server_that_keeps_to_its_protocol_conforms() {
    let (report, code) = checked(None);
    assert_eq!(code, 0, "{report:#}");
    assert_eq!(with_result(&report, "fail", "recommended"), [""; 0], "{report:#}");
    assert_eq!(with_result(&report, "skipped", "required"), ["accept", "reject"]);
}

#[test]
fn a_server_that_admits_everybody_does_not_conform() {
    breaks(Fault::NoAuth, &["no-token", "wrong-token"]);
}

#[test]
fn a_handshake_without_the_subprotocol_does_not_conform() {
    breaks(Fault::NoSubprotocol, &["subprotocol"]);
}

#[test]
fn answers_in_another_shape_do_not_conform() {
    breaks(Fault::OtherShapes, &["open-editors", "workspace-folders"]);
}

#[test]
fn a_closed_tab_that_looks_accepted_does_not_conform() {
    breaks(Fault::ClosedIsAccepted, &["close-tab", "new-file", "same-file", "large", "close-all"]);
}

#[test]
fn a_server_that_decides_by_itself_does_not_conform() {
    breaks(
        Fault::AcceptsByItself,
        &["open-diff", "meanwhile", "close-tab", "new-file", "same-file", "large", "gone", "close-all"],
    );
}

#[test]
fn a_call_without_an_answer_does_not_conform() {
    breaks(Fault::SilentAboutTools, &["unknown-tool"]);
}

#[test]
fn a_connection_that_ends_on_bad_json_does_not_conform() {
    breaks(Fault::EndsOnBadJson, &["bad-json"]);
}
