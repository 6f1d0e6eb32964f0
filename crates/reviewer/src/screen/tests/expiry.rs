//! A timeout is requested only if time changes something.

use super::*;

#[test]
fn a_screen_on_which_nothing_changes_needs_no_timeout() {
    let mut harness = ScreenHarness::with(vec![]);
    assert_eq!(harness.screen.next_change(), None);
    harness.screen.options.once = true;
    assert_eq!(harness.screen.next_change(), Some(harness.now));

    let mut harness = ScreenHarness::with(vec![three_hunks("r1")]);
    let age = |harness: &ScreenHarness| harness.screen.next_change().unwrap() - harness.now;
    harness.screen.list.entries[0].summary.age_ms = 0;
    assert_eq!(age(&harness), Duration::from_secs(1), "its age is told in seconds");
    harness.wait(Duration::from_secs(60));
    assert_eq!(age(&harness), Duration::from_secs(60));
    harness.press("s");
    let until = harness.screen.next_change().unwrap();
    harness.wait(until - harness.now);
    assert_eq!(harness.note(), "");
}
