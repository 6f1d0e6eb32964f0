//! What an agent asks, in rows: how many there are and how many fit, for drawing and for scrolling alike. All of its
//! words are the agent's to choose, so any of them may be long.

use linkspan_editor_api::AskSummary;
use ratatui::layout::Rect;
use ratatui::text::Span;

use crate::screen::ANSWERS;
use crate::visible::{code, name};

/// Wider rows are hard to read.
const WIDEST: usize = 100;
/// The bars above and below, and the border.
const AROUND: usize = 4;
const TAB: &str = "    ";

/// What a row is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Question,
    Asker,
    Text,
}

#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) rows: Vec<(Part, String)>,
    /// The keys that answer, in rows.
    pub(crate) answers: Vec<Vec<(String, &'static str)>>,
    pub(crate) width: usize,
    /// How many rows are seen at a time; none where not even the keys fit.
    pub(crate) room: Option<usize>,
}

impl Asked {
    pub(crate) fn of(asked: &AskSummary, area: Rect) -> Asked {
        let width = usize::from(area.width).saturating_sub(AROUND).clamp(1, WIDEST);
        let folders: Vec<String> = asked.folders.iter().map(|folder| name(folder)).collect();
        let asker = format!("{}, {}, {}", name(&asked.agent), name(&asked.dialect), folders.join(", "));
        let of = |part, text: &str| wrapped(text, width).into_iter().map(move |row| (part, row));
        let mut rows: Vec<(Part, String)> = of(Part::Question, &name(&asked.question)).collect();
        rows.extend(of(Part::Asker, &asker));
        rows.push((Part::Text, String::new()));
        rows.extend(of(Part::Text, asked.detail.as_deref().unwrap_or_default()));
        let (answers, widest) = answers(asked, width);
        // One row says which rows are seen.
        let room = usize::from(area.height).checked_sub(AROUND + 1 + answers.len());
        let room = room.filter(|room| *room > 0 && widest <= width);
        Asked { rows, answers, width, room }
    }

    /// The first row on the last page.
    pub(crate) fn last_top(&self) -> usize {
        self.rows.len().saturating_sub(self.room.unwrap_or_default())
    }
}

/// In as many rows as they need, and the widest of them.
fn answers(asked: &AskSummary, width: usize) -> (Vec<Vec<(String, &'static str)>>, usize) {
    let offered = ANSWERS.iter().filter(|(option, ..)| asked.options.contains(option));
    let offered = offered.map(|(_, key, word, _)| (key.to_string(), *word));
    let mut rows: Vec<Vec<(String, &'static str)>> = vec![Vec::new()];
    let (mut used, mut widest) = (0, 0);
    for (key, word) in offered.chain([("Esc".to_owned(), "later")]) {
        // Each with a space around the key, one before its word, and three behind it.
        let columns = key.len() + word.len() + 3;
        if used > 0 && used + columns > width {
            rows.push(Vec::new());
            used = 0;
        }
        widest = widest.max(used + columns);
        used += columns + 3;
        if let Some(row) = rows.last_mut() {
            row.push((key, word));
        }
    }
    (rows, widest)
}

/// All of a text in rows of so many columns.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut rows = Vec::new();
    for line in text.split('\n') {
        let (mut row, mut used) = (String::new(), 0);
        for character in code(line).replace('\t', TAB).chars() {
            let columns = Span::raw(character.to_string()).width();
            if used + columns > width && used > 0 {
                rows.push(std::mem::take(&mut row));
                used = 0;
            }
            row.push(character);
            used += columns;
        }
        rows.push(row);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_text_is_lost_in_its_rows() {
        let text = "a\u{1b}[2Jlong line\n\n\twide 世界世界";
        let rows = wrapped(text, 7);
        assert!(rows.iter().all(|row| Span::raw(row.as_str()).width() <= 7), "{rows:?}");
        assert_eq!(rows.concat(), "a\\u{1b}[2Jlong line    wide 世界世界");
    }
}
