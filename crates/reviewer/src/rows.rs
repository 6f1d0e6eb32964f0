//! The rows of a diff: hunks with their context, folds where nothing changed, comments below their line. Made of line
//! numbers only, so that a hundred thousand rows take a few milliseconds; knows no text and no colours.

use std::ops::Range;

use linkspan_editor_api::{ReviewComment, ReviewHunk};

/// Unchanged lines that stay visible around a hunk.
const CONTEXT: usize = 3;
/// Fewer hidden lines than this are shown: the fold would take as much room.
const WORTH_FOLDING: usize = 3;

/// How the two sides are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Unified,
    SideBySide,
}

/// One row. Lines count from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Row {
    /// The head of a hunk.
    Hunk(usize),
    /// The unchanged lines before this hunk (or after the last) that are not shown.
    Fold {
        gap: usize,
        lines: usize,
    },
    Context {
        before: usize,
        after: usize,
    },
    Removed {
        hunk: usize,
        before: usize,
    },
    Added {
        hunk: usize,
        after: usize,
    },
    Pair {
        hunk: usize,
        before: Option<usize>,
        after: Option<usize>,
    },
    /// A comment, by its index in the list of comments.
    Comment(usize),
}

impl Row {
    /// The line of the text after that this row shows.
    pub(crate) fn after(self) -> Option<usize> {
        match self {
            Row::Context { after, .. } | Row::Added { after, .. } => Some(after),
            Row::Pair { after, .. } => after,
            Row::Hunk(_) | Row::Fold { .. } | Row::Removed { .. } | Row::Comment(_) => None,
        }
    }

    /// The line of the text before that this row shows.
    pub(crate) fn before(self) -> Option<usize> {
        match self {
            Row::Context { before, .. } | Row::Removed { before, .. } => Some(before),
            Row::Pair { before, .. } => before,
            Row::Hunk(_) | Row::Fold { .. } | Row::Added { .. } | Row::Comment(_) => None,
        }
    }
}

/// What rows are made of.
#[derive(Debug)]
pub(crate) struct Shape<'a> {
    pub(crate) hunks: &'a [ReviewHunk],
    pub(crate) before_lines: usize,
    pub(crate) after_lines: usize,
    pub(crate) comments: &'a [ReviewComment],
    /// Which gaps are shown whole; gap `n` is before hunk `n`.
    pub(crate) unfolded: &'a [bool],
    pub(crate) mode: Mode,
}

impl Shape<'_> {
    pub(crate) fn rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        for (index, hunk) in self.hunks.iter().enumerate() {
            self.gap(&mut rows, index);
            self.hunk(&mut rows, index, hunk);
        }
        self.gap(&mut rows, self.hunks.len());
        if self.comments.is_empty() { rows } else { self.with_comments(rows) }
    }

    /// The unchanged lines before this hunk, in the text after; those of the text before lie the same way.
    pub(crate) fn gap_lines(&self, gap: usize) -> Range<usize> {
        let start = gap.checked_sub(1).and_then(|index| self.hunks.get(index)).map_or(0, after_end);
        let end = self.hunks.get(gap).map_or(self.after_lines, |hunk| hunk.after_start as usize);
        start..end.clamp(start, self.after_lines.max(start))
    }

    /// The folded lines of a gap: all but the context of the hunks around it.
    pub(crate) fn folded_lines(&self, gap: usize) -> Range<usize> {
        let lines = self.gap_lines(gap);
        let (first, last) = (gap == 0, gap == self.hunks.len());
        let start = if first { lines.start } else { (lines.start + CONTEXT).min(lines.end) };
        let end = if last { lines.end } else { lines.end.saturating_sub(CONTEXT).max(start) };
        if end - start < WORTH_FOLDING { start..start } else { start..end }
    }

    fn gap(&self, rows: &mut Vec<Row>, gap: usize) {
        let lines = self.gap_lines(gap);
        // In a gap both sides are the same lines, so one offset holds for all of it.
        let before_start = gap.checked_sub(1).and_then(|index| self.hunks.get(index)).map_or(0, before_end);
        let context = |after: usize| Row::Context { before: before_start + (after - lines.start), after };
        let folded = self.folded_lines(gap);
        let whole = self.unfolded.get(gap).copied().unwrap_or_default();
        // The header is above the hunk's own context, as in any diff.
        let head_at = lines.end.saturating_sub(CONTEXT).max(lines.start);
        let head = (gap < self.hunks.len()).then_some(Row::Hunk(gap));
        if folded.is_empty() || whole {
            rows.extend((lines.start..head_at).map(context));
            rows.extend(head);
            rows.extend((head_at..lines.end).map(context));
        } else {
            rows.extend((lines.start..folded.start).map(context));
            rows.push(Row::Fold { gap, lines: folded.len() });
            rows.extend(head);
            rows.extend((folded.end..lines.end).map(context));
        }
    }

    fn hunk(&self, rows: &mut Vec<Row>, index: usize, hunk: &ReviewHunk) {
        let before = hunk.before_start as usize..before_end(hunk).min(self.before_lines);
        let after = hunk.after_start as usize..after_end(hunk).min(self.after_lines);
        match self.mode {
            Mode::Unified => {
                rows.extend(before.map(|before| Row::Removed { hunk: index, before }));
                rows.extend(after.map(|after| Row::Added { hunk: index, after }));
            }
            Mode::SideBySide => {
                let at = |range: &Range<usize>, nth: usize| {
                    let line = range.start + nth;
                    range.contains(&line).then_some(line)
                };
                rows.extend((0..before.len().max(after.len())).map(|nth| Row::Pair {
                    hunk: index,
                    before: at(&before, nth),
                    after: at(&after, nth),
                }));
            }
        }
    }

    fn with_comments(&self, rows: Vec<Row>) -> Vec<Row> {
        let mut out = Vec::with_capacity(rows.len() + self.comments.len());
        let mut said = vec![false; self.comments.len()];
        for row in rows {
            out.push(row);
            for (index, comment) in self.comments.iter().enumerate() {
                let line = (comment.line as usize).saturating_sub(1);
                let here = match row {
                    Row::Fold { gap, .. } => self.folded_lines(gap).contains(&line),
                    row => row.after() == Some(line),
                };
                if let Some(said) = said.get_mut(index).filter(|said| here && !**said) {
                    *said = true;
                    out.push(Row::Comment(index));
                }
            }
        }
        out.extend(said.iter().enumerate().filter(|(_, said)| !**said).map(|(index, _)| Row::Comment(index)));
        out
    }
}

