//! The top line, with the number of pending reviews, the bottom line, with a message or the most useful keys, and the
//! rows about what the agent will not receive.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::{ends, put, shortened};
use crate::document::Document;
use crate::palette::Palette;
use crate::regions::{NoteRow, Regions, note_rows};
use crate::screen::{Confirm, Overlay, Screen, Tone};
use crate::visible;
use linkspan_editor_api::labels::count;

pub(super) fn head(screen: &Screen, palette: &Palette, frame: &mut Frame<'_>, at: Rect) {
    let waiting = match screen.list.waiting() {
        0 if !screen.listed => "loading…".to_owned(),
        0 => "no pending reviews".to_owned(),
        1 => "1 pending review".to_owned(),
        many => format!("{many} pending reviews"),
    };
    let left = vec![
        Span::styled(" linkspan review ", palette.key),
        Span::styled(format!("  {waiting}"), palette.bar),
    ];
    let right = match &screen.lost {
        Some(_) => Span::styled(" hub disconnected, reconnecting… ", palette.bar.patch(palette.warning)),
        None if !screen.asks.is_empty() => {
            let asks = count(screen.asks.len() as u64, "permission request");
            Span::styled(format!(" ! {asks} "), palette.bar.patch(palette.warning))
        }
        None => Span::styled("? help  q quit ", palette.bar),
    };
    put(frame, at, ends(left, vec![right], at.width), palette.bar);
}

pub(super) fn foot(screen: &Screen, palette: &Palette, frame: &mut Frame<'_>, at: Rect) {
    if let Some(note) = &screen.note {
        let style = match note.tone {
            Tone::Good => palette.bar.patch(palette.good),
            Tone::Quiet => palette.bar,
            Tone::Warning => palette.bar.patch(palette.warning),
        };
        let text = shortened(&visible::name(&note.text), usize::from(at.width).saturating_sub(2));
        return put(frame, at, Line::styled(format!(" {text}"), style), palette.bar);
    }
    let note = screen.document().filter(|_| matches!(screen.overlay, Overlay::None));
    let note = note.and_then(Document::hunks_note).map(|note| format!(" {}  ", visible::name(note)));
    let note = note.map(|note| Span::styled(note, palette.bar.patch(palette.warning)));
    let used = note.as_ref().map_or(0, |note| u16::try_from(note.width()).unwrap_or(u16::MAX));
    let hints = hints(&keys(screen), palette, at.width.saturating_sub(used));
    put(frame, at, Line::from_iter(note.into_iter().chain(hints.spans)), palette.bar);
}

pub(super) fn note(screen: &Screen, palette: &Palette, frame: &mut Frame<'_>, regions: &Regions) {
    let at = regions.note;
    let rest = Rect { height: at.height + regions.diff.height, ..at };
    for (row, y) in note_rows(screen, rest).into_iter().zip(at.y..at.bottom()) {
        let (text, style) = match row {
            NoteRow::Why(text) => (text, palette.quiet),
            NoteRow::Missing(text) => (text, palette.warning),
        };
        put(frame, Rect { y, height: 1, ..at }, Line::styled(format!(" {text}"), style), palette.plain);
    }
}

/// The most useful keys in the current state.
fn keys(screen: &Screen) -> Vec<(&'static str, &'static str)> {
    match &screen.overlay {
        Overlay::Help { .. } => vec![("any key", "back")],
        Overlay::Type { .. } => vec![("Enter", "done"), ("Esc", "cancel")],
        Overlay::Ask { .. } => vec![("j/k", "scroll"), ("Esc", "later")],
        Overlay::Confirm(Confirm::Bulk(_)) | Overlay::Confirm(_) => vec![("Esc", "cancel")],
        Overlay::None => {
            let Some(entry) = screen.current() else {
                return vec![("q", "quit")];
            };
            if entry.ended.is_some() {
                return vec![("Tab", "next file"), ("q", "quit")];
            }
            let marked = screen.document().is_some_and(|document| !document.marks.is_empty());
            let submit = if marked { vec![("s", "submit marks")] } else { vec![] };
            let rest = [
                ("a", "accept"),
                ("r", "reject"),
                ("y/x", "mark hunk"),
                ("e", "edit"),
                ("c", "comment"),
                ("]/[", "hunk"),
                ("Tab", "file"),
                ("R", "reject with reason"),
                ("A", "accept all"),
                ("z", "unfold"),
                ("v", "view"),
                ("/", "search"),
            ];
            submit.into_iter().chain(rest).collect()
        }
    }
}

fn hints(keys: &[(&'static str, &'static str)], palette: &Palette, width: u16) -> Line<'static> {
    let mut spans: Vec<Span<'static>> = Vec::new();
    let mut used = 0;
    for (key, meaning) in keys {
        let new = [
            Span::styled(format!(" {key}"), palette.key),
            Span::styled(format!(" {meaning} "), palette.bar.patch(Style::new())),
        ];
        used += new.iter().map(Span::width).sum::<usize>();
        if used > usize::from(width) {
            break;
        }
        spans.extend(new);
    }
    Line::from(spans)
}
