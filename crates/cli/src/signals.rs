//! The signals that ask a command to leave.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use tokio::signal::unix::{SignalKind, signal};

use crate::exit::Failure;

/// What shells say of a program that was interrupted.
const INTERRUPTED: i32 = 130;

/// Ends with the first of them. Listens from now on, so that none is lost; needs a runtime around it.
pub(crate) fn leave_asked() -> io::Result<impl Future<Output = ()>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    })
}

/// Whether a signal has come to end a command that waits for a person.
#[derive(Debug)]
pub(crate) struct Interrupted(Arc<AtomicBool>);

impl Interrupted {
    /// Comes back only if nobody interrupted us: what ends because of it is not worth a word.
    pub(crate) fn or_go_on(&self) {
        while self.0.load(Ordering::SeqCst) {
            thread::park();
        }
    }
}

/// Whoever interrupts us does not want the answer any more: takes the question back, and ends.
pub(crate) fn take_back_when_interrupted(
    take_back: impl FnOnce() + Send + 'static,
) -> Result<Interrupted, Failure> {
    let failed = |error: io::Error| Failure::internal(format!("signals cannot be handled: {error}"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().map_err(failed)?;
    let listening = runtime.enter();
    let asked = leave_asked().map_err(failed)?;
    drop(listening);
    let interrupted = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&interrupted);
    thread::spawn(move || {
        runtime.block_on(asked);
        seen.store(true, Ordering::SeqCst);
        take_back();
        std::process::exit(INTERRUPTED);
    });
    Ok(Interrupted(interrupted))
}
