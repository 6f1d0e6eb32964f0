//! `edit_file`: replaces a text that must be unique, unless all occurrences are replaced.

use std::borrow::Cow;
use std::ops::Range;

use super::error::ProposalError;
use super::lf_view::LfView;
use super::{LARGEST_FILE, near_match};

pub(super) fn replace(text: &str, old: &str, new: &str, all: bool) -> Result<String, ProposalError> {
    if old.is_empty() {
        return Err(ProposalError::EmptyOldString);
    }
    // A CR in the old text is meant; only if the text is not found, the CR is treated as a habit of the model.
    if old.contains('\r') && text.contains(old) {
        let literal = LfView::as_it_is(text);
        return Ok(literal.with_as_said(&changes(&literal, old, new, all)?));
    }
    let spoken = LfView::new(text);
    // The new text has the same habit.
    let lf = |said: &str| said.replace("\r\n", "\n");
    let new = if old.contains("\r\n") { Cow::Owned(lf(new)) } else { Cow::Borrowed(new) };
    Ok(spoken.with(&changes(&spoken, &lf(old), &new, all)?))
}

type Changes<'n> = Vec<(Range<usize>, Cow<'n, str>)>;

fn changes<'n>(
    spoken: &LfView<'_>,
    old: &str,
    new: &'n str,
    all: bool,
) -> Result<Changes<'n>, ProposalError> {
    let count = spoken.text.matches(old).count();
    if count == 0 {
        return Err(ProposalError::NoMatch { nearest: near_match::nearest(&spoken.text, old) });
    }
    if !all {
        let lines = lines_of(&spoken.text, old);
        if lines.len() > 1 {
            return Err(ProposalError::SeveralMatches { count: count.max(lines.len()), lines });
        }
    }
    // Twice, because each of its line ends may become two bytes.
    let most = spoken.text.len().saturating_add(count.saturating_mul(new.len().saturating_mul(2)));
    if most > LARGEST_FILE.saturating_mul(2) {
        return Err(ProposalError::TooLarge { what: "the result", bytes: most, most: LARGEST_FILE });
    }
    let places = spoken.text.match_indices(old).map(|(at, found)| at..at + found.len());
    Ok(places.map(|place| (place, Cow::Borrowed(new))).collect())
}

/// The lines where it starts, counted from 1. Overlapping occurrences count separately: replacing one does not replace
/// the other.
fn lines_of(text: &str, old: &str) -> Vec<usize> {
    const MOST: usize = 100;
    let mut lines = Vec::new();
    let (mut line, mut at) = (1, 0);
    while lines.len() < MOST
        && let Some(rest) = text.get(at..)
        && let Some(offset) = rest.find(old)
    {
        line += rest.get(..offset).unwrap_or_default().matches('\n').count();
        lines.push(line);
        let first = old.chars().next().unwrap_or_default();
        line += usize::from(first == '\n');
        at += offset + first.len_utf8();
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_lf_text_is_found_in_a_crlf_file_and_replaced_in_its_endings() {
        let text = "one\r\ntwo\r\nthree\r\n";
        assert_eq!(replace(text, "two\nthree", "2\n2.5\n3", false).unwrap(), "one\r\n2\r\n2.5\r\n3\r\n");
        assert_eq!(replace(text, "two", "2\n2.5", false).unwrap(), "one\r\n2\r\n2.5\r\nthree\r\n");
    }

    #[test]
    fn a_crlf_text_is_found_in_an_lf_file() {
        assert_eq!(replace("a\nb\nc\n", "a\r\nb", "x", false).unwrap(), "x\nc\n");
        assert_eq!(replace("a\nb\nc\n", "a\r\nb", "x\r\ny", false).unwrap(), "x\ny\nc\n");
        assert_eq!(replace("a\nb\r\nc", "a\r\nb\r\n", "x\r\ny\r\n", false).unwrap(), "x\ny\r\nc");
    }

    #[test]
    fn a_carriage_return_that_is_spoken_of_is_meant() {
        assert_eq!(replace("a\r\nb\r\n", "a\r\n", "a\n", false).unwrap(), "a\nb\r\n");
    }

    #[test]
    fn several_matches_are_counted_and_named_by_line() {
        let error = replace("x\na\nx\nb\nx\n", "x", "y", false).unwrap_err();
        assert_eq!(error, ProposalError::SeveralMatches { count: 3, lines: vec![1, 3, 5] });
        assert!(error.to_string().contains("lines 1, 3, 5"), "{error}");
        assert_eq!(replace("x\na\nx\n", "x", "y", true).unwrap(), "y\na\ny\n");
    }

    #[test]
    fn matches_that_overlap_are_several() {
        let error = replace("aXaXa", "aXa", "y", false).unwrap_err();
        assert_eq!(error, ProposalError::SeveralMatches { count: 2, lines: vec![1, 1] });
        let error = replace("a\n\n\nb", "\n\n", "y", false).unwrap_err();
        assert_eq!(error, ProposalError::SeveralMatches { count: 2, lines: vec![1, 2] });
    }

    #[test]
    fn matches_that_differ_only_in_endings_are_several() {
        let error = replace("a\r\nb\na\nb\n", "a\nb", "x", false).unwrap_err();
        assert_eq!(error, ProposalError::SeveralMatches { count: 2, lines: vec![1, 3] });
    }

    #[test]
    fn a_text_that_is_not_there_names_the_place_most_like_it() {
        let text = "fn main() {\n    let a = 1;\n    let  b = 2;\n}\n";
        let error = replace(text, "    let a = 1;\n    let b = 2;\n", "", false).unwrap_err();
        let ProposalError::NoMatch { nearest: Some(nearest) } = &error else { panic!("{error:?}") };
        assert_eq!((nearest.line, nearest.found.as_str()), (3, "    let  b = 2;"));
        assert!(error.to_string().contains("only in white space"), "{error}");
    }

    #[test]
    fn a_result_without_end_is_refused_before_it_is_made() {
        let error = replace(&"a".repeat(1 << 20), "a", &"b".repeat(1 << 20), true).unwrap_err();
        assert!(matches!(error, ProposalError::TooLarge { .. }));
    }
}
