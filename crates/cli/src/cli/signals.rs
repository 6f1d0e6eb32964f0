//! The signals that end a command.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use tokio::signal::unix::{SignalKind, signal};

use crate::cli::exit::{Exit, Failure};

/// Completes at the first SIGINT, SIGTERM or SIGHUP. The handlers are installed before this returns, so that no signal is
/// lost; must be called inside a runtime.
pub(crate) fn termination() -> io::Result<impl Future<Output = ()>> {
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

/// Whether a signal is ending a command that waits for a decision.
#[derive(Debug)]
pub(crate) struct Interrupted(Arc<AtomicBool>);

impl Interrupted {
    /// Returns only if no signal came. Otherwise the process ends in the other thread, and an error that the interrupt
    /// caused is not printed.
    pub(crate) fn park_if_interrupted(&self) {
        while self.0.load(Ordering::SeqCst) {
            thread::park();
        }
    }
}

/// At the first signal, calls `withdraw` and ends the process with `Exit::Interrupted`.
pub(crate) fn withdraw_on_interrupt(
    withdraw: impl FnOnce() + Send + 'static,
) -> Result<Interrupted, Failure> {
    let failed = |error: io::Error| Failure::internal(format!("cannot handle signals: {error}"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().map_err(failed)?;
    let listening = runtime.enter();
    let terminated = termination().map_err(failed)?;
    drop(listening);
    let interrupted = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&interrupted);
    thread::spawn(move || {
        runtime.block_on(terminated);
        seen.store(true, Ordering::SeqCst);
        withdraw();
        std::process::exit(Exit::Interrupted.code().into());
    });
    Ok(Interrupted(interrupted))
}
