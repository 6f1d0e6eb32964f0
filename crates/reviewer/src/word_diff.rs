//! Maps the words that differ to byte ranges of a line. The wire counts UTF-16 units; strings count bytes.

use std::ops::Range;

use linkspan_editor_api::Range as TextRange;

/// The bytes of a line that lie in any of these ranges, in order and without overlap. The ranges are in the
/// order of the text.
pub fn emphasised(line: &str, line_index: usize, words: &[TextRange]) -> Vec<Range<usize>> {
    let first = words.partition_point(|word| (word.end.line as usize) < line_index);
    let here = words.iter().skip(first).take_while(|word| word.start.line as usize <= line_index);
    let mut found: Vec<Range<usize>> = Vec::new();
    for word in here {
        let start =
            if word.start.line as usize == line_index { byte_at(line, word.start.character) } else { 0 };
        let end =
            if word.end.line as usize == line_index { byte_at(line, word.end.character) } else { line.len() };
        // Where a range continues from the previous line, the indentation is not highlighted.
        let goes_on = (word.start.line as usize) < line_index;
        let blanks = || line.len() - line.trim_start().len();
        let start = if goes_on { start.max(blanks()) } else { start };
        let start = found.last().map_or(start, |before| start.max(before.end));
        if start < end {
            found.push(start..end);
        }
    }
    found
}

fn byte_at(line: &str, utf16_col: u32) -> usize {
    let mut column = 0;
    for (at, character) in line.char_indices() {
        if column >= utf16_col as usize {
            return at;
        }
        column += character.len_utf16();
    }
    line.len()
}

#[cfg(test)]
mod tests {
    use linkspan_editor_api::Position;

    use super::*;

    fn range(start: (u32, u32), end: (u32, u32)) -> TextRange {
        let position = |(line, character)| Position { line, character };
        TextRange { start: position(start), end: position(end) }
    }

    #[test]
    fn a_range_over_several_lines_is_cut_at_their_ends() {
        let over = range((0, 1), (2, 1));
        let cut = |line| emphasised("abc", line, &[over]).first().cloned();
        assert_eq!([0, 1, 2, 3].map(cut), [Some(1..3), Some(0..3), Some(0..1), None]);
    }

    #[test]
    fn a_range_that_goes_on_does_not_mark_what_indents() {
        let over = range((0, 1), (2, 4));
        let cut = |line| emphasised("    x", line, &[over]).first().cloned();
        assert_eq!([0, 1, 2].map(cut), [Some(1..5), Some(4..5), None]);
    }

    #[test]
    fn only_the_words_of_the_line_count_and_columns_are_utf16() {
        let words =
            [range((0, 0), (0, 1)), range((4, 2), (4, 3)), range((4, 3), (4, 4)), range((9, 0), (9, 1))];
        assert_eq!(emphasised("🚀xy", 4, &words), [4..5, 5..6]);
        assert_eq!(emphasised("xyz", 5, &words), Vec::<Range<usize>>::new());
    }
}
