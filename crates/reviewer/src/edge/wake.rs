//! Sleeps until there is something to do: a key, an update, a signal or a timeout. Knows neither keys nor updates.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::mpsc::{SendError, Sender};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::screen::Input;

/// What the loop waits for besides keys.
pub(super) struct Sleep {
    bell: UnixStream,
}

/// Sends the loop an input and wakes it.
#[derive(Clone)]
pub(super) struct LoopSender {
    told: Sender<Input>,
    bell: Arc<UnixStream>,
}

impl Sleep {
    pub(super) fn new(told: Sender<Input>) -> io::Result<(Sleep, LoopSender)> {
        let (bell, ringer) = UnixStream::pair()?;
        bell.set_nonblocking(true)?;
        ringer.set_nonblocking(true)?;
        Ok((Sleep { bell }, LoopSender { told, bell: Arc::new(ringer) }))
    }

    /// Sleeps until something happens, at most for this time; fails if the terminal is gone.
    pub(super) fn sleep(&mut self, longest: Option<Duration>) -> io::Result<()> {
        let longest = longest.map(Timespec::try_from).transpose().map_err(io::Error::other)?;
        let keys = io::stdin();
        let mut sources = [PollFd::new(&keys, PollFlags::IN), PollFd::new(&self.bell, PollFlags::IN)];
        match poll(&mut sources, longest.as_ref()) {
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
        if sources.first().is_some_and(|keys| keys.revents().intersects(gone)) {
            return Err(io::Error::other("the terminal is gone"));
        }
        let mut rings = [0; 64];
        while matches!(self.bell.read(&mut rings), Ok(1..)) {}
        Ok(())
    }
}

impl LoopSender {
    pub(super) fn send(&self, input: Input) -> Result<(), SendError<Input>> {
        self.told.send(input)?;
        // A full pipe wakes the loop as well.
        let _ = (&*self.bell).write(&[1]);
        Ok(())
    }

    /// Also wakes the loop at this signal.
    pub(super) fn wake_at(&self, signal: i32) -> io::Result<()> {
        signal_hook::low_level::pipe::register(signal, self.bell.try_clone()?)?;
        Ok(())
    }
}
