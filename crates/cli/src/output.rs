//! What commands print: one report, as text for people or as one JSON document; and the words and tables
//! that reports are made of.

use std::io::{self, IsTerminal, Write};

use anstyle::{AnsiColor, Style};
pub(crate) use linkspan_reviewer::{accepted, age, change, count, decided, relative};
use serde_json::Value;

use crate::exit::Exit;

pub(crate) const HEAD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const ADDED: Style = AnsiColor::Green.on_default();
pub(crate) const REMOVED: Style = AnsiColor::Red.on_default();
pub(crate) const WARNING: Style = AnsiColor::Yellow.on_default();

/// What a command has to say at its end.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// For people; may be coloured.
    pub(crate) text: String,
    /// `None` for a command that has printed all as it went.
    pub(crate) json: Option<Value>,
    /// How the command ends once this is printed.
    pub(crate) exit: Exit,
    /// The text is what was asked for, byte for byte, and not about it.
    pub(crate) raw: bool,
}

impl Report {
    pub(crate) fn new(text: impl Into<String>, json: Value) -> Report {
        Report { text: text.into(), json: Some(json), ..Report::default() }
    }

    /// A text that goes to a file or another program just as it is.
    pub(crate) fn raw(text: impl Into<String>, json: Value) -> Report {
        Report { raw: true, ..Report::new(text, json) }
    }

    /// A report that is also an answer: `no` for a script that asks.
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

/// Prints a document or a text, each on lines of its own.
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

/// JSON has no need to escape these, but a terminal may take them for the beginning of a command.
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

/// Text that is not ours: on a terminal below a head and made safe to look at, elsewhere alone and untouched.
pub(crate) fn foreign(text: &str, head: Option<&str>, json: Value) -> Report {
    if !io::stdout().is_terminal() {
        return Report::raw(text, json);
    }
    let lines = text.lines().map(crate::visible::code);
    let lines: Vec<String> = head.map(String::from).into_iter().chain(lines).collect();
    Report::new(lines.join("\n"), json)
}

/// Says something to the person that is not the answer.
pub(crate) fn warn(message: &str) {
    // Nobody is there to be told that nobody hears.
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
    fn a_document_keeps_every_character_and_commands_no_terminal() {
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
