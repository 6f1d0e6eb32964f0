//! The terminal: takes it over, prints lines that scroll away, keeps the rows at the bottom up to date, and restores it on
//! every way out. Knows nothing of what is shown.

use std::fmt::Write as _;
use std::io::{self, Write};

use std::sync::OnceLock;

use anstyle::{AnsiColor, Effects, Style as Ansi};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};

use super::screen::Live;
use super::text::{Line, Style};

/// The frame appears at once on terminals that know this; others ignore it.
const BEGIN: &str = "\u{1b}[?2026h";
const END: &str = "\u{1b}[?2026l";
const HIDE_CURSOR: &str = "\u{1b}[?25l";
const SHOW_CURSOR: &str = "\u{1b}[?25h";
const CLEAR_BELOW: &str = "\u{1b}[J";
const PASTE_ON: &str = "\u{1b}[?2004h";
const PASTE_OFF: &str = "\u{1b}[?2004l";
const CLEAR_ALL: &str = "\u{1b}[2J\u{1b}[H";

/// The modes of the terminal as we found it. Also for the panic hook.
static BEFORE: OnceLock<Termios> = OnceLock::new();

/// The terminal while it is ours.
#[derive(Debug)]
pub(super) struct Painter {
    colour: bool,
    live: Live,
    /// The row of the cursor, counted from the first row at the bottom.
    row: usize,
}

impl Painter {
    pub(super) fn open(colour: bool) -> io::Result<Painter> {
        give_back_on_panic();
        let painter = Painter { colour, live: Live::default(), row: 0 };
        painter.take_over()?;
        Ok(painter)
    }

    fn take_over(&self) -> io::Result<()> {
        let found = tcgetattr(io::stdin())?;
        let mut raw = BEFORE.get_or_init(|| found).clone();
        raw.make_raw();
        tcsetattr(io::stdin(), OptionalActions::Now, &raw)?;
        write(PASTE_ON)
    }

    /// Gives it to another program for a while; [`resume`](Painter::resume) takes it back.
    pub(super) fn pause(&mut self) -> io::Result<()> {
        self.paint(&[], Live::default())?;
        give_back()
    }

    pub(super) fn resume(&mut self) -> io::Result<()> {
        self.take_over()
    }

    /// Starts with an empty screen.
    pub(super) fn clear(&mut self) -> io::Result<()> {
        (self.live, self.row) = (Live::default(), 0);
        write(CLEAR_ALL)
    }

    /// Prints rows above, and shows these at the bottom.
    pub(super) fn paint(&mut self, printed: &[Line], live: Live) -> io::Result<()> {
        if printed.is_empty() && live == self.live {
            return Ok(());
        }
        let frame = self.frame(printed, &live);
        (self.row, self.live) = (live.cursor.map_or(live.rows.len().saturating_sub(1), |(row, _)| row), live);
        write(&frame)
    }

    fn frame(&self, printed: &[Line], live: &Live) -> String {
        let mut frame = format!("{BEGIN}{HIDE_CURSOR}\r");
        // Writing to a String cannot fail.
        if self.row > 0 {
            let _ = write!(frame, "\u{1b}[{}A", self.row);
        }
        frame.push_str(CLEAR_BELOW);
        for line in printed {
            self.line(&mut frame, line);
            frame.push_str("\r\n");
        }
        for (at, line) in live.rows.iter().enumerate() {
            if at > 0 {
                frame.push_str("\r\n");
            }
            self.line(&mut frame, line);
        }
        if let Some((row, column)) = live.cursor {
            let up = live.rows.len().saturating_sub(row + 1);
            frame.push('\r');
            if up > 0 {
                let _ = write!(frame, "\u{1b}[{up}A");
            }
            if column > 0 {
                let _ = write!(frame, "\u{1b}[{column}C");
            }
            frame.push_str(SHOW_CURSOR);
        } else if live.rows.is_empty() {
            frame.push_str(SHOW_CURSOR);
        }
        frame.push_str(END);
        frame
    }

    fn line(&self, frame: &mut String, line: &Line) {
        for span in line {
            let style = if self.colour { ansi(span.style) } else { Ansi::new() };
            let _ = write!(frame, "{style}{}{style:#}", span.text);
        }
    }
}

impl Drop for Painter {
    fn drop(&mut self) {
        // There is no way left to report an error.
        let _ = self.pause();
    }
}

