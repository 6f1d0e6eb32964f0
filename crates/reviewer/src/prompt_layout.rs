//! The rows of a permission prompt: how many there are and how many fit, for drawing and for scrolling. The agent
//! chooses all of its texts, so any of them may be long.

use linkspan_editor_api::AskSummary;
use ratatui::layout::Rect;
use ratatui::text::Span;

use crate::screen::ANSWERS;
use crate::visible::{code, name};

/// Wider rows are hard to read.
const WIDEST: usize = 100;
/// Rows and columns taken by the bars above and below and by the border.
const AROUND: usize = 4;
const TAB: &str = "    ";

/// The part of the prompt that a row belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PromptPart {
    Question,
    Requester,
    Text,
}

#[derive(Debug)]
pub(crate) struct PromptLayout {
    pub(crate) rows: Vec<(PromptPart, String)>,
    /// The keys that answer, by row.
    pub(crate) answers: Vec<Vec<(String, &'static str)>>,
    pub(crate) width: usize,
    /// How many rows are visible at a time; `None` if not even the keys fit.
    pub(crate) room: Option<usize>,
}

impl PromptLayout {
    pub(crate) fn of(asked: &AskSummary, area: Rect) -> PromptLayout {
        let width = usize::from(area.width).saturating_sub(AROUND).clamp(1, WIDEST);
        let folders: Vec<String> = asked.folders.iter().map(|folder| name(folder)).collect();
        let requester = format!("{}, {}, {}", name(&asked.agent), name(&asked.dialect), folders.join(", "));
        let of = |part, text: &str| wrapped(text, width).into_iter().map(move |row| (part, row));
        let mut rows: Vec<(PromptPart, String)> = of(PromptPart::Question, &name(&asked.question)).collect();
        rows.extend(of(PromptPart::Requester, &requester));
        rows.push((PromptPart::Text, String::new()));
        rows.extend(of(PromptPart::Text, asked.detail.as_deref().unwrap_or_default()));
        let (answers, widest) = answers(asked, width);
        // One row shows which rows are visible.
        let room = usize::from(area.height).checked_sub(AROUND + 1 + answers.len());
        let room = room.filter(|room| *room > 0 && widest <= width);
        PromptLayout { rows, answers, width, room }
    }

    /// The first row on the last page.
    pub(crate) fn last_top(&self) -> usize {
        self.rows.len().saturating_sub(self.room.unwrap_or_default())
    }
}

/// The answer keys in as many rows as they need, and the width of the widest row.
fn answers(asked: &AskSummary, width: usize) -> (Vec<Vec<(String, &'static str)>>, usize) {
    let offered = ANSWERS.iter().filter(|(option, ..)| asked.options.contains(option));
    let offered = offered.map(|(_, key, word, _)| (key.to_string(), *word));
    let mut rows: Vec<Vec<(String, &'static str)>> = vec![Vec::new()];
    let (mut used, mut widest) = (0, 0);
    for (key, word) in offered.chain([("Esc".to_owned(), "later")]) {
        // A space on both sides of the key, one before its label, and three after it.
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

/// The complete text in rows of at most `width` columns.
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
