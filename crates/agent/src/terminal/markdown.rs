//! Markdown as it streams in: each line becomes a styled line as soon as it is complete, and what there is of the next
//! one can be shown meanwhile. Keeps nothing but the fence that it is in and the current line.

use super::code::colour;
use super::text::{Line, Style, line, plain, span};

/// A longer line is broken.
const LONGEST_LINE: usize = 16 * 1024;

/// A stream of Markdown.
#[derive(Debug, Default)]
pub(super) struct Markdown {
    /// The language of the code block that it is in.
    fence: Option<Fence>,
    partial: String,
}

#[derive(Debug, Clone)]
struct Fence {
    marks: String,
    language: String,
}

impl Markdown {
    /// Takes a piece; returns the lines that are complete.
    pub(super) fn push(&mut self, text: &str) -> Vec<Line> {
        let mut complete = Vec::new();
        for piece in text.split_inclusive('\n') {
            self.partial.push_str(piece);
            // A line without an end is not collected without end.
            if piece.ends_with('\n') || self.partial.len() > LONGEST_LINE {
                let whole = std::mem::take(&mut self.partial);
                let whole = whole.strip_suffix('\n').unwrap_or(&whole);
                complete.push(self.line(whole.strip_suffix('\r').unwrap_or(whole)));
            }
        }
        complete
    }

    /// What there is of the next line.
    pub(super) fn partial(&self) -> Option<Line> {
        (!self.partial.is_empty()).then(|| styled(&plain(&self.partial), self.fence.as_ref()))
    }

    /// The text is over: its last line, if it has no end, and a new beginning.
    pub(super) fn end(&mut self) -> Option<Line> {
        let partial = std::mem::take(&mut self.partial);
        let last = (!partial.is_empty()).then(|| self.line(&partial));
        self.fence = None;
        last
    }

    fn line(&mut self, text: &str) -> Line {
        let text = plain(text);
        let trimmed = text.trim_start();
        let marks: String = trimmed.chars().take_while(|c| matches!(c, '`' | '~')).collect();
        let is_fence = marks.len() >= 3 && marks.chars().all(|c| marks.starts_with(c));
        match &self.fence {
            Some(fence) if is_fence && marks.starts_with(&fence.marks) && trimmed.trim_end() == marks => {
                self.fence = None;
                line(Style::Dim, text)
            }
            None if is_fence => {
                let language = trimmed.trim_start_matches(['`', '~']).split_whitespace().next();
                self.fence = Some(Fence { marks, language: language.unwrap_or_default().to_owned() });
                line(Style::Dim, text)
            }
            fence => styled(&text, fence.as_ref()),
        }
    }
}

fn styled(text: &str, fence: Option<&Fence>) -> Line {
    if let Some(fence) = fence {
        return colour(text, &fence.language);
    }
    let trimmed = text.trim_start();
    let heading = trimmed.chars().take_while(|c| *c == '#').count();
    if (1..=6).contains(&heading) && trimmed.chars().nth(heading) == Some(' ') {
        return line(Style::Heading, trimmed.trim_start_matches('#').trim_start());
    }
    if trimmed.starts_with('>') {
        return line(Style::Dim, text);
    }
    let indent = text.len() - trimmed.len();
    if let Some(item) = trimmed.strip_prefix("- ").or_else(|| trimmed.strip_prefix("* ")) {
        let mut line = vec![span(Style::Plain, format!("{}• ", " ".repeat(indent)))];
        line.extend(inline(item));
        return line;
    }
    inline(text)
}

/// Code, bold, italic and links inside a line. Marks without a partner stay as they are.
fn inline(text: &str) -> Line {
    let mut out = Vec::new();
    let mut rest = text;
    let mut open = String::new();
    while let Some(first) = rest.chars().next() {
        if let Some((found, length)) = marked(rest, open.chars().last()) {
            if !open.is_empty() {
                out.push(span(Style::Plain, std::mem::take(&mut open)));
            }
            out.extend(found);
            rest = rest.get(length..).unwrap_or_default();
        } else {
            open.push(first);
            rest = rest.get(first.len_utf8()..).unwrap_or_default();
        }
    }
    if !open.is_empty() || out.is_empty() {
        out.push(span(Style::Plain, open));
    }
    out
}

