//! The event on standard input, with a limit on its size and on the time that it may take.

use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use linkspan_dialect::hooks::MAX_INPUT;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

const DEADLINE: Duration = Duration::from_secs(10);
/// Most events are smaller, and every page of memory costs a hook time.
const READ_BYTES: usize = 16 * 1024;

/// The whole event. One that is too large is read to its end, too: an agent whose hook stops reading reports that its
/// hook failed.
pub(super) fn read() -> Result<Vec<u8>, String> {
    let (mut event, mut size) = (Vec::new(), 0_usize);
    each_chunk(|chunk| {
        size = size.saturating_add(chunk.len());
        if size <= MAX_INPUT {
            event.extend_from_slice(chunk);
        }
    })?;
    if size > MAX_INPUT {
        return Err(format!("the hook's input has {size} bytes, and at most {MAX_INPUT} are read"));
    }
    Ok(event)
}

/// Reads the event and ignores it.
pub(super) fn skip() {
    // Nobody waits for the event, so its end is as good as an error.
    let _ = each_chunk(|_| {});
}

fn each_chunk(mut handle: impl FnMut(&[u8])) -> Result<(), String> {
    let failed = |error: &dyn std::fmt::Display| format!("cannot read the hook's input: {error}");
    let stdin = io::stdin();
    let deadline = Instant::now() + DEADLINE;
    let mut chunk = [0; READ_BYTES];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let left = Timespec::try_from(left).map_err(|error| failed(&error))?;
        let mut waiting = [PollFd::from_borrowed_fd(stdin.as_fd(), PollFlags::IN)];
        match poll(&mut waiting, Some(&left)) {
            Ok(0) => {
                let seconds = DEADLINE.as_secs();
                return Err(format!("the hook's input did not end within {seconds} s"));
            }
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(failed(&error)),
            Ok(_) => {}
        }
        match rustix::io::read(stdin.as_fd(), &mut chunk) {
            Ok(0) => return Ok(()),
            Ok(length) => handle(chunk.get(..length).unwrap_or_default()),
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
            Err(error) => return Err(failed(&error)),
        }
    }
}
