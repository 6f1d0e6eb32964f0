//! Texts that an agent read before somebody else changed the file.

use super::*;

#[test]
fn what_may_have_been_the_whole_file_is_written_by_the_hub_and_not_over_what_was_added_since() {
    for (now, accepted) in
        [("zero\none\ntwo\n", "zero\nONE\ntwo\nthree\n"), ("one\ntwo\nlast\n", "ONE\ntwo\nthree\nlast\n")]
    {
        let mut hub = hub();
        let agent = hub.ready_chat();
        hub.say("go");
        hub.files.insert("/ws/a.txt".into(), now.into());
        hub.wants(agent, 5, edit(&[BOTH]));
        hub.verdict("r1", json!({ "kind": "accept" }));
        assert_eq!(hub.option(agent, 5), Some("no"), "it might replace the whole file: {now}");
        hub.ends_turn(agent);
        assert_eq!((hub.file(), hub.writes), (accepted.as_bytes(), 1));
        let told = hub.prompted(agent);
        assert!(told.contains("accepted as proposed and written") && told.contains("why so loud"), "{told}");
    }
}

#[test]
fn a_part_that_was_no_file_is_left_to_its_agent() {
    let mut hub = hub();
    let agent = hub.ready_chat();
    hub.say("go");
    hub.wants(agent, 5, edit(&[("/ws/a.txt", "one", "ONE")]));
    hub.verdict("r1", json!({ "kind": "accept" }));
    assert_eq!((hub.option(agent, 5), hub.writes), (Some("yes"), 0));
}
