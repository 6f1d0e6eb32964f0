//! The keys of the terminal. A thread only waits until there is something to read; it never reads, so that the user's
//! editor can have the terminal meanwhile.

use std::io;
use std::sync::mpsc as blocking;
use std::thread;
use std::time::Duration;

use crossterm::event;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::sync::mpsc;

use super::keys::Key;
use super::screen::Input;

#[derive(Debug)]
pub(super) struct Keyboard {
    ready: mpsc::UnboundedReceiver<()>,
    /// Lets the thread wait again.
    again: blocking::Sender<()>,
}

impl Keyboard {
    pub(super) fn open() -> io::Result<Keyboard> {
        let (tell, ready) = mpsc::unbounded_channel();
        let (again, resume) = blocking::channel();
        thread::Builder::new().name("keyboard".to_owned()).spawn(move || {
            loop {
                let stdin = io::stdin();
                let mut stdin = [PollFd::new(&stdin, PollFlags::IN)];
                // A failed wait is looked at, too: the terminal may be gone.
                let failed = poll(&mut stdin, None).is_err();
                if failed {
                    thread::sleep(Duration::from_millis(10));
                }
                if tell.send(()).is_err() || resume.recv().is_err() {
                    return;
                }
            }
        })?;
        Ok(Keyboard { ready, again })
    }

    /// What is typed next; `None` if the terminal is gone. May be dropped while it waits.
    pub(super) async fn inputs(&mut self) -> io::Result<Option<Vec<Input>>> {
        if self.ready.recv().await.is_none() {
            return Ok(None);
        }
        let inputs = read();
        let _ = self.again.send(());
        inputs
    }
}

fn read() -> io::Result<Option<Vec<Input>>> {
    let stdin = io::stdin();
    let mut inputs = Vec::new();
    loop {
        // crossterm would read the end of a closed terminal for ever.
        let mut state = [PollFd::new(&stdin, PollFlags::IN)];
        poll(&mut state, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))?;
        let [state] = &state;
        if state.revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
            return Ok(None);
        }
        if !event::poll(Duration::ZERO)? {
            return Ok(Some(inputs));
        }
        match event::read()? {
            event::Event::Key(key) => inputs.extend(Key::of(&key).map(Input::Key)),
            event::Event::Paste(text) => inputs.push(Input::Paste(text)),
            _ => {}
        }
    }
}
