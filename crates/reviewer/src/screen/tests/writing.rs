//! The agent that should write the file no longer waits: the user is asked whether Linkspan shall write it.

use super::*;

/// A review of an agent that writes what is accepted, and is gone.
fn gone(review: &str) -> ReviewShow {
    ReviewShow { owner_gone: true, ..three_hunks(review) }
}

/// The decisions that were sent, each with whether the hub shall write.
fn decided(desk: &mut Desk) -> Vec<(String, Verdict, bool)> {
    let sent = std::mem::take(&mut desk.commands).into_iter().filter_map(|command| match command {
        Command::Decide(ReviewsDecide { review, decision, .. }) => {
            Some((review, decision.verdict, decision.write_here))
        }
        _ => None,
    });
    sent.collect()
}

fn asks_to_write(desk: &Desk) -> bool {
    matches!(desk.screen.overlay, Overlay::Confirm(Confirm::WriteHere { .. }))
}

fn refused(review: &str) -> News {
    let message = "claude-code no longer waits for the answer".into();
    let result = Ok(ReviewDecidedResult::Refused { message, can_write_here: true });
    News::Decided { review: review.into(), result, outcome: None }
}

#[test]
fn accepting_asks_first_and_then_lets_the_hub_write() {
    let mut desk = Desk::with(vec![gone("r1")]);
    desk.press("a");
    assert!(asks_to_write(&desk));
    assert_eq!(decided(&mut desk), []);
    desk.press("y");
    assert_eq!(decided(&mut desk), [], "the question has only just appeared");
    desk.look();
    desk.press("y");
    assert_eq!(decided(&mut desk), [("r1".into(), Verdict::Accept, true)]);
}

#[test]
fn escape_decides_nothing_and_rejecting_does_not_ask() {
    let mut desk = Desk::with(vec![gone("r1")]);
    desk.press("a\u{1b}");
    assert_eq!((decided(&mut desk), desk.note()), (vec![], "nothing is decided"));
    desk.look();
    desk.press("r");
    assert_eq!(decided(&mut desk), [("r1".into(), reject(), false)]);
}

#[test]
fn marked_hunks_and_a_text_of_ones_own_are_written_as_they_are() {
    let mut desk = Desk::with(vec![gone("r1")]);
    desk.press("yxys");
    assert!(asks_to_write(&desk));
    desk.look();
    desk.press("y");
    let hunks = vec!["h10".into(), "h30".into()];
    assert_eq!(decided(&mut desk), [("r1".into(), Verdict::AcceptHunks { hunks }, true)]);

    let mut desk = Desk::with(vec![gone("r1")]);
    desk.edits("r1", 1, "mine\n");
    desk.press("y");
    assert!(asks_to_write(&desk));
    desk.look();
    desk.press("y");
    assert_eq!(decided(&mut desk), [("r1".into(), Verdict::AcceptEdited { text: "mine\n".into() }, true)]);
}

#[test]
fn an_accept_that_is_refused_asks_with_the_same_decision() {
    let mut desk = Desk::with(vec![three_hunks("r1")]);
    desk.press("yxys");
    let hunks = vec!["h10".into(), "h30".into()];
    let verdict = Verdict::AcceptHunks { hunks };
    assert_eq!(decided(&mut desk), [("r1".into(), verdict.clone(), false)]);
    desk.hub(refused("r1"));
    assert!(asks_to_write(&desk));
    assert_eq!(desk.screen.list.waiting(), 1, "nothing is decided");
    desk.look();
    desk.press("y");
    assert_eq!(decided(&mut desk), [("r1".into(), verdict, true)]);
}

#[test]
fn the_question_goes_when_the_agent_waits_again() {
    let mut desk = Desk::with(vec![gone("r1")]);
    desk.press("a");
    desk.look();
    desk.got(three_hunks("r1"));
    assert_eq!(desk.note(), "nothing is decided: the agent of r1 waits again");
    desk.press("y");
    assert_eq!(decided(&mut desk), []);
    desk.look();
    desk.press("a");
    assert_eq!(decided(&mut desk), [("r1".into(), Verdict::Accept, false)]);
}

#[test]
fn an_agent_that_does_not_write_is_not_asked_about() {
    let mut desk = Desk::with(vec![ReviewShow { agent_writes: false, ..gone("r1") }]);
    desk.press("a");
    assert_eq!(decided(&mut desk), [("r1".into(), Verdict::Accept, false)]);
}

#[test]
fn accepting_all_leaves_out_what_only_the_hub_would_write() {
    let mut desk = Desk::with(vec![three_hunks("r1"), gone("r2"), three_hunks("r3")]);
    desk.press("A");
    desk.serve();
    let Overlay::Confirm(Confirm::Bulk(bulk)) = &desk.screen.overlay else { panic!("no question") };
    assert_eq!(
        (bulk.reviews.as_slice(), bulk.agent_gone),
        (["r1".to_owned(), "r3".to_owned()].as_slice(), 1)
    );
    desk.look();
    desk.press("y");
    let accept = |review: &str| (review.to_owned(), Verdict::Accept, false);
    assert_eq!(decided(&mut desk), [accept("r1"), accept("r3")]);

    let mut desk = Desk::with(vec![gone("r1")]);
    desk.press("A");
    assert_eq!(desk.note(), "the agent of what waits no longer waits: accept one by one");
    let mut desk = Desk::with(vec![gone("r1"), gone("r2")]);
    desk.press("X");
    assert!(matches!(&desk.screen.overlay, Overlay::Confirm(Confirm::Bulk(bulk)) if bulk.reviews.len() == 2));
}

#[test]
fn what_the_agent_has_not_written_is_a_warning() {
    let mut desk = Desk::with(vec![three_hunks("r1"), three_hunks("r2")]);
    desk.press("a");
    desk.hub(News::Decided { review: "r1".into(), result: Ok(ReviewDecidedResult::Taken), outcome: None });
    assert_eq!(desk.note(), "accepted: src/r1.rs; claude-code was told to write it");
    desk.hub(News::NotOnDisk { review: "r1".into(), path: "/w/src/r1.rs".into() });
    assert_eq!(desk.note(), "r1 /w/src/r1.rs is accepted, but not on disk: its agent has not written it");
    assert_eq!(desk.screen.note.as_ref().map(|note| note.tone), Some(Tone::Warning));
}
