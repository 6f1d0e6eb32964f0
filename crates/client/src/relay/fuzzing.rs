//! The relay for fuzz targets: what it passes on, without the hubs and the editor it stands between.

use super::ledger::{Ledger, Moves};

/// What the relay remembers.
#[derive(Debug, Default)]
pub struct Relay(Ledger);

/// Frames, in their order.
#[derive(Debug, Default)]
#[expect(missing_docs, reason = "the names say it, and only fuzz targets read them")]
pub struct Passed {
    pub to_hub: Vec<Vec<u8>>,
    pub to_shim: Vec<Vec<u8>>,
}

impl Relay {
    /// The editor's side said something.
    pub fn shim_said(&mut self, frame: &[u8]) -> Passed {
        passed(self.0.shim_said(frame.to_vec()))
    }

    /// The hub said something; an error where it does not let the window in again.
    pub fn hub_said(&mut self, frame: &[u8]) -> Result<Passed, String> {
        self.0.hub_said(frame.to_vec()).map(passed).map_err(|error| error.message)
    }

    /// A hub is there.
    pub fn hub_up(&mut self) -> Passed {
        passed(self.0.hub_up())
    }

    /// It is gone.
    pub fn hub_down(&mut self) {
        self.0.hub_down();
    }
}

fn passed(Moves { to_hub, to_shim, .. }: Moves) -> Passed {
    Passed { to_hub, to_shim }
}
