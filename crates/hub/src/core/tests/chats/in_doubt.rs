//! Decided, and then the journal, the clock or the hub fails: what was accepted happens once or is said to be in doubt,
//! and what the user wrote reaches the model.

use linkspan_review::ReviewId;

use super::*;

/// One change that waits for a decision, in a hub that was killed since, so that its agent is gone.
fn proposed_to_an_earlier_hub() -> CoreHarness {
    let mut hub = hub();
    let agent = hub.ready_chat();
    hub.say("go");
    hub.wants(agent, 5, edit(&[BOTH]));
    after_restart(hub)
}

fn after_restart(hub: CoreHarness) -> CoreHarness {
    let mut hub = hub.restart();
    hub.hosted_agents = Ok(vec![hosted(Some("/bin/gemini"))]);
    hub.event(Event::ConnectionOpened { connection: READER });
    hub.attach(EDITOR, json!({}));
    hub
}

#[test]
fn the_model_hears_of_a_write_whose_record_failed() {
    let mut hub = proposed_to_an_earlier_hub();
    let comments = json!([{ "line": 1, "text": "why so loud" }]);
    let decision = json!({ "verdict": { "kind": "accept" }, "comments": comments, "writeHere": true });
    hub.hold_records = true;
    hub.request(EDITOR, "reviews/decide", json!({ "review": "r1", "decision": decision }));
    hub.release_records(Ok(()));
    assert_eq!(
        (hub.file(), hub.held_records.len()),
        (BOTH.2.as_bytes(), 1),
        "it is written, and not recorded"
    );
    hub.hold_records = false;
    hub.release_records(Err("no space left on device".into()));
    hub.say("more");
    let next = hub.begins();
    let told = hub.prompted(next);
    assert!(told.contains("accepted as proposed and written") && told.contains("why so loud"), "{told}");
}

#[test]
fn what_was_accepted_is_written_however_often_the_clock_jumps_while_its_file_is_read() {
    let mut hub = hub();
    let agent = hub.ready_chat();
    hub.say("go");
    hub.wants(agent, 5, edit_and_new(&["/ws/b.txt"]));
    hub.verdict("r1", json!({ "kind": "accept" }));
    hub.hold_reads = true;
    hub.event(Event::ChildEnded { agent, why: "it ended (signal: 9)".into() });
    for _ in 0..3 {
        hub.now_ms += 7_200_000;
        hub.event(Event::Tick);
    }
    hub.release_reads();
    assert_eq!((hub.file(), hub.writes), (BOTH.2.as_bytes(), 1));
    hub.attach(EDITOR, json!({}));
    hub.say("more");
    let next = hub.begins();
    assert!(hub.prompted(next).contains("why so loud"), "{}", hub.prompted(next));
}

#[test]
fn what_is_decided_again_after_the_turn_was_cancelled_is_written_and_told() {
    let mut hub = hub();
    let agent = hub.ready_chat();
    hub.say("go");
    hub.wants(agent, 5, edit(&[BOTH]));
    let hunk = hub.reviews()[0].hunks()[0].id.to_string();
    hub.hold_records = true;
    hub.verdict("r1", json!({ "kind": "acceptHunks", "hunks": [hunk] }));
    (hub.hold_records, hub.hold_reads) = (false, true);
    hub.files.insert("/ws/a.txt".into(), b"uno\ntwo\n".to_vec());
    hub.release_records(Ok(()));
    hub.chat("chat/cancel", json!({ "chat": "t1" }));
    hub.replies(agent, "session/prompt", json!({ "stopReason": "cancelled" }));
    hub.release_reads();
    assert_eq!((hub.reviews()[0].conflicts.len(), hub.writes), (1, 0), "{:?}", hub.reviews());
    hub.verdict("r1", json!({ "kind": "acceptEdited", "text": "UNO\ntwo\n" }));
    assert_eq!((hub.file(), hub.writes), (&b"UNO\ntwo\n"[..], 1), "no call of its agent waits");
    hub.say("more");
    let told = hub.prompted(agent);
    assert!(told.contains("+UNO") && told.contains("why so loud"), "{told}");
}

