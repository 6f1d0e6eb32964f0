//! How an editor attaches to a window, keeps it while it is away, and leaves it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use linkspan_editor_api::{
    Attach, AttachResult, Message, PROTOCOL, RequestId, WindowEvent, errors, version_notice,
};
use linkspan_review as review;
use linkspan_review::{Review, WindowId};

use crate::config::Config;
use crate::core::Core;
use crate::core::contract::{Action, ConnectionId, Listen, PreparedWindow, Ticket};
use crate::core::out::Out;
use crate::core::pending::{Continuation, WindowPurpose};
use crate::core::timers::Due;
use crate::core::windows::changed_diagnostics::ChangedDiagnostics;
use crate::core::windows::context::Context;
use crate::core::windows::discovery_files::{enabled_dialects, set_token};
use crate::core::windows::policy::Policy;
use crate::core::windows::window::both_names;
use crate::core::windows::{Window, WindowIdentity};
use crate::token::Token;

impl Core {
    pub(in crate::core) fn attach(&mut self, connection: ConnectionId, request: RequestId, attach: Attach) {
        if attach.protocol != PROTOCOL {
            let message = format!(
                "this hub speaks protocol {PROTOCOL}, the editor {}; {}",
                attach.protocol,
                version_notice(self.out.info.version, &attach.version).unwrap_or_default(),
            );
            return self.out.refuse(connection, request, errors::VERSION, message);
        }
        if let Err(error) = self.connections.check_unbound(connection) {
            return self.out.refuse(connection, request, error.code, error.message);
        }
        if let Some(folder) = attach.folders.iter().find(|folder| !Path::new(folder).is_absolute()) {
            let message = format!("the folder `{folder}` is not an absolute path");
            return self.out.refuse(connection, request, errors::INVALID_PARAMS, message);
        }
        let identity = WindowIdentity::of(&attach);
        let Some(attach) = take_over(self, connection, &request, attach, &identity) else { return };
        let (window, before) = match find_again(self, &identity) {
            Some((window, port, token)) => (window, Some((port, token))),
            None => (self.windows.new_id(), None),
        };
        let listening = self.windows.contains_key(&window);
        let listen = (!listening).then(|| Listen {
            window,
            before: before.clone(),
            connections: self.out.config.limits.connections,
            dialects: enabled_dialects(&self.out.config),
            set_token: set_token(&self.out),
        });
        self.connections.begin_attach(connection);
        let attach = Box::new(attach);
        let purpose = WindowPurpose::Attach { connection, request, attach, window, before };
        let ticket = self.out.wait(Continuation::WindowPrepared(purpose));
        self.out.push(Action::PrepareWindow { ticket, folders: identity.folders, listen });
    }

    pub(in crate::core) fn window_prepared(
        &mut self,
        ticket: Ticket,
        result: Result<PreparedWindow, String>,
    ) {
        let Some(Continuation::WindowPrepared(purpose)) = self.out.resume(ticket) else { return };
        match purpose {
            WindowPurpose::Attach { connection, request, attach, window, before } => match result {
                // Its port was closed while the folders were read: it attaches once more, from the beginning.
                Ok(PreparedWindow { endpoint: None, .. }) if !self.windows.contains_key(&window) => {
                    if self.connections.detach(connection) {
                        self.attach(connection, request, *attach);
                    }
                }
                Ok(mut prepared) => {
                    // No port was opened: the window was listening all the while.
                    let Some(endpoint) = prepared.endpoint.take().or(before) else { return };
                    finish_attach(self, connection, request, *attach, window, endpoint, prepared);
                }
                Err(message) => {
                    self.connections.detach(connection);
                    self.out.refuse(connection, request, errors::INVALID_PARAMS, message);
                }
            },
            WindowPurpose::Folders { window, folders } => match result {
                Ok(prepared) => set_folders(self, window, folders, prepared),
                Err(message) => tracing::error!("could not update the folders of {window}: {message}"),
            },
            WindowPurpose::ClosedPolicy { window, asked_by } => {
                let policy = closed_policy(self, window, result);
                self.closed_policy(window, policy, asked_by);
            }
        }
    }

    /// Only a window that would be found again is announced: agents keep the port and token that they read.
    pub(in crate::core) fn window_remembered(&mut self, id: WindowId, result: Result<(), String>) {
        self.lifecycle.set_record_error(result.as_ref().err().cloned());
        if let Err(error) = result {
            tracing::error!("{id} will get another port after a restart: {error}");
        }
        let Some(window) = self.windows.get_mut(&id) else { return };
        for (_, file) in window.discovery.iter().filter(|(_, file)| !file.shared) {
            self.out.push(Action::WriteDiscovery { file: file.clone() });
        }
        let arriving = window.connection.zip(window.arriving.take());
        // A window that opens is where the user is, unless another one says so.
        if arriving.is_some() || self.windows.last_focused() == Some(id) {
            self.windows.focus(&mut self.out, id);
        }
        if let Some((connection, request)) = arriving {
            welcome(self, id, connection, request);
        }
    }

