//! Time is asked for only where it changes something.

use super::*;

#[test]
fn a_screen_on_which_nothing_changes_wants_no_time() {
    let mut desk = Desk::with(vec![]);
    assert_eq!(desk.screen.next_change(), None);
    desk.screen.wishes.once = true;
    assert_eq!(desk.screen.next_change(), Some(desk.now));

    let mut desk = Desk::with(vec![three_hunks("r1")]);
    let age = |desk: &Desk| desk.screen.next_change().unwrap() - desk.now;
    desk.screen.list.entries[0].summary.age_ms = 0;
    assert_eq!(age(&desk), Duration::from_secs(1), "its age is told in seconds");
    desk.wait(Duration::from_secs(60));
    assert_eq!(age(&desk), Duration::from_secs(60));
    desk.press("s");
    let until = desk.screen.next_change().unwrap();
    desk.wait(until - desk.now);
    assert_eq!(desk.note(), "");
}
