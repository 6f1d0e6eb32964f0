//! One review on the screen: its rows, the cursor, the folds, and the user's marks and comments so far. Decides
//! nothing; a newer revision keeps everything that still fits.

use std::collections::BTreeMap;
use std::ops::Range;

use linkspan_editor_api::{Range as TextRange, ReceivesNotes, ReviewComment, ReviewShow};

use crate::lines::Lines;
use crate::paint::Ink;
use crate::rows::{Mode, Row, Shape};

/// The user's choice for one hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Include,
    Exclude,
}

/// One of the two texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Side {
    Before,
    After,
}

/// The user's own text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Draft {
    pub(crate) text: String,
    /// The revision it was made from: applied to any other it would undo what changed since.
    pub(crate) revision: u32,
}

/// The colours of one line.
pub(crate) type Painted = Vec<(Range<usize>, Ink)>;

#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) shown: ReviewShow,
    pub(crate) before: Lines,
    pub(crate) after: Lines,
    /// Every line ends with CR LF, so the CRs are not shown.
    pub(crate) hide_cr: bool,
    /// By the id of the hunk.
    pub(crate) marks: BTreeMap<String, Mark>,
    pub(crate) comments: Vec<ReviewComment>,
    /// The user's own text, until it is accepted.
    pub(crate) draft: Option<Draft>,
    pub(crate) rows: Vec<Row>,
    pub(crate) mode: Mode,
    unfolded: Vec<bool>,
    /// The row of the cursor.
    pub(crate) cursor: usize,
    /// The first row and column on the screen.
    pub(crate) top: usize,
    pub(crate) left: usize,
    pub(crate) words: Vec<HunkWords>,
    pub(crate) inks: BTreeMap<(bool, usize), Painted>,
}

/// The words of one hunk that differ, by side.
#[derive(Debug, Default)]
pub(crate) struct HunkWords {
    pub(crate) before: Vec<TextRange>,
    pub(crate) after: Vec<TextRange>,
}

impl Document {
    pub(crate) fn new(shown: ReviewShow, mode: Mode) -> Document {
        let (before, after) = (Lines::of(&shown.base), Lines::of(&shown.proposed));
        let words = shown.hunks.iter().map(|hunk| HunkWords {
            before: hunk.words.iter().map(|words| words.before).collect(),
            after: hunk.words.iter().map(|words| words.after).collect(),
        });
        let mut document = Document {
            hide_cr: before.all_end_with_crlf() && after.all_end_with_crlf(),
            words: words.collect(),
            marks: BTreeMap::new(),
            comments: Vec::new(),
            draft: None,
            rows: Vec::new(),
            mode,
            unfolded: vec![false; shown.hunks.len() + 1],
            cursor: 0,
            top: 0,
            left: 0,
            inks: BTreeMap::new(),
            before,
            after,
            shown,
        };
        document.lay_out();
        document.go_to_hunk(0);
        document.top = 0;
        document
    }

    /// The same review in a newer revision: marks, comments and the scroll position stay.
    pub(crate) fn renewed(self, shown: ReviewShow) -> Document {
        let line = self.after_line();
        let mut new = Document::new(shown, self.mode);
        new.marks = self.marks;
        new.marks.retain(|id, _| new.shown.hunks.iter().any(|hunk| hunk.id == *id));
        new.comments = self.comments;
        let last = u32::try_from(new.after.count().max(1)).unwrap_or(u32::MAX);
        for comment in &mut new.comments {
            comment.line = comment.line.clamp(1, last);
        }
        new.draft = self.draft;
        new.left = self.left;
        new.lay_out();
        if let Some(row) = new.row_of_after(line) {
            new.cursor = row;
        }
        new
    }

    /// Whether the user's own text was made from an older revision.
    pub(crate) fn has_old_draft(&self) -> bool {
        self.draft.as_ref().is_some_and(|draft| draft.revision != self.shown.revision)
    }

    /// What its agent will not receive.
    pub(crate) fn notes(&self) -> Option<&ReceivesNotes> {
        self.shown.receives_notes.as_ref()
    }

    /// The note for a choice of hunks, once some are marked to be left out.
    pub(crate) fn hunks_note(&self) -> Option<&str> {
        let is_partial = self.marks.values().any(|mark| *mark == Mark::Exclude);
        self.notes().filter(|_| is_partial).and_then(|notes| notes.hunks.as_deref())
    }