fn marked(text: &str, before: Option<char>) -> Option<(Line, usize)> {
    for (mark, style) in [("`", Style::Code), ("**", Style::Bold), ("*", Style::Italic)] {
        let Some(inner) = text.strip_prefix(mark) else { continue };
        let end = inner.find(mark)?;
        let content = inner.get(..end)?;
        // 2 * 3 * 4 is not emphasis.
        let is_text = style == Style::Code || (content.trim() == content && !content.starts_with('*'));
        let is_word_end = before.is_none_or(|before| !before.is_alphanumeric());
        if content.is_empty() || !is_text || !is_word_end {
            return None;
        }
        return Some((line(style, content), mark.len() * 2 + end));
    }
    let (label, rest) = text.strip_prefix('[')?.split_once("](")?;
    let (url, _) = rest.split_once(')')?;
    if label.contains(['[', ']']) || url.contains(char::is_whitespace) {
        return None;
    }
    let length = label.len() + url.len() + "[]()".len();
    Some((vec![span(Style::Link, label), span(Style::Dim, format!(" ({url})"))], length))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(line: &Line) -> String {
        line.iter().map(|span| span.text.as_str()).collect()
    }

    fn all(text: &str) -> Vec<Line> {
        let mut markdown = Markdown::default();
        let mut lines = markdown.push(text);
        lines.extend(markdown.end());
        lines
    }

    #[test]
    fn a_line_is_styled_once_it_is_complete() {
        let mut markdown = Markdown::default();
        assert!(markdown.push("## He").is_empty());
        assert_eq!(markdown.partial(), Some(line(Style::Heading, "He")));
        assert_eq!(markdown.push("ading\nnext"), [line(Style::Heading, "Heading")]);
        assert_eq!(markdown.end(), Some(line(Style::Plain, "next")));
        assert_eq!(markdown.partial(), None);
    }

    #[test]
    fn marks_become_styles() {
        let line = &all("use `x * y` and **bold**, *thin*, [docs](https://x.example)")[0];
        assert_eq!(
            line[..8],
            [
                span(Style::Plain, "use "),
                span(Style::Code, "x * y"),
                span(Style::Plain, " and "),
                span(Style::Bold, "bold"),
                span(Style::Plain, ", "),
                span(Style::Italic, "thin"),
                span(Style::Plain, ", "),
                span(Style::Link, "docs"),
            ]
        );
        for same in ["2 * 3 * 4", "a `b", "**", "snake*case*x", "[x] (y)", "#tag", "****"] {
            assert_eq!(all(same), [super::line(Style::Plain, same)], "{same}");
        }
        assert_eq!(words(&all("  - item")[0]), "  • item");
    }

    #[test]
    fn code_is_not_read_as_markdown() {
        let lines = all("```rust\n# let **x**\n```\n**bold**");
        assert_eq!(words(&lines[1]), "# let **x**");
        assert!(lines[1].contains(&span(Style::Keyword, "let")));
        assert_eq!(lines[3], line(Style::Bold, "bold"));
        // A fence inside a longer fence is content.
        assert_eq!(words(&all("````\n```\n````\n# x")[3]), "x");
    }

    #[test]
    fn an_answer_without_line_ends_is_broken_and_a_long_one_is_quick() {
        let mut markdown = Markdown::default();
        let endless: usize = (0..5000).map(|_| markdown.push("no line end ").len()).sum();
        assert_eq!(endless, 3);
        assert_eq!(all(&"line\n".repeat(1_000_000)).len(), 1_000_000);
    }

    #[test]
    fn a_model_cannot_control_the_terminal() {
        assert_eq!(words(&all("\u{1b}[2J\u{202e}x")[0]), "\\u{1b}[2J\\u{202e}x");
    }

    proptest! {
        #[test]
        fn pieces_give_the_same_lines_as_the_whole(text in "[a`*#\n\\[\\]() ]{0,40}", at in 0usize..40) {
            let (first, rest) = text.split_at(at.min(text.len()));
            let mut markdown = Markdown::default();
            let mut lines = markdown.push(first);
            lines.extend(markdown.push(rest));
            lines.extend(markdown.end());
            prop_assert_eq!(lines, all(&text));
        }
    }
}
