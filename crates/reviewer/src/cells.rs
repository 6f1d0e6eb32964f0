//! One line of a file as terminal cells: tabs become spaces, hidden characters become visible, wide ones keep their
//! width, and text outside the window is never examined twice.

use std::ops::Range;

use ratatui::style::Style;
use ratatui::text::Span;
use unicode_width::UnicodeWidthChar;

use crate::visible;

const TAB: usize = 4;

/// Part of a line that looks different; sorted and free of overlap within one layer.
pub(crate) type Layer<'a> = &'a [(Range<usize>, Style)];

/// Which columns of a line are visible, and its styles.
#[derive(Debug)]
pub(crate) struct Window<'a> {
    /// The first column.
    pub(crate) left: usize,
    /// How many columns.
    pub(crate) width: usize,
    pub(crate) base: Style,
    /// Later layers win.
    pub(crate) layers: &'a [Layer<'a>],
    /// The style of hidden characters.
    pub(crate) hidden: Style,
    /// The style of the sign that the line continues.
    pub(crate) more: Style,
}

/// The visible part of a line and how many columns it takes.
pub(crate) fn spans(line: &str, window: &Window<'_>) -> (Vec<Span<'static>>, usize) {
    let mut out = Spans { spans: Vec::new(), width: 0 };
    let end = window.left + window.width;
    let mut column = 0;
    let mut cursors = vec![0; window.layers.len()];
    for (at, character) in line.char_indices() {
        if column >= end {
            out.cut(window);
            break;
        }
        let mut style = window.base;
        for (layer, cursor) in window.layers.iter().zip(&mut cursors) {
            while layer.get(*cursor).is_some_and(|(range, _)| range.end <= at) {
                *cursor += 1;
            }
            if let Some((_, over)) = layer.get(*cursor).filter(|(range, _)| range.contains(&at)) {
                style = style.patch(*over);
            }
        }
        if character == '\t' {
            for _ in 0..TAB - column % TAB {
                column = out.put(' ', 1, column, style, window);
            }
        } else if visible::is_hidden(character) {
            for escaped in character.escape_default() {
                column = out.put(escaped, 1, column, style.patch(window.hidden), window);
            }
        } else {
            column = out.put(character, character.width().unwrap_or(1), column, style, window);
        }
    }
    if column > end {
        out.cut(window);
    }
    (out.spans, out.width)
}

struct Spans {
    spans: Vec<Span<'static>>,
    width: usize,
}

impl Spans {
    /// Puts a character at a column if it is in the window; returns the column after it.
    fn put(
        &mut self,
        character: char,
        width: usize,
        column: usize,
        style: Style,
        window: &Window<'_>,
    ) -> usize {
        let after = column + width;
        let end = window.left + window.width;
        if column >= window.left && after <= end {
            self.push(character, width, style);
        } else if after > window.left && column < end {
            // Half of a wide character cannot be shown.
            for _ in column.max(window.left)..after.min(end) {
                self.push(' ', 1, style);
            }
        }
        after
    }

    fn push(&mut self, character: char, width: usize, style: Style) {
        self.width += width;
        match self.spans.last_mut() {
            Some(last) if last.style == style => last.content.to_mut().push(character),
            _ => self.spans.push(Span::styled(character.to_string(), style)),
        }
    }

    /// Replaces the last column by a sign that there is more.
    fn cut(&mut self, window: &Window<'_>) {
        if window.width == 0 {
            return;
        }
        while self.width >= window.width {
            let Some(last) = self.spans.last_mut() else { break };
            match last.content.to_mut().pop() {
                Some(character) => self.width -= character.width().unwrap_or(1),
                None => {
                    self.spans.pop();
                }
            }
        }
        while self.width + 1 < window.width {
            self.push(' ', 1, window.base);
        }
        self.push('›', 1, window.base.patch(window.more));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(line: &str, left: usize, width: usize) -> String {
        let (hidden, more) = (Style::new().bold(), Style::new());
        let window = Window { left, width, base: Style::new(), layers: &[], hidden, more };
        let (spans, columns) = spans(line, &window);
        assert!(columns <= width);
        spans.iter().map(|span| span.content.as_ref()).collect()
    }

    #[test]
    fn tabs_reach_the_next_stop() {
        assert_eq!(seen("\ta\tb", 0, 20), "    a   b");
    }

    #[test]
    fn hidden_characters_are_seen() {
        assert_eq!(seen("a\u{202e}b\u{200b}\u{1b}[2J\r", 0, 60), r"a\u{202e}b\u{200b}\u{1b}[2J\r");
    }

    #[test]
    fn a_long_line_says_that_it_goes_on() {
        assert_eq!(seen("abcdef", 0, 4), "abc›");
        assert_eq!(seen("abcdef", 2, 4), "cdef");
        assert_eq!(seen("abcdef", 9, 4), "");
        assert_eq!(seen(&"x".repeat(10_000_000), 0, 3), "xx›");
    }

    #[test]
    fn half_of_a_wide_character_is_never_shown() {
        assert_eq!(seen("日本語", 0, 6), "日本語");
        assert_eq!(seen("日本語", 1, 6), " 本語");
        assert_eq!(seen("日本語", 0, 5), "日本›");
        assert_eq!(seen("日本語", 0, 4), "日 ›");
    }

    #[test]
    fn layers_lie_over_each_other() {
        let (bold, italic) = (Style::new().bold(), Style::new().italic());
        let layers: [Layer<'_>; 2] = [&[(0..2, bold)], &[(1..3, italic)]];
        let window = Window {
            left: 0,
            width: 9,
            base: Style::new(),
            layers: &layers,
            hidden: Style::new(),
            more: Style::new(),
        };
        let styles: Vec<_> = spans("abcd", &window).0.iter().map(|span| span.style).collect();
        assert_eq!(styles, [bold, bold.italic(), italic, Style::new()]);
    }
}
