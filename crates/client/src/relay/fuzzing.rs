//! The relay for fuzz targets: its state, without hubs and an editor.

use super::relay_state::{Output, RelayState};

/// The state of the relay.
#[derive(Debug, Default)]
pub struct Relay(RelayState);

/// Frames, in their order.
#[derive(Debug, Default)]
#[expect(missing_docs, reason = "the names say it, and only fuzz targets read them")]
pub struct Passed {
    pub to_hub: Vec<Vec<u8>>,
    pub to_shim: Vec<Vec<u8>>,
}

impl Relay {
    /// The editor sent a frame.
    pub fn shim_said(&mut self, frame: &[u8]) -> Passed {
        passed(self.0.shim_said(frame.to_vec()))
    }

    /// The hub sent a frame; an error if it rejects the window.
    pub fn hub_said(&mut self, frame: &[u8]) -> Result<Passed, String> {
        self.0.hub_said(frame.to_vec()).map(passed).map_err(|error| error.message)
    }

    /// A hub is connected.
    pub fn hub_up(&mut self) -> Passed {
        passed(self.0.hub_up())
    }

    /// It is gone.
    pub fn hub_down(&mut self) {
        self.0.hub_down();
    }
}

fn passed(Output { to_hub, to_shim, .. }: Output) -> Passed {
    Passed { to_hub, to_shim }
}
