//! The agent is gone, or its turn is cancelled, between the decision and the hub's write: what was accepted is written,
//! the journal says so, and the model hears of it with the next message.

use linkspan_review::{Phase, ReviewEnd, ReviewId};

use super::*;

/// How far it got.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Moment {
    /// What the file holds is being read.
    Reading,
    /// That the hub writes it is being recorded.
    Recording,
    /// The agent has its no, and has not shown that it knows.
    Told,
    /// The disk has not answered.
    Writing,
}

const MOMENTS: [Moment; 4] = [Moment::Reading, Moment::Recording, Moment::Told, Moment::Writing];

#[derive(Debug, Clone, Copy, PartialEq)]
enum Loss {
    Killed,
    Closed,
    WindowGone,
    Cancelled,
}

impl CoreHarness {
    /// One hunk of two is accepted, and everything stops at this moment.
    fn stops_at(&mut self, agent: AgentId, moment: Moment) {
        let hunk = self.reviews()[0].hunks()[0].id.to_string();
        self.hold_records = true;
        self.verdict("r1", json!({ "kind": "acceptHunks", "hunks": [hunk] }));
        self.hold_reads = moment == Moment::Reading;
        self.hold_records = moment == Moment::Recording;
        self.hold_writes = moment == Moment::Writing;
        self.release_records(Ok(()));
        if moment == Moment::Writing {
            let failed =
                json!({ "sessionUpdate": "tool_call_update", "toolCallId": "e1", "status": "failed" });
            self.says(agent, failed);
        }
        assert_eq!(self.file(), b"one\ntwo\n", "{moment:?}");
    }

    fn loses(&mut self, agent: AgentId, loss: Loss) {
        match loss {
            Loss::Killed => self.event(Event::ChildEnded { agent, why: "it ended (signal: 9)".into() }),
            Loss::Closed => drop(self.chat("chat/close", json!({ "chat": "t1" }))),
            Loss::WindowGone => {
                self.notify(EDITOR, "detach", json!({}));
                self.wait_seconds(200);
            }
            Loss::Cancelled => {
                self.chat("chat/cancel", json!({ "chat": "t1" }));
                self.replies(agent, "session/prompt", json!({ "stopReason": "cancelled" }));
            }
        }
    }

    fn goes_on(&mut self) {
        self.hold_records = false;
        self.release_records(Ok(()));
        self.release_reads();
        if std::mem::take(&mut self.hold_writes) {
            self.files.insert("/ws/a.txt".into(), b"ONE\ntwo\n".to_vec());
            self.writes += 1;
            self.event(Event::FileWritten { review: ReviewId(1), result: Ok(()) });
        }
    }
}

#[test]
fn what_was_accepted_is_written_and_told_whenever_the_agent_is_lost() {
    for loss in [Loss::Killed, Loss::Closed, Loss::WindowGone, Loss::Cancelled] {
        for moment in MOMENTS {
            // A disk that does not answer for so long is given up.
            if loss == Loss::WindowGone && matches!(moment, Moment::Reading | Moment::Writing) {
                continue;
            }
            let mut hub = hub();
            let agent = hub.ready_chat();
            hub.say("go");
            hub.wants(agent, 5, edit(&[BOTH]));
            hub.stops_at(agent, moment);
            hub.loses(agent, loss);
            hub.goes_on();
            let now = String::from_utf8_lossy(hub.file()).into_owned();
            assert_eq!((now.as_str(), hub.writes), ("ONE\ntwo\n", 1), "{loss:?} {moment:?}");
            let recorded = &hub.journal[&ReviewId(1)];
            let Phase::Settled { outcome, .. } = &recorded.phase else {
                panic!("{loss:?} {moment:?}: {recorded:?}")
            };
            assert!(matches!(outcome.ended, ReviewEnd::Accepted(_)), "{loss:?} {moment:?}: {outcome:?}");
            if loss == Loss::WindowGone {
                hub.attach(EDITOR, json!({}));
            }
            hub.say("more");
            let next = if loss == Loss::Cancelled { agent } else { hub.begins() };
            let told = hub.prompted(next).to_owned();
            assert!(
                told.contains("1 of 2 hunks") && told.contains("why so loud"),
                "{loss:?} {moment:?}: {told}"
            );
            assert_eq!(told.matches("1 of 2 hunks").count(), 1, "{loss:?} {moment:?}: {told}");
            hub.ends_turn(next);
            hub.say("and more");
            assert_eq!(hub.prompted(next), "and more", "{loss:?} {moment:?}: it is told once");
            assert!(hub.reviews().is_empty(), "{loss:?} {moment:?}: {:?}", hub.reviews());
        }
    }
}

