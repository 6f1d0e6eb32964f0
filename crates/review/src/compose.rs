//! The base with some of the hunks applied, and nothing else changed.

use crate::hunk::{Hunk, HunkId};
use crate::lines::Lines;

/// `hunks` must be the result of [`hunks`](crate::hunks) for these two texts.
pub fn compose(base: &str, proposed: &str, hunks: &[Hunk], take: impl Fn(&HunkId) -> bool) -> String {
    let (base, proposed) = (Lines::new(base), Lines::new(proposed));
    let mut text = String::new();
    let mut copied = 0;
    for hunk in hunks.iter().filter(|hunk| take(&hunk.id)) {
        text.push_str(base.slice(copied..hunk.before.start));
        text.push_str(proposed.slice(hunk.after.clone()));
        copied = hunk.before.end;
    }
    text.push_str(base.slice(copied..base.len()));
    text
}
