//! The loop between the terminal, the hub and the screen's state: keys and updates of the hub go in, drawing and
//! requests come out. All I/O of the crate is in this folder; no rule about reviews is.

mod editor;
mod hub;
mod terminal;
mod wake;

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use crossterm::event::{self, Event};

use crate::draw::draw;
use crate::paint;
use crate::palette::Palette;
use crate::retrying_client::Connect;
use crate::screen::{Command, Input, ReviewerOptions, Screen};
use terminal::Terminal;
use wake::Sleep;

/// The shortest sleep.
const PAUSE: Duration = Duration::from_millis(50);
/// How many updates are handled in a row before keys have their turn.
const BATCH: usize = 64;

/// Why the reviewer ended other than by the user quitting with everything sent.
#[derive(Debug)]
pub enum RunError {
    /// The terminal failed.
    Terminal(io::Error),
    /// The user quit before all decisions were accepted; the text lists the rest.
    Unsent(String),
}

/// Shows the reviews until the user quits. The terminal is restored afterwards, whatever happens.
pub fn run(connect: Connect, palette: &Palette, options: ReviewerOptions) -> Result<(), RunError> {
    let (told, news) = channel();
    let (paint_wishes, wished) = channel();
    let (sleep, teller) = Sleep::new(told).map_err(RunError::Terminal)?;
    let requests = hub::start(connect, teller.clone());
    let mut terminal = Terminal::open(&teller).map_err(RunError::Terminal)?;
    thread::spawn(move || paint::paint(&wished, |chunk| teller.send(Input::Painted(chunk)).is_ok()));
    let (width, height) = terminal.size().map_err(RunError::Terminal)?;
    let mut edge = Loop {
        screen: Screen::new(width, height, options),
        started: Instant::now(),
        requests,
        paint_wishes,
        news,
        sleep,
        leave: false,
    };
    let shown = edge.turn(&mut terminal, palette);
    edge.tell_the_rest();
    drop(terminal);
    shown.map_err(RunError::Terminal)?;
    edge.screen.unsent_summary().map_or(Ok(()), |words| Err(RunError::Unsent(words)))
}

struct Loop {
    screen: Screen,
    started: Instant,
    requests: Sender<hub::Request>,
    paint_wishes: Sender<paint::PaintRequest>,
    news: Receiver<Input>,
    sleep: Sleep,
    leave: bool,
}

impl Loop {
    fn turn(&mut self, terminal: &mut Terminal, palette: &Palette) -> io::Result<()> {
        let mut dirty = true;
        let mut more = true;
        // The list is requested once the hub sends events, so that a hub that is lost later is noticed.
        while !self.leave && !terminal.shall_end() {
            if dirty {
                terminal.draw(|frame| draw(&self.screen, palette, frame))?;
                self.handle(Input::Drawn, terminal)?;
                dirty = false;
            }
            let due = self.screen.next_change();
            let longest = due.map(|due| due.saturating_sub(self.started.elapsed()).max(PAUSE));
            // Events that crossterm has already read do not wake the poll.
            self.sleep.sleep(if more { Some(Duration::ZERO) } else { longest })?;
            more = false;
            if event::poll(Duration::ZERO)? {
                more = true;
                let input = match event::read()? {
                    Event::Key(key) => Some(Input::Key(key)),
                    Event::Mouse(mouse) => Some(Input::Mouse(mouse)),
                    Event::Paste(text) => Some(Input::Paste(text)),
                    Event::Resize(width, height) => Some(Input::Resize(width, height)),
                    Event::FocusGained | Event::FocusLost => None,
                };
                if let Some(input) = input {
                    self.handle(input, terminal)?;
                    dirty = true;
                }
            }
            for _ in 0..BATCH {
                let Ok(input) = self.news.try_recv() else { break };
                self.handle(input, terminal)?;
                (dirty, more) = (true, true);
            }
            if due.is_some_and(|due| due <= self.started.elapsed()) {
                self.handle(Input::Tick, terminal)?;
                dirty = true;
            }
        }
        Ok(())
    }

    /// Quits after a signal, or without the screen, which may be gone.
    fn tell_the_rest(&mut self) {
        let mut input = Input::Quit;
        while !self.leave {
            let commands = self.screen.handle(self.started.elapsed(), input);
            self.leave = commands.iter().any(|command| matches!(command, Command::Quit));
            // The requesting thread kept running until now, so that only a timeout can follow.
            input = self.news.recv_timeout(PAUSE).unwrap_or(Input::Tick);
        }
    }

    fn handle(&mut self, input: Input, terminal: &mut Terminal) -> io::Result<()> {
        for command in self.screen.handle(self.started.elapsed(), input) {
            match command {
                Command::List => self.ask(hub::Request::List),
                Command::Get(review) => self.ask(hub::Request::Get(review)),
                Command::Decide(decide) => self.ask(hub::Request::Decide(decide)),
                Command::Answer(answer) => self.ask(hub::Request::Answer(answer)),
                // Without a painter only the colours are missing.
                Command::Paint(wish) => drop(self.paint_wishes.send(wish)),
                Command::Redraw => terminal.clear()?,
                Command::Suspend => terminal.suspend()?,
                Command::Quit => self.leave = true,
                Command::Edit { review, revision, path, text } => {
                    let text = terminal.lend(|| editor::edit(&path, &text))?;
                    self.handle(Input::Edited { review, revision, text }, terminal)?;
                }
            }
        }
        Ok(())
    }

    fn ask(&self, request: hub::Request) {
        // The receiving threads end with the process, not before.
        let _ = self.requests.send(request);
    }
}
