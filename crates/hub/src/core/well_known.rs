//! The port that ppxai's clients know by heart. It belongs to one window at a time: to the first, and when that is
//! closed, to the one the person was in last.

use linkspan_review::WindowId;

use super::Core;
use super::event::{Action, Listen};

/// The one dialect whose clients have such a port.
const DIALECT: &str = "ppxai";

#[derive(Debug, Default)]
pub(super) struct WellKnown {
    owner: Option<WindowId>,
    /// Somebody else may have the port; then it is tried again when something changes.
    open: bool,
}

impl Core {
    /// Something changed: another window may be the one now.
    pub(super) fn settle_well_known(&mut self) {
        let port = self.config.ppxai_port;
        if port == 0 {
            return;
        }
        let serves =
            |id: &WindowId| self.windows.get(id).is_some_and(|window| window.config.dialect_enabled(DIALECT));
        let before = self.well_known.owner;
        let owner = before.filter(serves).or_else(|| self.focused.iter().rev().copied().find(serves));
        if owner == before && (self.well_known.open || owner.is_none()) {
            return;
        }
        self.well_known.owner = owner;
        let window = owner.and_then(|id| Some((id, self.windows.get(&id)?)));
        let listen = window.map(|(id, window)| Listen {
            window: id,
            before: Some((port, window.token.clone())),
            connections: window.config.limits.connections,
            dialects: linkspan_dialect::by_name(DIALECT).into_iter().collect(),
            set_token: self.set_token(),
        });
        self.act(Action::ServeWellKnown { listen });
    }

    pub(super) fn well_known_open(&mut self, open: bool) {
        self.well_known.open = open;
    }

    /// The port, where it leads to this window.
    pub(super) fn well_known_port(&self, window: WindowId, dialect: &str) -> Option<u16> {
        let leads_here = self.well_known.open && self.well_known.owner == Some(window) && dialect == DIALECT;
        leads_here.then_some(self.config.ppxai_port)
    }
}
