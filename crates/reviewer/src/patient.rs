//! Asking the hub over its restarts: a question that was on its way is asked again, and a decision told again, because
//! it counts once however often it is told. Says nothing to anybody.

use std::fmt;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use linkspan_client::{Control, ControlError};
use linkspan_editor_api::Request;

pub(crate) const FIRST_PAUSE: Duration = Duration::from_millis(100);
pub(crate) const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// Makes a connection to the hub, greeted, and starts one if there is none; an error is told to the person.
pub type Connect = Arc<dyn Fn() -> Result<Control, String> + Send + Sync>;

/// Somebody who waits for the hub to come back.
pub struct Patient {
    connect: Connect,
    control: Option<Control>,
}

impl fmt::Debug for Patient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Patient").field("control", &self.control).finish_non_exhaustive()
    }
}

impl Patient {
    /// Connects when something is asked.
    pub fn new(connect: Connect) -> Patient {
        Patient { connect, control: None }
    }

    /// Asks until there is an answer; an error is one that asking again would not help.
    pub fn ask<R: Request>(&mut self, request: &R) -> Result<R::Result, ControlError> {
        let mut pause = FIRST_PAUSE;
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
            thread::sleep(pause);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}
