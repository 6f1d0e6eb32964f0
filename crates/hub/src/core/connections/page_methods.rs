//! What the browser page may ask. Who may open a page is decided at its port.

use linkspan_editor_api as api;
use linkspan_editor_api::{Ping, Request};

/// Looking, deciding, and conversations with hosted agents; nothing that is for editors, agents or the owner of the hub.
const ALLOWED: [&str; 24] = [
    api::HubHello::METHOD,
    api::HubStatus::METHOD,
    api::HubWindows::METHOD,
    api::HubWatch::METHOD,
    api::ReviewsList::METHOD,
    api::ReviewsGet::METHOD,
    api::ReviewsDecide::METHOD,
    api::AsksList::METHOD,
    api::AsksAnswer::METHOD,
    api::HistoryList::METHOD,
    api::HistoryUndo::METHOD,
    api::HistoryUndoTurn::METHOD,
    api::ChatAgents::METHOD,
    api::ChatList::METHOD,
    api::ChatStart::METHOD,
    api::ChatOpen::METHOD,
    api::ChatItems::METHOD,
    api::ChatFiles::METHOD,
    api::ChatSymbols::METHOD,
    api::ChatPrompt::METHOD,
    api::ChatCancel::METHOD,
    api::ChatSetMode::METHOD,
    api::ChatClose::METHOD,
    Ping::METHOD,
];

pub(super) fn is_allowed(method: &str) -> bool {
    ALLOWED.contains(&method)
}
