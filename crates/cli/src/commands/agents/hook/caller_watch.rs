//! Whether the agent still waits for its hook. Some agents signal a hook that they cancel, some close its pipe, some only
//! die; a review that no one waits for must not stay on the screen.

use std::io;
use std::os::fd::AsFd;
use std::thread;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, getppid};

use crate::cli::signals::termination;

#[derive(Debug)]
pub(super) struct CallerWatch {
    parent: Option<Pid>,
}

impl CallerWatch {
    /// Calls `signalled` once at the first signal that asks us to end.
    pub(super) fn start(signalled: impl FnOnce() + Send + 'static) -> io::Result<CallerWatch> {
        let parent = getppid();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        let listening = runtime.enter();
        let terminated = termination()?;
        drop(listening);
        thread::Builder::new().name("linkspan-signals".into()).spawn(move || {
            runtime.block_on(terminated);
            signalled();
        })?;
        Ok(CallerWatch { parent })
    }

    /// Whether the agent died, or reads our answer no longer. Asks the system and returns at once.
    pub(super) fn is_caller_gone(&self) -> bool {
        getppid() != self.parent || is_closed(&io::stdout())
    }
}

/// Whether nobody reads what is written here.
fn is_closed(output: &impl AsFd) -> bool {
    // Without events to wait for, only errors and a closed other end are reported.
    let mut watched = [PollFd::from_borrowed_fd(output.as_fd(), PollFlags::empty())];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    matches!(poll(&mut watched, Some(&at_once)), Ok(1..))
        && watched.iter().any(|seen| seen.revents().intersects(PollFlags::ERR | PollFlags::HUP))
}

#[cfg(test)]
mod tests {
    use std::io::pipe;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn an_output_is_closed_when_its_reader_is_gone() {
        let (reader, writer) = pipe().unwrap();
        assert!(!is_closed(&writer));
        drop(reader);
        assert!(is_closed(&writer));
    }

    #[test]
    fn a_socket_as_node_uses_it_is_closed_with_its_other_end() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        assert!(!is_closed(&ours));
        drop(theirs);
        assert!(is_closed(&ours));
    }
}
