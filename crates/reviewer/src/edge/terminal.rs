//! Takes the terminal over and restores it on every way out: normal end, error, panic, signal.

use std::io::{self, Stdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crossterm::cursor::Show;
use crossterm::event::{
    self, DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
};
use crossterm::execute;
use crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
    disable_raw_mode, enable_raw_mode,
};
use ratatui::Frame;
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use rustix::process::{Signal, kill_current_process_group};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGWINCH};

use super::wake::LoopSender;

pub(super) struct Terminal {
    inner: ratatui::Terminal<CrosstermBackend<Stdout>>,
    /// A signal asked the process to end.
    end: Arc<AtomicBool>,
    /// Ctrl-C or Ctrl-\\ was pressed while it is a signal, which is so in the user's editor.
    interrupted: Arc<AtomicBool>,
}

impl Terminal {
    pub(super) fn open(teller: &LoopSender) -> io::Result<Terminal> {
        let (end, interrupted) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        for (signal, flag) in
            [(SIGHUP, &end), (SIGTERM, &end), (SIGINT, &interrupted), (SIGQUIT, &interrupted)]
        {
            signal_hook::flag::register(signal, Arc::clone(flag))?;
        }
        // The handler that reads the size is registered first, so that the new size is known when the loop wakes.
        event::poll(Duration::ZERO)?;
        for signal in [SIGHUP, SIGTERM, SIGINT, SIGQUIT, SIGWINCH] {
            teller.wake_at(signal)?;
        }
        give_back_on_panic();
        // Created before the terminal is taken over, so that it is restored if that fails half-way.
        let inner = ratatui::Terminal::new(CrosstermBackend::new(io::stdout()))?;
        let mut terminal = Terminal { inner, end, interrupted };
        terminal.resume()?;
        Ok(terminal)
    }

    pub(super) fn size(&self) -> io::Result<(u16, u16)> {
        let size = self.inner.size()?;
        Ok((size.width, size.height))
    }

    pub(super) fn shall_end(&self) -> bool {
        self.end.load(Ordering::Relaxed) || self.interrupted.load(Ordering::Relaxed)
    }

    /// Lends it to another program. Interrupts during that time are meant for that program; a handler, unlike an ignored
    /// signal, is not inherited by it.
    pub(super) fn lend<T>(&mut self, other: impl FnOnce() -> T) -> io::Result<T> {
        self.pause()?;
        let given = other();
        self.interrupted.store(false, Ordering::Relaxed);
        self.resume()?;
        Ok(given)
    }

    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        // A terminal that supports synchronized updates shows the frame at once; others ignore the sequences.
        execute!(io::stdout(), BeginSynchronizedUpdate)?;
        self.inner.draw(draw)?;
        execute!(io::stdout(), EndSynchronizedUpdate)
    }

    /// Invalidates the screen, so that everything is drawn again.
    pub(super) fn clear(&mut self) -> io::Result<()> {
        // Not `clear`, which queries the cursor position and reads the response from the key input.
        let size = self.inner.size()?;
        self.inner.resize(Rect::new(0, 0, size.width, size.height))
    }

    /// Restores it temporarily.
    fn pause(&mut self) -> io::Result<()> {
        give_back()
    }

    /// Takes it over again.
    fn resume(&mut self) -> io::Result<()> {
        enable_raw_mode()?;
        execute!(io::stdout(), EnterAlternateScreen, EnableMouseCapture, EnableBracketedPaste)?;
        self.clear()
    }

    /// Stops like every program on Ctrl-Z; continues when the shell resumes it.
    pub(super) fn suspend(&mut self) -> io::Result<()> {
        self.pause()?;
        kill_current_process_group(Signal::TSTP)?;
        self.resume()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // There is no way left to report an error.
        let _ = give_back();
    }
}

fn give_back() -> io::Result<()> {
    let left = execute!(io::stdout(), DisableBracketedPaste, DisableMouseCapture, LeaveAlternateScreen, Show);
    disable_raw_mode()?;
    left
}

/// Only for the drawing thread: a panic in another thread costs its colours or updates, not the screen.
fn give_back_on_panic() {
    let drawing = thread::current().id();
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if thread::current().id() == drawing {
            let _ = give_back();
            before(panic);
        }
    }));
}
