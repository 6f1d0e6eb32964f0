//! Ends a process together with everything it started: first terminated, then killed.

use std::process::Child;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

/// How long a terminated process may take to end.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);

/// The group that a process leads. The system does not reuse its id while one member is left.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProcessGroup(Option<Pid>);

impl ProcessGroup {
    /// `leader` was started as the leader of a new group.
    pub(crate) fn of(leader: &Child) -> ProcessGroup {
        ProcessGroup(i32::try_from(leader.id()).ok().and_then(Pid::from_raw))
    }

    /// Git removes its lock files on SIGTERM; a shell ends on SIGHUP.
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
        // An error means that it has already ended.
        if let Some(group) = self.0 {
            let _ = kill_process_group(group, signal);
        }
    }
}
