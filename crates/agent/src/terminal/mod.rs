//! The agent in a terminal: a prompt at the bottom, everything else scrolls. This file connects the screen, which is
//! pure, with the terminal, the host, and the user's editor. Knows only the host.

mod answers;
mod code;
mod commands;
mod history;
mod keyboard;
mod keys;
mod line_comments;
mod line_editor;
mod markdown;
mod paint;
mod panel;
mod paths;
mod screen;
mod text;
mod text_editor;

use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::process::{Signal, kill_current_process_group};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::sleep;

pub use commands::{SLASH_COMMANDS, SlashCommand};

use answers::answer;
use history::HistoryFile;
use keyboard::Keyboard;
use paint::Painter;
use screen::{ChatScreen, Reply, ScreenEffect, ScreenInput};
use text_editor::Editing;

use crate::host::{AgentSettings, HostCommand, HostEvent, HostHandle};

/// How often the elapsed time is updated while a turn runs.
const BEAT: Duration = Duration::from_millis(500);

/// How to start.
#[derive(Debug, Clone, Default)]
pub struct TerminalOptions {
    /// How the first agent starts.
    pub settings: AgentSettings,
    /// The file with earlier inputs.
    pub history: Option<PathBuf>,
    /// The prompt to begin with.
    pub prompt: Option<String>,
    /// Without colours. `NO_COLOR` does the same.
    pub no_colour: bool,
}

/// Runs until the user ends it or the terminal is closed. Stdin and stdout must be a terminal. The caller ends the host
/// afterwards. The error is for the user.
pub async fn run(host: HostHandle, options: TerminalOptions) -> Result<(), String> {
    // Before the agent starts, so that no event of it is missed.
    let events = host.subscribe();
    let settings = options.settings;
    let continues = settings.resume.is_some();
    let agent = host.ask(|reply| HostCommand::New { settings, reply }).await;
    let agent = agent.map_err(|ended| ended.to_string())??;
    let all = host.ask(|reply| HostCommand::Status { reply }).await.map_err(|ended| ended.to_string())?;
    let first = all.into_iter().find(|status| status.agent == agent).ok_or("the agent ended at once")?;
    let history = HistoryFile::new(options.history);
    let screen = ChatScreen::new(first, history.read(), Box::new(paths::list));
    if let Some(text) = options.prompt {
        host.send(HostCommand::Prompt { agent, text });
    }
    let no_colour = options.no_colour || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let failed = |error: io::Error| format!("the terminal cannot be used: {error}");
    let painter = Painter::open(!no_colour).map_err(failed)?;
    let mut session = Session {
        host,
        screen,
        painter,
        history,
        replies: JoinSet::new(),
        editing: None,
        start: Instant::now(),
    };
    if continues {
        let recent = screen::Request::Recent { agent };
        session.replies.spawn(answer(session.host.clone(), recent));
    }
    session.run(events).await.map_err(failed)
}

struct Session {
    host: HostHandle,
    screen: ChatScreen,
    painter: Painter,
    history: HistoryFile,
    replies: JoinSet<Reply>,
    /// The user's editor has the terminal.
    editing: Option<Editing>,
    start: Instant,
}

impl Session {
    async fn run(mut self, mut events: mpsc::UnboundedReceiver<HostEvent>) -> io::Result<()> {
        let mut resized = signal(SignalKind::window_change())?;
        // They are keys here. As signals they come only while the user's editor has the terminal, and are its own.
        let mut _interrupts = signal(SignalKind::interrupt())?;
        let mut closed = signal(SignalKind::hangup())?;
        let mut ended = signal(SignalKind::terminate())?;
        let mut keyboard = Keyboard::open()?;
        if let Ok((columns, rows)) = paint::size() {
            self.screen.set_size(columns, rows);
        }
        self.paint()?;
        loop {
            let beats = self.screen.is_busy() && self.editing.is_none();
            let inputs = tokio::select! {
                // Not while the user's editor reads them.
                inputs = keyboard.inputs(), if self.editing.is_none() => match inputs? {
                    Some(inputs) => inputs,
                    None => return Ok(()),
                },
                event = events.recv() => match event {
                    Some(event) => vec![ScreenInput::Event(event)],
                    None => return Err(io::Error::other("the agent has ended")),
                },
                Some(reply) = self.replies.join_next() => {
                    reply.map(ScreenInput::Reply).into_iter().collect()
                }
                text = Editing::ended(&mut self.editing) => {
                    self.painter.resume()?;
                    self.resize();
                    text.into_iter().collect()
                }
                _ = resized.recv() => {
                    self.resize();
                    Vec::new()
                }
                _ = closed.recv() => return Ok(()),
                _ = ended.recv() => return Ok(()),
                () = sleep(BEAT), if beats => vec![ScreenInput::Tick],
            };
            for input in inputs {
                for effect in self.screen.handle(self.start.elapsed(), input) {
                    if !self.carry_out(effect)? {
                        return Ok(());
                    }
                }
            }
            // What arrived together is painted together.
            while let Ok(event) = events.try_recv() {
                for effect in self.screen.handle(self.start.elapsed(), ScreenInput::Event(event)) {
                    if !self.carry_out(effect)? {
                        return Ok(());
                    }
                }
            }
            self.paint()?;
        }
    }

    fn resize(&mut self) {
        if let Ok((columns, rows)) = paint::size() {
            let size = ScreenInput::Resize { columns, rows };
            self.screen.handle(self.start.elapsed(), size);
        }
    }

    fn paint(&mut self) -> io::Result<()> {
        if self.editing.is_some() {
            return Ok(());
        }
        if let Some(rows) = self.screen.take_redraw(self.start.elapsed()) {
            self.painter.clear()?;
            return self.painter.paint(&rows, self.screen.live(self.start.elapsed()));
        }
        let printed = self.screen.take_printed();
        self.painter.paint(&printed, self.screen.live(self.start.elapsed()))
    }

    /// `false`: end.
    fn carry_out(&mut self, effect: ScreenEffect) -> io::Result<bool> {
        match effect {
            ScreenEffect::Send(command) => self.host.send(command),
            ScreenEffect::Ask(request) => {
                self.replies.spawn(answer(self.host.clone(), request));
            }
            ScreenEffect::Remember(entry) => self.history.add(&entry),
            ScreenEffect::ClearScreen => self.painter.clear()?,
            ScreenEffect::Edit { change, name, text } => {
                self.paint()?;
                self.painter.pause()?;
                match Editing::start(change, &name, &text) {
                    Ok(editing) => self.editing = Some(editing),
                    Err(why) => {
                        self.painter.resume()?;
                        let text = Err(why);
                        self.screen.handle(self.start.elapsed(), ScreenInput::Edited { change, text });
                    }
                }
            }
            ScreenEffect::Suspend => {
                self.painter.pause()?;
                // Continues here when the shell resumes it.
                kill_current_process_group(Signal::TSTP)?;
                self.painter.resume()?;
                self.resize();
            }
            ScreenEffect::Quit => {
                let printed = self.screen.take_printed();
                self.painter.paint(&printed, screen::Live::default())?;
                return Ok(false);
            }
        }
        Ok(true)
    }
}
