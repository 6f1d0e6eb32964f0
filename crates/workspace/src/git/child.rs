//! A running `git` process: its output, up to a limit, and its end.

use std::fs::File;
use std::io::{ErrorKind, Read, Seek, Write};
use std::os::fd::AsFd;
use std::process::{Child, ExitStatus, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::cancel::Deadline;
use crate::error::WorkspaceError;
use crate::process_group::{PATIENCE, ProcessGroup};

/// How often cancellation is checked.
const TICK: Duration = Duration::from_millis(50);

/// A file rather than a pipe, so that no thread has to write while git reads.
pub(super) fn stdin(input: &[u8]) -> Result<Stdio, WorkspaceError> {
    if input.is_empty() {
        return Ok(Stdio::null());
    }
    let file = || -> std::io::Result<File> {
        let mut file = tempfile::tempfile()?;
        file.write_all(input)?;
        file.rewind()?;
        Ok(file)
    };
    file().map(Stdio::from).map_err(|error| WorkspaceError::system("write a temporary file", error))
}

/// Ends git and everything it started when dropped.
pub(super) struct GitProcess<'a> {
    pub(super) child: &'a mut Child,
    group: ProcessGroup,
    /// It has ended.
    pub(super) is_over: bool,
}

impl<'a> GitProcess<'a> {
    pub(super) fn of(child: &'a mut Child) -> GitProcess<'a> {
        GitProcess { group: ProcessGroup::of(child), child, is_over: false }
    }

    pub(super) fn end(&mut self) -> Result<ExitStatus, WorkspaceError> {
        self.is_over = true;
        self.group.ask_to_end();
        let deadline = Deadline::after(PATIENCE);
        while self.group.is_there() && !deadline.has_passed() {
            // Once it is reaped, only processes it left behind keep the group.
            let _ = self.child.try_wait();
            std::thread::sleep(Duration::from_millis(5));
        }
        if self.group.is_there() {
            self.group.kill();
        }
        self.child.wait().map_err(|error| WorkspaceError::system("wait for git", error))
    }
}

impl Drop for GitProcess<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            let _ = self.end();
        }
    }
}

/// One of git's output streams, up to a limit; the rest of `stderr` is read and discarded, so that git does not block.
pub(super) struct Stream<R> {
    from: Option<R>,
    pub(super) bytes: Vec<u8>,
    limit: usize,
}

impl<R: Read + AsFd> Stream<R> {
    pub(super) fn of(from: Option<R>, limit: usize) -> Stream<R> {
        Stream { from, bytes: Vec::new(), limit }
    }

    pub(super) fn is_done(&self) -> bool {
        self.from.is_none()
    }

    pub(super) fn is_full(&self) -> bool {
        self.bytes.len() > self.limit
    }

    /// Called only when there is something to read, so that it does not block.
    fn read(&mut self) {
        let mut buffer = [0; 16 * 1024];
        match self.from.as_mut().map(|from| from.read(&mut buffer)) {
            Some(Ok(count @ 1..)) if !self.is_full() => {
                self.bytes.extend_from_slice(buffer.get(..count).unwrap_or_default());
            }
            Some(Ok(1..)) => {}
            Some(Err(error)) if error.kind() == ErrorKind::Interrupted => {}
            _ => self.from = None,
        }
    }
}

/// Whether one of them was readable before the tick ended.
pub(super) fn wait_and_read(
    output: &mut Stream<impl Read + AsFd>,
    errors: &mut Stream<impl Read + AsFd>,
) -> Result<bool, WorkspaceError> {
    let ready = {
        let flags = PollFlags::IN;
        let mut waiting: Vec<PollFd<'_>> = Vec::with_capacity(2);
        waiting.extend(output.from.as_ref().map(|from| PollFd::new(from, flags)));
        waiting.extend(errors.from.as_ref().map(|from| PollFd::new(from, flags)));
        let tick = Timespec { tv_sec: 0, tv_nsec: TICK.as_nanos().try_into().unwrap_or(0) };
        match poll(&mut waiting, Some(&tick)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(WorkspaceError::system("wait for git", error)),
        }
        let mut states = waiting.iter().map(|waiting| !waiting.revents().is_empty());
        let output_is = output.from.is_some() && states.next().unwrap_or(false);
        (output_is, errors.from.is_some() && states.next().unwrap_or(false))
    };
    if ready.0 {
        output.read();
    }
    if ready.1 {
        errors.read();
    }
    Ok(ready.0 || ready.1)
}
