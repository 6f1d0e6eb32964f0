//! A terminal without a window: each command runs in a pseudo-terminal of its own, without keyboard input.
//!
//! `TERM` is `dumb`, so that programs neither draw nor page; pagers are `cat`. A program that reads gets the end of
//! input (Ctrl-D), again after each silent second, because some discard input typed before they ask.

mod command;
mod text;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;

use crate::cancel::{Cancel, Deadline};
use crate::error::WorkspaceError;
use crate::process_group::PATIENCE;
use command::Running;
use text::Text;

/// How often cancellation is checked.
const TICK: Duration = Duration::from_millis(50);

/// The size of a terminal.
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

/// Runs one command at a time. A running command is ended when this is dropped.
#[derive(Debug)]
pub struct Terminal {
    name: String,
    cwd: PathBuf,
    environment: BTreeMap<String, String>,
    size: Size,
    /// The output of all its commands.
    screen: Arc<Mutex<Text>>,
    last: Mutex<Option<Running>>,
}

/// The result of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CommandReport {
    /// Its output so far, without escape sequences; only the end of long output. Invalid UTF-8 is replaced.
    pub output: String,
    /// Its exit code, if it exited.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// It still runs; [`Terminal::output`] has its further output.
    pub timed_out: bool,
    /// The beginning of the output is missing.
    pub truncated: bool,
}

/// The content of a terminal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Output {
    /// The output of all commands, without escape sequences; only the end of long output.
    pub text: String,
    /// The beginning is missing.
    pub truncated: bool,
    /// A command still runs.
    pub running: bool,
    /// The exit code of the last command, if it exited.
    pub exit_code: Option<i32>,
    /// The signal that ended the last command, if any.
    pub signal: Option<i32>,
}

impl Terminal {
    /// Starts no command yet. The variables are added to our own environment.
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

    /// The name it was opened with.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Runs the command in the user's shell and waits for its end, at most for `timeout`; then it continues in the
    /// background. Cancelling ends it; a command cancelled before its turn never starts.
    pub fn run(
        &self,
        command: &str,
        cwd: Option<&Path>,
        timeout: Duration,
        cancel: &Cancel,
    ) -> Result<CommandReport, WorkspaceError> {
        let deadline = Deadline::after(timeout);
        let shared = {
            let mut last = self.last();
            // Checked under the lock: the request may have been cancelled while it waited for the lock.
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
                // So that the next command does not find the terminal busy; at most until the command is killed.
                shared.wait(PATIENCE * 2);
                return Err(WorkspaceError::Cancelled);
            }
            let ended = shared.wait(deadline.left().min(TICK));
            if ended.is_some() || deadline.has_passed() {
                let (output, truncated) = shared.text();
                let (exit_code, signal) = ended.map_or((None, None), |ended| (ended.code, ended.signal));
                return Ok(CommandReport {
                    output,
                    exit_code,
                    signal,
                    timed_out: ended.is_none(),
                    truncated,
                });
            }
        }
    }

    /// The current content.
    pub fn output(&self) -> Output {
        let ended = self.last().as_ref().map(|running| running.ended());
        let (text, truncated) = self.screen.lock().unwrap_or_else(PoisonError::into_inner).read();
        let running = matches!(ended, Some(None));
        let ended = ended.flatten();
        let (exit_code, signal) = ended.map_or((None, None), |ended| (ended.code, ended.signal));
        Output { text, truncated, running, exit_code, signal }
    }

    /// Ends the running command: terminates it, and kills it after two seconds. Does not wait for that.
    pub fn stop(&self) {
        if let Some(running) = self.last().as_mut() {
            running.stop();
        }
    }

    fn last(&self) -> std::sync::MutexGuard<'_, Option<Running>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