#[test]
fn what_is_accepted_while_the_turn_is_cancelled_is_not_lost() {
    let mut hub = hub();
    let agent = hub.ready_chat();
    hub.say("go");
    hub.wants(agent, 5, edit(&[BOTH]));
    hub.hold_records = true;
    hub.verdict("r1", json!({ "kind": "accept" }));
    hub.chat("chat/cancel", json!({ "chat": "t1" }));
    hub.replies(agent, "session/prompt", json!({ "stopReason": "cancelled" }));
    hub.hold_records = false;
    hub.release_records(Ok(()));
    assert_eq!(hub.option(agent, 5), None);
    assert_eq!((hub.file(), hub.writes), (BOTH.2.as_bytes(), 1), "{:?}", hub.reviews());
    hub.say("more");
    assert!(hub.prompted(agent).contains("why so loud"), "{}", hub.prompted(agent));
}

/// It was accepted as proposed and its agent told so; then the hub was killed before it had recorded what the file held,
/// for this long.
fn killed_after_the_yes(file: &str, downtime_ms: u64) -> CoreHarness {
    let mut hub = hub();
    let agent = hub.ready_chat();
    hub.say("go");
    hub.wants(agent, 5, edit(&[BOTH]));
    hub.verdict("r1", json!({ "kind": "accept" }));
    assert_eq!(hub.option(agent, 5), Some("yes"));
    hub.files.insert("/ws/a.txt".into(), file.into());
    hub.downtime_ms = downtime_ms;
    after_restart(hub)
}

#[test]
fn what_an_agent_may_have_written_before_others_changed_the_file_is_not_made_again() {
    // The first could be merged, the second could not.
    for (now, downtime_ms) in [
        ("zero\none\ntwo\n", 0),
        ("zero\none\ntwo\n", 3_600_000),
        ("1\n2\n", 0),
        ("1\n2\n", 3_600_000),
        ("ONE\ntwo\nthree\nfour\n", 0),
    ] {
        let mut hub = killed_after_the_yes(now, downtime_ms);
        hub.say("more");
        let next = hub.begins();
        hub.ends_turn(next);
        assert_eq!((hub.file(), hub.writes), (now.as_bytes(), 0), "whether it was written is not known");
        assert!(hub.reviews().is_empty(), "{now}: the user is not asked again: {:?}", hub.reviews());
        hub.say("and more");
        // After a long time with the first message, else when its agent has not asked again.
        let told: Vec<&Value> = hub.to_agents.iter().map(|(_, frame)| frame).collect();
        let told: Vec<&str> =
            told.iter().filter_map(|it| it["params"]["prompt"][0]["text"].as_str()).collect();
        assert_eq!(told.concat().matches("/ws/a.txt: not written by Linkspan").count(), 1, "{now}: {told:?}");
    }
}

#[test]
fn what_an_agent_wrote_before_the_hub_was_killed_is_only_looked_at() {
    for downtime_ms in [0, 3_600_000] {
        let mut hub = killed_after_the_yes(BOTH.2, downtime_ms);
        hub.wait_seconds(2000);
        assert_eq!((hub.writes, hub.on_disk.as_slice()), (0, &[ReviewId(1)][..]), "{downtime_ms}");
        assert!(hub.reviews().is_empty(), "{downtime_ms}: {:?}", hub.reviews());
    }
}

#[test]
fn nothing_is_left_to_do_about_a_change_whose_conversation_was_forgotten_before_its_editor_was_back() {
    let mut hub = hub();
    let agent = hub.ready_chat();
    hub.say("go");
    hub.wants(agent, 5, edit(&[BOTH]));
    hub.verdict("r1", json!({ "kind": "reject", "reason": "too loud" }));
    hub.downtime_ms = 3_600_000;
    let mut hub = hub.restart();
    assert_eq!(hub.reviews().len(), 1, "it is not known whether its agent heard of it");
    hub.event(Event::ConnectionOpened { connection: READER });
    hub.chat("chat/close", json!({ "chat": "t1", "forget": true }));
    hub.attach(EDITOR, json!({}));
    assert!(hub.reviews().is_empty(), "{:?}", hub.reviews());
    assert_eq!(hub.core.reviews.disk_writes(), 0);
}
