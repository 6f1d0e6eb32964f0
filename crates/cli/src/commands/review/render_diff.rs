//! A review as a diff on the terminal: numbered hunks, the words that differ, conflicts. Prints nothing and
//! sends nothing.

use anstyle::Style;
use linkspan_editor_api::{Range as TextRange, ReviewHunk, ReviewShow};
use linkspan_reviewer::{IN_CONFLICT, emphasised, is_in_conflict, place_of};

use crate::cli::output::{ADDED, DIM, HEAD, REMOVED, WARNING, styled};
use crate::visible;

const CONTEXT: usize = 3;

/// All hunks of a review, as text.
pub(crate) fn render(shown: &ReviewShow) -> String {
    let diff = Diff {
        base: shown.base.split_inclusive('\n').collect(),
        proposed: shown.proposed.split_inclusive('\n').collect(),
        shown,
        // If every line ends with CR LF, showing it adds nothing; if only some do, it is part of the change.
        hide_cr: shown
            .base
            .split_inclusive('\n')
            .chain(shown.proposed.split_inclusive('\n'))
            .all(|line| line.ends_with("\r\n") || !line.ends_with('\n')),
    };
    let mut out = String::new();
    let mut printed = 0;
    for (index, hunk) in shown.hunks.iter().enumerate() {
        let next = shown.hunks.get(index + 1).map_or(diff.proposed.len(), |next| next.after_start as usize);
        out += &diff.header(index, hunk);
        printed = diff.hunk(&mut out, hunk, printed, next);
    }
    out
}

struct Diff<'a> {
    base: Vec<&'a str>,
    proposed: Vec<&'a str>,
    shown: &'a ReviewShow,
    hide_cr: bool,
}

