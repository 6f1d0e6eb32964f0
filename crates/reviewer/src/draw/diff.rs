//! The diff of the selected review: only the rows on the screen are turned into text.

use std::ops::Range;

use linkspan_editor_api::Range as TextRange;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::{ends, put, shortened};
use crate::cells::{self, Window};
use crate::document::{Document, Mark, Side};
use crate::labels::{IN_CONFLICT, is_in_conflict, place_of};
use crate::palette::Palette;
use crate::rows::{Mode, Row};
use crate::screen::{Screen, matches};
use crate::visible::name;
use crate::word_diff::emphasised;
use linkspan_editor_api::labels::{count, lines_changed};

/// A description cut shorter than this is not shown.
const LEAST_DESCRIPTION: usize = 12;

pub(super) fn title(screen: &Screen, palette: &Palette, frame: &mut Frame<'_>, at: Rect) {
    let Some(entry) = screen.current() else { return };
    let summary = &entry.summary;
    let mut facts = vec![lines_changed(summary.added, summary.removed)];
    if summary.new_file {
        facts.push("new file".into());
    }
    if let Some(document) = &entry.document {
        let shown = &document.shown;
        facts.extend(Some(name(&shown.encoding)).filter(|encoding| encoding != "UTF-8"));
        facts.extend(shown.line_endings.as_deref().map(name));
        if !shown.conflicts.is_empty() {
            facts.push(count(shown.conflicts.len() as u64, "conflict"));
        }
    }
    if summary.owner_gone {
        facts.push("agent gone".into());
    }
    let (word, style) = match (&entry.ended, entry.sent.is_some()) {
        (Some((how, _)), _) => (how.clone(), palette.warning),
        (None, true) => ("sending…".to_owned(), palette.quiet),
        (None, false) => (facts.join(" · "), palette.quiet),
    };
    let right = vec![Span::styled(format!("{}  {} ", word, name(entry.id())), style)];
    let room = usize::from(at.width).saturating_sub(right.iter().map(Span::width).sum::<usize>() + 2);
    let mut left =
        vec![Span::styled(format!(" {}", shortened(&screen.name_of(summary), room)), palette.strong)];
    let room = room.saturating_sub(left.iter().map(Span::width).sum::<usize>() + 4);
    if let Some(said) = summary.description().filter(|_| room >= LEAST_DESCRIPTION) {
        left.push(Span::styled(format!("  “{}”", shortened(&name(said), room)), palette.quiet));
    }
    put(frame, at, ends(left, right, at.width), palette.plain);
}

pub(super) fn draw(screen: &Screen, palette: &Palette, frame: &mut Frame<'_>, area: Rect) {
    let Some(document) = screen.document() else {
        return empty(screen, palette, frame, area);
    };
    let last = document.before.count().max(document.after.count());
    let diff = Diff {
        document,
        palette,
        needle: &screen.needle,
        digits: last.to_string().len().max(3),
        hunk: document.hunk(),
        width: usize::from(area.width),
    };
    let rows = document.rows.iter().enumerate().skip(document.top).zip(area.y..area.bottom());
    for ((index, row), y) in rows {
        let (line, fill) = diff.row(*row, index == document.cursor);
        put(frame, Rect { y, height: 1, ..area }, line, fill);
    }
    if document.rows.is_empty() {
        let text = if document.shown.new_file { " an empty new file" } else { " no differences" };
        put(frame, Rect { height: 1, ..area }, Line::styled(text, palette.quiet), palette.plain);
    }
}

fn empty(screen: &Screen, palette: &Palette, frame: &mut Frame<'_>, area: Rect) {
    let words: &[&str] = match (screen.current(), screen.listed) {
        (Some(_), _) | (None, false) => &["…"],
        (None, true) => &["No pending reviews.", "", "New proposals appear here automatically."],
    };
    let y = area.y + (area.height / 2).saturating_sub(2);
    for (text, y) in words.iter().zip(y..area.bottom()) {
        let line = Line::styled(*text, palette.quiet).centered();
        put(frame, Rect { y, height: 1, ..area }, line, palette.plain);
    }
}

