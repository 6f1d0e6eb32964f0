//! A three-way merge by lines. Changes that overlap or touch are one region; a region that both sides changed
//! differently is a conflict, never a guess.

use std::ops::Range;

use crate::diff::{Change, changed_lines};
use crate::lines::Lines;

/// A region that both sides changed differently. All ranges count lines from 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Conflict {
    pub base: Range<u32>,
    pub ours: Range<u32>,
    pub theirs: Range<u32>,
    /// The position of `theirs` in [`Merge::text`].
    pub merged: Range<u32>,
}

/// Clean if there are no conflicts; otherwise `text` has *theirs* at each, for the user to review.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Merge {
    pub text: String,
    pub conflicts: Vec<Conflict>,
}

/// `ours` is the current content of the file, `theirs` the wanted one.
pub fn merge(base: &str, ours: &str, theirs: &str) -> Merge {
    if let Some(text) = one_sided(base, ours, theirs) {
        return Merge { text: text.to_owned(), conflicts: Vec::new() };
    }
    let base = Lines::new(base);
    let mut ours = Side::new(&base, ours);
    let mut theirs = Side::new(&base, theirs);
    let mut merge = Merge { text: String::new(), conflicts: Vec::new() };
    let mut copied = 0;
    // The line of the merged text that corresponds to `copied` in the base.
    let mut merged_line = 0;

    while let Some(region) = next_region(&mut ours, &mut theirs) {
        merge.text.push_str(base.slice(copied..region.base.start));
        merged_line += region.base.start - copied;
        copied = region.base.end;

        let (our_text, their_text) =
            (ours.lines.slice(region.ours.clone()), theirs.lines.slice(region.theirs.clone()));
        let taken = if region.changed_by_theirs { &region.theirs } else { &region.ours };
        merge.text.push_str(if region.changed_by_theirs { their_text } else { our_text });
        let start = merged_line;
        merged_line += taken.end - taken.start;
        if region.changed_by_ours && region.changed_by_theirs && our_text != their_text {
            merge.conflicts.push(Conflict {
                base: region.base,
                ours: region.ours,
                theirs: region.theirs,
                merged: start..merged_line,
            });
        }
    }
    merge.text.push_str(base.slice(copied..base.len()));
    merge
}

fn one_sided<'a>(base: &str, ours: &'a str, theirs: &'a str) -> Option<&'a str> {
    if base == ours || ours == theirs {
        Some(theirs)
    } else if base == theirs {
        Some(ours)
    } else {
        None
    }
}

/// One side's lines and its remaining changes.
struct Side<'a> {
    lines: Lines<'a>,
    changes: std::iter::Peekable<std::vec::IntoIter<Change>>,
    /// The end of the last consumed change, in the base and on this side: from there on, their lines correspond.
    base_end: u32,
    side_end: u32,
}

impl<'a> Side<'a> {
    fn new(base: &Lines<'_>, text: &'a str) -> Side<'a> {
        let lines = Lines::new(text);
        let changes = changed_lines(base.iter(), lines.iter()).into_iter().peekable();
        Side { lines, changes, base_end: 0, side_end: 0 }
    }

    fn next_start(&mut self) -> Option<u32> {
        self.changes.peek().map(|change| change.before.start)
    }

    /// Consumes the next change if it overlaps or touches a region that ends at `end`; returns its end.
    fn take_up_to(&mut self, end: u32) -> Option<u32> {
        let change = self.changes.next_if(|change| change.before.start <= end)?;
        (self.base_end, self.side_end) = (change.before.end, change.after.end);
        Some(self.base_end)
    }

    /// The line of this side for a base line outside of all remaining changes.
    fn line_of(&self, base_line: u32) -> u32 {
        self.side_end + (base_line - self.base_end)
    }
}

struct MergeRegion {
    base: Range<u32>,
    ours: Range<u32>,
    theirs: Range<u32>,
    changed_by_ours: bool,
    changed_by_theirs: bool,
}

/// The next changed part of the base, extended over all changes that overlap or touch.
fn next_region(ours: &mut Side<'_>, theirs: &mut Side<'_>) -> Option<MergeRegion> {
    let start = match (ours.next_start(), theirs.next_start()) {
        (Some(our_start), Some(their_start)) => our_start.min(their_start),
        (our_start, their_start) => our_start.or(their_start)?,
    };
    let (our_start, their_start) = (ours.line_of(start), theirs.line_of(start));
    let mut end = start;
    let (mut changed_by_ours, mut changed_by_theirs) = (false, false);
    loop {
        if let Some(change_end) = ours.take_up_to(end) {
            changed_by_ours = true;
            end = end.max(change_end);
        } else if let Some(change_end) = theirs.take_up_to(end) {
            changed_by_theirs = true;
            end = end.max(change_end);
        } else {
            break;
        }
    }
    Some(MergeRegion {
        base: start..end,
        ours: our_start..ours.line_of(end),
        theirs: their_start..theirs.line_of(end),
        changed_by_ours,
        changed_by_theirs,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(base: &str, ours: &str, theirs: &str, expect: &str) {
        assert_eq!(merge(base, ours, theirs), Merge { text: expect.to_owned(), conflicts: Vec::new() });
    }

    #[test]
    fn changes_apart_from_each_other_are_both_in() {
        check("a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n", "A\nb\nC\n");
        check("a\nb\nc", "x\na\nb\nc", "a\nb\nc\n", "x\na\nb\nc\n");
    }

    #[test]
    fn the_same_change_on_both_sides_is_no_conflict() {
        check("a\nb\nc\nd\n", "a\nB\nc\nd\n", "a\nB\nc\nD\n", "a\nB\nc\nD\n");
    }

    #[test]
    fn a_conflict_has_theirs_and_its_position() {
        let merge = merge("a\nb\nc\nd\ne\n", "0\na\nb\nOURS\nd\ne\n", "a\nb\nT1\nT2\nd\ne\n");
        assert_eq!(merge.text, "0\na\nb\nT1\nT2\nd\ne\n");
        let conflict = Conflict { base: 2..3, ours: 3..4, theirs: 2..4, merged: 3..5 };
        assert_eq!(merge.conflicts, [conflict]);
    }

    #[test]
    fn changes_that_touch_are_a_conflict() {
        let merged = merge("a\nb\nc\nd\n", "a\nB\nc\nd\n", "a\nb\nC\nd\n");
        assert_eq!(merged.text, "a\nb\nC\nd\n");
        assert_eq!(merged.conflicts, [Conflict { base: 1..3, ours: 1..3, theirs: 1..3, merged: 1..3 }]);
        assert_eq!(merge("", "ours\n", "theirs\n").conflicts.len(), 1);
        assert_eq!(merge("a\n", "a\nours\n", "a\ntheirs").conflicts.len(), 1);
    }

    #[test]
    fn a_deletion_against_an_edit_is_a_conflict() {
        let merge = merge("a\nb\nc\n", "a\nB\nc\n", "a\nc\n");
        assert_eq!(merge.text, "a\nc\n");
        assert_eq!(merge.conflicts, [Conflict { base: 1..2, ours: 1..2, theirs: 1..1, merged: 1..1 }]);
    }
}