/// Columns and rows.
pub(super) fn size() -> io::Result<(usize, usize)> {
    let size = tcgetwinsize(io::stdout())?;
    Ok((size.ws_col.into(), size.ws_row.into()))
}

fn write(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

fn give_back() -> io::Result<()> {
    let left = write(&format!("{PASTE_OFF}{SHOW_CURSOR}"));
    if let Some(before) = BEFORE.get() {
        tcsetattr(io::stdin(), OptionalActions::Now, before)?;
    }
    left
}

fn give_back_on_panic() {
    let drawing = std::thread::current().id();
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().id() == drawing {
            let _ = give_back();
        }
        before(panic);
    }));
}

/// The colours of the terminal's own palette, so that they fit its background.
fn ansi(style: Style) -> Ansi {
    let plain = Ansi::new();
    let coloured = |colour: AnsiColor| plain.fg_color(Some(colour.into()));
    match style {
        Style::Plain => plain,
        Style::Dim => plain.effects(Effects::DIMMED),
        Style::Bold => plain.effects(Effects::BOLD),
        Style::Italic => plain.effects(Effects::ITALIC),
        Style::Heading => coloured(AnsiColor::Cyan).effects(Effects::BOLD),
        Style::Code => coloured(AnsiColor::Cyan),
        Style::Keyword | Style::Hunk => coloured(AnsiColor::Magenta),
        Style::Literal | Style::Good | Style::Added => coloured(AnsiColor::Green),
        Style::Comment => plain.effects(Effects::DIMMED),
        Style::Link => coloured(AnsiColor::Blue).effects(Effects::UNDERLINE),
        Style::User => plain.effects(Effects::BOLD),
        Style::Tool => coloured(AnsiColor::Yellow),
        Style::Bad | Style::Removed => coloured(AnsiColor::Red),
        Style::Question => coloured(AnsiColor::Yellow).effects(Effects::BOLD),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::text::line;

    /// Paints into an emulator that is not ours.
    struct Emulated {
        painter: Painter,
        parser: vt100::Parser,
    }

    fn emulated(colour: bool) -> Emulated {
        let painter = Painter { colour, live: Live::default(), row: 0 };
        Emulated { painter, parser: vt100::Parser::new(8, 20, 100) }
    }

    impl Emulated {
        fn paint(&mut self, printed: &[&str], live: &[&str], cursor: Option<(usize, usize)>) {
            let rows = |texts: &[&str]| texts.iter().map(|text| line(Style::Bold, *text)).collect::<Vec<_>>();
            let live = Live { rows: rows(live), cursor };
            let frame = self.painter.frame(&rows(printed), &live);
            let row = live.cursor.map_or(live.rows.len().saturating_sub(1), |(row, _)| row);
            (self.painter.row, self.painter.live) = (row, live);
            self.parser.process(frame.as_bytes());
        }

        fn shows(&self) -> String {
            self.parser.screen().contents()
        }
    }

    #[test]
    fn lines_scroll_above_the_rows_at_the_bottom() {
        let mut screen = emulated(true);
        screen.paint(&["one"], &["input", "status"], Some((0, 2)));
        assert_eq!(screen.shows(), "one\ninput\nstatus");
        assert_eq!(screen.parser.screen().cursor_position(), (1, 2));
        screen.paint(&["two"], &["in", "put", "status"], Some((1, 3)));
        assert_eq!(screen.shows(), "one\ntwo\nin\nput\nstatus");
        screen.paint(&[], &["status"], None);
        assert_eq!(screen.shows(), "one\ntwo\nstatus");
        assert!(screen.parser.screen().hide_cursor());
        let many: Vec<_> = (0..20).map(|number| number.to_string()).collect();
        screen.paint(&many.iter().map(String::as_str).collect::<Vec<_>>(), &["status"], None);
        assert!(screen.shows().ends_with("18\n19\nstatus"), "{}", screen.shows());
    }

    #[test]
    fn a_row_as_wide_as_the_terminal_is_one_row() {
        let mut screen = emulated(true);
        let wide = "x".repeat(20);
        for _ in 0..3 {
            screen.paint(&[], &[&wide, "status"], None);
        }
        assert_eq!(screen.shows(), format!("{wide}\nstatus"));
    }

    #[test]
    fn without_colours_there_are_none() {
        let frame = |colour| emulated(colour).painter.frame(&[line(Style::Bad, "x")], &Live::default());
        assert!(frame(true).contains("\u{1b}[31m") && !frame(false).contains("[31m"));
        assert!(!frame(false).contains("\u{1b}[0m"));
    }
}
