//! What commands print: one report, as text or as one JSON document, and the styles and tables of the text.

use std::io::{self, IsTerminal, Write};

use anstyle::{AnsiColor, Style};
pub(crate) use linkspan_editor_api::labels::{age, count, lines_changed};
pub(crate) use linkspan_reviewer::relative;
use serde_json::Value;

use crate::cli::exit::Exit;

pub(crate) const HEAD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const ADDED: Style = AnsiColor::Green.on_default();
pub(crate) const REMOVED: Style = AnsiColor::Red.on_default();
pub(crate) const WARNING: Style = AnsiColor::Yellow.on_default();

/// The result of a command.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// May be coloured.
    pub(crate) text: String,
    /// `None` for a command that printed its output while it ran.
    pub(crate) json: Option<Value>,
    /// The exit code once this is printed.
    pub(crate) exit: Exit,
    /// The text is the requested content itself, and is printed byte for byte.
    pub(crate) raw: bool,
}

impl Report {
    pub(crate) fn new(text: impl Into<String>, json: Value) -> Report {
        Report { text: text.into(), json: Some(json), ..Report::default() }
    }

    /// A text for a file or another program, printed unchanged.
    pub(crate) fn raw(text: impl Into<String>, json: Value) -> Report {
        Report { raw: true, ..Report::new(text, json) }
    }

    /// With an exit code that answers a script's question, such as `Exit::Negative`.
    pub(crate) fn ending(self, exit: Exit) -> Report {
        Report { exit, ..self }
    }

    pub(crate) fn print(&self, as_json: bool) -> io::Result<()> {
        let document = self.json.as_ref().filter(|_| as_json);
        if document.is_some() || !self.raw {
            return print(document, &self.text);
        }
        let mut out = io::stdout().lock();
        out.write_all(self.text.as_bytes())?;
        out.flush()
    }
}

/// Prints a document or a text, followed by a newline.
pub(crate) fn print(json: Option<&Value>, text: &str) -> io::Result<()> {
    if let Some(document) = json {
        let mut out = io::stdout().lock();
        writeln!(out, "{}", document_line(document))?;
        return out.flush();
    }
    let mut out = anstream::stdout().lock();
    if !text.is_empty() {
        writeln!(out, "{}", text.trim_end_matches('\n'))?;
    }
    out.flush()
}

/// One line of JSON. JSON need not escape DEL and the C1 control characters, but terminals act on them.
pub(crate) fn document_line(document: &Value) -> String {
    let mut line = String::new();
    for character in document.to_string().chars() {
        match character {
            '\u{7f}'..='\u{9f}' => line += &format!("\\u{:04x}", u32::from(character)),
            other => line.push(other),
        }
    }
    line
}

/// Text from a file or an editor: on a terminal below a heading and with control characters escaped, elsewhere alone and
/// unchanged.
pub(crate) fn foreign(text: &str, head: Option<&str>, json: Value) -> Report {
    if !io::stdout().is_terminal() {
        return Report::raw(text, json);
    }
    let lines = text.lines().map(crate::visible::code);
    let lines: Vec<String> = head.map(String::from).into_iter().chain(lines).collect();
    Report::new(lines.join("\n"), json)
}

/// Prints a message on standard error.
pub(crate) fn warn(message: &str) {
    // If standard error is closed, there is no place left to report it.
    let _ = writeln!(anstream::stderr(), "{WARNING}linkspan:{WARNING:#} {}", crate::visible::name(message));
}

pub(crate) fn styled(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// Columns as wide as their widest cell; the last is not padded.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let width = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or_default()
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for (index, row) in rows.iter().enumerate() {
        let line: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        let line = line.join("  ");
        let line = line.trim_end();
        text += &if index == 0 { styled(HEAD, line) } else { line.to_owned() };
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_keeps_every_character_and_controls_no_terminal() {
        let document = serde_json::json!({ "text": "a\u{7f}b\u{9b}31mc\u{a0}é" });
        let line = document_line(&document);
        assert!(!line.chars().any(|character| ('\u{7f}'..='\u{9f}').contains(&character)), "{line}");
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), document);
    }

    #[test]
    fn columns_line_up_and_lines_have_no_trailing_blanks() {
        let rows = [vec!["ID".into(), "FILE".into()], vec!["r100".into(), "é".into()]];
        assert_eq!(anstream::adapter::strip_str(&table(&rows)).to_string(), "ID    FILE\nr100  é\n");
    }
}
