//! Where the user is: the open files, when the user was last in each, and the selection. Kept for each window while an
//! agent follows it, and sent once nothing changes for a moment.

use std::cmp::Reverse;
use std::path::PathBuf;

use linkspan_dialect::{ActiveFile, EditorEvent, OpenFile};
use linkspan_editor_api as api;
use linkspan_editor_api::{OpenDocument, Position, Selection};
use linkspan_review::WindowId;

use crate::core::contract::ConnectionId;
use crate::core::out::Out;
use crate::core::timers::{Due, TimerId};
use crate::core::windows::Windows;
use crate::core::windows::policy::Policy;

/// The user is at rest when nothing changes for this time.
const REST_MS: u64 = 50;

/// Something is sent after this time, also when the user never rests.
const LONGEST_MS: u64 = 500;

#[derive(Debug, Default)]
pub(in crate::core) struct Context {
    /// Open files, with the time the user was last in each, in milliseconds since 1970.
    seen: Vec<(PathBuf, u64)>,
    active: Option<PathBuf>,
    selection: Option<Selection>,
    told: Option<EditorEvent>,
    due: Option<TimerId>,
    /// When the first change happened that agents have not received.
    moving_since_ms: Option<u64>,
}

impl Context {
    /// Stores which files are open now, and returns what agents receive.
    fn update(&mut self, documents: &[OpenDocument], policy: &Policy, now_unix_ms: u64) -> Vec<OpenFile> {
        let has_file = |document: &&OpenDocument| !document.untitled && document.path.starts_with('/');
        let mut files: Vec<&OpenDocument> = documents.iter().filter(has_file).collect();
        // One file may be open in several tabs.
        files.sort_by_key(|document| !document.active);
        let active = files.first().filter(|document| document.active).copied();
        let active_path = active.map(|document| PathBuf::from(&document.path));
        let before = |path: &PathBuf| self.seen.iter().find(|(seen, _)| seen == path).map(|(_, when)| *when);
        let active_since = match &active_path {
            Some(path) if self.active.as_ref() == Some(path) => before(path).unwrap_or(now_unix_ms),
            _ => now_unix_ms,
        };
        let mut seen: Vec<(PathBuf, u64)> = Vec::new();
        for document in files {
            let path = PathBuf::from(&document.path);
            if seen.iter().any(|(other, _)| *other == path) {
                continue;
            }
            let when = match active_path.as_ref() == Some(&path) {
                true => active_since,
                // One that was opened behind the active file is not the newest.
                false => before(&path).unwrap_or(active_since).min(active_since.saturating_sub(1)),
            };
            seen.push((path, when));
        }
        seen.sort_by_key(|(path, when)| (active_path.as_ref() != Some(path), Reverse(*when)));
        self.seen = seen;
        self.active = active_path;
        let told = self.seen.iter().filter(|(path, _)| !policy.denies(path));
        let told = told.map(|(path, when)| OpenFile {
            path: path.clone(),
            focused_unix_ms: *when,
            active: active
                .filter(|_| self.active.as_ref() == Some(path))
                .map(|document| self.inside(document)),
        });
        told.collect()
    }

    /// Where in the active file the user is.
    fn inside(&self, document: &OpenDocument) -> ActiveFile {
        match self.selection.as_ref().filter(|selection| selection.path == document.path) {
            Some(selection) => ActiveFile {
                cursor: Some(cursor(selection.range, selection.reversed)),
                selected: selection.text.clone(),
            },
            None => ActiveFile {
                cursor: document.selection.map(|selection| cursor(selection.range, selection.reversed)),
                selected: String::new(),
            },
        }
    }
}

fn cursor(range: api::Range, reversed: bool) -> Position {
    if reversed { range.start } else { range.end }
}

impl Windows {
    pub(in crate::core) fn set_selection(&mut self, id: WindowId, selection: Selection) {
        if let Some(window) = self.open.get_mut(&id) {
            window.context.selection = Some(selection);
        }
    }

    /// The selection that the editor reported when it was asked. False if a newer one came meanwhile.
    pub(in crate::core) fn set_first_selection(&mut self, id: WindowId, selection: Selection) -> bool {
        let Some(window) = self.open.get_mut(&id) else { return false };
        let is_first = window.context.selection.is_none();
        window.context.selection.get_or_insert(selection);
        is_first
    }

    /// The newest selection that agents may know.
    pub(in crate::core) fn last_selection(&self, id: WindowId) -> Option<Selection> {
        let window = self.get(&id)?;
        window.context.selection.clone().filter(|selection| !window.policy.denies(&selection.path))
    }

    /// Something changed. The editor is asked for the details once nothing changes for a moment.
    pub(in crate::core) fn context_changed(&mut self, out: &mut Out, id: WindowId) {
        let Some(window) = self.open.get_mut(&id) else { return };
        let since_ms = *window.context.moving_since_ms.get_or_insert(out.now_ms);
        let when = (out.now_ms + REST_MS).min(since_ms + LONGEST_MS);
        let timer = out.at(when, Due::Context(id));
        if let Some(earlier) = window.context.due.replace(timer) {
            out.cancel(earlier);
        }
    }

    /// Nothing changed for a moment. Returns the editor to ask for the selection, if that is not known.
    pub(in crate::core) fn context_at_rest(&mut self, id: WindowId) -> Option<ConnectionId> {
        let window = self.open.get_mut(&id)?;
        window.context.due = None;
        window.context.moving_since_ms = None;
        let asks = window.capabilities.selection && window.context.selection.is_none();
        window.connection.filter(|_| asks)
    }

    /// Stores which files are open now. Returns what agents receive, if that is something new.
    pub(in crate::core) fn update_context(
        &mut self,
        out: &Out,
        id: WindowId,
        documents: &[OpenDocument],
    ) -> Option<EditorEvent> {
        let window = self.open.get_mut(&id)?;
        let files = window.context.update(documents, &window.policy, out.unix_ms());
        let event = EditorEvent::ContextChanged { files };
        if window.context.told.as_ref() == Some(&event) {
            return None;
        }
        window.context.told = Some(event.clone());
        Some(event)
    }

    /// What agents received last.
    pub(in crate::core) fn last_context(&self, id: WindowId) -> Option<EditorEvent> {
        self.get(&id)?.context.told.clone()
    }
}
