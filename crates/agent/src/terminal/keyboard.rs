//! The keys of the terminal. A thread only waits until there is something to read; it never reads, so that the user's
//! editor can have the terminal meanwhile.

use std::io;
use std::sync::mpsc as blocking;
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::sync::mpsc;

use super::keys::{KeyReader, Typed};
use super::screen::ScreenInput;

#[derive(Debug)]
pub(super) struct Keyboard {
    ready: mpsc::UnboundedReceiver<()>,
    /// Lets the thread wait again.
    again: blocking::Sender<()>,
    reader: KeyReader,
}

impl Keyboard {
    pub(super) fn open() -> io::Result<Keyboard> {
        let (tell, ready) = mpsc::unbounded_channel();
        let (again, resume) = blocking::channel();
        thread::Builder::new().name("keyboard".to_owned()).spawn(move || {
            loop {
                let stdin = io::stdin();
                // A failed wait is looked at, too: the terminal may be gone.
                if poll(&mut [PollFd::new(&stdin, PollFlags::IN)], None).is_err() {
                    thread::sleep(Duration::from_millis(10));
                }
                if tell.send(()).is_err() || resume.recv().is_err() {
                    return;
                }
            }
        })?;
        Ok(Keyboard { ready, again, reader: KeyReader::default() })
    }

    /// What is typed next; `None` if the terminal is gone. May be dropped while it waits.
    pub(super) async fn inputs(&mut self) -> io::Result<Option<Vec<ScreenInput>>> {
        if self.ready.recv().await.is_none() {
            return Ok(None);
        }
        let inputs = self.read();
        let _ = self.again.send(());
        inputs
    }

    fn read(&mut self) -> io::Result<Option<Vec<ScreenInput>>> {
        let stdin = io::stdin();
        let mut piece = [0; 64 * 1024];
        let mut bytes = Vec::new();
        loop {
            let mut state = [PollFd::new(&stdin, PollFlags::IN)];
            match poll(&mut state, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) {
                Err(rustix::io::Errno::INTR) => continue,
                result => result?,
            };
            let [state] = &state;
            if state.revents().is_empty() || bytes.len() > piece.len() {
                let typed = self.reader.read(&bytes).into_iter();
                return Ok(Some(typed.map(ScreenInput::from).collect()));
            }
            match rustix::io::read(&stdin, &mut piece) {
                Err(rustix::io::Errno::INTR) => {}
                // At the end, or with EIO, nobody has the other side open.
                Ok(0) | Err(_) => return Ok(None),
                Ok(length) => bytes.extend_from_slice(piece.get(..length).unwrap_or_default()),
            }
        }
    }
}

impl From<Typed> for ScreenInput {
    fn from(typed: Typed) -> ScreenInput {
        match typed {
            Typed::Key(key) => ScreenInput::Key(key),
            Typed::Paste(text) => ScreenInput::Paste(text),
        }
    }
}