fn before_end(hunk: &ReviewHunk) -> usize {
    hunk.before_start as usize + hunk.before_count as usize
}

fn after_end(hunk: &ReviewHunk) -> usize {
    hunk.after_start as usize + hunk.after_count as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::hunk;

    fn rows(hunks: &[ReviewHunk], lines: (usize, usize), mode: Mode, unfolded: &[bool]) -> Vec<Row> {
        let (before_lines, after_lines) = lines;
        Shape { hunks, before_lines, after_lines, comments: &[], unfolded, mode }.rows()
    }

    #[test]
    fn unchanged_lines_far_from_hunks_are_folded() {
        let hunks = [hunk("ha", (10, 1), (10, 2))];
        let rows = rows(&hunks, (30, 31), Mode::Unified, &[]);
        assert_eq!(rows.first(), Some(&Row::Fold { gap: 0, lines: 7 }));
        assert_eq!(rows.get(1), Some(&Row::Hunk(0)));
        assert_eq!(rows.get(2), Some(&Row::Context { before: 7, after: 7 }));
        assert_eq!(rows.last(), Some(&Row::Fold { gap: 1, lines: 16 }));
        assert_eq!(rows.len(), 1 + 1 + 3 + 3 + 3 + 1);
    }

    #[test]
    fn an_unfolded_gap_shows_each_line_once() {
        let hunks = [hunk("ha", (10, 1), (10, 2)), hunk("hb", (20, 0), (21, 1))];
        let rows = rows(&hunks, (30, 32), Mode::Unified, &[true, true, true]);
        let after: Vec<usize> = rows.iter().filter_map(|row| row.after()).collect();
        let before: Vec<usize> = rows.iter().filter_map(|row| row.before()).collect();
        assert_eq!(after, (0..32).collect::<Vec<_>>());
        assert_eq!(before, (0..30).collect::<Vec<_>>());
    }

    #[test]
    fn hunks_close_to_each_other_share_their_context() {
        let hunks = [hunk("ha", (0, 1), (0, 1)), hunk("hb", (2, 1), (2, 1))];
        let rows = rows(&hunks, (3, 3), Mode::Unified, &[]);
        assert_eq!(rows.iter().filter(|row| matches!(row, Row::Context { .. })).count(), 1);
    }

    #[test]
    fn side_by_side_the_longer_side_goes_on_alone() {
        let rows = rows(&[hunk("ha", (0, 1), (0, 2))], (1, 2), Mode::SideBySide, &[]);
        let pair = |before, after| Row::Pair { hunk: 0, before, after };
        assert_eq!(rows, [Row::Hunk(0), pair(Some(0), Some(0)), pair(None, Some(1))]);
    }

    #[test]
    fn a_comment_stands_below_its_line_even_in_a_fold() {
        let hunks = [hunk("ha", (10, 1), (10, 1))];
        let comments = [1, 11].map(|line| ReviewComment { line, text: "why".into() });
        let shape = Shape {
            hunks: &hunks,
            before_lines: 20,
            after_lines: 20,
            comments: &comments,
            unfolded: &[],
            mode: Mode::Unified,
        };
        let rows = shape.rows();
        assert_eq!(rows.get(..2), Some(&[Row::Fold { gap: 0, lines: 7 }, Row::Comment(0)][..]));
        let added = rows.iter().position(|row| *row == Row::Added { hunk: 0, after: 10 }).unwrap();
        assert_eq!(rows.get(added + 1), Some(&Row::Comment(1)));
    }

    #[test]
    fn hunks_that_lie_outside_the_text_make_no_rows_outside_it() {
        let rows = rows(&[hunk("ha", (90, 9), (95, 9))], (2, 3), Mode::Unified, &[]);
        assert!(rows.iter().all(|row| row.after().unwrap_or(0) < 3 && row.before().unwrap_or(0) < 3));
    }
}
