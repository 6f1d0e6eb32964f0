//! Windows: an editor with its folders, its port, token and rules. They stay for a while when the editor goes away.
//!
//! Owns the open windows, those of earlier hubs that may come back, the order in which the user was in them, their
//! discovery files and the port that ppxai's clients expect. Knows nothing of agents and reviews, and only the ids of
//! connections; `attach` is the flow that connects a window with them.
//!
//! A window keeps its id, port and token as long as its editor may come back, also over a restart of the hub: agents hold
//! on to the port and token that they read.

pub(super) mod attach;
mod changed_diagnostics;
mod codex_daemon;
pub(super) mod context;
pub(super) mod discovery_files;
pub(super) mod policy;
mod ppxai_port;
mod window;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use linkspan_review::{SurfaceId, WindowId};

use crate::core::connections::Connections;
use crate::core::contract::{Action, ConnectionId, RememberedWindow};
use crate::core::out::Out;
use crate::core::pending::Preapproval;
use crate::core::timers::Due;
use crate::token::Token;
use policy::Policy;
use ppxai_port::PpxaiPort;

pub(super) use window::{Window, WindowIdentity};

#[derive(Debug)]
pub(super) struct Windows {
    open: BTreeMap<WindowId, Window>,
    /// Windows of earlier hubs, to give them their port and token back.
    remembered: Vec<RememberedWindow>,
    /// Whose editor has not come back in time.
    missing_are_gone: bool,
    next: u64,
    /// In the order in which the user was last in them.
    focused: Vec<WindowId>,
    ppxai_port: PpxaiPort,
    /// Those that are connected to the user's Codex daemon, or wait for one.
    codex: BTreeSet<WindowId>,
    /// Why discovery files could not be written.
    discovery_errors: BTreeMap<PathBuf, String>,
    /// The rules of windows that were closed, as far as they were read.
    closed: BTreeMap<WindowId, Policy>,
}

impl Windows {
    pub(super) fn new(remembered: Vec<RememberedWindow>, next: u64) -> Windows {
        Windows {
            open: BTreeMap::new(),
            remembered,
            missing_are_gone: false,
            next,
            focused: Vec::new(),
            ppxai_port: PpxaiPort::default(),
            codex: BTreeSet::new(),
            discovery_errors: BTreeMap::new(),
            closed: BTreeMap::new(),
        }
    }

    pub(super) fn get(&self, id: &WindowId) -> Option<&Window> {
        self.open.get(id)
    }

