//! The fixed port that ppxai's clients expect. It belongs to one window at a time: to the first, and when that is
//! closed, to the one the user was in last.

use linkspan_review::WindowId;

use crate::core::contract::{Action, Listen};
use crate::core::out::Out;
use crate::core::windows::Windows;
use crate::core::windows::discovery_files::set_token;

/// The one dialect whose clients have such a port.
const DIALECT: &str = "ppxai";

#[derive(Debug, Default)]
pub(super) struct PpxaiPort {
    owner: Option<WindowId>,
    /// Another program may have the port; then it is tried again when something changes.
    open: bool,
}

impl Windows {
    /// Something changed: the port may belong to another window now.
    pub(super) fn update_ppxai_port(&mut self, out: &mut Out) {
        let port = out.config.ppxai_port;
        if port == 0 {
            return;
        }
        let serves =
            |id: &WindowId| self.open.get(id).is_some_and(|window| window.config.dialect_enabled(DIALECT));
        let before = self.ppxai_port.owner;
        let owner = before.filter(serves).or_else(|| self.focused.iter().rev().copied().find(serves));
        if owner == before && (self.ppxai_port.open || owner.is_none()) {
            return;
        }
        self.ppxai_port.owner = owner;
        let window = owner.and_then(|id| Some((id, self.open.get(&id)?)));
        let listen = window.map(|(id, window)| Listen {
            window: id,
            before: Some((port, window.token.clone())),
            connections: window.config.limits.connections,
            dialects: linkspan_dialect::by_name(DIALECT).into_iter().collect(),
            set_token: set_token(out),
        });
        out.push(Action::ServePpxaiPort { listen });
    }

    pub(in crate::core) fn set_ppxai_port_open(&mut self, open: bool) {
        self.ppxai_port.open = open;
    }

    /// The port, where it leads to this window.
    pub(in crate::core) fn ppxai_port(&self, out: &Out, window: WindowId, dialect: &str) -> Option<u16> {
        let leads_here = self.ppxai_port.open && self.ppxai_port.owner == Some(window) && dialect == DIALECT;
        leads_here.then_some(out.config.ppxai_port)
    }
}
