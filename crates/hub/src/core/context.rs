//! Where the person is: the files that are open, when she was last in each, and what she has selected. Kept for each
//! window while an agent listens that wants to be told, and told when it has come to rest.

use std::cmp::Reverse;
use std::path::PathBuf;

use linkspan_dialect::{ActiveFile, EditorEvent, OpenFile};
use linkspan_editor_api as api;
use linkspan_editor_api::{OpenDocument, Position, Selection};
use linkspan_review::{AgentId, WindowId};

use super::Core;
use super::agents::Reach;
use super::editor::{NoAnswer, Resume};
use super::policy::Policy;
use super::timers::{Due, TimerId};

/// As long as nothing changes for this time, it is at rest.
const REST_MS: u64 = 50;

/// Whoever never rests is somewhere all the same.
const LONGEST_MS: u64 = 500;

#[derive(Debug, Default)]
pub(super) struct Context {
    /// Open files, with when the person was last in each, since 1970.
    seen: Vec<(PathBuf, u64)>,
    active: Option<PathBuf>,
    selection: Option<Selection>,
    told: Option<EditorEvent>,
    due: Option<TimerId>,
    /// The first change that was not told.
    moving_since_ms: Option<u64>,
}

impl Context {
    /// Takes in which files are open now, and gives what agents are told of them.
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

    /// Where in the active file she is.
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

impl Core {
    pub(super) fn remember_selection(&mut self, window: WindowId, selection: Selection) {
        if let Some(window) = self.windows.get_mut(&window) {
            window.context.selection = Some(selection);
        }
        self.context_changed(window);
    }

    /// Something of it did; what, is asked once it has come to rest.
    pub(super) fn context_changed(&mut self, id: WindowId) {
        let mut there = self.agents.of_window(id);
        if !there.any(|(_, agent)| matches!(agent.reach, Reach::Stream)) {
            return;
        }
        let Some(window) = self.windows.get_mut(&id) else { return };
        let since_ms = *window.context.moving_since_ms.get_or_insert(self.now_ms);
        let when = (self.now_ms + REST_MS).min(since_ms + LONGEST_MS);
        let timer = self.timers.add(when, Due::Context(id));
        if let Some(earlier) = window.context.due.replace(timer) {
            self.timers.cancel(earlier);
        }
    }

    pub(super) fn context_due(&mut self, id: WindowId) {
        let Some(window) = self.windows.get_mut(&id) else { return };
        window.context.due = None;
        window.context.moving_since_ms = None;
        let (has, local) = (window.capabilities, window.local);
        match local {
            Some(local) if has.selection && window.context.selection.is_none() => {
                self.ask(local, &api::SelectionCurrent {}, Resume::ContextSelection(id));
            }
            _ => self.list_context(id),
        }
    }

    pub(super) fn context_selected(&mut self, id: WindowId, answer: Result<Option<Selection>, NoAnswer>) {
        if let (Ok(Some(selection)), Some(window)) = (answer, self.windows.get_mut(&id)) {
            window.context.selection.get_or_insert(selection);
        }
        self.list_context(id);
    }

    fn list_context(&mut self, id: WindowId) {
        let Some(window) = self.windows.get(&id) else { return };
        match window.local.filter(|_| window.capabilities.documents) {
            Some(local) => self.ask(local, &api::DocumentsList {}, Resume::Context(id)),
            None => self.tell_context(id, Vec::new()),
        }
    }

    pub(super) fn context_listed(
        &mut self,
        id: WindowId,
        answer: Result<api::DocumentsListResult, NoAnswer>,
    ) {
        // An editor that does not answer has not closed its files.
        if let Ok(listed) = answer {
            self.tell_context(id, listed.documents);
        }
    }

    fn tell_context(&mut self, id: WindowId, documents: Vec<OpenDocument>) {
        let now_unix_ms = self.identity.started_at_ms + self.now_ms;
        let Some(window) = self.windows.get_mut(&id) else { return };
        let files = window.context.update(&documents, &window.policy, now_unix_ms);
        let event = EditorEvent::ContextChanged { files };
        if window.context.told.as_ref() != Some(&event) {
            window.context.told = Some(event.clone());
            self.tell_agents(id, &event);
        }
    }

    /// What the others know, at once; what changed while nobody listened, soon after.
    pub(super) fn greet_with_context(&mut self, id: AgentId) {
        let Some(window_id) = self.agents.get(&id).map(|agent| agent.window) else { return };
        let told = self.windows.get(&window_id).and_then(|window| window.context.told.clone());
        if let Some(event) = told {
            self.tell_each(vec![id], &event);
        }
        self.context_changed(window_id);
    }
}