    pub(super) fn get_mut(&mut self, id: &WindowId) -> Option<&mut Window> {
        self.open.get_mut(id)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&WindowId, &Window)> {
        self.open.iter()
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &WindowId> {
        self.open.keys()
    }

    pub(super) fn contains_key(&self, id: &WindowId) -> bool {
        self.open.contains_key(id)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    /// The connections of all editors.
    pub(super) fn connections(&self) -> Vec<ConnectionId> {
        self.open.values().filter_map(|window| window.connection).collect()
    }

    pub(super) fn any_attached(&self) -> bool {
        self.open.values().any(|window| window.connection.is_some())
    }

    /// Its editor has documents, is not connected, and may still come back.
    pub(super) fn editor_is_away(&self, id: WindowId) -> bool {
        self.get(&id).is_some_and(|window| window.capabilities.documents && window.connection.is_none())
    }

    /// Who decided, for display.
    pub(super) fn surface_name(&self, connections: &Connections, surface: SurfaceId) -> String {
        if let Some(preapproval) = Preapproval::of(surface) {
            return preapproval.place().to_owned();
        }
        let Some(connection) = connections.get(ConnectionId(surface.0)) else {
            return "someone".to_owned();
        };
        match connection.window().and_then(|window| self.get(&window)) {
            Some(window) => window.editor.name.clone(),
            None if connection.role().is_empty() => "a command".to_owned(),
            None => connection.role().to_owned(),
        }
    }

    /// Where files of this window may be, and how large; also of a window that is closed.
    pub(super) fn folders_of(&self, out: &Out, id: WindowId) -> (Vec<PathBuf>, usize) {
        match self.get(&id) {
            Some(window) => (window.folders.clone(), window.config.limits.file_mib),
            None => {
                let remembered = self.remembered(id);
                let folders = remembered.map(|old| old.real_folders.clone()).unwrap_or_default();
                (folders, out.config.limits.file_mib)
            }
        }
    }

    pub(super) fn remembered(&self, id: WindowId) -> Option<&RememberedWindow> {
        self.remembered.iter().find(|old| old.id == id)
    }

    /// Editors of the last hub that may still come back.
    fn expected(&self) -> impl Iterator<Item = &RememberedWindow> {
        // A window that was closed has no discovery files.
        self.missing().filter(|old| !self.missing_are_gone && !old.discovery.is_empty())
    }

    fn is_any_expected(&self) -> bool {
        self.expected().next().is_some()
    }

    /// Whether one of those may have this file.
    pub(super) fn may_come_back(&self, path: &Path) -> bool {
        self.expected().any(|old| old.real_folders.iter().any(|folder| path.starts_with(folder)))
    }

    fn give_up_missing(&mut self) {
        self.missing_are_gone = true;
    }

    /// Windows of earlier hubs whose editor has not come back.
    fn missing(&self) -> impl Iterator<Item = &RememberedWindow> {
        self.remembered.iter().filter(|old| !self.open.contains_key(&old.id))
    }

    pub(super) fn set_closed_policy(&mut self, id: WindowId, policy: Policy) {
        self.closed.insert(id, policy);
    }

    /// Whether news of a file may leave a window: only while the window is open, and if its policy does not deny it.
    pub(super) fn may_leave(&self, id: WindowId, path: impl AsRef<Path>) -> bool {
        self.get(&id).is_some_and(|window| !window.policy.denies(path))
    }

    /// Whether a window, open or closed, keeps the file from agents and watchers.
    pub(super) fn is_denied(&self, out: &Out, id: WindowId, path: impl AsRef<Path>) -> bool {
        match (self.get(&id), self.closed.get(&id)) {
            (Some(window), _) => window.policy.denies(path),
            (None, Some(closed)) => closed.denies(path),
            (None, None) => {
                let (folders, globs) = (self.folders_of(out, id).0, out.config.deny_globs());
                Policy::new(folders, globs, &out.info.private_dirs).denies(path)
            }
        }
    }

    fn insert(&mut self, id: WindowId, window: Window) {
        self.open.insert(id, window);
    }

    fn new_id(&mut self) -> WindowId {
        self.next += 1;
        WindowId(self.next - 1)
    }

    /// Its editor is not connected. It is closed after a while, unless the editor comes back.
    fn set_away(&mut self, out: &mut Out, id: WindowId) {
        let timer = out.after_in_steps(out.config.window_grace_seconds * 1000, Due::Window(id));
        if let Some(window) = self.open.get_mut(&id) {
            window.connection = None;
            if let Some(old) = window.grace.replace(timer) {
                out.cancel(old);
            }
        }
    }

    /// Removes a window from those that are open.
    fn close(&mut self, out: &mut Out, id: WindowId) -> Option<Window> {
        let window = self.open.remove(&id)?;
        if let Some(timer) = window.grace {
            out.cancel(timer);
        }
        Some(window)
    }

    /// Remembers what it needs to be found again by the next hub.
    fn remember(&mut self, out: &mut Out, id: WindowId) {
        let Some(window) = self.open.get(&id) else { return };
        let row = RememberedWindow {
            id,
            editor: window.identity.editor.clone(),
            folders: window.identity.folders.clone(),
            real_folders: window.folders.clone(),
            key: window.identity.key.clone(),
            port: window.port,
            token: window.token.secret().to_owned(),
            discovery: window.discovery.iter().map(|(_, file)| file.path()).collect(),
        };
        self.remembered.retain(|old| old.id != id);
        self.remembered.push(row.clone());
        out.push(Action::RememberWindow { window: row });
    }

    /// An open window of this identity, with the connection that it has.
    fn find_open(
        &self,
        identity: &WindowIdentity,
        is_preparing: impl Fn(WindowId) -> bool,
    ) -> Option<(WindowId, u16, Token, Option<ConnectionId>)> {
        let matches = |window: &Window| {
            let WindowIdentity { editor, folders, key } = &window.identity;
            identity.is_same(editor, folders, key)
        };
        // With an id of its own, a second connection is the same window that came back before we saw it leave.
        let (id, window) = self.open.iter().find(|(id, window)| {
            matches(window)
                && (window.connection.is_none() && !is_preparing(**id) || !identity.key.is_empty())
        })?;
        Some((*id, window.port, window.token.clone(), window.connection))
    }

    /// A window of this identity that an earlier hub had.
    fn find_remembered(
        &self,
        identity: &WindowIdentity,
        is_preparing: impl Fn(WindowId) -> bool,
    ) -> Option<(WindowId, u16, Token)> {
        let taken = |id: WindowId| self.open.contains_key(&id) || is_preparing(id);
        self.remembered
            .iter()
            .rev()
            .find(|old| !taken(old.id) && identity.is_same(&old.editor, &old.folders, &old.key))
            .map(|old| (old.id, old.port, Token::remembered(old.token.clone())))
    }
}
