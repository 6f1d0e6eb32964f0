//! The terminal: taken over, given back. It is given back on every way out: the end, an error, a panic, a signal.

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

use super::wake::Teller;

pub(super) struct Terminal {
    inner: ratatui::Terminal<CrosstermBackend<Stdout>>,
    /// Somebody wants the process to end.
    end: Arc<AtomicBool>,
    /// Somebody pressed Ctrl-C or Ctrl-\\ where that is a signal, which it is in the person's editor.
    interrupted: Arc<AtomicBool>,
}

impl Terminal {
    pub(super) fn open(teller: &Teller) -> io::Result<Terminal> {
        let (end, interrupted) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        for (signal, flag) in
            [(SIGHUP, &end), (SIGTERM, &end), (SIGINT, &interrupted), (SIGQUIT, &interrupted)]
        {
            signal_hook::flag::register(signal, Arc::clone(flag))?;
        }
        // Those who look for the size come first, so that there is something to see for whom we wake.
        event::poll(Duration::ZERO)?;
        for signal in [SIGHUP, SIGTERM, SIGINT, SIGQUIT, SIGWINCH] {
            teller.wake_at(signal)?;
        }
        give_back_on_panic();
        // Made before anything is taken, so that it is given back when taking fails half-way.
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

    /// Lends it to another program. What interrupts that one is not meant for us; a handler, unlike a signal that is
    /// ignored, is not inherited by it.
    pub(super) fn lend<T>(&mut self, other: impl FnOnce() -> T) -> io::Result<T> {
        self.pause()?;
        let given = other();
        self.interrupted.store(false, Ordering::Relaxed);
        self.resume()?;
        Ok(given)
    }

    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        // A terminal that knows how shows all of it at once, or ignores the words.
        execute!(io::stdout(), BeginSynchronizedUpdate)?;
        self.inner.draw(draw)?;
        execute!(io::stdout(), EndSynchronizedUpdate)
    }

    /// Forgets what is on the screen, so that everything is drawn again.
    pub(super) fn clear(&mut self) -> io::Result<()> {
        // Not `clear`, which asks the terminal where the cursor is and takes the answer from the keys.
        let size = self.inner.size()?;
        self.inner.resize(Rect::new(0, 0, size.width, size.height))
    }

    /// Gives it back for a while.
    fn pause(&mut self) -> io::Result<()> {
        give_back()
    }

    /// Takes it over again.
    fn resume(&mut self) -> io::Result<()> {
        enable_raw_mode()?;
        execute!(io::stdout(), EnterAlternateScreen, EnableMouseCapture, EnableBracketedPaste)?;
        self.clear()
    }

    /// Stops as every program does at Ctrl-Z; goes on when the shell says so.
    pub(super) fn suspend(&mut self) -> io::Result<()> {
        self.pause()?;
        kill_current_process_group(Signal::TSTP)?;
        self.resume()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Nobody is left to be told.
        let _ = give_back();
    }
}

fn give_back() -> io::Result<()> {
    let left = execute!(io::stdout(), DisableBracketedPaste, DisableMouseCapture, LeaveAlternateScreen, Show);
    disable_raw_mode()?;
    left
}

/// Only where the screen is drawn: a thread that ends takes its colours or its news with it, not the screen.
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
