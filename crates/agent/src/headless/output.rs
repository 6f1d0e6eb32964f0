//! What a run without a terminal prints: the answer to the output and everything else to the error output, or one JSON
//! line per event. Knows nothing of the host.

use std::io::{self, Write};

use linkspan_client::visible;

use super::line::Line;
use crate::call_line::call_line;
use crate::message::ModelCall;

/// Where to print, and how.
pub(super) struct HeadlessOutput<'a> {
    pub(super) out: &'a mut dyn Write,
    pub(super) err: &'a mut dyn Write,
    pub(super) json: bool,
    /// The output is a terminal: characters that could control it are made visible.
    pub(super) guarded: bool,
    /// The last byte of the answer was not a line feed.
    pub(super) open_line: bool,
}

impl HeadlessOutput<'_> {
    pub(super) fn print(&mut self, line: &Line) -> io::Result<()> {
        if self.json {
            serde_json::to_writer(&mut *self.out, line)?;
            self.out.write_all(b"\n")?;
            return self.out.flush();
        }
        match line {
            Line::Text { text } => {
                let shown = if self.guarded { visible::text(text) } else { text.clone() };
                self.out.write_all(shown.as_bytes())?;
                self.open_line = !shown.ends_with('\n') && (self.open_line || !shown.is_empty());
                self.out.flush()
            }
            Line::ToolResult { tool, text, is_error: true, .. } => {
                let first = text.lines().next().unwrap_or_default();
                self.note(&format!("{tool} failed: {first}"))
            }
            Line::Info { text } | Line::Error { text } => self.note(text),
            Line::Review { place: "editor" | "both", .. } => {
                self.note("waits for your decision in the editor")
            }
            Line::End { .. } => self.end_line(),
            _ => Ok(()),
        }
    }

    /// A call, in one line.
    pub(super) fn call(&mut self, call: &ModelCall) -> io::Result<()> {
        if self.json { Ok(()) } else { self.note(&call_line(call)) }
    }

    /// A line on the error output.
    pub(super) fn note(&mut self, text: &str) -> io::Result<()> {
        if self.json {
            return Ok(());
        }
        self.end_line()?;
        writeln!(self.err, "{}", visible::text(text))?;
        self.err.flush()
    }

    fn end_line(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.open_line) {
            self.out.write_all(b"\n")?;
            self.out.flush()?;
        }
        Ok(())
    }
}
