//! Lines of a text, and the two ways of counting them. A line includes its final `\n`; the last line may lack it. A lone
//! `\r` does not end a line.

use std::ops::Range;

use crate::diff::split_lines;

/// A line, counted from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LineIndex(pub u32);

/// A line, counted from 1, as people and the status bars of editors do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LineNumber(pub u32);

impl std::fmt::Display for LineNumber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl From<LineIndex> for LineNumber {
    fn from(index: LineIndex) -> LineNumber {
        LineNumber(index.0.saturating_add(1))
    }
}

impl From<LineNumber> for LineIndex {
    /// Line number 0 does not exist; it is treated as the first line.
    fn from(number: LineNumber) -> LineIndex {
        LineIndex(number.0.saturating_sub(1))
    }
}

/// A text with the ends of its lines.
#[derive(Debug)]
pub(crate) struct Lines<'a> {
    text: &'a str,
    ends: Vec<usize>,
}

/// The starts of the lines of a text; one more starts after a final `\n`.
pub fn line_starts(text: &str) -> Vec<usize> {
    let mut starts = Vec::with_capacity(1 + text.len() / 32);
    starts.push(0);
    let mut end = 0;
    for line in split_lines(text) {
        end += line.len();
        if line.ends_with('\n') {
            starts.push(end);
        }
    }
    starts
}

impl<'a> Lines<'a> {
    pub(crate) fn new(text: &'a str) -> Lines<'a> {
        // A guess at the usual length of a line avoids most reallocations.
        let mut ends = Vec::with_capacity(text.len() / 32);
        let mut end = 0;
        for line in split_lines(text) {
            end += line.len();
            ends.push(end);
        }
        Lines { text, ends }
    }

    pub(crate) fn len(&self) -> u32 {
        u32::try_from(self.ends.len()).unwrap_or(u32::MAX)
    }

    /// The text of these lines; lines beyond the end are empty.
    pub(crate) fn slice(&self, lines: Range<u32>) -> &'a str {
        self.text.get(self.start(lines.start)..self.start(lines.end)).unwrap_or_default()
    }

    pub(crate) fn line(&self, index: u32) -> &'a str {
        self.slice(index..index.saturating_add(1))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &'a str> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let line = self.text.get(start..end).unwrap_or_default();
            start = end;
            line
        })
    }

    fn start(&self, line: u32) -> usize {
        match line.checked_sub(1) {
            None => 0,
            Some(previous) => self.ends.get(previous as usize).copied().unwrap_or(self.text.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_keeps_its_ending_and_a_lone_cr_ends_none() {
        let lines = Lines::new("a\r\nb\rc\nd");
        assert_eq!(lines.len(), 3);
        assert_eq!([lines.line(0), lines.line(1), lines.line(2)], ["a\r\n", "b\rc\n", "d"]);
        assert_eq!(lines.slice(1..3), "b\rc\nd");
    }

    #[test]
    fn lines_beyond_the_end_are_empty() {
        let lines = Lines::new("a\n");
        assert_eq!(lines.slice(1..u32::MAX), "");
        assert_eq!(lines.slice(0..u32::MAX), "a\n");
        assert_eq!(Lines::new("").len(), 0);
    }

    #[test]
    fn index_and_number_differ_by_one() {
        assert_eq!(LineNumber::from(LineIndex(0)), LineNumber(1));
        assert_eq!(LineIndex::from(LineNumber(1)), LineIndex(0));
        assert_eq!(LineIndex::from(LineNumber(0)), LineIndex(0));
    }
}
