//! The list of files: by agent and change set, with the state and age of each.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::{ends, put, shortened};
use crate::document::Mark;
use crate::list::Entry;
use crate::palette::Palette;
use crate::regions::{ListRow, Regions, list_rows};
use crate::screen::Screen;
use linkspan_editor_api::labels::age;

pub(super) fn draw(screen: &Screen, palette: &Palette, frame: &mut Frame<'_>, regions: &Regions) {
    let area = regions.list;
    for (row, y) in list_rows(screen, usize::from(area.height)).iter().zip(area.y..) {
        let at = Rect { y, height: 1, ..area };
        match row {
            ListRow::Heading(text) => {
                let text = shortened(text, usize::from(at.width).saturating_sub(1));
                put(frame, at, Line::styled(format!(" {text}"), palette.quiet), palette.plain);
            }
            ListRow::Review(index) => {
                if let Some(entry) = screen.list.entries.get(*index) {
                    review(screen, entry, palette, frame, at);
                }
            }
        }
    }
    let rule = regions.rule;
    for y in rule.top()..rule.bottom() {
        let sign = if regions.is_beside() { "│".to_owned() } else { "─".repeat(usize::from(rule.width)) };
        put(frame, Rect { y, height: 1, ..rule }, Line::styled(sign, palette.quiet), palette.plain);
    }
}

fn review(screen: &Screen, entry: &Entry, palette: &Palette, frame: &mut Frame<'_>, at: Rect) {
    let selected = screen.selected.as_deref() == Some(entry.id());
    let summary = &entry.summary;
    let quiet = if selected { palette.plain } else { palette.quiet };
    let (sign, style) = sign(entry, palette);
    let right = match &entry.ended {
        Some((how, _)) => {
            let room = usize::from(at.width).saturating_sub(12);
            vec![Span::styled(format!("{} ", shortened(how, room)), palette.quiet)]
        }
        None => vec![
            Span::styled(format!("+{}", summary.added), palette.good),
            Span::styled(format!(" −{}", summary.removed), palette.bad),
            Span::styled(format!("{:>4} ", age(entry.age_ms(screen.now))), quiet),
        ],
    };
    let used: usize = right.iter().map(Span::width).sum();
    let room = usize::from(at.width).saturating_sub(used + 4);
    let name = shortened(&screen.name_of(summary), room);
    let name_style = if entry.ended.is_some() { palette.quiet } else { palette.plain };
    let bar = if selected { "▌" } else { " " };
    let left = vec![
        Span::styled(bar, palette.accent),
        Span::styled(format!("{sign} "), style),
        Span::styled(name, name_style),
    ];
    let fill = if selected { palette.selected } else { palette.plain };
    put(frame, at, ends(left, right, at.width), fill);
}

/// One sign for the state of a review.
fn sign(entry: &Entry, palette: &Palette) -> (&'static str, ratatui::style::Style) {
    let marks = entry.document.as_deref().map(|document| &document.marks);
    match &entry.ended {
        Some((how, _)) if how.starts_with("accepted") => ("✓", palette.good),
        Some((how, _)) if how.starts_with("rejected") => ("✗", palette.bad),
        Some(_) => ("·", palette.quiet),
        None if entry.sent.is_some() => ("…", palette.quiet),
        None if entry.summary.conflicts > 0 => ("!", palette.warning),
        None if marks.is_some_and(|marks| marks.values().any(|mark| *mark == Mark::Exclude)) => {
            ("◐", palette.accent)
        }
        None if marks.is_some_and(|marks| !marks.is_empty()) => ("◑", palette.accent),
        None if entry.new => ("●", palette.warning),
        None if entry.summary.new_file => ("+", palette.good),
        None => ("○", palette.quiet),
    }
}
