//! The loop between a terminal, the hub and the screen's state. Keys and the hub's news go in, drawing and requests
//! come out. Nothing is decided here.

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
use crate::patient::Connect;
use crate::screen::{Command, Input, Screen, Wishes};
use terminal::Terminal;
use wake::Sleep;

/// No time comes sooner than this.
const PAUSE: Duration = Duration::from_millis(50);
/// So much news is taken in at once; then keys have their turn.
const BATCH: usize = 64;

/// Why the reviewer ended otherwise than by the person's wish.
#[derive(Debug)]
pub enum RunError {
    /// The terminal does not do what it is asked.
    Terminal(io::Error),
    /// She left, and not all that she decided counts; the words say what.
    Untold(String),
}

/// Shows the reviews until the person leaves. The terminal is as it was afterwards, whatever happens.
pub fn run(connect: Connect, palette: &Palette, wishes: Wishes) -> Result<(), RunError> {
    let (told, news) = channel();
    let (paint_wishes, wished) = channel();
    let (sleep, teller) = Sleep::new(told).map_err(RunError::Terminal)?;
    let requests = hub::start(connect, teller.clone());
    let mut terminal = Terminal::open(&teller).map_err(RunError::Terminal)?;
    thread::spawn(move || paint::paint(&wished, |chunk| teller.send(Input::Painted(chunk)).is_ok()));
    let (width, height) = terminal.size().map_err(RunError::Terminal)?;
    let mut edge = Loop {
        screen: Screen::new(width, height, wishes),
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
    edge.screen.last_words().map_or(Ok(()), |words| Err(RunError::Untold(words)))
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
        self.ask(hub::Request::List);
        while !self.leave && !terminal.shall_end() {
            if dirty {
                terminal.draw(|frame| draw(&self.screen, palette, frame))?;
                self.handle(Input::Drawn, terminal)?;
                dirty = false;
            }
            let due = self.screen.next_change();
            let longest = due.map(|due| due.saturating_sub(self.started.elapsed()).max(PAUSE));
            // What is read already wakes nobody.
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

    /// After a signal, or without the screen, which may be gone.
    fn tell_the_rest(&mut self) {
        let mut input = Input::Leave;
        while !self.leave {
            let commands = self.screen.handle(self.started.elapsed(), input);
            self.leave = commands.iter().any(|command| matches!(command, Command::Quit));
            // Whoever tells has gone on until now, so that silence is all that can come.
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
                // Without a painter there are no colours, and nothing else is amiss.
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
        // Those who hear it end with the process, not before.
        let _ = self.requests.send(request);
    }
}
