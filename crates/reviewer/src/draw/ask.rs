//! What an agent asks, with all of the text that it is about: what does not fit is scrolled to, and said to be there.

use linkspan_editor_api::AskSummary;
use ratatui::Frame;
use ratatui::text::{Line, Span};

use super::popup::{keys, popup};
use super::shortened;
use crate::palette::Palette;
use crate::screen::ANSWERS;
use crate::visible::{code, name};

/// Borders, the lines around the text, and the bars.
const AROUND: usize = 10;
const TAB: &str = "    ";

pub(super) fn draw(asked: &AskSummary, top: usize, palette: &Palette, frame: &mut Frame<'_>) {
    let width = usize::from(frame.area().width).saturating_sub(8).clamp(8, 100);
    let room = usize::from(frame.area().height).saturating_sub(AROUND).max(1);
    let rows = wrapped(asked.detail.as_deref().unwrap_or_default(), width);
    let top = top.min(rows.len().saturating_sub(room));
    let end = (top + room).min(rows.len());
    let folders: Vec<String> = asked.folders.iter().map(|folder| name(folder)).collect();
    let from = format!("{}, {}, {}", name(&asked.agent), name(&asked.dialect), folders.join(", "));
    let mut lines: Vec<Line<'static>> = wrapped(&name(&asked.question), width)
        .into_iter()
        .map(|row| Line::styled(row, palette.strong))
        .collect();
    lines.push(Line::styled(shortened(&from, width), palette.quiet));
    lines.push(Line::default());
    lines.extend(rows.get(top..end).unwrap_or_default().iter().map(|row| Line::raw(row.clone())));
    let seen = match rows.len() > room {
        true => format!("rows {} to {end} of {}; j and k scroll", top + 1, rows.len()),
        false => String::new(),
    };
    lines.push(Line::styled(seen, palette.warning));
    let offered = ANSWERS.iter().filter(|(option, ..)| asked.options.contains(option));
    let named: Vec<(String, &str)> = offered.map(|(_, key, word, _)| (key.to_string(), *word)).collect();
    let mut answers: Vec<(&str, &str)> = named.iter().map(|(key, word)| (key.as_str(), *word)).collect();
    answers.push(("Esc", "later"));
    lines.push(keys(palette, &answers));
    popup(palette, frame, "An agent asks", lines);
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
