//! Requests that survive restarts of the hub: an interrupted request is sent again, also a decision, because it counts
//! once however often it is sent. Prints nothing.

use std::fmt;
use std::sync::Arc;
use std::thread;

use linkspan_client::backoff::Backoff;
use linkspan_client::{Control, ControlError};
use linkspan_editor_api::Request;

/// Opens a connection to the hub, after the handshake, and starts a hub if none is running; an error is shown to the
/// user.
pub type Connect = Arc<dyn Fn() -> Result<Control, String> + Send + Sync>;

/// A control connection that waits for the hub to come back.
pub struct RetryingControl {
    connect: Connect,
    control: Option<Control>,
}

impl fmt::Debug for RetryingControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetryingControl").field("control", &self.control).finish_non_exhaustive()
    }
}

impl RetryingControl {
    /// Connects with the first request.
    pub fn new(connect: Connect) -> RetryingControl {
        RetryingControl { connect, control: None }
    }

    /// Sends the request until there is a response; returns only errors that a retry would not fix.
    pub fn ask<R: Request>(&mut self, request: &R) -> Result<R::Result, ControlError> {
        let mut backoff = Backoff::to_hub();
        loop {
            if self.control.is_none() {
                self.control = (self.connect)().ok();
            }
            match self.control.as_mut().map(|control| control.request(request)) {
                Some(Err(ControlError::Closed | ControlError::Io(_) | ControlError::Timeout { .. })) => {
                    self.control = None;
                }
                Some(answer) => return answer,
                None => {}
            }
            thread::sleep(backoff.pause());
        }
    }
}
