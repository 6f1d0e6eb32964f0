//! Keys that are held down, or meant for something else, decide nothing.

use super::*;

/// The pause before a held key repeats, the longest of the usual ones, and the one between its repeats.
const DELAY: Duration = Duration::from_millis(660);
const REPEAT: Duration = Duration::from_millis(40);

#[test]
fn a_held_key_decides_once() {
    for key in ["a", "r"] {
        let mut desk = Desk::with(vec![three_hunks("r1"), three_hunks("r2"), three_hunks("r3")]);
        desk.press(key);
        assert_eq!(desk.decided().len(), 1);
        desk.hub(News::Decided {
            review: "r1".into(),
            result: Ok(ReviewDecidedResult::Taken),
            outcome: None,
        });
        desk.serve();
        assert_eq!(desk.selected(), "r2");
        desk.wait(DELAY);
        for _ in 0..50 {
            desk.press(key);
            desk.wait(REPEAT);
        }
        assert_eq!(desk.decided(), [], "{key}");
        desk.look();
        desk.press(key);
        assert_eq!(desk.decided().len(), 1, "{key}, after a look");
    }
}

#[test]
fn control_and_alt_answer_no_question() {
    for modifiers in [KeyModifiers::CONTROL, KeyModifiers::ALT] {
        let mut desk = Desk::with(vec![three_hunks("r1")]);
        desk.press("ys");
        desk.look();
        for answer in ['t', 'l', 'y', 'n'] {
            desk.input(Input::Key(KeyEvent::new(KeyCode::Char(answer), modifiers)));
        }
        assert_eq!(desk.decided(), []);
        assert!(matches!(desk.screen.overlay, Overlay::Confirm(Confirm::Unmarked { .. })));
        desk.input(Input::Key(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL)));
        assert!(matches!(desk.screen.overlay, Overlay::None));
    }
}
