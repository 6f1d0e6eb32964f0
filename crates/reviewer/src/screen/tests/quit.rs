//! Quitting does not lose decisions.

use super::*;

fn answer(review: &str) -> HubUpdate {
    HubUpdate::Decided { review: review.into(), result: Ok(ReviewDecidedResult::Taken), outcome: None }
}

impl ScreenHarness {
    fn has_left(&self) -> bool {
        self.commands.iter().any(|command| matches!(command, Command::Quit))
    }

    /// A screen with two decisions being sent.
    fn with_two_sent_decisions() -> ScreenHarness {
        let mut harness = ScreenHarness::with(vec![three_hunks("r1"), three_hunks("r2")]);
        harness.press("A");
        harness.serve();
        harness.look();
        harness.press("y");
        assert_eq!(harness.decided().len(), 2);
        harness
    }
}

#[test]
fn quitting_waits_until_the_hub_confirmed_the_decisions() {
    for leave in [Input::Key(KeyEvent::new(KeyCode::Char('q'), KeyModifiers::NONE)), Input::Quit] {
        let mut harness = ScreenHarness::with_two_sent_decisions();
        harness.input(leave);
        assert!(!harness.has_left());
        assert!(harness.note().contains("sending decisions…"), "{}", harness.note());
        harness.hub(answer("r1"));
        harness.press("jr");
        assert!(!harness.has_left());
        assert!(harness.note().contains("sending decisions…"), "{}", harness.note());
        harness.hub(answer("r2"));
        assert!(harness.has_left());
        assert_eq!((harness.decided(), harness.screen.unsent_summary()), (vec![], None));
    }
}

#[test]
fn a_second_q_quits_at_once_and_lists_unconfirmed_decisions() {
    let mut harness = ScreenHarness::with_two_sent_decisions();
    harness.press("q");
    harness.hub(answer("r1"));
    harness.press("q");
    assert!(harness.has_left());
    let words = harness.screen.unsent_summary().unwrap();
    assert!(words.contains("src/r2.rs") && !words.contains("src/r1.rs"), "{words}");
}

#[test]
fn quitting_does_not_wait_forever_for_a_silent_hub() {
    let mut harness = ScreenHarness::with_two_sent_decisions();
    harness.press("q");
    harness.wait(QUIT_TIMEOUT / 2);
    harness.hub(answer("r1"));
    harness.wait(QUIT_TIMEOUT / 2);
    assert!(!harness.has_left(), "each answer shows that it is there");
    harness.wait(QUIT_TIMEOUT / 2);
    assert!(harness.has_left());
    assert!(harness.screen.unsent_summary().unwrap().contains("src/r2.rs"));
}

#[test]
fn a_refused_decision_is_listed_after_quitting() {
    let mut harness = ScreenHarness::with_two_sent_decisions();
    harness.press("q");
    harness.hub(answer("r1"));
    let result = Ok(ReviewDecidedResult::Stale { revision: 2 });
    harness.hub(HubUpdate::Decided { review: "r2".into(), result, outcome: None });
    assert!(harness.has_left());
    assert!(harness.screen.unsent_summary().unwrap().contains("r2 changed while you were deciding"));
}
