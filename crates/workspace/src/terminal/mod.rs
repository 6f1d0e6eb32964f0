//! A terminal without a window: each command runs in a pseudo-terminal of its own, with nobody at the keyboard.
//!
//! `TERM` is `dumb`, so that programs neither draw nor wait for a person to page; pagers are `cat`. A program that
//! reads gets the end of input (Ctrl-D), again after each silent second, because some throw away what was typed
//! before they asked.

mod command;
mod text;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;

use crate::cancel::{Cancel, Deadline};
use crate::error::WorkspaceError;
use crate::group::PATIENCE;
use command::Running;
use text::Text;

/// How often it is looked whether somebody cancelled.
const TICK: Duration = Duration::from_millis(50);

/// How wide and high a terminal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Characters in a row.
    pub columns: u16,
    /// Rows.
    pub rows: u16,
}

impl Default for Size {
    fn default() -> Size {
        Size { columns: 120, rows: 30 }
    }
}

/// Runs one command at a time. What still runs is ended when it is dropped.
#[derive(Debug)]
pub struct Terminal {
    name: String,
    cwd: PathBuf,
    environment: BTreeMap<String, String>,
    size: Size,
    /// What all its commands printed.
    screen: Arc<Mutex<Text>>,
    last: Mutex<Option<Running>>,
}

/// What became of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Ran {
    /// What it printed so far, without escape sequences; of much only the end. What is not UTF-8 is replaced.
    pub output: String,
    /// How it ended by itself.
    pub exit_code: Option<i32>,
    /// What ended it.
    pub signal: Option<i32>,
    /// It still runs; [`Terminal::output`] has what it prints from now on.
    pub timed_out: bool,
    /// The beginning of the output is missing.
    pub truncated: bool,
}

/// What a terminal shows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Output {
    /// What all commands printed, without escape sequences; of much only the end.
    pub text: String,
    /// The beginning is missing.
    pub truncated: bool,
    /// A command still runs.
    pub running: bool,
    /// How the last command ended, if it did so by itself.
    pub exit_code: Option<i32>,
    /// What ended the last command, if something did.
    pub signal: Option<i32>,
}

impl Terminal {
    /// Nothing runs in it yet. The variables come on top of our own.
    pub fn open(
        name: impl Into<String>,
        cwd: impl Into<PathBuf>,
        environment: BTreeMap<String, String>,
        size: Size,
    ) -> Terminal {
        Terminal {
            name: name.into(),
            cwd: cwd.into(),
            environment,
            size,
            screen: Arc::default(),
            last: Mutex::default(),
        }
    }

    /// As it was opened with.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Gives the command to the user's shell and waits for its end: at most until `timeout` is over, then it goes on
    /// by itself. Cancelling ends it; what is cancelled before its turn never starts.
    pub fn run(
        &self,
        command: &str,
        cwd: Option<&Path>,
        timeout: Duration,
        cancel: &Cancel,
    ) -> Result<Ran, WorkspaceError> {
        let deadline = Deadline::after(timeout);
        let shared = {
            let mut last = self.last();
            // Asked while nobody else can start one: whoever waited for the lock may have been given up.
            if cancel.is_cancelled() {
                return Err(WorkspaceError::Cancelled);
            }
            if let Some(running) = last.as_ref().filter(|running| running.is_there()) {
                let command = crate::glob::shortened(running.command());
                return Err(WorkspaceError::Busy { name: self.name.clone(), command });
            }
            let cwd = cwd.unwrap_or(&self.cwd);
            let running = Running::start(command, cwd, &self.environment, self.size, &self.screen)?;
            last.insert(running).shared()
        };
        loop {
            if cancel.is_cancelled() {
                self.stop();
                // So that the next command does not find it busy; no longer than until it is made to end.
                shared.wait(PATIENCE * 2);
                return Err(WorkspaceError::Cancelled);
            }
            let ended = shared.wait(deadline.left().min(TICK));
            if ended.is_some() || deadline.has_passed() {
                let (output, truncated) = shared.text();
                let (exit_code, signal) = ended.map_or((None, None), |ended| (ended.code, ended.signal));
                return Ok(Ran { output, exit_code, signal, timed_out: ended.is_none(), truncated });
            }
        }
    }

    /// What it shows now.
    pub fn output(&self) -> Output {
        let ended = self.last().as_ref().map(|running| running.ended());
        let (text, truncated) = self.screen.lock().unwrap_or_else(PoisonError::into_inner).read();
        let running = matches!(ended, Some(None));
        let ended = ended.flatten();
        let (exit_code, signal) = ended.map_or((None, None), |ended| (ended.code, ended.signal));
        Output { text, truncated, running, exit_code, signal }
    }

    /// Ends what runs in it: asks, and after two seconds makes it. Does not wait for that.
    pub fn stop(&self) {
        if let Some(running) = self.last().as_mut() {
            running.stop();
        }
    }

    fn last(&self) -> std::sync::MutexGuard<'_, Option<Running>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
