//! The rows at the bottom that change: what streams, what runs, the question, the input, the status line. As many as fit.

use std::time::Duration;

use super::view::{count, elapsed};
use super::{ChatScreen, Live};
use crate::terminal::commands::mode_name;
use crate::terminal::line_editor::LineEditor;
use crate::terminal::text::{Line, Style, char_width, fit, line, line_width, plain, span, wrap};

const PROMPT: &str = "› ";
const INDENT: usize = 2;

impl ChatScreen {
    /// The rows, none wider than the screen, and where the cursor is.
    pub(crate) fn live(&self, now: Duration) -> Live {
        let columns = self.columns.max(4);
        let Some(view) = self.view() else { return Live::default() };
        let mut rows: Vec<Line> = Vec::new();
        for row in view.live(now, columns) {
            rows.extend(wrap(&row, columns));
        }
        if let Some(since) = view.turn {
            let text = format!("working {} · Esc cancels", elapsed(now.saturating_sub(since)));
            rows.push(line(Style::Dim, fit(&text, columns)));
        }
        let mut cursor = None;
        let panel = view.panels.front().map(|panel| panel.rows());
        let typed = match panel {
            Some((shown, reason)) => {
                rows.extend(shown.iter().flat_map(|row| wrap(row, columns)));
                reason
            }
            None => Some(&self.input),
        };
        if let Some(input) = typed {
            let (shown, place) = input_rows(input, columns, (self.rows / 2).max(3));
            cursor = Some((rows.len() + place.0, place.1));
            rows.extend(shown);
        }
        if !self.candidates.is_empty() {
            rows.push(line(Style::Dim, fit(&self.candidates.join("  "), columns)));
        }
        rows.push(self.status_line(columns));
        // The last rows matter most.
        let over = rows.len().saturating_sub(self.rows.saturating_sub(1).max(1));
        rows.drain(..over);
        let cursor = cursor.and_then(|(row, column)| Some((row.checked_sub(over)?, column)));
        Live { rows, cursor }
    }

    /// What matters most is last to be left out on a narrow screen.
    fn status_line(&self, columns: usize) -> Line {
        let Some(view) = self.view() else { return Line::new() };
        let status = &view.status;
        let waiting: usize = self.views.values().map(|view| view.panels.len()).sum();
        let mut parts = Vec::new();
        if waiting > 0 {
            let others =
                self.views.values().find(|view| view.status.agent != self.current && !view.panels.is_empty());
            let whose = others.map(|view| format!(" ({})", view.status.name)).unwrap_or_default();
            let noun = if waiting == 1 { "question" } else { "questions" };
            parts.push((Style::Question, format!("{waiting} {noun}{whose}")));
        }
        parts.push((Style::Dim, mode_name(status.mode).to_owned()));
        parts.push((Style::Dim, short_model(&status.model)));
        parts.push((Style::Dim, self.editor.clone().unwrap_or_else(|| "no editor".to_owned())));
        let tokens = status.usage.input.saturating_add(status.usage.output);
        let full = status.context_percent.map(|full| format!(", {full} %")).unwrap_or_default();
        parts.push((Style::Dim, format!("{} tokens{full}", count(tokens))));
        if self.views.len() > 1 {
            parts.insert(0, (Style::Bold, status.name.clone()));
        }
        let mut shown = Line::new();
        for (style, text) in parts {
            let text = plain(&text);
            let separator = if shown.is_empty() { "" } else { " · " };
            let room = columns.saturating_sub(line_width(&shown));
            if shown.is_empty() {
                shown.push(span(style, fit(&text, columns)));
            } else if crate::terminal::text::width(&text) + 3 <= room {
                shown.push(span(Style::Dim, separator));
                shown.push(span(style, text));
            }
        }
        shown
    }
}

/// A script is a model with a path.
pub(super) fn short_model(model: &str) -> String {
    match model.strip_prefix("script:").and_then(|path| path.rsplit('/').next()) {
        Some(file) => format!("script:{file}"),
        None => model.to_owned(),
    }
}

/// The rows of the input, at most so many around the cursor, and the cursor's place in them.
fn input_rows(input: &LineEditor, columns: usize, most: usize) -> (Vec<Line>, (usize, usize)) {
    let room = columns.saturating_sub(INDENT + 1).max(1);
    let cursor_at = input.before_cursor().len();
    let mut rows = vec![String::new()];
    let mut used = 0;
    let mut cursor = (0, 0);
    for (at, c) in input.text().char_indices() {
        let shown = if c == '\n' { String::new() } else { plain(c.encode_utf8(&mut [0; 4])) };
        let wide = shown.chars().map(char_width).sum::<usize>();
        if used + wide > room {
            rows.push(String::new());
            used = 0;
        }
        if at == cursor_at {
            cursor = (rows.len() - 1, used);
        }
        if c == '\n' {
            rows.push(String::new());
            used = 0;
            continue;
        }
        if let Some(row) = rows.last_mut() {
            row.push_str(&shown);
        }
        used += wide;
    }
    if cursor_at == input.text().len() {
        cursor = (rows.len() - 1, used);
    }
    let first = (cursor.0 + 1).saturating_sub(most);
    let shown = rows.into_iter().enumerate().skip(first).take(most).map(|(at, row)| {
        let lead = if at == 0 { PROMPT.to_owned() } else { " ".repeat(INDENT) };
        vec![span(Style::User, lead), span(Style::Plain, row)]
    });
    (shown.collect(), (cursor.0 - first, cursor.1 + INDENT))
}
