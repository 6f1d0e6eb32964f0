//! Nothing stays for ever for an agent that does not come back.

use super::desk::COMMAND;
use super::{NEW, desk};

#[test]
fn what_is_being_decided_when_its_agents_time_is_over_is_forgotten_later() {
    for dialect in ["claude", "nexus3"] {
        let (mut desk, agent) = desk(dialect);
        desk.propose(agent, 1, NEW);
        desk.lose(agent);
        desk.wait_seconds(599);
        desk.hold_records = true;
        // An accept needs an agent that writes, or a hub that does.
        desk.decide(COMMAND, if dialect == "claude" { "reject" } else { "accept" });
        desk.wait_seconds(2);
        desk.hold_records = false;
        desk.let_go(Ok(()));
        assert_eq!(desk.reviews().len(), 1, "{dialect}: an answer that may still be fetched");
        desk.wait_seconds(601);
        assert!(desk.reviews().is_empty(), "{dialect}: nobody came");
    }
}
