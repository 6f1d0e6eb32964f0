//! What commands print: one report, as text for people or as one JSON document; and the words and tables
//! that reports are made of.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
pub(crate) use linkspan_reviewer::{accepted, age, change, count, decided, relative};
use serde_json::Value;

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
}

impl Report {
    pub(crate) fn new(text: impl Into<String>, json: Value) -> Report {
        Report { text: text.into(), json: Some(json) }
    }
}

/// Prints a document or a text, each on lines of its own.
pub(crate) fn print(json: Option<&Value>, text: &str) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    match json {
        Some(document) => writeln!(out, "{document}")?,
        None if text.is_empty() => {}
        None => writeln!(out, "{}", text.trim_end_matches('\n'))?,
    }
    out.flush()
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
    fn columns_line_up_and_lines_have_no_trailing_blanks() {
        let rows = [vec!["ID".into(), "FILE".into()], vec!["r100".into(), "é".into()]];
        assert_eq!(anstream::adapter::strip_str(&table(&rows)).to_string(), "ID    FILE\nr100  é\n");
    }
}
