//! The replacements of whole lines that turn one text into another.

use std::ops::Range;

use crate::diff::changed_lines;
use crate::lines::Lines;

/// These lines, counted from 0, become this text. Lines end with `\n`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LineEdit<'a> {
    pub lines: Range<u32>,
    pub text: &'a str,
}

/// In the order of the text; they refer to the text before and do not touch each other.
pub fn line_edits<'a>(before: &str, after: &'a str) -> Vec<LineEdit<'a>> {
    let (before, after) = (Lines::new(before), Lines::new(after));
    let changes = changed_lines(before.iter(), after.iter());
    changes
        .into_iter()
        .map(|change| LineEdit { lines: change.before, text: after.slice(change.after) })
        .collect()
}