#[test]
fn what_cannot_be_written_after_the_agent_is_lost_is_told_too() {
    // The disk does not answer.
    for moment in [Moment::Reading, Moment::Writing] {
        let mut hub = hub();
        let agent = hub.ready_chat();
        hub.say("go");
        hub.wants(agent, 5, edit(&[BOTH]));
        hub.stops_at(agent, moment);
        hub.loses(agent, Loss::Killed);
        hub.wait_seconds(200);
        hub.attach(EDITOR, json!({}));
        hub.say("more");
        let next = hub.begins();
        let told = hub.prompted(next);
        assert!(told.contains("could not be carried out"), "{moment:?}: {told}");
        assert_eq!((hub.reviews().len(), hub.writes), (0, 0), "{moment:?}: {:?}", hub.reviews());
    }
}

#[test]
fn of_a_set_whose_agent_is_lost_what_was_decided_counts() {
    for loss in [Loss::Killed, Loss::Closed, Loss::WindowGone, Loss::Cancelled] {
        let mut hub = hub();
        let agent = hub.ready_chat();
        hub.say("go");
        hub.wants(agent, 5, edit_and_new(&["/ws/b.txt", "/ws/c.txt"]));
        hub.verdict("r1", json!({ "kind": "accept" }));
        hub.verdict("r2", json!({ "kind": "reject", "reason": "no new files" }));
        hub.loses(agent, loss);
        assert_eq!((hub.file(), hub.writes), (BOTH.2.as_bytes(), 1), "{loss:?}");
        assert!(hub.reviews().is_empty(), "{loss:?}: {:?}", hub.reviews());
        if loss == Loss::WindowGone {
            hub.attach(EDITOR, json!({}));
        }
        hub.say("more");
        let next = if loss == Loss::Cancelled { agent } else { hub.begins() };
        let told = hub.prompted(next).to_owned();
        assert!(told.contains("why so loud") && told.contains("no new files"), "{loss:?}: {told}");
        assert!(!told.contains("c.txt"), "{loss:?}: {told}");
    }
}

#[test]
fn what_an_earlier_turn_left_untold_is_not_replaced_by_a_later_one() {
    let mut hub = hub();
    let agent = hub.ready_chat();
    hub.say("go");
    hub.wants(agent, 5, edit(&[BOTH]));
    hub.stops_at(agent, Moment::Writing);
    hub.loses(agent, Loss::Killed);
    hub.say("again");
    let next = hub.begins();
    assert_eq!(hub.prompted(next), "again", "it is not known yet");
    hub.goes_on();
    let mut other = edit(&[("/ws/a.txt", "ONE\ntwo\n", "ONE\n2\n")]);
    other["toolCallId"] = json!("e2");
    hub.wants(next, 6, other);
    hub.verdict("r2", json!({ "kind": "reject", "reason": "not that" }));
    hub.ends_turn(next);
    let told = hub.prompted(next).to_owned();
    assert!(told.contains("not that"), "{told}");
    hub.ends_turn(next);
    hub.say("more");
    let both = format!("{told}{}", hub.prompted(next));
    assert_eq!(both.matches("1 of 2 hunks").count(), 1, "{both}");
    assert_eq!(both.matches("not that").count(), 1, "{both}");
}

#[test]
fn what_was_decided_of_a_set_counts_after_a_hub_that_was_killed() {
    let mut hub = hub();
    let agent = hub.ready_chat();
    hub.say("go");
    hub.wants(agent, 5, edit_and_new(&["/ws/b.txt", "/ws/c.txt"]));
    hub.verdict("r1", json!({ "kind": "accept" }));
    hub.verdict("r2", json!({ "kind": "reject", "reason": "no new files" }));
    let mut hub = hub.restart();
    hub.hosted_agents = Ok(vec![hosted(Some("/bin/gemini"))]);
    hub.event(Event::ConnectionOpened { connection: READER });
    hub.attach(EDITOR, json!({}));
    hub.verdict("r3", json!({ "kind": "reject", "reason": "nor that" }));
    hub.say("more");
    let next = hub.begins();
    let mut told = hub.prompted(next).to_owned();
    assert_eq!(hub.writes, 0, "it may ask again");
    hub.ends_turn(next);
    assert_eq!((hub.file(), hub.writes), (BOTH.2.as_bytes(), 1));
    hub.say("and more");
    told += hub.prompted(next);
    for word in ["why so loud", "no new files", "nor that"] {
        assert!(told.contains(word), "{told}");
    }
    assert!(hub.reviews().is_empty(), "{:?}", hub.reviews());
}

