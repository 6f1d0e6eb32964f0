//! Where everything is on the screen, for both drawing and the mouse.

use ratatui::layout::Rect;

use crate::list::Entry;
use crate::rows::Mode;
use crate::screen::Screen;
use crate::visible;
use crate::word_wrap::wrapped;
use linkspan_editor_api::labels::count;

/// From this width on, the list is to the left of the diff rather than above it.
const WIDE: u16 = 100;
/// From this width of the diff on, both sides fit.
const BOTH_SIDES: u16 = 110;
/// The note takes at most this part of the height of the diff.
const NOTE_SHARE: u16 = 6;
/// The columns of a hunk's mark box in its header.
pub(crate) const MARK: std::ops::Range<u16> = 0..4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Regions {
    pub(crate) head: Rect,
    pub(crate) list: Rect,
    /// Between the list and the diff.
    pub(crate) rule: Rect,
    /// The name of the file.
    pub(crate) title: Rect,
    /// Why it was proposed, and what the agent will not receive; empty if there is nothing to say.
    pub(crate) note: Rect,
    pub(crate) diff: Rect,
    pub(crate) foot: Rect,
}

impl Regions {
    pub(crate) fn of(screen: &Screen) -> Regions {
        let area = screen.area;
        let row = |y: u16| Rect::new(0, y.min(area.height), area.width, 1).intersection(area);
        let (head, foot) = (row(0), row(area.height.saturating_sub(1)));
        let body = Rect::new(0, 1, area.width, area.height.saturating_sub(2)).intersection(area);
        let none = Rect::new(0, body.y, 0, 0);
        let (list, rule, rest) = if screen.list_hidden {
            (none, none, body)
        } else if area.width >= WIDE {
            let width = (area.width / 4).clamp(26, 44);
            let list = Rect { width, ..body };
            let rule = Rect { x: width, width: 1, ..body };
            (list, rule, Rect { x: width + 1, width: body.width - width - 1, ..body })
        } else {
            // A fixed height, so that new reviews do not move the diff while the user works in it.
            let height = (area.height / 5).clamp(2, 7).min(body.height);
            let list = Rect { height, ..body };
            let rule = Rect { y: body.y + height, height: 1, ..body }.intersection(body);
            let used = height + rule.height;
            (list, rule, Rect { y: body.y + used, height: body.height - used, ..body })
        };
        let title = Rect { height: 1, ..rest }.intersection(rest);
        let rest = Rect { y: rest.y + title.height, height: rest.height - title.height, ..rest };
        let rows = note_rows(screen, rest).len();
        let note = Rect { height: u16::try_from(rows).unwrap_or_default(), ..rest };
        let diff = Rect { y: rest.y + note.height, height: rest.height - note.height, ..rest };
        Regions { head, list, rule, title, note, diff, foot }
    }

    pub(crate) fn is_beside(&self) -> bool {
        self.rule.width == 1
    }

    /// The layout that fits.
    pub(crate) fn mode(&self) -> Mode {
        if self.diff.width >= BOTH_SIDES { Mode::SideBySide } else { Mode::Unified }
    }
}

/// A row above the diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoteRow {
    /// Where the change comes from.
    Why(String),
    /// What its agent will not receive.
    Missing(String),
}

/// Why the open review was proposed, and what its agent will not receive, in as many rows as this part of the screen can
/// spare.
pub(crate) fn note_rows(screen: &Screen, rest: Rect) -> Vec<NoteRow> {
    let Some(entry) = screen.current().filter(|entry| entry.ended.is_none()) else { return Vec::new() };
    let Some(document) = entry.document.as_deref() else { return Vec::new() };
    let width = usize::from(rest.width).saturating_sub(2).max(1);
    let rows = |text: &str, most: usize| wrapped(&visible::name(text), width, most);
    let most = usize::from(rest.height / NOTE_SHARE);
    let why =
        document.shown.origin.as_ref().map(|origin| rows(&origin.why(), most.min(1))).unwrap_or_default();
    let missing = document.notes().map(|notes| rows(&notes.all, most)).unwrap_or_default();
    why.into_iter().map(NoteRow::Why).chain(missing.into_iter().map(NoteRow::Missing)).collect()
}

/// One row of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ListRow {
    Heading(String),
    Review(usize),
}

/// The rows of the list that fit, including the selected one.
pub(crate) fn list_rows(screen: &Screen, height: usize) -> Vec<ListRow> {
    let entries = &screen.list.entries;
    let mut rows = Vec::new();
    let mut last: Option<&Entry> = None;
    for (index, entry) in entries.iter().enumerate() {
        if last.is_none_or(|last| !last.is_with(&entry.summary)) {
            let files = entries.iter().filter(|other| other.is_with(&entry.summary)).count();
            rows.push(ListRow::Heading(heading(screen, entry, files)));
        }
        last = Some(entry);
        rows.push(ListRow::Review(index));
    }
    let selected = screen.selected.as_ref().and_then(|selected| screen.list.place(selected));
    let at = rows.iter().position(|row| matches!(row, ListRow::Review(index) if Some(*index) == selected));
    let top = at.unwrap_or(0).saturating_sub(height / 2).min(rows.len().saturating_sub(height));
    rows.into_iter().skip(top).take(height).collect()
}

fn heading(screen: &Screen, entry: &Entry, files: usize) -> String {
    let summary = &entry.summary;
    let mut words = vec![visible::name(&summary.agent)];
    let one_window = screen.list.entries.iter().all(|other| other.summary.window == summary.window);
    if !one_window {
        let folder = screen.folders.get(&summary.window).and_then(|folders| folders.first());
        let name = folder.and_then(|folder| folder.rsplit('/').next()).unwrap_or(&summary.window);
        words.push(visible::name(name));
    }
    if let Some(set) = &summary.set {
        words.push(format!("set {}", visible::name(set)));
    }
    words.push(count(files as u64, "file"));
    words.join(" · ")
}
