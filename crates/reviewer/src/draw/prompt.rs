//! A permission prompt with its complete text: text that does not fit can be scrolled to, and the prompt says so.

use linkspan_editor_api::AskSummary;
use ratatui::Frame;
use ratatui::text::Line;

use super::popup::{keys, popup};
use super::shortened;
use crate::palette::Palette;
use crate::prompt_layout::{PromptLayout, PromptPart};

pub(super) fn draw(asked: &AskSummary, top: usize, palette: &Palette, frame: &mut Frame<'_>) {
    let asked = PromptLayout::of(asked, frame.area());
    let title = "Permission request";
    let Some(room) = asked.room else {
        let small = shortened("too small for the request: enlarge the terminal", asked.width);
        return popup(palette, frame, title, vec![Line::styled(small, palette.warning)]);
    };
    let top = top.min(asked.last_top());
    let mut lines: Vec<Line<'static>> = Vec::new();
    for (part, row) in asked.rows.iter().skip(top).take(room) {
        lines.push(match part {
            PromptPart::Question => Line::styled(row.clone(), palette.strong),
            PromptPart::Requester => Line::styled(row.clone(), palette.quiet),
            PromptPart::Text => Line::raw(row.clone()),
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
