//! The signals that ask a command to leave.

use std::io;

use tokio::signal::unix::{SignalKind, signal};

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
