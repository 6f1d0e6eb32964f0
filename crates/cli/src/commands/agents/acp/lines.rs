//! Messages on standard streams: one on each line, none longer than a limit. Reading stops while the other side does not
//! keep up; nothing is lost. Does not know what the messages say.

use std::io::{BufRead, BufReader, Read, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

use super::{Inputs, ProxyInput};
use crate::cli::exit::Failure;

/// A message may carry a picture, or the whole text of a file before and after.
pub(super) const LONGEST: usize = 64 * 1024 * 1024;

/// Bytes that may wait for a reader that does not keep up.
const UNREAD: usize = 64 * 1024 * 1024;

#[derive(Debug)]
pub(super) enum LineEvent {
    /// Without its end.
    Line(Vec<u8>),
    TooLong,
    /// The stream has ended, or cannot be read.
    End,
}

/// Reads in a thread of its own until the stream ends.
pub(super) fn read(
    stream: impl Read + Send + 'static,
    inputs: Inputs,
    input: fn(LineEvent) -> ProxyInput,
) -> Result<(), Failure> {
    super::spawn("linkspan-lines", move || {
        let mut reader = BufReader::with_capacity(64 * 1024, stream);
        loop {
            let mut line = Vec::new();
            let most = u64::try_from(LONGEST).unwrap_or(u64::MAX);
            let read = (&mut reader).take(most + 1).read_until(b'\n', &mut line);
            let event = match read {
                Ok(1..) if line.len() > LONGEST => LineEvent::TooLong,
                Ok(1..) => {
                    if line.last() == Some(&b'\n') {
                        line.pop();
                    }
                    LineEvent::Line(line)
                }
                Ok(0) | Err(_) => LineEvent::End,
            };
            let is_last = !matches!(event, LineEvent::Line(_));
            if inputs.send(input(event)).is_err() || is_last {
                return;
            }
        }
    })
}

/// Writes in a thread of its own, so that a reader that is slow does not stop the other direction.
#[derive(Debug)]
pub(super) struct LineWriter {
    lines: Sender<Vec<u8>>,
    waiting: Arc<Backlog>,
    thread: JoinHandle<()>,
}

/// How many bytes wait.
#[derive(Debug, Default)]
struct Backlog {
    bytes: Mutex<usize>,
    written: Condvar,
}

impl LineWriter {
    pub(super) fn start(stream: impl Write + Send + 'static) -> Result<LineWriter, Failure> {
        let (lines, queued) = channel();
        let waiting = Arc::<Backlog>::default();
        let seen = Arc::clone(&waiting);
        let thread = std::thread::Builder::new()
            .name("linkspan-writer".to_owned())
            .spawn(move || write_all(stream, &queued, &seen))
            .map_err(|error| Failure::internal(format!("cannot start a thread: {error}")))?;
        Ok(LineWriter { lines, waiting, thread })
    }

    /// Waits only if very much waits already.
    pub(super) fn send(&self, line: Vec<u8>) {
        let mut bytes = self.waiting.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        while *bytes > UNREAD {
            bytes = self.waiting.written.wait(bytes).unwrap_or_else(PoisonError::into_inner);
        }
        *bytes += line.len();
        drop(bytes);
        // A reader that is gone is noticed where it is read from.
        let _ = self.lines.send(line);
    }

    /// Closes the stream once everything is written.
    pub(super) fn close(self) {
        drop(self.lines);
    }

    /// Waits until everything is written.
    pub(super) fn finish(self) {
        drop(self.lines);
        let _ = self.thread.join();
    }
}

fn write_all(mut stream: impl Write, queued: &Receiver<Vec<u8>>, waiting: &Backlog) {
    let mut is_open = true;
    for mut line in queued {
        let length = line.len();
        line.push(b'\n');
        // The rest is dropped, so that nobody waits for a reader that is gone.
        is_open = is_open && stream.write_all(&line).and_then(|()| stream.flush()).is_ok();
        let mut bytes = waiting.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        *bytes = bytes.saturating_sub(length);
        waiting.written.notify_all();
    }
}
