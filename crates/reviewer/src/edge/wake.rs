//! Sleeping until there is something to do: a key, news, a signal, or a time. Knows neither keys nor news.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::mpsc::{SendError, Sender};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::screen::Input;

/// What the loop sleeps on, besides the keys.
pub(super) struct Sleep {
    bell: UnixStream,
}

/// Tells the loop something and wakes it.
#[derive(Clone)]
pub(super) struct Teller {
    told: Sender<Input>,
    bell: Arc<UnixStream>,
}

impl Sleep {
    pub(super) fn new(told: Sender<Input>) -> io::Result<(Sleep, Teller)> {
        let (bell, ringer) = UnixStream::pair()?;
        bell.set_nonblocking(true)?;
        ringer.set_nonblocking(true)?;
        Ok((Sleep { bell }, Teller { told, bell: Arc::new(ringer) }))
    }

    /// Until something happens, or for so long; an error when the terminal is gone.
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
            return Err(io::Error::other("it is gone"));
        }
        let mut rings = [0; 64];
        while matches!(self.bell.read(&mut rings), Ok(1..)) {}
        Ok(())
    }
}

impl Teller {
    pub(super) fn send(&self, input: Input) -> Result<(), SendError<Input>> {
        self.told.send(input)?;
        // A bell that is full of rings wakes as well.
        let _ = (&*self.bell).write(&[1]);
        Ok(())
    }

    /// Also wakes the loop at this signal.
    pub(super) fn wake_at(&self, signal: i32) -> io::Result<()> {
        signal_hook::low_level::pipe::register(signal, self.bell.try_clone()?)?;
        Ok(())
    }
}
