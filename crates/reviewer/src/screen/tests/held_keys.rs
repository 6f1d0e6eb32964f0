//! Keys that are held down, or meant for something else, decide nothing.

use super::*;

/// The pause before a held key repeats, the longest of the usual ones, and the one between its repeats.
const DELAY: Duration = Duration::from_millis(660);
const REPEAT: Duration = Duration::from_millis(40);

#[test]
fn a_held_key_decides_once() {
    for key in ["a", "r"] {
        let mut harness = ScreenHarness::with(vec![three_hunks("r1"), three_hunks("r2"), three_hunks("r3")]);
        harness.press(key);
        assert_eq!(harness.decided().len(), 1);
        harness.hub(HubUpdate::Decided {
            review: "r1".into(),
            result: Ok(ReviewDecidedResult::Taken),
            outcome: None,
        });
        harness.serve();
        assert_eq!(harness.selected(), "r2");
        harness.wait(DELAY);
        for _ in 0..50 {
            harness.press(key);
            harness.wait(REPEAT);
        }
        assert_eq!(harness.decided(), [], "{key}");
        harness.look();
        harness.press(key);
        assert_eq!(harness.decided().len(), 1, "{key}, after waiting");
    }
}

#[test]
fn keys_with_control_or_alt_confirm_nothing() {
    for modifiers in [KeyModifiers::CONTROL, KeyModifiers::ALT] {
        let mut harness = ScreenHarness::with(vec![three_hunks("r1")]);
        harness.press("ys");
        harness.look();
        for answer in ['t', 'l', 'y', 'n'] {
            harness.input(Input::Key(KeyEvent::new(KeyCode::Char(answer), modifiers)));
        }
        assert_eq!(harness.decided(), []);
        assert!(matches!(harness.screen.overlay, Overlay::Confirm(Confirm::Unmarked { .. })));
        harness.input(Input::Key(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL)));
        assert!(matches!(harness.screen.overlay, Overlay::None));
    }
}