#[test]
fn what_is_decided_of_an_agent_that_ended_with_the_hub_is_told_with_the_next_message() {
    // The second has no place in the file.
    for (old, new) in [(BOTH.1, BOTH.2), ("elsewhere", "somewhere")] {
        for verdict in [json!({ "kind": "reject" }), json!({ "kind": "accept" })] {
            let mut hub = hub();
            let agent = hub.ready_chat();
            hub.say("go");
            hub.wants(agent, 5, edit(&[(BOTH.0, old, new)]));
            let mut hub = hub.restart();
            hub.hosted_agents = Ok(vec![hosted(Some("/bin/gemini"))]);
            hub.event(Event::ConnectionOpened { connection: READER });
            hub.attach(EDITOR, json!({}));
            let comments = json!([{ "line": 1, "text": "why so loud" }]);
            let decision = json!({ "verdict": verdict, "comments": comments, "writeHere": true });
            hub.request(EDITOR, "reviews/decide", json!({ "review": "r1", "decision": decision }));
            hub.say("more");
            let next = hub.begins();
            let told = hub.prompted(next);
            assert!(told.contains("why so loud"), "{old} {verdict}: {told}");
            assert!(hub.reviews().is_empty(), "{old} {verdict}: {:?}", hub.reviews());
        }
    }
}

#[test]
fn nothing_is_left_of_a_call_whose_agent_ends_while_its_files_are_read() {
    let mut hub = hub();
    let agent = hub.ready_chat();
    hub.say("go");
    hub.hold_reads = true;
    hub.wants(agent, 5, edit(&[BOTH]));
    hub.loses(agent, Loss::Killed);
    hub.release_reads();
    let held: Vec<_> = hub.core.resource_counts().into_iter().filter(|(_, held)| *held > 0).collect();
    assert!(held.iter().all(|(what, _)| ["connections", "windows", "timers"].contains(what)), "{held:?}");
}

#[test]
fn a_conflict_after_the_no_is_decided_again_and_written_by_the_hub() {
    let mut hub = hub();
    let agent = hub.ready_chat();
    hub.say("go");
    hub.wants(agent, 5, edit(&[BOTH]));
    hub.stops_at(agent, Moment::Told);
    hub.files.insert("/ws/a.txt".into(), b"uno\ntwo\n".to_vec());
    hub.hold_records = false;
    hub.says(agent, json!({ "sessionUpdate": "tool_call_update", "toolCallId": "e1", "status": "failed" }));
    assert_eq!((hub.reviews()[0].conflicts.len(), hub.writes), (1, 0), "{:?}", hub.reviews());
    hub.verdict("r1", json!({ "kind": "acceptEdited", "text": "UNO\ntwo\n" }));
    assert_eq!((hub.file(), hub.writes), (&b"UNO\ntwo\n"[..], 1), "its agent was told not to write");
    hub.ends_turn(agent);
    assert!(hub.prompted(agent).contains("+UNO"), "{}", hub.prompted(agent));
}

#[test]
fn a_conversation_that_is_forgotten_leaves_nothing_accepted_behind() {
    let mut hub = hub();
    let agent = hub.ready_chat();
    hub.say("go");
    hub.wants(agent, 5, edit_and_new(&["/ws/b.txt"]));
    hub.verdict("r1", json!({ "kind": "accept" }));
    let mut hub = hub.restart();
    hub.event(Event::ConnectionOpened { connection: READER });
    hub.attach(EDITOR, json!({}));
    hub.chat("chat/close", json!({ "chat": "t1", "forget": true }));
    assert_eq!((hub.file(), hub.writes), (BOTH.2.as_bytes(), 1), "no agent can ask for it again");
}
