//! One side of a change as lines, each found in constant time. Knows nothing of diffs.

use std::sync::Arc;

/// A text and where its lines begin.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lines {
    text: Arc<str>,
    starts: Vec<usize>,
}

impl Lines {
    pub(crate) fn of(text: &str) -> Lines {
        let mut starts: Vec<usize> =
            std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        // Text after the last line ending is a line only if it is not empty.
        if starts.last() == Some(&text.len()) {
            starts.pop();
        }
        Lines { text: text.into(), starts }
    }

    pub(crate) fn count(&self) -> usize {
        self.starts.len()
    }

    pub(crate) fn text(&self) -> Arc<str> {
        Arc::clone(&self.text)
    }

    /// A line with its ending.
    pub(crate) fn whole(&self, line_index: usize) -> &str {
        let Some(start) = self.starts.get(line_index) else { return "" };
        let end = self.starts.get(line_index + 1).copied().unwrap_or(self.text.len());
        self.text.get(*start..end).unwrap_or_default()
    }

    /// A line without LF; a CR stays, because only the whole change tells whether it matters.
    pub(crate) fn line(&self, line_index: usize) -> &str {
        let line = self.whole(line_index);
        line.strip_suffix('\n').unwrap_or(line)
    }

    /// The last line, if it has no line ending.
    pub(crate) fn lacks_final_newline(&self, line_index: usize) -> bool {
        line_index + 1 == self.count() && !self.text.ends_with('\n')
    }

    /// Whether all line endings are this one.
    pub(crate) fn all_end_with_crlf(&self) -> bool {
        (0..self.count()).all(|line| {
            let line = self.whole(line);
            line.ends_with("\r\n") || !line.ends_with('\n')
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_with_and_without_a_final_newline() {
        let lines = Lines::of("a\nb\r\n\nc");
        assert_eq!((0..5).map(|line| lines.line(line)).collect::<Vec<_>>(), ["a", "b\r", "", "c", ""]);
        assert_eq!(lines.count(), 4);
        assert!(lines.lacks_final_newline(3));
        assert!(!Lines::of("a\n").lacks_final_newline(0));
        assert_eq!(Lines::of("").count(), 0);
    }
}
