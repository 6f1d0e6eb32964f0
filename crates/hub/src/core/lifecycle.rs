//! Whether the hub is needed: heartbeats while someone is connected, the end when nothing is left to do, and the
//! figures of a running hub. Owns the two clocks; what keeps the hub alive it is told.

use std::collections::BTreeMap;

use linkspan_editor_api::{Message, PageLinkResult, PageRevokeResult, RequestId, RpcError, errors};
use serde::Serialize;

use crate::core::contract::{ConnectionId, Refusal};
use crate::core::out::Out;
use crate::core::timers::{Due, TimerId};

#[derive(Debug, Default)]
pub(super) struct Lifecycle {
    heartbeat: Option<TimerId>,
    idle: Option<TimerId>,
    /// Until when a link to the page may be used.
    page_link_expires_ms: u64,
    refused: BTreeMap<&'static str, u64>,
    /// Why the last record was not made.
    record_error: Option<String>,
}

impl Lifecycle {
    /// Starts and stops the two clocks that depend on whether anything is going on.
    pub(super) fn update(&mut self, out: &mut Out, is_connected: bool, is_busy: bool) {
        match (is_connected, self.heartbeat) {
            (true, None) => {
                let delay_ms = out.config.limits.heartbeat_seconds * 1000;
                self.heartbeat = Some(out.after(delay_ms, Due::Heartbeat));
            }
            (false, Some(timer)) => {
                out.cancel(timer);
                self.heartbeat = None;
            }
            _ => {}
        }
        match (is_busy, self.idle) {
            (false, None) => {
                // A link that was given out works as long as it says.
                let when = (out.now_ms + out.config.idle_exit_seconds * 1000).max(self.page_link_expires_ms);
                self.idle = Some(out.at(when, Due::IdleExit));
            }
            (true, Some(timer)) => {
                out.cancel(timer);
                self.idle = None;
            }
            _ => {}
        }
    }

    pub(super) fn heartbeat_is_over(&mut self) {
        self.heartbeat = None;
    }

    pub(super) fn idle_is_over(&mut self) {
        self.idle = None;
    }

    pub(super) fn count_refusal(&mut self, refusal: Refusal) {
        *self.refused.entry(refusal.name()).or_default() += 1;
    }

    pub(super) fn refusals(&self) -> BTreeMap<String, u64> {
        self.refused.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
    }

    pub(super) fn set_record_error(&mut self, error: Option<String>) {
        self.record_error = error;
    }

    pub(super) fn record_error(&self) -> Option<&str> {
        self.record_error.as_deref()
    }

    pub(super) fn page_linked(
        &mut self,
        out: &mut Out,
        connection: ConnectionId,
        request: RequestId,
        result: Result<PageLinkResult, String>,
    ) {
        if let Ok(link) = &result {
            let expires_ms = out.now_ms + link.expires_in_seconds * 1000;
            self.stay_until(out, expires_ms);
        }
        out.send(connection, &answer(request, result));
    }

    pub(super) fn page_revoked(
        &mut self,
        out: &mut Out,
        connection: ConnectionId,
        request: RequestId,
        result: Result<PageRevokeResult, String>,
    ) {
        self.stay_until(out, 0);
        out.send(connection, &answer(request, result));
    }

    /// For users who have a link.
    fn stay_until(&mut self, out: &mut Out, when_ms: u64) {
        self.page_link_expires_ms = when_ms;
        if let Some(timer) = self.idle.take() {
            out.cancel(timer);
        }
    }
}

fn answer<T: Serialize>(request: RequestId, result: Result<T, String>) -> Message {
    match result {
        Ok(result) => Message::response(request, &result),
        Err(message) => Message::error(Some(request), RpcError::new(errors::INTERNAL, message)),
    }
}
