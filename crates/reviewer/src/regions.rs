//! Where everything is on the screen, for drawing and for the mouse alike.

use ratatui::layout::Rect;

use crate::list::Entry;
use crate::rows::Mode;
use crate::screen::Screen;
use crate::visible;
use crate::wording::count;

/// From this width on the list stands beside the diff rather than above it.
const WIDE: u16 = 100;
/// From this width of the diff on both sides fit.
const BOTH_SIDES: u16 = 110;
/// Where the box of a hunk's mark is in its head.
pub(crate) const MARK: std::ops::Range<u16> = 0..4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Regions {
    pub(crate) head: Rect,
    pub(crate) list: Rect,
    /// Between the list and the diff.
    pub(crate) rule: Rect,
    /// The name of the file.
    pub(crate) title: Rect,
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
            // Of a fixed height, so that what comes does not move the diff under the person's hands.
            let height = (area.height / 5).clamp(2, 7).min(body.height);
            let list = Rect { height, ..body };
            let rule = Rect { y: body.y + height, height: 1, ..body }.intersection(body);
            let used = height + rule.height;
            (list, rule, Rect { y: body.y + used, height: body.height - used, ..body })
        };
        let title = Rect { height: 1, ..rest }.intersection(rest);
        let diff = Rect { y: rest.y + title.height, height: rest.height - title.height, ..rest };
        Regions { head, list, rule, title, diff, foot }
    }

    pub(crate) fn is_beside(&self) -> bool {
        self.rule.width == 1
    }

    /// What fits.
    pub(crate) fn mode(&self) -> Mode {
        if self.diff.width >= BOTH_SIDES { Mode::SideBySide } else { Mode::Unified }
    }
}

/// One row of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ListRow {
    Heading(String),
    Review(usize),
}

/// The rows of the list that fit, with the one that is looked at among them.
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
