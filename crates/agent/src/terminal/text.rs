//! Text with styles, and breaking it into rows of a terminal. Everything that comes from models, tools and files passes
//! through [`plain`], which makes hidden characters visible. Must not know the terminal.

use linkspan_client::visible;
use unicode_width::UnicodeWidthChar;

/// How a piece of text looks. What colours mean is up to the painter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Style {
    #[default]
    Plain,
    Dim,
    Bold,
    Italic,
    Heading,
    Code,
    Keyword,
    Literal,
    Comment,
    Link,
    User,
    Tool,
    Good,
    Bad,
    Added,
    Removed,
    Hunk,
    Question,
}

/// A piece of one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TextSpan {
    pub(super) style: Style,
    pub(super) text: String,
}

/// One line, which may be wider than the terminal.
pub(super) type Line = Vec<TextSpan>;

pub(super) fn span(style: Style, text: impl Into<String>) -> TextSpan {
    TextSpan { style, text: text.into() }
}

/// One line in one style.
pub(super) fn line(style: Style, text: impl Into<String>) -> Line {
    vec![span(style, text)]
}

/// Several lines in one style.
pub(super) fn lines(style: Style, text: &str) -> Vec<Line> {
    plain(text).lines().map(|text| line(style, text)).collect()
}

/// Text that cannot control the terminal, with tabs as spaces.
pub(super) fn plain(text: &str) -> String {
    visible::text(text).replace('\t', "    ")
}

/// How many columns a text takes.
pub(super) fn width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

/// The same of a whole line.
pub(super) fn line_width(line: &[TextSpan]) -> usize {
    line.iter().map(|span| width(&span.text)).sum()
}

pub(super) fn char_width(c: char) -> usize {
    c.width().unwrap_or(0)
}

/// The beginning of a text that fits, with a sign where it was cut.
pub(super) fn fit(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut used = 1;
    let fits = |c: &char| {
        used += char_width(*c);
        used <= columns
    };
    text.chars().take_while(fits).chain(['…']).take(columns.max(1)).collect()
}

/// Breaks a line into rows, between words where it can.
pub(super) fn wrap(line: &[TextSpan], columns: usize) -> Vec<Line> {
    let columns = columns.max(2);
    let mut rows = vec![Row::default()];
    for span in line {
        for c in span.text.chars() {
            let wide = char_width(c);
            if rows.last().is_some_and(|row| row.width + wide > columns) {
                let rest = rows.last_mut().map(|row| row.split(c)).unwrap_or_default();
                rows.push(rest);
                // A space at a break is not shown.
                if c == ' ' && rows.last().is_some_and(|row| row.cells.is_empty()) {
                    continue;
                }
            }
            if let Some(row) = rows.last_mut() {
                row.cells.push((span.style, c));
                row.width += wide;
            }
        }
    }
    rows.into_iter().map(Row::line).collect()
}

#[derive(Default)]
struct Row {
    cells: Vec<(Style, char)>,
    width: usize,
}

impl Row {
    /// Takes the last word away, if there is one before it and it goes on with `next`.
    fn split(&mut self, next: char) -> Row {
        if next == ' ' {
            return Row::default();
        }
        let Some(space) = self.cells.iter().rposition(|(_, c)| *c == ' ') else { return Row::default() };
        // Spaces at the start only indent.
        if self.cells.iter().take(space).all(|(_, c)| *c == ' ') {
            return Row::default();
        }
        let cells = self.cells.split_off(space + 1);
        let width = cells.iter().map(|(_, c)| char_width(*c)).sum();
        self.cells.pop();
        self.width = self.width.saturating_sub(width + 1);
        Row { cells, width }
    }

    fn line(self) -> Line {
        let mut line: Line = Vec::new();
        for (style, c) in self.cells {
            match line.last_mut() {
                Some(last) if last.style == style => last.text.push(c),
                _ => line.push(span(style, c)),
            }
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rows(text: &str, columns: usize) -> Vec<String> {
        let wrapped = wrap(&line(Style::Plain, text), columns);
        wrapped.into_iter().map(|row| row.into_iter().map(|span| span.text).collect()).collect()
    }

    #[test]
    fn lines_break_between_words_where_they_can() {
        assert_eq!(rows("one two three", 8), ["one two", "three"]);
        assert_eq!(rows("one two three", 7), ["one two", "three"]);
        assert_eq!(rows("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(rows("    abcdef", 6), ["    ab", "cdef"]);
        assert_eq!(rows("", 6), [""]);
        assert_eq!(rows("漢字漢字", 5), ["漢字", "漢字"]);
    }

    #[test]
    fn styles_survive_the_break() {
        let wrapped = wrap(&[span(Style::Bold, "one t"), span(Style::Code, "wo three")], 8);
        assert_eq!(wrapped[0], [span(Style::Bold, "one t"), span(Style::Code, "wo")]);
        assert_eq!(wrapped[1], [span(Style::Code, "three")]);
    }

    #[test]
    fn what_is_cut_says_so() {
        assert_eq!(fit("abc", 3), "abc");
        assert_eq!(fit("abcd", 3), "ab…");
        assert_eq!(fit("漢字漢", 4), "漢…");
        assert_eq!(fit("abc", 0), "…");
    }

    proptest! {
        #[test]
        fn no_row_is_too_wide_and_no_letter_is_lost(text in "[a-c 漢é]{0,60}", columns in 2usize..20) {
            let wrapped = rows(&text, columns);
            prop_assert!(wrapped.iter().all(|row| width(row) <= columns), "{wrapped:?}");
            let letters = |text: &str| text.replace(' ', "");
            prop_assert_eq!(letters(&wrapped.concat()), letters(&text));
        }
    }
}
