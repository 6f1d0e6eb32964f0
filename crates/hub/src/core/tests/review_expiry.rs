//! Nothing is kept without end for an agent that does not come back.

use super::support::COMMAND;
use super::{NEW, hub_and_agent};

#[test]
fn a_review_that_is_being_decided_when_its_grace_period_ends_is_forgotten_later() {
    for dialect in ["claude", "nexus3"] {
        let (mut hub, agent) = hub_and_agent(dialect);
        hub.propose(agent, 1, NEW);
        hub.disconnect(agent);
        hub.wait_seconds(599);
        hub.hold_records = true;
        // An accept needs an agent that writes, or a hub that does.
        hub.decide(COMMAND, if dialect == "claude" { "reject" } else { "accept" });
        hub.wait_seconds(2);
        hub.hold_records = false;
        hub.release_records(Ok(()));
        assert_eq!(hub.reviews().len(), 1, "{dialect}: an answer that may still be fetched");
        hub.wait_seconds(601);
        assert!(hub.reviews().is_empty(), "{dialect}: no agent came back");
    }
}
