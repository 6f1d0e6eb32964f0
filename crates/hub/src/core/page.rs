//! What the core knows of the browser page: what it may ask, and that links are given out and taken back. Who is
//! let in is decided at its port.

use linkspan_editor_api as api;
use linkspan_editor_api::{
    Message, PageLinkResult, PageRevokeResult, Ping, Request, RequestId, RpcError, errors,
};
use serde::Serialize;

use super::Core;
use super::editor::Local;
use super::event::{Action, LocalId};

/// Looking and deciding; nothing that is for editors, agents or whoever runs the hub.
const MAY_ASK: [&str; 12] = [
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
    Ping::METHOD,
];

pub(super) fn may_ask(method: &str) -> bool {
    MAY_ASK.contains(&method)
}

impl Core {
    pub(super) fn page_opened(&mut self, local: LocalId) {
        self.locals.insert(local, Local::page());
    }

    pub(super) fn link_page(&mut self, local: LocalId, request: RequestId) {
        self.act(Action::LinkPage { local, request });
    }

    pub(super) fn page_linked(
        &mut self,
        local: LocalId,
        request: RequestId,
        result: Result<PageLinkResult, String>,
    ) {
        if let Ok(link) = &result {
            self.stay_until(self.now_ms + link.expires_in_seconds * 1000);
        }
        self.send(local, &answer(request, result));
    }

    pub(super) fn revoke_page(&mut self, local: LocalId, request: RequestId) {
        self.act(Action::RevokePage { local, request });
    }

    pub(super) fn page_revoked(
        &mut self,
        local: LocalId,
        request: RequestId,
        result: Result<PageRevokeResult, String>,
    ) {
        self.stay_until(0);
        self.send(local, &answer(request, result));
    }

    /// For those who have a link, from now on.
    fn stay_until(&mut self, when_ms: u64) {
        self.link_until_ms = when_ms;
        if let Some(timer) = self.idle.take() {
            self.timers.cancel(timer);
        }
    }
}

fn answer<T: Serialize>(request: RequestId, result: Result<T, String>) -> Message {
    match result {
        Ok(result) => Message::response(request, &result),
        Err(message) => Message::error(Some(request), RpcError::new(errors::INTERNAL, message)),
    }
}
