//! What an agent asks, with all of the text that it is about: what does not fit is scrolled to, and said to be there.

use linkspan_editor_api::AskSummary;
use ratatui::Frame;
use ratatui::text::Line;

use super::popup::{keys, popup};
use super::shortened;
use crate::asked::{Asked, Part};
use crate::palette::Palette;

pub(super) fn draw(asked: &AskSummary, top: usize, palette: &Palette, frame: &mut Frame<'_>) {
    let asked = Asked::of(asked, frame.area());
    let title = "An agent asks";
    let Some(room) = asked.room else {
        let small = shortened("too small for the question: enlarge the terminal", asked.width);
        return popup(palette, frame, title, vec![Line::styled(small, palette.warning)]);
    };
    let top = top.min(asked.last_top());
    let mut lines: Vec<Line<'static>> = Vec::new();
    for (part, row) in asked.rows.iter().skip(top).take(room) {
        lines.push(match part {
            Part::Question => Line::styled(row.clone(), palette.strong),
            Part::Asker => Line::styled(row.clone(), palette.quiet),
            Part::Text => Line::raw(row.clone()),
        });
    }
    let seen = match asked.rows.len() > room {
        true => format!("rows {} to {} of {}; j and k scroll", top + 1, top + lines.len(), asked.rows.len()),
        false => String::new(),
    };
    lines.push(Line::styled(shortened(&seen, asked.width), palette.warning));
    for row in &asked.answers {
        let row: Vec<(&str, &str)> = row.iter().map(|(key, word)| (key.as_str(), *word)).collect();
        lines.push(keys(palette, &row));
    }
    popup(palette, frame, title, lines);
}