impl Diff<'_> {
    fn header(&self, index: usize, hunk: &ReviewHunk) -> String {
        let title = format!("hunk {} of {}", index + 1, self.shown.hunks.len());
        let place = format!("{}  {}", visible::name(&hunk.id), place_of(hunk));
        let conflict = if is_in_conflict(self.shown, hunk) {
            styled(WARNING, &format!("  {IN_CONFLICT}"))
        } else {
            String::new()
        };
        format!("{}  {}{conflict}\n", styled(HEAD, &title), styled(DIM, &place))
    }

    /// One hunk with its context, which begins no earlier than what is `printed` and ends before `next`; returns
    /// the line of the proposed side up to which everything is printed.
    fn hunk(&self, out: &mut String, hunk: &ReviewHunk, printed: usize, next: usize) -> usize {
        let start = hunk.after_start as usize;
        let end = start + hunk.after_count as usize;
        for line in printed.max(start.saturating_sub(CONTEXT))..start {
            self.line(out, ' ', line, &self.proposed, Style::new(), &[]);
        }
        let before = hunk.before_start as usize;
        let words: Vec<TextRange> = hunk.words.iter().map(|words| words.before).collect();
        for line in before..before + hunk.before_count as usize {
            self.line(out, '-', line, &self.base, REMOVED, &words);
        }
        let words: Vec<TextRange> = hunk.words.iter().map(|words| words.after).collect();
        for line in start..end {
            self.line(out, '+', line, &self.proposed, ADDED, &words);
        }
        let stop = (end + CONTEXT).min(next).min(self.proposed.len());
        for line in end..stop {
            self.line(out, ' ', line, &self.proposed, Style::new(), &[]);
        }
        stop.max(end)
    }

    fn line(
        &self,
        out: &mut String,
        sign: char,
        index: usize,
        lines: &[&str],
        style: Style,
        words: &[TextRange],
    ) {
        let Some(line) = lines.get(index) else { return };
        let ending = if self.hide_cr { "\r\n" } else { "\n" };
        let text = line.strip_suffix(ending).unwrap_or(line);
        // Line numbers of the new text, because comments refer to it.
        let number = if sign == '-' { String::new() } else { (index + 1).to_string() };
        out.push_str(&styled(DIM, &format!("{number:>5} ")));
        out.push_str(&style.render().to_string());
        out.push(sign);
        let mut at = 0;
        for word in emphasised(text, index, words) {
            out.push_str(&visible::code(text.get(at..word.start).unwrap_or_default()));
            let strong = visible::code(text.get(word.clone()).unwrap_or_default());
            // Inverse is visible on terminals where bold and underline are not.
            let strong_style = style.invert();
            out.push_str(&format!("{style:#}{strong_style}{strong}{strong_style:#}{style}"));
            at = word.end;
        }
        out.push_str(&visible::code(text.get(at..).unwrap_or_default()));
        out.push_str(&style.render_reset().to_string());
        out.push('\n');
        if !line.ends_with('\n') {
            out.push_str(&styled(DIM, "      \\ No newline at end of file"));
            out.push('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use linkspan_editor_api::{Position, ReviewConflict, ReviewWords};

    use super::*;
    use crate::commands::review::review_args::tests::{hunk, shown};

    fn plain(shown: &ReviewShow) -> String {
        anstream::adapter::strip_str(&render(shown)).to_string()
    }

    fn on_line(line: u32, from: u32, to: u32) -> TextRange {
        TextRange { start: Position { line, character: from }, end: Position { line, character: to } }
    }

    #[test]
    fn hunks_are_numbered_with_their_context_and_new_line_numbers() {
        let base = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let proposed = "1\nX\n3\n4\n5\n6\n7\n8\n9\nY\n";
        let shown = shown(base, proposed, vec![hunk("ha", (1, 1), (1, 1)), hunk("hb", (9, 0), (9, 1))]);
        let expect = "\
hunk 1 of 2  ha  @@ -2,1 +2,1 @@
    1  1
      -2
    2 +X
    3  3
    4  4
    5  5
hunk 2 of 2  hb  @@ -9,0 +10,1 @@
    7  7
    8  8
    9  9
   10 +Y
";
        assert_eq!(plain(&shown), expect);
    }

    #[test]
    fn context_between_two_hunks_is_printed_once() {
        let shown =
            shown("1\n2\n3\n", "X\n2\nY\n", vec![hunk("ha", (0, 1), (0, 1)), hunk("hb", (2, 1), (2, 1))]);
        assert_eq!(plain(&shown).matches("2  2").count(), 1);
    }

    #[test]
    fn control_characters_in_the_text_are_escaped() {
        let shown = shown("a\n", "\u{1b}[2J\u{202e}\n", vec![hunk("ha", (0, 1), (0, 1))]);
        assert!(plain(&shown).contains(r"+\u{1b}[2J\u{202e}"));
    }

    #[test]
    fn the_words_that_differ_are_inverted() {
        let mut hunk = hunk("ha", (0, 1), (0, 1));
        hunk.words = vec![ReviewWords { before: on_line(0, 3, 4), after: on_line(0, 3, 5) }];
        let text = render(&shown("🚀 x\n", "🚀 yz\n", vec![hunk]));
        assert!(text.contains("\u{1b}[7m\u{1b}[32myz\u{1b}[0m"), "{text:?}");
    }

    #[test]
    fn line_endings_are_shown_only_where_they_differ() {
        let same = shown("a\r\n", "b\r\n", vec![hunk("ha", (0, 1), (0, 1))]);
        assert!(!plain(&same).contains(r"\r"));
        let changed = shown("a\n", "a\r\n", vec![hunk("ha", (0, 1), (0, 1))]);
        assert!(plain(&changed).contains(r"+a\r"));
    }

    #[test]
    fn a_missing_final_newline_and_a_conflict_are_shown() {
        let mut shown = shown("a\n", "b", vec![hunk("ha", (0, 1), (0, 1))]);
        shown.conflicts =
            vec![ReviewConflict { before_start: 0, before_count: 1, after_start: 0, after_count: 1 }];
        let text = plain(&shown);
        assert!(text.contains("\\ No newline at end of file"));
        assert!(text.contains("conflict: the file changed here in the meantime"));
    }
}
