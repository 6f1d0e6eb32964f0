//! Notifications of an editor, and their subscribers.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use super::types::EditorEvent;
use super::wire::WireCodec;
use super::wire::foreign_answer;

/// The most events that are kept for a subscriber. One that does not read misses the newer ones.
const UNREAD: usize = 1024;

/// All subscribers. After [`EditorEvent::Closed`] of a single connection there are no more events.
#[derive(Debug, Default)]
pub(crate) struct Subscribers {
    senders: Mutex<Vec<SyncSender<EditorEvent>>>,
}

impl Subscribers {
    pub(crate) fn subscribe(&self) -> Receiver<EditorEvent> {
        let (sender, receiver) = sync_channel(UNREAD);
        self.senders.lock().unwrap_or_else(PoisonError::into_inner).push(sender);
        receiver
    }

    pub(crate) fn notify(&self, event: &EditorEvent) {
        self.senders
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .retain(|sender| !matches!(sender.try_send(event.clone()), Err(TrySendError::Disconnected(_))));
    }

    /// Sends [`EditorEvent::Closed`] and ends every subscription. In one step, because the connection's thread and a
    /// new subscriber may both find out that the connection is closed, and each subscriber receives the event once.
    pub(crate) fn close(&self) {
        for sender in self.senders.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            let _ = sender.try_send(EditorEvent::Closed);
        }
    }
}

/// The event of a notification; none for notifications that we do not use.
pub(super) fn event(dialect: &dyn WireCodec, method: &str, params: &Value) -> Option<EditorEvent> {
    match method {
        "selection_changed" => dialect.selection(params).ok().flatten().map(EditorEvent::Selection),
        "at_mentioned" => mentioned(params),
        "diagnostics_changed" => {
            let paths = ["paths", "uris"].iter().find_map(|key| params.get(key)?.as_array());
            let paths = paths?.iter().filter_map(|path| foreign_answer::path(path.as_str()?)).collect();
            Some(EditorEvent::Diagnostics { paths })
        }
        "notifications/tools/list_changed" => Some(EditorEvent::ToolsChanged),
        _ => None,
    }
}

fn mentioned(params: &Value) -> Option<EditorEvent> {
    let path: PathBuf =
        ["path", "filePath"].iter().find_map(|key| foreign_answer::path(params.get(key)?.as_str()?))?;
    let lines = match params.get("lines") {
        Some(lines) => {
            foreign_answer::number(lines.get("first")).zip(foreign_answer::number(lines.get("last")))
        }
        None => foreign_answer::number(params.get("lineStart"))
            .map(|first| (first, foreign_answer::number(params.get("lineEnd")).unwrap_or(first))),
    };
    Some(EditorEvent::Mentioned { path, lines })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::wire;
    use super::*;

    #[test]
    fn a_mention_is_understood_in_both_shapes_and_without_lines() {
        for (params, lines) in [
            (json!({ "filePath": "b.txt", "lineStart": 0, "lineEnd": 1 }), Some((0, 1))),
            (json!({ "filePath": "b.txt", "lineStart": 4 }), Some((4, 4))),
            (json!({ "filePath": "b.txt", "lineStart": null, "lineEnd": null }), None),
            (json!({ "path": "b.txt", "lines": { "first": 2, "last": 3 } }), Some((2, 3))),
            (json!({ "path": "b.txt" }), None),
        ] {
            let heard = event(&wire::CLAUDE, "at_mentioned", &params);
            assert_eq!(heard, Some(EditorEvent::Mentioned { path: "b.txt".into(), lines }), "{params}");
        }
        assert_eq!(event(&wire::CLAUDE, "at_mentioned", &json!([1])), None);
    }

    #[test]
    fn changed_diagnostics_name_paths_or_uris() {
        let paths = vec![PathBuf::from("/w/a b.rs")];
        for params in [json!({ "paths": ["/w/a b.rs"] }), json!({ "uris": ["file:///w/a%20b.rs", 7] })] {
            let heard = event(&wire::OWN, "diagnostics_changed", &params);
            assert_eq!(heard, Some(EditorEvent::Diagnostics { paths: paths.clone() }), "{params}");
        }
    }

    #[test]
    fn one_who_reads_nothing_holds_up_nobody() {
        let subscribers = Subscribers::default();
        let (lazy, gone) = (subscribers.subscribe(), subscribers.subscribe());
        drop(gone);
        for _ in 0..UNREAD * 2 {
            subscribers.notify(&EditorEvent::ToolsChanged);
        }
        subscribers.close();
        assert_eq!(lazy.iter().count(), UNREAD);
    }

    #[test]
    fn a_subscriber_learns_once_that_the_connection_is_closed() {
        let subscribers = Subscribers::default();
        let events = subscribers.subscribe();
        subscribers.close();
        subscribers.close();
        assert_eq!(events.iter().collect::<Vec<_>>(), [EditorEvent::Closed]);
    }
}