struct Diff<'a> {
    document: &'a Document,
    palette: &'a Palette,
    needle: &'a str,
    digits: usize,
    /// The hunk at the cursor.
    hunk: Option<usize>,
    width: usize,
}

/// The style of one side of a row.
struct Look {
    sign: char,
    sign_style: Style,
    line: Style,
    word: Style,
}

impl Diff<'_> {
    fn row(&self, row: Row, here: bool) -> (Line<'static>, Style) {
        let palette = self.palette;
        match row {
            Row::Hunk(index) => self.head(index, here),
            Row::Fold { lines, .. } => {
                let text = format!("  ⋯ {}", count(lines as u64, "unchanged line"));
                let style = if here { palette.fold.patch(palette.cursor) } else { palette.fold };
                let mut spans = vec![self.pointer(here), Span::styled(text, style)];
                if here {
                    spans.push(Span::styled("   Enter to open", style));
                }
                (Line::from(spans), if here { palette.cursor } else { palette.plain })
            }
            Row::Comment(index) => {
                let text = self.document.comments.get(index).map_or("", |comment| &comment.text);
                // Below the text it is about, which is the proposed side.
                let before = match self.document.mode {
                    Mode::Unified => 0,
                    Mode::SideBySide => self.side_width() + 1,
                };
                let blank = " ".repeat(before + self.digits + 3);
                let text = Span::styled(format!(" ✎ {} ", name(text)), palette.comment);
                (Line::from(vec![self.pointer(here), Span::raw(blank), text]), palette.plain)
            }
            Row::Context { before, after } => match self.document.mode {
                Mode::Unified => self.one_column(Side::After, after, &[], &self.context(), here),
                Mode::SideBySide => self.two_columns(None, Some(before), Some(after), here),
            },
            Row::Removed { hunk, before } => {
                self.one_column(Side::Before, before, self.words(hunk, Side::Before), &self.removed(), here)
            }
            Row::Added { hunk, after } => {
                self.one_column(Side::After, after, self.words(hunk, Side::After), &self.added(), here)
            }
            Row::Pair { hunk, before, after } => self.two_columns(Some(hunk), before, after, here),
        }
    }

    /// The width of one of two sides.
    fn side_width(&self) -> usize {
        self.width.saturating_sub(2) / 2
    }

    fn pointer(&self, here: bool) -> Span<'static> {
        Span::styled(if here { "▶" } else { " " }, self.palette.accent)
    }

    fn words(&self, hunk: usize, side: Side) -> &[TextRange] {
        self.document.words.get(hunk).map_or(&[], |words| match side {
            Side::Before => &words.before,
            Side::After => &words.after,
        })
    }

    fn head(&self, index: usize, here: bool) -> (Line<'static>, Style) {
        let palette = self.palette;
        let Some(hunk) = self.document.shown.hunks.get(index) else {
            return (Line::default(), palette.plain);
        };
        let fill = if self.hunk == Some(index) { palette.hunk_here } else { palette.hunk };
        let (mark, word, style) = match self.document.mark_of(index) {
            Some(Mark::Include) => ("[✓]", "  include", fill.patch(palette.good)),
            Some(Mark::Exclude) => ("[✗]", "  exclude", fill.patch(palette.bad)),
            None => ("[ ]", "", fill),
        };
        let sign = if here { "▶" } else { " " };
        let title = format!(" hunk {} of {}", index + 1, self.document.shown.hunks.len());
        let place = format!("  {}", place_of(hunk));
        let mut spans = vec![
            Span::styled(sign, fill.patch(palette.accent)),
            Span::styled(mark, style),
            Span::styled(title, fill),
            Span::styled(place, fill),
            Span::styled(word, style),
        ];
        if is_in_conflict(&self.document.shown, hunk) {
            spans.push(Span::styled(format!("  {IN_CONFLICT}"), fill.patch(palette.warning)));
        }
        (Line::from(spans), fill)
    }

    fn context(&self) -> Look {
        let plain = self.palette.plain;
        Look { sign: ' ', sign_style: plain, line: plain, word: plain }
    }

    fn removed(&self) -> Look {
        let palette = self.palette;
        let sign_style = palette.removed.patch(palette.bad);
        Look { sign: '−', sign_style, line: palette.removed, word: palette.removed_word }
    }

    fn added(&self) -> Look {
        let palette = self.palette;
        let sign_style = palette.added.patch(palette.good);
        Look { sign: '+', sign_style, line: palette.added, word: palette.added_word }
    }

    fn one_column(
        &self,
        side: Side,
        line: usize,
        words: &[TextRange],
        look: &Look,
        here: bool,
    ) -> (Line<'static>, Style) {
        // The numbers are those of the proposed text, because comments refer to its lines.
        let number = (side == Side::After).then_some(line);
        let mut spans = vec![self.pointer(here)];
        spans.extend(self.cells(side, Some((number, line)), words, look, self.width.saturating_sub(1), here));
        (Line::from(spans), look.line)
    }

    fn two_columns(
        &self,
        hunk: Option<usize>,
        before: Option<usize>,
        after: Option<usize>,
        here: bool,
    ) -> (Line<'static>, Style) {
        let width = self.side_width();
        let look = |look: Look| if hunk.is_some() { look } else { self.context() };
        let words = |side| hunk.map_or(&[][..], |hunk| self.words(hunk, side));
        let line = |line: Option<usize>| line.map(|line| (Some(line), line));
        let mut spans = vec![self.pointer(here)];
        let removed = look(self.removed());
        spans.extend(self.cells(Side::Before, line(before), words(Side::Before), &removed, width, here));
        spans.push(Span::styled("│", self.palette.quiet));
        let added = look(self.added());
        spans.extend(self.cells(Side::After, line(after), words(Side::After), &added, width, here));
        (Line::from(spans), self.palette.plain)
    }

    /// Number, sign and text of one line, exactly `width` columns wide. `line` is the number to print and the line;
    /// `None` if the other side has no counterpart.
    fn cells(
        &self,
        side: Side,
        line: Option<(Option<usize>, usize)>,
        words: &[TextRange],
        look: &Look,
        width: usize,
        here: bool,
    ) -> Vec<Span<'static>> {
        let palette = self.palette;
        let Some((number, line)) = line else {
            return vec![Span::styled(" ".repeat(width), palette.absent)];
        };
        let digits = self.digits;
        let number = number.map_or_else(|| " ".repeat(digits), |line| format!("{:>digits$}", line + 1));
        let number_style = if here { palette.accent } else { palette.quiet };
        let mut spans = vec![
            Span::styled(format!("{number} "), look.line.patch(number_style)),
            Span::styled(format!("{} ", look.sign), look.sign_style),
        ];
        let room = width.saturating_sub(digits + 3);
        let text = self.document.line(side, line);
        let code: Vec<(Range<usize>, Style)> = if look.sign == ' ' || palette.colours_changes() {
            let inks = self.document.inks.get(&(side == Side::After, line)).map_or(&[][..], Vec::as_slice);
            inks.iter().map(|(range, ink)| (range.clone(), palette.ink(*ink))).collect()
        } else {
            Vec::new()
        };
        let styled = |ranges: Vec<Range<usize>>, style: Style| -> Vec<(Range<usize>, Style)> {
            ranges.into_iter().map(|range| (range, style)).collect()
        };
        let words = styled(emphasised(text, line, words), look.word);
        let found = styled(matches(text, self.needle), palette.found);
        let window = Window {
            left: self.document.left,
            width: room,
            base: look.line,
            layers: &[&code, &words, &found],
            hidden: palette.hidden,
            more: palette.quiet,
        };
        let (text, mut used) = cells::spans(text, &window);
        spans.extend(text);
        if self.document.lines(side).lacks_final_newline(line) {
            let note = "  ⊘ no newline at end of file";
            if used + note.chars().count() <= room {
                used += note.chars().count();
                spans.push(Span::styled(note, look.line.patch(palette.quiet)));
            }
        }
        spans.push(Span::styled(" ".repeat(room.saturating_sub(used)), look.line));
        spans
    }
}
