//! Moving, folding and searching: nothing here decides.

use super::{Command, Overlay, Purpose, Screen};
use crate::document::Side;
use crate::input_line::InputLine;
use crate::keys::Action;
use crate::paint::{CHUNK, Page, PaintRequest, PaintedChunk};
use crate::regions::Regions;
use crate::rows::{Mode, Row};

const SIDEWAYS: usize = 8;

impl Screen {
    pub(super) fn navigation_key(&mut self, action: Action) {
        match action {
            Action::Search => {
                return self.show(Overlay::Type { purpose: Purpose::Search, line: InputLine::default() });
            }
            Action::NextMatch => return self.find_next(true, false),
            Action::PreviousMatch => return self.find_next(false, false),
            Action::ToggleView => {
                let now = self.document().map_or(self.mode(), |document| document.mode);
                self.view = Some(if now == Mode::Unified { Mode::SideBySide } else { Mode::Unified });
                return self.fit();
            }
            _ => {}
        }
        let height = isize::try_from(self.diff_height()).unwrap_or(isize::MAX);
        let Some(document) = self.document_mut() else { return };
        match action {
            Action::Down => document.move_by(1),
            Action::Up => document.move_by(-1),
            Action::PageDown => document.move_by(height),
            Action::PageUp => document.move_by(-height),
            Action::HalfDown => document.move_by(height / 2),
            Action::HalfUp => document.move_by(-height / 2),
            Action::Top => document.cursor = 0,
            Action::Bottom => document.cursor = document.rows.len().saturating_sub(1),
            Action::Left => document.left = document.left.saturating_sub(SIDEWAYS),
            Action::Right => document.left += SIDEWAYS,
            Action::FarLeft => document.left = 0,
            Action::NextHunk => {
                let passed = matches!(document.rows.get(..=document.cursor), Some(rows) if rows.contains(&Row::Hunk(0)));
                let next = if passed { document.hunk().map_or(0, |hunk| hunk + 1) } else { 0 };
                document.go_to_hunk(next);
            }
            Action::PreviousHunk => {
                let hunk = document.hunk().unwrap_or(0);
                let at_head = document.rows.get(document.cursor) == Some(&Row::Hunk(hunk));
                document.go_to_hunk(if at_head { hunk.saturating_sub(1) } else { hunk });
            }
            Action::Open => match document.rows.get(document.cursor) {
                Some(Row::Fold { gap, .. }) => document.fold(*gap, false),
                _ => {
                    return self.show_message(
                        super::Tone::Quiet,
                        "there is no fold here; press z to open all folds",
                    );
                }
            },
            Action::UnfoldAll => document.toggle_folds(),
            _ => {}
        }
        self.fit();
    }

    pub(super) fn diff_height(&self) -> usize {
        usize::from(Regions::of(self).diff.height)
    }

    fn mode(&self) -> Mode {
        self.view.unwrap_or_else(|| Regions::of(self).mode())
    }

    /// Makes the document fit the screen, with the cursor on it.
    pub(super) fn fit(&mut self) {
        let (height, mode) = (self.diff_height(), self.mode());
        if let Some(document) = self.document_mut() {
            document.set_mode(mode);
            document.follow(height);
        }
    }

    /// The drawn content counts as visible from now on; lines without colours are requested.
    pub(super) fn drawn(&mut self) {
        self.update_misclick_guard();
        let height = self.diff_height();
        let Some(document) = self.document() else { return };
        let rows = document.rows.iter().skip(document.top.saturating_sub(height)).take(3 * height);
        let mut wanted: Vec<(Side, usize)> = Vec::new();
        for row in rows {
            for (side, line) in [(Side::Before, row.before()), (Side::After, row.after())] {
                let Some(chunk) = line.map(|line| line / CHUNK) else { continue };
                if !wanted.contains(&(side, chunk)) {
                    wanted.push((side, chunk));
                }
            }
        }
        let shown = &document.shown;
        let requests: Vec<PaintRequest> = wanted
            .into_iter()
            .filter(|(side, chunk)| {
                !self.asked_colours.contains(&(shown.review.clone(), shown.revision, *side, *chunk))
            })
            .map(|(side, chunk)| PaintRequest {
                page: Page { review: shown.review.clone(), revision: shown.revision, side },
                path: shown.path.clone(),
                text: document.lines(side).text(),
                chunk,
            })
            .collect();
        for request in requests {
            let Page { review, revision, side } = request.page.clone();
            self.asked_colours.insert((review, revision, side, request.chunk));
            self.commands.push(Command::Paint(request));
        }
    }

    pub(super) fn painted(&mut self, chunk: PaintedChunk) {
        let document = self.list.get_mut(&chunk.page.review).and_then(|entry| entry.document.as_deref_mut());
        let Some(document) = document.filter(|document| document.shown.revision == chunk.page.revision)
        else {
            return;
        };
        for (nth, line) in chunk.lines.into_iter().enumerate() {
            document.inks.insert((chunk.page.side == Side::After, chunk.start + nth), line);
        }
    }
}
