//! A view of a text with LF line endings, although the text may have CRLF: maps positions between the two, and chooses
//! the endings of new lines. Untouched lines are never rewritten.

use std::borrow::Cow;
use std::ops::Range;

const CRLF: &str = "\r\n";

/// A text as if all its lines ended with LF.
#[derive(Debug)]
pub(super) struct LfView<'a> {
    raw: &'a str,
    pub(super) text: Cow<'a, str>,
    /// Positions in `text` where the line end is really CRLF.
    shortened: Vec<usize>,
}

impl<'a> LfView<'a> {
    pub(super) fn new(raw: &'a str) -> LfView<'a> {
        if !raw.contains(CRLF) {
            return LfView::as_it_is(raw);
        }
        let shortened = raw.match_indices(CRLF).enumerate().map(|(before, (at, _))| at - before).collect();
        LfView { raw, text: Cow::Owned(raw.replace(CRLF, "\n")), shortened }
    }

    /// For an edit that contains CR itself.
    pub(super) fn as_it_is(raw: &'a str) -> LfView<'a> {
        LfView { raw, text: Cow::Borrowed(raw), shortened: Vec::new() }
    }

    /// The range in the real text of this range of the view.
    pub(super) fn place(&self, spoken: Range<usize>) -> Range<usize> {
        let real = |at: usize| at + self.shortened.partition_point(|end| *end < at);
        real(spoken.start)..real(spoken.end)
    }

    /// The real text with these ranges of the view replaced, with the line endings around them; they are in order and
    /// do not overlap.
    pub(super) fn with(&self, changes: &[(Range<usize>, Cow<'_, str>)]) -> String {
        if self.shortened.is_empty() {
            return self.with_as_said(changes);
        }
        // Determined once per line, however many changes a line has.
        let mut line = None;
        self.replaced(changes, |place, new| {
            let replaced = self.raw.get(place.clone()).unwrap_or_default();
            in_endings(new, replaced, || {
                let known = line.filter(|known: &LineEnd| place.end <= known.at);
                line.insert(known.unwrap_or_else(|| LineEnd::after(self.raw, place.end))).ending
            })
        })
    }

    /// The real text with these ranges replaced; the new texts keep their own line endings.
    pub(super) fn with_as_said(&self, changes: &[(Range<usize>, Cow<'_, str>)]) -> String {
        self.replaced(changes, |_, new| Cow::Borrowed(new))
    }

    fn replaced<'n>(
        &self,
        changes: &'n [(Range<usize>, Cow<'_, str>)],
        mut new_at: impl FnMut(Range<usize>, &'n str) -> Cow<'n, str>,
    ) -> String {
        let mut text = String::with_capacity(self.raw.len());
        let mut at = 0;
        for (spoken, new) in changes {
            let place = self.place(spoken.clone());
            text.push_str(self.raw.get(at..place.start).unwrap_or_default());
            text.push_str(&new_at(place.clone(), new));
            at = place.end;
        }
        text.push_str(self.raw.get(at..).unwrap_or_default());
        text
    }
}

/// The new text with the line endings of this range.
pub(super) fn in_the_endings_of<'t>(text: &str, place: Range<usize>, new: &'t str) -> Cow<'t, str> {
    let replaced = text.get(place.clone()).unwrap_or_default();
    in_endings(new, replaced, || LineEnd::after(text, place.end).ending)
}

/// Each line end takes the ending of the line that it replaces; further ones take the last one's, or that of the
/// current line. An explicit CRLF is kept.
fn in_endings<'t>(new: &'t str, replaced: &str, own: impl FnOnce() -> &'static str) -> Cow<'t, str> {
    if !new.contains('\n') || new.contains(CRLF) {
        return Cow::Borrowed(new);
    }
    let mut endings = replaced.split_inclusive('\n').filter_map(ending);
    let mut last = endings.next().unwrap_or_else(own);
    let mut adopted = String::with_capacity(new.len());
    for line in new.split_inclusive('\n') {
        match line.strip_suffix('\n') {
            Some(content) => adopted.extend([content, last]),
            None => adopted.push_str(line),
        }
        last = endings.next().unwrap_or(last);
    }
    Cow::Owned(adopted)
}

/// Where a line ends, and how.
#[derive(Debug, Clone, Copy)]
pub(super) struct LineEnd {
    at: usize,
    pub(super) ending: &'static str,
}

impl LineEnd {
    /// The ending of the line at this position; if the last line has none, that of the previous line.
    pub(super) fn after(text: &str, at: usize) -> LineEnd {
        let (before, after) = text.split_at_checked(at).unwrap_or((text, ""));
        let own = after.find('\n').map(|end| at + end);
        let end = own.or_else(|| before.rfind('\n'));
        let line = end.and_then(|end| text.get(..=end));
        LineEnd { at: own.unwrap_or(text.len()), ending: line.and_then(ending).unwrap_or("\n") }
    }
}

/// `None` for a line that has no ending.
pub(super) fn ending(line: &str) -> Option<&'static str> {
    if line.ends_with(CRLF) { Some(CRLF) } else { line.ends_with('\n').then_some("\n") }
}

/// The line without its ending.
pub(super) fn content(line: &str) -> &str {
    line.strip_suffix(CRLF).or_else(|| line.strip_suffix('\n')).unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_the_spoken_text_is_found_in_the_real_one() {
        let spoken = LfView::new("a\r\nb\nc\r\n");
        assert_eq!(spoken.text, "a\nb\nc\n");
        assert_eq!(spoken.place(1..2), 1..3);
        assert_eq!(spoken.place(2..3), 3..4);
        assert_eq!(spoken.place(5..6), 6..8);
        assert_eq!(spoken.place(6..6), 8..8);
    }

    #[test]
    fn new_lines_take_the_endings_of_those_they_replace() {
        let text = "a\r\nb\nc\r\n";
        assert_eq!(in_the_endings_of(text, 0..5, "x\ny\nz\n"), "x\r\ny\nz\n");
        assert_eq!(in_the_endings_of(text, 5..6, "x\ny"), "x\r\ny");
        assert_eq!(in_the_endings_of(text, 3..4, "x\ny"), "x\ny");
        assert_eq!(in_the_endings_of("a\r\nb", 3..4, "x\ny"), "x\r\ny");
        assert_eq!(in_the_endings_of(text, 3..4, "x\r\ny\n"), "x\r\ny\n");
    }
}
