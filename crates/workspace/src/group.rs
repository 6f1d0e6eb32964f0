//! A process and all it started, ended together: asked first, then made to.

use std::process::Child;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

/// How long a process that was asked to end may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);

/// The group that a process leads. The system gives its number to nobody else while one member is left.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Group(Option<Pid>);

impl Group {
    /// `leader` was started at the head of a group of its own.
    pub(crate) fn of(leader: &Child) -> Group {
        Group(i32::try_from(leader.id()).ok().and_then(Pid::from_raw))
    }

    /// Git removes its lock files when it is asked; a shell ends with its terminal.
    pub(crate) fn ask_to_end(self) {
        self.signal(Signal::HUP);
        self.signal(Signal::TERM);
    }

    pub(crate) fn kill(self) {
        self.signal(Signal::KILL);
    }

    pub(crate) fn is_there(self) -> bool {
        self.0.is_some_and(|group| test_kill_process_group(group).is_ok())
    }

    fn signal(self, signal: Signal) {
        // It may have ended by itself, which is all that is wanted.
        if let Some(group) = self.0 {
            let _ = kill_process_group(group, signal);
        }
    }
}