    pub(crate) fn shape(&self) -> Shape<'_> {
        Shape {
            hunks: &self.shown.hunks,
            before_lines: self.before.count(),
            after_lines: self.after.count(),
            comments: &self.comments,
            unfolded: &self.unfolded,
            mode: self.mode,
        }
    }

    fn lay_out(&mut self) {
        self.rows = self.shape().rows();
        self.cursor = self.cursor.min(self.rows.len().saturating_sub(1));
    }

    /// Lays out again, with the cursor at the line where it was.
    fn change(&mut self, change: impl FnOnce(&mut Document)) {
        let (line, at) = (self.after_line(), self.cursor.saturating_sub(self.top));
        change(self);
        self.lay_out();
        if let Some(row) = self.row_of_after(line) {
            self.cursor = row;
            self.top = row.saturating_sub(at);
        }
    }

    pub(crate) fn set_mode(&mut self, mode: Mode) {
        if self.mode != mode {
            self.change(|document| document.mode = mode);
        }
    }

    /// Shows the lines of a gap, or folds them again.
    pub(crate) fn fold(&mut self, gap: usize, folded: bool) {
        self.change(|document| {
            if let Some(unfolded) = document.unfolded.get_mut(gap) {
                *unfolded = !folded;
            }
        });
    }

    /// Shows everything, or folds everything again.
    pub(crate) fn toggle_folds(&mut self) {
        let unfold = self.unfolded.iter().any(|unfolded| !unfolded);
        self.change(|document| document.unfolded.fill(unfold));
    }

    /// Sets the comment of a line; an empty one removes it.
    pub(crate) fn comment(&mut self, line_number: u32, text: &str) {
        let text = text.trim();
        self.change(|document| {
            document.comments.retain(|comment| comment.line != line_number);
            if !text.is_empty() {
                document.comments.push(ReviewComment { line: line_number, text: text.into() });
                document.comments.sort_by_key(|comment| comment.line);
            }
        });
    }

    pub(crate) fn comment_on(&self, line_number: u32) -> Option<&str> {
        let comment = self.comments.iter().find(|comment| comment.line == line_number)?;
        Some(&comment.text)
    }

    /// The line number that a comment made here is about: on the proposed side, from 1.
    pub(crate) fn comment_line(&self) -> u32 {
        if let Some(Row::Comment(index)) = self.rows.get(self.cursor)
            && let Some(comment) = self.comments.get(*index)
        {
            return comment.line;
        }
        let line = self.after_line().min(self.after.count().saturating_sub(1));
        u32::try_from(line + 1).unwrap_or(u32::MAX)
    }

    /// The line of the text after at or below the cursor.
    fn after_line(&self) -> usize {
        let below = self.rows.iter().skip(self.cursor).find_map(|row| match row {
            Row::Fold { gap, .. } => Some(self.shape().folded_lines(*gap).start),
            Row::Hunk(index) => self.shown.hunks.get(*index).map(|hunk| hunk.after_start as usize),
            row => row.after(),
        });
        below.unwrap_or(self.after.count())
    }

    pub(crate) fn row_of_after(&self, line: usize) -> Option<usize> {
        self.rows.iter().position(|row| match row {
            Row::Fold { gap, .. } => self.shape().folded_lines(*gap).contains(&line),
            row => row.after() == Some(line),
        })
    }

    /// The hunk at the cursor: the one whose header is the nearest at or above it.
    pub(crate) fn hunk(&self) -> Option<usize> {
        let passed = self.rows.iter().take(self.cursor + 1).rev().find_map(|row| match row {
            Row::Hunk(index) => Some(*index),
            _ => None,
        });
        passed.or((!self.shown.hunks.is_empty()).then_some(0))
    }

    pub(crate) fn mark_of(&self, hunk: usize) -> Option<Mark> {
        self.marks.get(&self.shown.hunks.get(hunk)?.id).copied()
    }

    pub(crate) fn mark(&mut self, hunk: usize, mark: Option<Mark>) {
        let Some(hunk) = self.shown.hunks.get(hunk) else { return };
        match mark {
            Some(mark) => self.marks.insert(hunk.id.clone(), mark),
            None => self.marks.remove(&hunk.id),
        };
    }

    /// Goes to a hunk; `false` when there is none.
    pub(crate) fn go_to_hunk(&mut self, hunk: usize) -> bool {
        let row = self.rows.iter().position(|row| *row == Row::Hunk(hunk));
        self.cursor = row.unwrap_or(self.cursor);
        row.is_some()
    }

    pub(crate) fn move_by(&mut self, rows: isize) {
        self.cursor = self.cursor.saturating_add_signed(rows).min(self.rows.len().saturating_sub(1));
    }

    /// Scrolls so that the cursor is on a screen of this many rows.
    pub(crate) fn follow(&mut self, height: usize) {
        let margin = (height / 6).min(3);
        let (first, last) = (self.cursor.saturating_sub(margin), self.cursor + margin + 1);
        self.top = self.top.min(first).max(last.saturating_sub(height));
        self.top = self.top.min(self.rows.len().saturating_sub(height));
    }

    /// Moves the screen, and the cursor with it.
    pub(crate) fn scroll(&mut self, rows: isize, height: usize) {
        let most = self.rows.len().saturating_sub(height);
        let top = self.top.saturating_add_signed(rows).min(most);
        let moved = top as isize - self.top as isize;
        self.top = top;
        self.move_by(moved);
    }

    /// Hunks without a mark.
    pub(crate) fn unmarked(&self) -> usize {
        self.shown.hunks.iter().filter(|hunk| !self.marks.contains_key(&hunk.id)).count()
    }

    pub(crate) fn line(&self, side: Side, line_index: usize) -> &str {
        let lines = self.lines(side);
        let line = lines.line(line_index);
        if self.hide_cr { line.strip_suffix('\r').unwrap_or(line) } else { line }
    }

    pub(crate) fn lines(&self, side: Side) -> &Lines {
        match side {
            Side::Before => &self.before,
            Side::After => &self.after,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{hunk, numbered, shown};

    fn document() -> Document {
        let (before, after) = (numbered(40, &[]), numbered(40, &[10, 30]));
        let hunks = vec![hunk("ha", (10, 1), (10, 1)), hunk("hb", (30, 1), (30, 1))];
        Document::new(shown("r1", &before, &after, hunks), Mode::Unified)
    }

    #[test]
    fn the_cursor_begins_at_the_first_hunk() {
        let document = document();
        assert_eq!(document.rows.get(document.cursor), Some(&Row::Hunk(0)));
    }

    #[test]
    fn unfolding_leaves_the_cursor_at_its_line() {
        let mut document = document();
        document.go_to_hunk(1);
        document.move_by(5);
        let line = document.comment_line();
        document.toggle_folds();
        assert_eq!(document.comment_line(), line);
        assert!(!document.rows.iter().any(|row| matches!(row, Row::Fold { .. })));
        document.toggle_folds();
        assert_eq!(document.comment_line(), line);
    }

    #[test]
    fn a_newer_revision_keeps_what_still_fits() {
        let mut document = document();
        document.mark(0, Some(Mark::Include));
        document.mark(1, Some(Mark::Exclude));
        document.comment(11, "why?");
        document.go_to_hunk(1);
        let newer = shown("r1", &numbered(40, &[]), &numbered(40, &[30]), vec![hunk("hb", (30, 1), (30, 1))]);
        let document = document.renewed(newer);
        assert_eq!(document.marks.get("hb"), Some(&Mark::Exclude));
        assert_eq!((document.marks.len(), document.comments.len()), (1, 1));
        assert_eq!(document.hunk(), Some(0));
    }

    #[test]
    fn an_empty_comment_takes_it_away() {
        let mut document = document();
        document.comment(3, " say ");
        assert_eq!(document.comment_on(3), Some("say"));
        document.comment(3, "  ");
        assert_eq!(document.comment_on(3), None);
    }

    #[test]
    fn a_comment_on_a_removed_line_is_about_the_line_in_its_place() {
        let mut document = document();
        document.cursor =
            document.rows.iter().position(|row| *row == Row::Removed { hunk: 0, before: 10 }).unwrap();
        assert_eq!(document.comment_line(), 11);
    }
}
