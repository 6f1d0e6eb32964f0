//! What an editor tells without being asked, and who wants to hear it.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use super::types::EditorEvent;
use super::wire::Dialect;
use super::wire::shapes;

/// Events a subscriber has not taken yet. One that lets more pile up than this misses the newer ones.
const UNREAD: usize = 1024;

/// Everyone who wants to hear. After [`EditorEvent::Closed`] of a single connection there is nothing more.
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

    pub(crate) fn tell(&self, event: &EditorEvent) {
        self.senders
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .retain(|sender| !matches!(sender.try_send(event.clone()), Err(TrySendError::Disconnected(_))));
    }

    /// Ends every subscription, once what was told is read.
    pub(crate) fn end(&self) {
        self.senders.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// What a notification means; none for those that mean nothing to us.
pub(super) fn event(dialect: &dyn Dialect, method: &str, params: &Value) -> Option<EditorEvent> {
    match method {
        "selection_changed" => dialect.selection(params).ok().flatten().map(EditorEvent::Selection),
        "at_mentioned" => mentioned(params),
        "diagnostics_changed" => {
            let paths = ["paths", "uris"].iter().find_map(|key| params.get(key)?.as_array());
            let paths = paths?.iter().filter_map(|path| shapes::path(path.as_str()?)).collect();
            Some(EditorEvent::Diagnostics { paths })
        }
        "notifications/tools/list_changed" => Some(EditorEvent::ToolsChanged),
        _ => None,
    }
}

fn mentioned(params: &Value) -> Option<EditorEvent> {
    let path: PathBuf =
        ["path", "filePath"].iter().find_map(|key| shapes::path(params.get(key)?.as_str()?))?;
    let lines = match params.get("lines") {
        Some(lines) => shapes::number(lines.get("first")).zip(shapes::number(lines.get("last"))),
        None => shapes::number(params.get("lineStart"))
            .map(|first| (first, shapes::number(params.get("lineEnd")).unwrap_or(first))),
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
            subscribers.tell(&EditorEvent::ToolsChanged);
        }
        subscribers.end();
        assert_eq!(lazy.iter().count(), UNREAD);
    }
}
