//! Windows: how an editor joins, and keeps its port, token and agents while it is away. How agents find it is in
//! `announcing`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use linkspan_dialect::{DiscoveryFile, FailureKind, Folders};
use linkspan_editor_api::{
    Attach, AttachResult, Capabilities, Editor, Message, PROTOCOL, RequestId, RpcError, WindowEvent, errors,
    version_notice,
};
use linkspan_review as review;
use linkspan_review::{AgentId, Review, WindowId};

use super::Core;
use super::agents::Reach;
use super::context::Context;
use super::event::{Action, Listen, LocalId, Prepared, Ticket};
use super::policy::Policy;
use super::timers::{Due, TimerId};
use crate::config::Config;
use crate::journal::RememberedWindow;
use crate::token::Token;

#[derive(Debug)]
pub(super) struct Window {
    /// Same editor, same folders (or the id it gave): the same window when it comes back.
    pub(super) identity: WindowIdentity,
    pub(super) editor: Editor,
    pub(super) pid: u32,
    /// Symlinks followed: what paths are checked against.
    pub(super) folders: Vec<PathBuf>,
    pub(super) port: u16,
    pub(super) token: Token,
    /// The person's config, tightened by the workspace.
    pub(super) config: Config,
    pub(super) policy: Policy,
    pub(super) local: Option<LocalId>,
    pub(super) capabilities: Capabilities,
    pub(super) discovery: Vec<(&'static str, DiscoveryFile)>,
    /// What `CLAUDE_CONFIG_DIR` says in the editor's process.
    pub(super) claude_config_dir: Option<String>,
    /// Files of which the person was told that they are too large.
    pub(super) too_large: BTreeSet<PathBuf>,
    /// Where the person is, for agents that are told.
    pub(super) context: Context,
    grace: Option<TimerId>,
    /// The request of an editor that waits to be let in.
    pub(super) arriving: Option<RequestId>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WindowIdentity {
    pub(super) editor: String,
    /// As the editor names them.
    pub(super) folders: Vec<PathBuf>,
    /// The id the editor keeps over reloads, or empty.
    pub(super) key: String,
}

impl WindowIdentity {
    fn of(attach: &Attach) -> WindowIdentity {
        WindowIdentity {
            editor: attach.editor.name.clone(),
            folders: attach.folders.iter().map(PathBuf::from).collect(),
            key: attach.window_id.clone().unwrap_or_default(),
        }
    }

    /// An editor's own id says enough; folders may change under it.
    fn is_same(&self, editor: &str, folders: &[PathBuf], key: &str) -> bool {
        self.editor == editor && self.key == key && (!key.is_empty() || same_folders(&self.folders, folders))
    }
}

/// Editors speak of files by the folder's own name, agents also by where it really is.
fn both_names(named: &[impl AsRef<Path>], real: &[PathBuf]) -> Vec<PathBuf> {
    named.iter().map(|folder| folder.as_ref().to_owned()).chain(real.iter().cloned()).collect()
}

/// The same place under another name of its folder.
fn moved(path: &Path, from: &Path, to: &Path) -> Option<PathBuf> {
    let rest = path.strip_prefix(from).ok()?;
    // Joining nothing would add a slash.
    Some(if rest.as_os_str().is_empty() { to.to_owned() } else { to.join(rest) })
}

impl Window {
    /// A file as the editor names it, which may have opened the folder through a symlink: under any other name
    /// it would not know its own document.
    pub(super) fn as_named(&self, path: &Path) -> PathBuf {
        // Folders that are not there have no real name; then the two lists do not pair up.
        let paired = self.identity.folders.len() == self.folders.len();
        let mut pairs = self.identity.folders.iter().zip(&self.folders).filter(|_| paired);
        let named = pairs.find_map(|(named, real)| moved(path, real, named));
        named.unwrap_or_else(|| path.to_owned())
    }
}

impl Window {
    /// An editor that has documents and no terminal keeps commands from a folder that is not trusted. Where there is
    /// no editor, the hub has terminals of its own.
    pub(super) fn runs_commands(&self) -> bool {
        self.capabilities.terminal || !self.capabilities.documents
    }

    pub(super) fn both_folders(&self) -> Folders {
        Folders { named: self.identity.folders.clone(), real: self.folders.clone() }
    }

    /// Whether it is in one of the folders, as the editor or the disk names them.
    pub(super) fn has(&self, path: impl AsRef<Path>) -> bool {
        let mut folders = self.identity.folders.iter().chain(&self.folders);
        folders.any(|folder| path.as_ref().starts_with(folder))
    }

    /// Where it really is, as far as its folder goes. It may be relative.
    pub(super) fn real(&self, path: &Path) -> PathBuf {
        let path = if path.is_relative() { self.absolute(path) } else { path.to_owned() };
        let paired = self.identity.folders.len() == self.folders.len();
        let mut pairs = self.identity.folders.iter().zip(&self.folders).filter(|_| paired);
        let real = pairs.find_map(|(named, real)| moved(&path, named, real));
        real.unwrap_or(path)
    }

    /// A path that may be relative to the workspace.
    pub(super) fn absolute(&self, path: &Path) -> PathBuf {
        let folders = &self.identity.folders;
        let named = |folder: &&PathBuf| {
            folders.len() > 1 && folder.file_name().is_some_and(|name| path.starts_with(name))
        };
        // Who searched them on the disk knows them by their real names.
        let inside = folders
            .iter()
            .chain(&self.folders)
            .find(named)
            .and_then(|folder| Some(folder.parent()?.join(path)));
        inside.or_else(|| folders.first().map(|folder| folder.join(path))).unwrap_or_else(|| path.to_owned())
    }
}

fn same_folders(a: &[PathBuf], b: &[PathBuf]) -> bool {
    a.len() == b.len() && a.iter().all(|folder| b.contains(folder))
}

/// What the edge was asked to make ready.
#[derive(Debug)]
pub(super) enum Preparing {
    Attach {
        local: LocalId,
        request: RequestId,
        attach: Box<Attach>,
        window: WindowId,
        before: Option<(u16, Token)>,
    },
    Folders {
        window: WindowId,
        folders: Vec<PathBuf>,
    },
    /// What a window that is not open kept from agents.
    Closed {
        window: WindowId,
        asked_by: Ticket,
    },
}

impl Core {
    pub(super) fn attach(&mut self, local: LocalId, request: RequestId, attach: Attach) {
        if attach.protocol != PROTOCOL {
            let message = format!(
                "this hub speaks protocol {PROTOCOL}, the editor {}; {}",
                attach.protocol,
                version_notice(self.identity.version, &attach.version).unwrap_or_default(),
            );
            return self.refuse(local, request, errors::VERSION, message);
        }
        if let Err(error) = self.unbound(local) {
            return self.refuse(local, request, error.code, error.message);
        }
        if let Some(folder) = attach.folders.iter().find(|folder| !Path::new(folder).is_absolute()) {
            let message = format!("the folder `{folder}` is not an absolute path");
            return self.refuse(local, request, errors::INVALID_PARAMS, message);
        }
        let identity = WindowIdentity::of(&attach);
        let attach = match self.take_over(local, &request, attach, &identity) {
            Some(attach) => attach,
            None => return,
        };
        let (window, before) = match self.window_again(&identity) {
            Some((window, port, token)) => (window, Some((port, token))),
            None => {
                self.next_window += 1;
                (WindowId(self.next_window - 1), None)
            }
        };
        let listening = self.windows.contains_key(&window);
        let listen = (!listening).then(|| Listen {
            window,
            before: before.clone(),
            connections: self.config.limits.connections,
            dialects: self.dialects_of(&self.config),
            set_token: self.set_token(),
        });
        if let Some(local) = self.locals.get_mut(&local) {
            local.attaching = true;
        }
        let ticket = self.ticket();
        self.act(Action::PrepareWindow { ticket, folders: identity.folders, listen });
        let attach = Box::new(attach);
        self.preparing.insert(ticket, Preparing::Attach { local, request, attach, window, before });
    }

    /// With an id of its own, it may be the same window come back while its place is still being made ready: then that
    /// place is for the new connection. Gives it back if not.
    fn take_over(
        &mut self,
        local: LocalId,
        request: &RequestId,
        attach: Attach,
        identity: &WindowIdentity,
    ) -> Option<Attach> {
        let place = self.preparing.values_mut().find_map(|preparing| match preparing {
            Preparing::Attach { local, request, attach, .. }
                if !identity.key.is_empty() && WindowIdentity::of(attach) == *identity =>
            {
                Some((local, request, attach))
            }
            _ => None,
        });
        let Some((for_local, for_request, for_attach)) = place else { return Some(attach) };
        let stale = std::mem::replace(for_local, local);
        *for_request = request.clone();
        **for_attach = attach;
        if let Some(connection) = self.locals.get_mut(&local) {
            connection.attaching = true;
        }
        self.act(Action::CloseLocal { local: stale });
        self.local_closed(stale);
        None
    }

    /// A window of this identity that waits for its editor, or was known in an earlier life.
    fn window_again(&mut self, identity: &WindowIdentity) -> Option<(WindowId, u16, Token)> {
        let matches = |window: &Window| {
            let WindowIdentity { editor, folders, key } = &window.identity;
            identity.is_same(editor, folders, key)
        };
        let preparing = |id: WindowId| {
            let mut others = self.preparing.values();
            others.any(|other| matches!(other, Preparing::Attach { window, .. } if *window == id))
        };
        // With an id of its own, a second connection is the same window come back before we saw it leave.
        let known = self.windows.iter().find(|(id, window)| {
            matches(window) && (window.local.is_none() && !preparing(**id) || !identity.key.is_empty())
        });
        if let Some((id, window)) = known {
            let found = (*id, window.port, window.token.clone());
            if let Some(stale) = window.local {
                self.act(Action::CloseLocal { local: stale });
                self.local_closed(stale);
            }
            return Some(found);
        }
        let taken = |id: WindowId| self.windows.contains_key(&id) || preparing(id);
        self.remembered
            .iter()
            .rev()
            .find(|old| !taken(old.id) && identity.is_same(&old.editor, &old.folders, &old.key))
            .map(|old| (old.id, old.port, Token::remembered(old.token.clone())))
    }

    pub(super) fn window_prepared(&mut self, ticket: Ticket, result: Result<Prepared, String>) {
        match self.preparing.remove(&ticket) {
            Some(Preparing::Attach { local, request, attach, window, before }) => match result {
                // Its port was closed while the folders were looked at: from the beginning, then.
                Ok(Prepared { door: None, .. }) if !self.windows.contains_key(&window) => {
                    if let Some(connection) = self.locals.get_mut(&local) {
                        connection.attaching = false;
                        self.attach(local, request, *attach);
                    }
                }
                Ok(mut prepared) => {
                    // No door was opened: the window was listening all the while.
                    let Some(door) = prepared.door.take().or(before) else { return };
                    self.window_ready(local, request, *attach, window, door, prepared);
                }
                Err(message) => {
                    if let Some(local) = self.locals.get_mut(&local) {
                        local.attaching = false;
                    }
                    self.refuse(local, request, errors::INVALID_PARAMS, message);
                }
            },
            Some(Preparing::Folders { window, folders }) => match result {
                Ok(prepared) => self.folders_ready(window, folders, prepared),
                Err(message) => tracing::error!("{window} keeps its folders: {message}"),
            },
            Some(Preparing::Closed { window, asked_by }) => {
                let folders = self.remembered.iter().find(|old| old.id == window);
                let named = folders.map(|old| old.folders.clone()).unwrap_or_default();
                let policy = match result {
                    Ok(prepared) => {
                        let (config, own) = (self.config_of(&prepared), &self.identity.own_places);
                        Policy::new(both_names(&named, &prepared.folders), config.deny_globs(), own)
                    }
                    // A broken file may have been meant to forbid something.
                    Err(message) => {
                        tracing::error!("nothing is told of {window}: {message}");
                        Policy::everything(named)
                    }
                };
                self.closed_policy(window, policy, asked_by);
            }
            None => {}
        }
    }

    /// The person's, tightened by the workspace.
    fn config_of(&self, prepared: &Prepared) -> Config {
        let workspaces = prepared.workspace.iter();
        workspaces.fold(self.config.clone(), |config, workspace| config.tightened_by(workspace))
    }

    fn window_ready(
        &mut self,
        local: LocalId,
        request: RequestId,
        attach: Attach,
        id: WindowId,
        (port, token): (u16, Token),
        prepared: Prepared,
    ) {
        let config = self.config_of(&prepared);
        let before = self.windows.remove(&id);
        if let Some(timer) = before.as_ref().and_then(|window| window.grace) {
            self.timers.cancel(timer);
        }
        // Two connections for one window were made ready at the same time: the later one has it.
        let earlier = before.as_ref().and_then(|window| window.local);
        if let Some(earlier) = earlier.and_then(|local| self.locals.get_mut(&local)) {
            earlier.window = None;
        }
        let window = Window {
            identity: WindowIdentity::of(&attach),
            editor: attach.editor,
            pid: attach.pid,
            policy: Policy::new(
                both_names(&attach.folders, &prepared.folders),
                config.deny_globs(),
                &self.identity.own_places,
            ),
            folders: prepared.folders,
            port,
            token,
            config,
            local: None,
            capabilities: attach.capabilities,
            discovery: before.map(|window| window.discovery).unwrap_or_default(),
            claude_config_dir: attach.claude_config_dir,
            too_large: BTreeSet::new(),
            context: Context::default(),
            grace: None,
            arriving: None,
        };
        let capabilities = window.capabilities;
        self.windows.insert(id, window);
        self.plan_discovery(id);
        self.editor_can(id, capabilities);
        self.folders_are(id);
        // The editor may have gone while its place was made ready; then it is simply away.
        let Some(connection) = self.locals.get_mut(&local) else {
            return self.window_away(id);
        };
        connection.attaching = false;
        connection.window = Some(id);
        if let Some(window) = self.windows.get_mut(&id) {
            window.local = Some(local);
            window.arriving = Some(request);
        }
    }

    /// Only a window that would be found again is announced: agents hold on to the port and token they read.
    pub(super) fn window_remembered(&mut self, id: WindowId, result: Result<(), String>) {
        self.unrecorded = result.as_ref().err().cloned();
        if let Err(error) = result {
            tracing::error!("{id} will get another port after a restart: {error}");
        }
        let Some(window) = self.windows.get_mut(&id) else { return };
        for (_, file) in window.discovery.iter().filter(|(_, file)| !file.shared) {
            self.actions.push(Action::WriteDiscovery { file: file.clone() });
        }
        let arriving = window.local.zip(window.arriving.take());
        // A window that opens is where the person is, unless another one says so.
        if arriving.is_some() || self.focused.last() == Some(&id) {
            self.focus(id);
        }
        if let Some((local, request)) = arriving {
            self.welcome(id, local, request);
        }
    }

    fn welcome(&mut self, id: WindowId, local: LocalId, request: RequestId) {
        let Some(port) = self.windows.get(&id).map(|window| window.port) else { return };
        let environment = self.terminal_environment(id);
        let result = AttachResult {
            window: id.to_string(),
            port,
            hub_version: self.identity.version.to_owned(),
            protocol: PROTOCOL,
            environment,
        };
        self.send(local, &Message::response(request, &result));
        self.probe_newcomer(local);
        self.window_joined(id);
        self.apply(review::Event::WindowBack { window: id });
        self.ask_again(id);
        self.context_changed(id);
        self.go_on_writing(|review| review.window == id);
        self.go_on_reading();
    }

    pub(super) fn folders_changed(&mut self, window: WindowId, folders: Vec<String>) {
        let folders: Vec<PathBuf> =
            folders.into_iter().map(PathBuf::from).filter(|folder| folder.is_absolute()).collect();
        let ticket = self.ticket();
        self.act(Action::PrepareWindow { ticket, folders: folders.clone(), listen: None });
        // Only the newest word counts, whichever folder takes longest to look at.
        self.preparing
            .retain(|_, other| !matches!(other, Preparing::Folders { window: of, .. } if *of == window));
        self.preparing.insert(ticket, Preparing::Folders { window, folders });
    }

    fn folders_ready(&mut self, id: WindowId, folders: Vec<PathBuf>, prepared: Prepared) {
        let config = self.config_of(&prepared);
        let Some(window) = self.windows.get_mut(&id) else { return };
        let grows = prepared.folders.iter().any(|folder| !window.folders.contains(folder));
        window.identity.folders = folders;
        window.policy = Policy::new(
            both_names(&window.identity.folders, &prepared.folders),
            config.deny_globs(),
            &self.identity.own_places,
        );
        window.folders = prepared.folders;
        window.config = config;
        self.folders_are(id);
        self.settle_well_known();
        // What was allowed in these folders was not allowed in more.
        if grows {
            self.consent.closed(id);
        }
        self.plan_discovery(id);
    }

    /// The editor is not connected. Its port, token and agents stay for a while, for it to come back.
    pub(super) fn window_away(&mut self, id: WindowId) {
        let when = self.now_ms + self.config.window_grace_seconds * 1000;
        let timer = self.timers.add(when, Due::Window(id));
        if let Some(window) = self.windows.get_mut(&id) {
            window.local = None;
            if let Some(old) = window.grace.replace(timer) {
                self.timers.cancel(old);
            }
        }
        self.forget_editors_terminals(id);
        self.publish(id, WindowEvent::Away);
        self.apply(review::Event::WindowGone { window: id });
    }

    /// The editor said that it leaves for good. Someone may still be waiting for a decision: then not at once.
    pub(super) fn detached(&mut self, id: WindowId) {
        let waited_for = self.state.reviews_of_window(id).any(Review::is_open);
        if waited_for {
            self.window_away(id);
        } else {
            self.close_window(id);
        }
    }

    pub(super) fn window_grace_over(&mut self, id: WindowId) {
        if self.windows.get(&id).is_some_and(|window| window.local.is_none()) {
            self.close_window(id);
        }
    }

    fn close_window(&mut self, id: WindowId) {
        for agent in self.agents.in_window(id) {
            self.close_changes(agent, "the editor window is closed");
            self.fail_waiting_changes(agent);
            self.hang_up(agent, 1001, "the editor window is closed");
        }
        self.remove_discovery(id);
        self.act(Action::ClosePort { window: id });
        // That its discovery files are gone tells the next hub that nobody will come back to it.
        self.remember_window(id);
        if let Some(window) = self.windows.remove(&id) {
            if let Some(timer) = window.grace {
                self.timers.cancel(timer);
            }
            if let Some(local) = window.local.and_then(|local| self.locals.get_mut(&local)) {
                local.window = None;
            }
            self.unfocus(id);
            self.settle_well_known();
            self.consent.closed(id);
            self.close_terminals(id);
            self.history.closed.insert(id, window.policy);
            self.publish(id, WindowEvent::Closed);
        }
        self.go_on_reading();
    }

    /// Agents on a WebSocket fall back to their own question after an error; NEXUS3 waits for ever if its socket just
    /// closes. Nobody waits for these changes afterwards.
    fn fail_waiting_changes(&mut self, id: AgentId) {
        let Some(agent) = self.agents.get(&id).filter(|agent| matches!(agent.reach, Reach::Port)) else {
            return;
        };
        let mut waiting = agent.waiting.clone();
        waiting.retain(|(review, _)| self.is_undecided(*review));
        for (review, call) in waiting {
            let message =
                "the editor window was closed before anyone decided; decide in the agent's terminal";
            self.fail(id, call, FailureKind::EditorGone, message);
            self.apply(review::Event::Withdrawn { review });
        }
    }

    pub(super) fn remember_window(&mut self, id: WindowId) {
        let Some(window) = self.windows.get(&id) else { return };
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
        self.act(Action::RememberWindow { window: row });
    }

    pub(super) fn refuse(&mut self, local: LocalId, request: RequestId, code: i64, message: String) {
        self.send(local, &Message::error(Some(request), RpcError::new(code, message)));
    }
}
