//! Leaving does not take back what was decided.

use super::*;

fn answer(review: &str) -> News {
    News::Decided { review: review.into(), result: Ok(ReviewDecidedResult::Taken), outcome: None }
}

impl Desk {
    fn has_left(&self) -> bool {
        self.commands.iter().any(|command| matches!(command, Command::Quit))
    }

    /// A desk at which two decisions are on their way.
    fn that_told_two() -> Desk {
        let mut desk = Desk::with(vec![three_hunks("r1"), three_hunks("r2")]);
        desk.press("A");
        desk.serve();
        desk.look();
        desk.press("y");
        assert_eq!(desk.decided().len(), 2);
        desk
    }
}

#[test]
fn leaving_waits_until_the_hub_knows_what_was_decided() {
    for leave in [Input::Key(KeyEvent::new(KeyCode::Char('q'), KeyModifiers::NONE)), Input::Leave] {
        let mut desk = Desk::that_told_two();
        desk.input(leave);
        assert!(!desk.has_left());
        assert!(desk.note().contains("telling the hub…"), "{}", desk.note());
        desk.hub(answer("r1"));
        desk.press("jr");
        assert!(!desk.has_left());
        assert!(desk.note().contains("telling the hub…"), "{}", desk.note());
        desk.hub(answer("r2"));
        assert!(desk.has_left());
        assert_eq!((desk.decided(), desk.screen.last_words()), (vec![], None));
    }
}

#[test]
fn a_second_q_leaves_at_once_and_says_what_the_hub_was_not_told() {
    let mut desk = Desk::that_told_two();
    desk.press("q");
    desk.hub(answer("r1"));
    desk.press("q");
    assert!(desk.has_left());
    let words = desk.screen.last_words().unwrap();
    assert!(words.contains("src/r2.rs") && !words.contains("src/r1.rs"), "{words}");
}

#[test]
fn a_hub_that_says_nothing_is_not_waited_for_for_ever() {
    let mut desk = Desk::that_told_two();
    desk.press("q");
    desk.wait(TELLING / 2);
    desk.hub(answer("r1"));
    desk.wait(TELLING / 2);
    assert!(!desk.has_left(), "each answer shows that it is there");
    desk.wait(TELLING / 2);
    assert!(desk.has_left());
    assert!(desk.screen.last_words().unwrap().contains("src/r2.rs"));
}

#[test]
fn a_decision_that_was_not_taken_is_said_after_leaving() {
    let mut desk = Desk::that_told_two();
    desk.press("q");
    desk.hub(answer("r1"));
    let result = Ok(ReviewDecidedResult::Stale { revision: 2 });
    desk.hub(News::Decided { review: "r2".into(), result, outcome: None });
    assert!(desk.has_left());
    assert!(desk.screen.last_words().unwrap().contains("r2 changed while you decided"));
}