    pub(in crate::core) fn folders_changed(&mut self, window: WindowId, folders: Vec<String>) {
        let folders: Vec<PathBuf> =
            folders.into_iter().map(PathBuf::from).filter(|folder| folder.is_absolute()).collect();
        // Only the newest change counts, whichever folder takes longest to read.
        let is_older = |waiting: &Continuation| {
            let Continuation::WindowPrepared(WindowPurpose::Folders { window: of, .. }) = waiting else {
                return false;
            };
            *of == window
        };
        self.out.take_pending(is_older);
        let purpose = WindowPurpose::Folders { window, folders: folders.clone() };
        let ticket = self.out.wait(Continuation::WindowPrepared(purpose));
        self.out.push(Action::PrepareWindow { ticket, folders, listen: None });
    }

    /// The editor is not connected. Its port, token and agents stay for a while, so that it can come back.
    pub(in crate::core) fn window_away(&mut self, id: WindowId) {
        self.windows.set_away(&mut self.out, id);
        self.terminals.forget_editors(id);
        self.connections.publish(&mut self.out, id, WindowEvent::Away);
        self.apply(review::Event::WindowGone { window: id });
    }

    /// The editor said that it leaves for good. Someone may still wait for a decision: then the window stays for a
    /// while.
    pub(in crate::core) fn detached(&mut self, id: WindowId) {
        let is_waited_for = self.reviews.of_window(id).any(Review::is_open);
        match is_waited_for {
            true => self.window_away(id),
            false => close_window(self, id),
        }
    }

    /// From the start of the hub on, the editors of the last one have as long as any that is away.
    pub(in crate::core) fn wait_for_missing(&mut self) {
        if self.windows.is_any_expected() || self.reviews.disk_writes() > 0 {
            self.out.after_in_steps(self.out.config.window_grace_seconds * 1000, Due::Missing);
        }
    }

    /// The editors of the last hub did not come back in time: what waits for them goes on without them.
    pub(in crate::core) fn missing_are_gone(&mut self) {
        self.windows.give_up_missing();
        self.continue_writes(|_| true);
    }

    pub(in crate::core) fn window_grace_over(&mut self, id: WindowId) {
        if self.windows.get(&id).is_some_and(|window| window.connection.is_none()) {
            close_window(self, id);
        }
    }
}

/// The window of this id may be attached already, by a connection that is being made ready: then that place is for the
/// new connection. Returns the request if not.
fn take_over(
    core: &mut Core,
    connection: ConnectionId,
    request: &RequestId,
    attach: Attach,
    identity: &WindowIdentity,
) -> Option<Attach> {
    let place = core.out.pending.values_mut().find_map(|waiting| match waiting {
        Continuation::WindowPrepared(WindowPurpose::Attach { connection, request, attach, .. })
            if !identity.key.is_empty() && WindowIdentity::of(attach) == *identity =>
        {
            Some((connection, request, attach))
        }
        _ => None,
    });
    let Some((for_connection, for_request, for_attach)) = place else { return Some(attach) };
    let stale = std::mem::replace(for_connection, connection);
    *for_request = request.clone();
    **for_attach = attach;
    core.connections.begin_attach(connection);
    core.out.push(Action::CloseConnection { connection: stale });
    core.connection_closed(stale);
    None
}

/// A window of this identity that waits for its editor, or that an earlier hub had.
fn find_again(core: &mut Core, identity: &WindowIdentity) -> Option<(WindowId, u16, Token)> {
    let is_preparing = |out: &Out, id: WindowId| {
        let is_its = |waiting: &Continuation| matches!(waiting, Continuation::WindowPrepared(WindowPurpose::Attach { window, .. }) if *window == id);
        out.pending.count(is_its) > 0
    };
    match core.windows.find_open(identity, |id| is_preparing(&core.out, id)) {
        Some((id, port, token, stale)) => {
            if let Some(connection) = stale {
                core.out.push(Action::CloseConnection { connection });
                core.connection_closed(connection);
            }
            Some((id, port, token))
        }
        None => core.windows.find_remembered(identity, |id| is_preparing(&core.out, id)),
    }
}

/// The user's config, tightened by the workspace.
fn config_of(out: &Out, prepared: &PreparedWindow) -> Config {
    let workspaces = prepared.workspace.iter();
    workspaces.fold(out.config.clone(), |config, workspace| config.tightened_by(workspace))
}

/// The rules of a window that is not open.
fn closed_policy(core: &Core, window: WindowId, result: Result<PreparedWindow, String>) -> Policy {
    let remembered = core.windows.remembered(window);
    let named = remembered.map(|old| old.folders.clone()).unwrap_or_default();
    match result {
        Ok(prepared) => {
            let (config, private) = (config_of(&core.out, &prepared), &core.out.info.private_dirs);
            Policy::new(both_names(&named, &prepared.folders), config.deny_globs(), private)
        }
        // A broken file may have been meant to forbid something.
        Err(message) => {
            tracing::error!("denying access to {window}: its workspace config is invalid: {message}");
            Policy::everything(named)
        }
    }
}

