//! The mouse: the wheel scrolls, a click selects a file or a row, toggles a mark or opens a fold. It never decides.

use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Position;

use super::{Overlay, Screen};
use crate::regions::{ListRow, MARK, Regions, list_rows};
use crate::rows::Row;

const WHEEL: isize = 3;

impl Screen {
    pub(super) fn mouse(&mut self, mouse: &MouseEvent) {
        if let Overlay::Help { top } = &mut self.overlay {
            match mouse.kind {
                MouseEventKind::ScrollDown => *top = (*top + 1).min(100),
                MouseEventKind::ScrollUp => *top = top.saturating_sub(1),
                _ => {}
            }
        }
        if !matches!(self.overlay, Overlay::None) {
            return;
        }
        let height = self.diff_height();
        match mouse.kind {
            MouseEventKind::ScrollDown => self.scroll(WHEEL, height),
            MouseEventKind::ScrollUp => self.scroll(-WHEEL, height),
            MouseEventKind::Down(MouseButton::Left) => self.click(Position::new(mouse.column, mouse.row)),
            _ => {}
        }
    }

    fn scroll(&mut self, rows: isize, height: usize) {
        if let Some(document) = self.document_mut() {
            document.scroll(rows, height);
            document.follow(height);
        }
    }

    fn click(&mut self, at: Position) {
        let regions = Regions::of(self);
        if regions.list.contains(at) {
            let rows = list_rows(self, usize::from(regions.list.height));
            let row = rows.get(usize::from(at.y - regions.list.y));
            if let Some(ListRow::Review(index)) = row
                && let Some(review) = self.list.entries.get(*index).map(|entry| entry.id().to_owned())
            {
                self.select(&review);
            }
        } else if regions.diff.contains(at) {
            let Some(document) = self.document_mut() else { return };
            let row = document.top + usize::from(at.y - regions.diff.y);
            match document.rows.get(row).copied() {
                Some(Row::Fold { gap, .. }) => document.fold(gap, false),
                Some(Row::Hunk(hunk)) if MARK.contains(&(at.x - regions.diff.x)) => {
                    document.cursor = row;
                    self.toggle_mark(Some(hunk));
                }
                Some(_) => document.cursor = row,
                None => {}
            }
            self.fit();
        }
    }
}
