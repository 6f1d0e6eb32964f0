//! The agent that should write the file no longer waits: the user is asked whether Linkspan should write it.

use super::*;

/// A review whose agent should write the accepted text and is gone.
fn gone(review: &str) -> ReviewShow {
    ReviewShow { owner_gone: true, ..three_hunks(review) }
}

/// The decisions that were sent, each with whether the hub should write.
fn decided(harness: &mut ScreenHarness) -> Vec<(String, Verdict, bool)> {
    let sent = std::mem::take(&mut harness.commands).into_iter().filter_map(|command| match command {
        Command::Decide(ReviewsDecide { review, decision, .. }) => {
            Some((review, decision.verdict, decision.write_here))
        }
        _ => None,
    });
    sent.collect()
}

fn asks_to_write(harness: &ScreenHarness) -> bool {
    matches!(harness.screen.overlay, Overlay::Confirm(Confirm::WriteHere { .. }))
}

fn refused(review: &str) -> HubUpdate {
    let message = "claude-code no longer waits for the answer".into();
    let result = Ok(ReviewDecidedResult::Refused { message, can_write_here: true });
    HubUpdate::Decided { review: review.into(), result, outcome: None }
}

#[test]
fn accepting_asks_first_and_then_lets_the_hub_write() {
    let mut harness = ScreenHarness::with(vec![gone("r1")]);
    harness.press("a");
    assert!(asks_to_write(&harness));
    assert_eq!(decided(&mut harness), []);
    harness.press("y");
    assert_eq!(decided(&mut harness), [], "the question has only just appeared");
    harness.look();
    harness.press("y");
    assert_eq!(decided(&mut harness), [("r1".into(), Verdict::Accept, true)]);
}

#[test]
fn escape_decides_nothing_and_rejecting_does_not_ask() {
    let mut harness = ScreenHarness::with(vec![gone("r1")]);
    harness.press("a\u{1b}");
    assert_eq!((decided(&mut harness), harness.note()), (vec![], "nothing was submitted"));
    harness.look();
    harness.press("r");
    assert_eq!(decided(&mut harness), [("r1".into(), reject(), false)]);
}

#[test]
fn marked_hunks_and_the_users_own_text_are_written_as_they_are() {
    let mut harness = ScreenHarness::with(vec![gone("r1")]);
    harness.press("yxys");
    assert!(asks_to_write(&harness));
    harness.look();
    harness.press("y");
    let hunks = vec!["h10".into(), "h30".into()];
    assert_eq!(decided(&mut harness), [("r1".into(), Verdict::AcceptHunks { hunks }, true)]);

    let mut harness = ScreenHarness::with(vec![gone("r1")]);
    harness.edits("r1", 1, "mine\n");
    harness.press("y");
    assert!(asks_to_write(&harness));
    harness.look();
    harness.press("y");
    assert_eq!(decided(&mut harness), [("r1".into(), Verdict::AcceptEdited { text: "mine\n".into() }, true)]);
}

#[test]
fn an_accept_that_is_refused_asks_with_the_same_decision() {
    let mut harness = ScreenHarness::with(vec![three_hunks("r1")]);
    harness.press("yxys");
    let hunks = vec!["h10".into(), "h30".into()];
    let verdict = Verdict::AcceptHunks { hunks };
    assert_eq!(decided(&mut harness), [("r1".into(), verdict.clone(), false)]);
    harness.hub(refused("r1"));
    assert!(asks_to_write(&harness));
    assert_eq!(harness.screen.list.waiting(), 1, "nothing is decided");
    harness.look();
    harness.press("y");
    assert_eq!(decided(&mut harness), [("r1".into(), verdict, true)]);
}

#[test]
fn the_confirmation_closes_when_the_agent_waits_again() {
    let mut harness = ScreenHarness::with(vec![gone("r1")]);
    harness.press("a");
    harness.look();
    harness.got(three_hunks("r1"));
    assert_eq!(harness.note(), "not submitted: the agent of r1 is waiting again");
    harness.press("y");
    assert_eq!(decided(&mut harness), []);
    harness.look();
    harness.press("a");
    assert_eq!(decided(&mut harness), [("r1".into(), Verdict::Accept, false)]);
}

#[test]
fn an_agent_that_does_not_write_is_not_asked_about() {
    let mut harness = ScreenHarness::with(vec![ReviewShow { agent_writes: false, ..gone("r1") }]);
    harness.press("a");
    assert_eq!(decided(&mut harness), [("r1".into(), Verdict::Accept, false)]);
}

#[test]
fn accepting_all_skips_reviews_that_only_the_hub_would_write() {
    let mut harness = ScreenHarness::with(vec![three_hunks("r1"), gone("r2"), three_hunks("r3")]);
    harness.press("A");
    harness.serve();
    let Overlay::Confirm(Confirm::Bulk(bulk)) = &harness.screen.overlay else { panic!("no question") };
    assert_eq!(
        (bulk.reviews.as_slice(), bulk.agent_gone),
        (["r1".to_owned(), "r3".to_owned()].as_slice(), 1)
    );
    harness.look();
    harness.press("y");
    let accept = |review: &str| (review.to_owned(), Verdict::Accept, false);
    assert_eq!(decided(&mut harness), [accept("r1"), accept("r3")]);

    let mut harness = ScreenHarness::with(vec![gone("r1")]);
    harness.press("A");
    assert_eq!(harness.note(), "the agents of the pending reviews no longer wait: accept them one by one");
    let mut harness = ScreenHarness::with(vec![gone("r1"), gone("r2")]);
    harness.press("X");
    assert!(
        matches!(&harness.screen.overlay, Overlay::Confirm(Confirm::Bulk(bulk)) if bulk.reviews.len() == 2)
    );
}

#[test]
fn a_change_the_agent_has_not_written_is_a_warning() {
    let mut harness = ScreenHarness::with(vec![three_hunks("r1"), three_hunks("r2")]);
    harness.press("a");
    harness.hub(HubUpdate::Decided {
        review: "r1".into(),
        result: Ok(ReviewDecidedResult::Taken),
        outcome: None,
    });
    assert_eq!(harness.note(), "accepted: src/r1.rs; claude-code was told to write it");
    harness.hub(HubUpdate::NotOnDisk { review: "r1".into(), path: "/w/src/r1.rs".into() });
    assert_eq!(harness.note(), "r1 /w/src/r1.rs is accepted, but not on disk: its agent has not written it");
    assert_eq!(harness.screen.note.as_ref().map(|note| note.tone), Some(Tone::Warning));
}
