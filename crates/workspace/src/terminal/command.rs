//! One command in a pseudo-terminal: a thread reads its output, types the end of input, and ends the command when it is
//! no longer wanted. Only that thread signals and reaps it, so no signal reaches an unrelated process.

use std::collections::BTreeMap;
use std::io::{PipeReader, PipeWriter, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use pty_process::blocking::{Command, Pty, open};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::Size;
use super::text::Text;
use crate::cancel::Deadline;
use crate::descriptors;
use crate::error::WorkspaceError;
use crate::process_group::{PATIENCE, ProcessGroup};

/// Ctrl-D: the end of input for a program that reads a line.
const END_OF_INPUT: &[u8] = &[4];
/// The limit of typed ends of input; a program that does not read must not find its terminal full of them.
const MOST_ENDS: usize = 64;
const SILENCE: Duration = Duration::from_secs(1);
const SHORT: Duration = Duration::from_millis(20);

/// How a command ended: by an exit code or by a signal.
#[derive(Debug, Clone, Copy)]
pub(super) struct CommandEnd {
    pub(super) code: Option<i32>,
    pub(super) signal: Option<i32>,
}

/// A running command. Dropping it ends it.
#[derive(Debug)]
pub(super) struct Running {
    command: String,
    shared: Arc<Shared>,
    /// Closing it tells the thread to stop.
    stop: Option<PipeWriter>,
}

/// What the thread shares.
#[derive(Debug, Default)]
pub(super) struct Shared {
    text: Mutex<Text>,
    ended: Mutex<Option<CommandEnd>>,
    changed: Condvar,
}

impl Running {
    pub(super) fn start(
        command: &str,
        cwd: &Path,
        environment: &BTreeMap<String, String>,
        size: Size,
        screen: &Arc<Mutex<Text>>,
    ) -> Result<Running, WorkspaceError> {
        let failed = |error: pty_process::Error| {
            let error = match error {
                pty_process::Error::Io(error) => error,
                other => std::io::Error::other(other),
            };
            WorkspaceError::system(format!("run a command in {}", cwd.display()), error)
        };
        let (pty, pts) = open().map_err(failed)?;
        pty.resize(pty_process::Size::new(size.rows, size.columns)).map_err(failed)?;
        let child = Command::new(shell())
            .args(["-c", command])
            .current_dir(cwd)
            .envs([("TERM", "dumb"), ("PAGER", "cat"), ("GIT_PAGER", "cat")])
            .envs(environment)
            .spawn(pts)
            .map_err(failed)?;
        descriptors::give_back(child.id());
        let shared = Arc::<Shared>::default();
        let mut watching = CommandThread {
            group: ProcessGroup::of(&child),
            child,
            pty,
            shared: Arc::clone(&shared),
            screen: Arc::clone(screen),
            ends: 0,
        };
        let thread = || {
            let (stopped, stop) = std::io::pipe()?;
            std::thread::Builder::new().name("terminal".into()).spawn(move || watching.watch(&stopped))?;
            Ok(stop)
        };
        let stop: std::io::Result<PipeWriter> = thread();
        let stop = stop.map_err(|error| WorkspaceError::system("watch a command", error))?;
        Ok(Running { command: command.to_owned(), shared, stop: Some(stop) })
    }

    pub(super) fn command(&self) -> &str {
        &self.command
    }

    pub(super) fn shared(&self) -> Arc<Shared> {
        Arc::clone(&self.shared)
    }

    pub(super) fn ended(&self) -> Option<CommandEnd> {
        self.shared.wait(Duration::ZERO)
    }

    pub(super) fn is_there(&self) -> bool {
        self.ended().is_none()
    }

    pub(super) fn stop(&mut self) {
        self.stop = None;
    }
}

impl Shared {
    /// How it ended, if it ends within the time.
    pub(super) fn wait(&self, time: Duration) -> Option<CommandEnd> {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(ended, time, |ended| ended.is_none());
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }

    pub(super) fn text(&self) -> (String, bool) {
        self.text.lock().unwrap_or_else(PoisonError::into_inner).read()
    }
}

fn shell() -> PathBuf {
    let own =
        std::env::var_os("SHELL").map(PathBuf::from).filter(|shell| shell.is_absolute() && shell.is_file());
    own.unwrap_or_else(|| PathBuf::from("/bin/sh"))
}

/// The thread's state.
struct CommandThread {
    child: Child,
    group: ProcessGroup,
    pty: Pty,
    shared: Arc<Shared>,
    screen: Arc<Mutex<Text>>,
    /// The number of ends of input typed so far.
    ends: usize,
}

impl CommandThread {
    fn watch(&mut self, stop: &PipeReader) {
        self.type_end_of_input();
        let mut kill_at: Option<Deadline> = None;
        let mut is_open = true;
        let status = loop {
            let left = kill_at.map_or(SILENCE, Deadline::left);
            // Once its terminal is closed, only polling shows whether it still runs.
            let time = if is_open && !left.is_zero() { left } else { SHORT };
            let (readable, stopped) = self.wait(is_open, stop, kill_at.is_none(), time);
            if stopped {
                self.group.ask_to_end();
                kill_at = Some(Deadline::after(PATIENCE));
            }
            if kill_at.is_some_and(Deadline::has_passed) {
                self.group.kill();
            }
            if readable {
                is_open = self.read();
            } else if is_open && kill_at.is_none() {
                self.type_end_of_input();
            }
            // Checked only after all of its output is read.
            if !is_open || kill_at.is_some_and(Deadline::has_passed) {
                match self.child.try_wait() {
                    Ok(None) => {}
                    Ok(Some(status)) => break Some(status),
                    Err(_) => break None,
                }
            }
        };
        self.tell(status);
        // Processes that did not end with their shell.
        if let Some(deadline) = kill_at {
            while self.group.is_there() && !deadline.has_passed() {
                std::thread::sleep(SHORT);
            }
            if self.group.is_there() {
                self.group.kill();
            }
        }
    }

    fn type_end_of_input(&mut self) {
        if self.ends < MOST_ENDS && self.pty.write_all(END_OF_INPUT).is_ok() {
            self.ends += 1;
        }
    }

    /// Whether there is something to read, and whether a stop was requested.
    fn wait(&self, is_open: bool, stop: &PipeReader, is_wanted: bool, time: Duration) -> (bool, bool) {
        let mut waiting = Vec::with_capacity(2);
        if is_open {
            waiting.push(PollFd::new(&self.pty, PollFlags::IN));
        }
        if is_wanted {
            waiting.push(PollFd::new(stop, PollFlags::IN));
        }
        let time =
            Timespec { tv_sec: time.as_secs().try_into().unwrap_or(0), tv_nsec: time.subsec_nanos().into() };
        if poll(&mut waiting, Some(&time)).is_err() {
            return (false, false);
        }
        let mut states = waiting.iter().map(|waiting| !waiting.revents().is_empty());
        let readable = is_open && states.next().unwrap_or(false);
        (readable, is_wanted && states.next().unwrap_or(false))
    }

    /// Whether more may come.
    fn read(&mut self) -> bool {
        let mut buffer = [0; 16 * 1024];
        match self.pty.read(&mut buffer) {
            Ok(count @ 1..) => {
                let bytes = buffer.get(..count).unwrap_or_default();
                for text in [&self.shared.text, &*self.screen] {
                    text.lock().unwrap_or_else(PoisonError::into_inner).push(bytes);
                }
                true
            }
            Err(error) => error.kind() == std::io::ErrorKind::Interrupted,
            // The end of a terminal is an error on Linux and an empty read elsewhere.
            Ok(0) => false,
        }
    }

    fn tell(&self, status: Option<ExitStatus>) {
        let ended = CommandEnd {
            code: status.and_then(|status| status.code()),
            signal: status.and_then(|status| status.signal()),
        };
        *self.shared.ended.lock().unwrap_or_else(PoisonError::into_inner) = Some(ended);
        self.shared.changed.notify_all();
    }
}
