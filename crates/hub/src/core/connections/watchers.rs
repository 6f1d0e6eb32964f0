//! Connections that watch: they receive what happens, as it happens. Watching changes nothing.

use linkspan_editor_api::{HubEvent, Message, WindowEvent};
use linkspan_review::WindowId;

use crate::core::connections::Connections;
use crate::core::contract::{Action, ConnectionId};
use crate::core::out::Out;

impl Connections {
    /// One window, or all.
    pub(super) fn watch(&mut self, connection: ConnectionId, window: Option<WindowId>) {
        self.watchers.insert(connection, window);
    }

    pub(in crate::core) fn watchers(&self) -> usize {
        self.watchers.len()
    }

    pub(in crate::core) fn publish(&self, out: &mut Out, window: WindowId, what: WindowEvent) {
        let watches = |watched: &Option<WindowId>| watched.is_none_or(|watched| watched == window);
        let watchers = self.watchers.iter().filter(|(_, watched)| watches(watched));
        let to: Vec<ConnectionId> = watchers.map(|(connection, _)| *connection).collect();
        if !to.is_empty() {
            let event = HubEvent { window: window.to_string(), what };
            out.push(Action::Publish { to, body: Message::notification(&event).to_bytes() });
        }
    }
}
