//! `edit_lines` and `append_file`: edits by line number, not by content.

use super::error::ProposalError;
use super::lf_view::{LineEnd, ending, in_the_endings_of};

/// Replaces lines `start` to `end`, counted from 1, both inclusive. The new content ends like the last of them, unless
/// it has its own line end.
pub(super) fn replace(text: &str, start: usize, end: usize, new: &str) -> Result<String, ProposalError> {
    let lines = text.split_inclusive('\n').count();
    let first = start.checked_sub(1).filter(|_| start <= end && end <= lines);
    let Some(first) = first else { return Err(ProposalError::LineOutOfRange { start, end, lines }) };

    let length = |skip: usize, take: usize| -> usize {
        text.split_inclusive('\n').skip(skip).take(take).map(str::len).sum()
    };
    let from = length(0, first);
    let to = from + length(first, end - first);
    let last = text.split_inclusive('\n').nth(end - 1).and_then(ending);

    let mut new = in_the_endings_of(text, from..to, new).into_owned();
    if let Some(ending) = last
        && !new.is_empty()
        && !new.ends_with('\n')
    {
        new.push_str(ending);
    }
    let (before, after) = (text.get(..from).unwrap_or_default(), text.get(to..).unwrap_or_default());
    Ok([before, &new, after].concat())
}

/// With `newline`, the content starts on a new line; a line end is only added if it is missing.
pub(super) fn append(text: &str, content: &str, newline: bool) -> String {
    let mut appended = text.to_owned();
    if newline && !text.is_empty() && !text.ends_with(['\n', '\r']) {
        appended.push_str(LineEnd::after(text, text.len()).ending);
    }
    appended.push_str(&in_the_endings_of(text, text.len()..text.len(), content));
    appended
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, start: usize, end: usize, new: &str, expect: &str) {
        assert_eq!(replace(text, start, end, new).unwrap(), expect, "{text:?}");
    }

    #[test]
    fn lines_are_replaced_with_both_ends_included() {
        check("a\nb\nc\nd\n", 2, 3, "x\ny\nz\n", "a\nx\ny\nz\nd\n");
        check("a\nb\nc\n", 1, 1, "x\n", "x\nb\nc\n");
        check("a\nb\nc\n", 3, 3, "", "a\nb\n");
    }

    #[test]
    fn a_line_end_that_was_forgotten_is_that_of_the_line_replaced() {
        check("a\nb\nc\n", 2, 2, "x", "a\nx\nc\n");
        check("a\r\nb\nc\n", 1, 1, "x", "x\r\nb\nc\n");
        check("a\nb", 2, 2, "x", "a\nx");
        check("a\r\nb", 2, 2, "x\n", "a\r\nx\r\n");
    }

    #[test]
    fn lines_that_are_not_there_are_refused_with_the_number_there_is() {
        for (start, end) in [(0, 1), (4, 4), (2, 4), (3, 2), (usize::MAX, usize::MAX)] {
            let error = replace("a\nb\nc", start, end, "x").unwrap_err();
            assert_eq!(error, ProposalError::LineOutOfRange { start, end, lines: 3 });
        }
        assert!(matches!(replace("", 1, 1, "x"), Err(ProposalError::LineOutOfRange { lines: 0, .. })));
    }

    #[test]
    fn a_newline_stands_between_only_when_asked_for_and_missing() {
        assert_eq!(append("a", "b\n", true), "a\nb\n");
        assert_eq!(append("a\n", "b\n", true), "a\nb\n");
        assert_eq!(append("a", "b", false), "ab");
        assert_eq!(append("", "b", true), "b");
        assert_eq!(append("a\r\nb", "c\nd\n", true), "a\r\nb\r\nc\r\nd\r\n");
    }
}
