//! Searches the diff, including folded lines. Smart case: upper case matters only if the pattern has an upper-case
//! letter.

use std::ops::Range;

use super::{Screen, Tone};
use crate::document::{Document, Side};
use crate::rows::Row;

/// Matches further right than this are not highlighted.
const MARKED_BYTES: usize = 64 * 1024;

/// The byte ranges of the matches in a line.
pub(crate) fn matches(line: &str, needle: &str) -> Vec<Range<usize>> {
    if needle.is_empty() {
        return Vec::new();
    }
    let exact = needle.chars().any(char::is_uppercase);
    let (line, needle) = (line.as_bytes(), needle.as_bytes());
    let line = line.get(..MARKED_BYTES).unwrap_or(line);
    let mut found: Vec<Range<usize>> = Vec::new();
    for (at, window) in line.windows(needle.len()).enumerate() {
        let same = if exact { window == needle } else { window.eq_ignore_ascii_case(needle) };
        if same && found.last().is_none_or(|last| last.end <= at) {
            found.push(at..at + needle.len());
        }
    }
    found
}

fn holds(line: &str, needle: &str) -> bool {
    !matches(line, needle).is_empty()
}

impl Screen {
    /// Goes to the next matching row, wrapping around; `from_here` includes the current row.
    pub(super) fn find_next(&mut self, forward: bool, from_here: bool) {
        if self.needle.is_empty() {
            return self.show_message(Tone::Quiet, "no search yet: press /");
        }
        let needle = self.needle.clone();
        let Some(document) = self.document_mut() else { return };
        let count = document.rows.len();
        let start = document.cursor;
        let order = (usize::from(!from_here)..count + usize::from(!from_here)).map(|step| {
            let step = step % count.max(1);
            if forward { (start + step) % count.max(1) } else { (start + count - step) % count.max(1) }
        });
        let hit =
            order.into_iter().find_map(|row| hit(document, row, &needle, forward).map(|hit| (row, hit)));
        match hit {
            None => {
                let text = format!("no match for “{needle}” in this change");
                self.show_message(Tone::Quiet, text);
            }
            Some((row, Hit::Row)) => document.cursor = row,
            Some((_, Hit::Folded { gap, line })) => {
                document.fold(gap, false);
                document.cursor = document.row_of_after(line).unwrap_or(document.cursor);
            }
        }
        self.fit();
    }
}

enum Hit {
    Row,
    Folded { gap: usize, line: usize },
}

fn hit(document: &Document, row: usize, needle: &str, forward: bool) -> Option<Hit> {
    let row = document.rows.get(row)?;
    let after = |line: &usize| holds(document.line(Side::After, *line), needle);
    match row {
        Row::Fold { gap, .. } => {
            let mut lines = document.shape().folded_lines(*gap);
            let line = if forward { lines.find(after) } else { lines.rev().find(after) }?;
            Some(Hit::Folded { gap: *gap, line })
        }
        Row::Comment(index) => {
            document.comments.get(*index).filter(|comment| holds(&comment.text, needle)).map(|_| Hit::Row)
        }
        row => {
            let before = row.before().filter(|line| holds(document.line(Side::Before, *line), needle));
            before.or_else(|| row.after().filter(after)).map(|_| Hit::Row)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capitals_count_only_when_asked_for() {
        assert_eq!(matches("Foo foo", "foo"), [0..3, 4..7]);
        assert_eq!(matches("Foo foo", "Foo").first(), Some(&(0..3)));
        assert_eq!(matches("aaaa", "aa"), [0..2, 2..4]);
        assert_eq!(matches("héé", "é"), [1..3, 3..5]);
        assert!(matches("a", "").is_empty());
    }
}