fn finish_attach(
    core: &mut Core,
    connection: ConnectionId,
    request: RequestId,
    attach: Attach,
    id: WindowId,
    (port, token): (u16, Token),
    prepared: PreparedWindow,
) {
    let config = config_of(&core.out, &prepared);
    let before = core.windows.close(&mut core.out, id);
    // Two connections for one window were made ready at the same time: the later one has it.
    if let Some(earlier) = before.as_ref().and_then(|window| window.connection) {
        core.connections.detach(earlier);
    }
    let private = &core.out.info.private_dirs;
    // None was opened where the window was listening all the while.
    let socket = prepared.socket.or_else(|| before.as_ref().and_then(|window| window.socket.clone()));
    let window = Window {
        identity: WindowIdentity::of(&attach),
        editor: attach.editor,
        pid: attach.pid,
        policy: Policy::new(both_names(&attach.folders, &prepared.folders), config.deny_globs(), private),
        folders: prepared.folders,
        port,
        socket,
        token,
        config,
        connection: None,
        capabilities: attach.capabilities,
        discovery: before.map(|window| window.discovery).unwrap_or_default(),
        claude_config_dir: attach.claude_config_dir,
        too_large: BTreeSet::new(),
        context: Context::default(),
        changed_diagnostics: ChangedDiagnostics::default(),
        grace: None,
        arriving: None,
    };
    let capabilities = window.capabilities;
    core.windows.insert(id, window);
    core.windows.plan_discovery(&mut core.out, id);
    core.agents.set_capabilities(&mut core.out, id, capabilities);
    set_agent_folders(core, id);
    // The editor may have gone while its window was made ready; then it is simply away.
    if !core.connections.finish_attach(connection, id) {
        return core.window_away(id);
    }
    if let Some(window) = core.windows.get_mut(&id) {
        window.connection = Some(connection);
        window.arriving = Some(request);
    }
}

fn set_agent_folders(core: &mut Core, id: WindowId) {
    if let Some(window) = core.windows.get(&id) {
        core.agents.set_folders(id, &window.both_folders());
    }
}

fn welcome(core: &mut Core, id: WindowId, connection: ConnectionId, request: RequestId) {
    let Some(window) = core.windows.get(&id) else { return };
    let pending = core.reviews.iter().filter(|review| review.window == id && review.is_pending());
    let result = AttachResult {
        window: id.to_string(),
        port: window.port,
        hub_version: core.out.info.version.to_owned(),
        protocol: PROTOCOL,
        environment: core.windows.terminal_environment(&core.out, id),
        pending_reviews: Some(pending.map(|review| review.id.to_string()).collect()),
    };
    core.out.send(connection, &Message::response(request, &result));
    core.probe_newcomer(connection);
    core.windows.update_codex(&mut core.out, id);
    let Some(window) = core.windows.get(&id) else { return };
    let folders = window.identity.folders.iter().map(|folder| folder.display().to_string()).collect();
    let what = WindowEvent::Attached { editor: window.editor.clone(), folders };
    core.connections.publish(&mut core.out, id, what);
    core.apply(review::Event::WindowBack { window: id });
    core.show_prompts(id);
    core.context_changed(id);
    core.continue_writes(|review| review.window == id);
    core.retry_deferred_reads();
}

fn set_folders(core: &mut Core, id: WindowId, folders: Vec<PathBuf>, prepared: PreparedWindow) {
    let config = config_of(&core.out, &prepared);
    let Some(window) = core.windows.get_mut(&id) else { return };
    let grows = prepared.folders.iter().any(|folder| !window.folders.contains(folder));
    let named = both_names(&folders, &prepared.folders);
    window.identity.folders = folders;
    window.policy = Policy::new(named, config.deny_globs(), &core.out.info.private_dirs);
    window.folders = prepared.folders;
    window.config = config;
    set_agent_folders(core, id);
    core.windows.update_ppxai_port(&mut core.out);
    core.windows.update_codex(&mut core.out, id);
    // A permission for these folders is not one for more folders.
    if grows {
        core.permissions.window_closed(id);
    }
    core.windows.plan_discovery(&mut core.out, id);
}

fn close_window(core: &mut Core, id: WindowId) {
    core.close_agents(id);
    core.windows.remove_discovery(&mut core.out, id);
    core.out.push(Action::ClosePort { window: id });
    // Without discovery files, the next hub knows that no editor will come back to it.
    core.windows.remember(&mut core.out, id);
    if let Some(window) = core.windows.close(&mut core.out, id) {
        if let Some(connection) = window.connection {
            core.connections.detach(connection);
        }
        core.windows.update_codex(&mut core.out, id);
        core.windows.unfocus(&mut core.out, id);
        core.windows.update_ppxai_port(&mut core.out);
        core.permissions.window_closed(id);
        core.terminals.close(&mut core.out, id);
        core.windows.set_closed_policy(id, window.policy);
        core.connections.publish(&mut core.out, id, WindowEvent::Closed);
    }
    core.retry_deferred_reads();
}
