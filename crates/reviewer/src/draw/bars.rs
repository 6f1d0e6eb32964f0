//! The line at the top, which says what waits, and the one at the bottom, which says what happened or what can be
//! done.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::{ends, put, shortened};
use crate::palette::Palette;
use crate::screen::{Confirm, Overlay, Screen, Tone};
use crate::visible;
use crate::wording::count;

pub(super) fn head(screen: &Screen, palette: &Palette, frame: &mut Frame<'_>, at: Rect) {
    let waiting = match screen.list.waiting() {
        0 if !screen.listed => "looking for what waits…".to_owned(),
        0 => "nothing waits".to_owned(),
        1 => "1 change waits".to_owned(),
        many => format!("{many} changes wait"),
    };
    let left = vec![
        Span::styled(" linkspan review ", palette.key),
        Span::styled(format!("  {waiting}"), palette.bar),
    ];
    let right = match &screen.lost {
        Some(_) => Span::styled(" the hub is away, looking for it… ", palette.bar.patch(palette.warning)),
        None if !screen.asks.is_empty() => {
            let asks = count(screen.asks.len() as u64, "question");
            Span::styled(format!(" ! {asks} for you "), palette.bar.patch(palette.warning))
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
    put(frame, at, hints(&keys(screen), palette, at.width), palette.bar);
}

/// The keys that matter most right now.
fn keys(screen: &Screen) -> Vec<(&'static str, &'static str)> {
    match &screen.overlay {
        Overlay::Help { .. } => vec![("any key", "back")],
        Overlay::Type { .. } => vec![("Enter", "done"), ("Esc", "never mind")],
        Overlay::Ask { .. } => vec![("j/k", "scroll"), ("Esc", "later")],
        Overlay::Confirm(Confirm::Bulk(_)) | Overlay::Confirm(_) => vec![("Esc", "decide nothing")],
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
                ("y/x", "take/leave hunk"),
                ("e", "edit"),
                ("c", "comment"),
                ("]/[", "hunk"),
                ("Tab", "file"),
                ("R", "reject, why"),
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
