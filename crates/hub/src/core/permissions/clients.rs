//! `clients.toml` and the commands about agents and their permissions: list, allow, revoke. The file is read again before
//! it matters; the edge reads and changes it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use linkspan_dialect::Request;
use linkspan_editor_api as api;
use linkspan_editor_api::{
    ClientSummary, ClientsAllowResult, ClientsListResult, ClientsRevokeResult, Grant, Message,
    PermissionKind, RequestId, RpcError, errors,
};
use linkspan_review::WindowId;

use crate::config::{Client, Clients, ClientsChange};
use crate::core::Core;
use crate::core::agents::Agent;
use crate::core::contract::{Action, ConnectionId, Ticket};
use crate::core::out::Out;
use crate::core::pending::{ClientsPurpose, Continuation, ToolCall};
use crate::core::permissions::{Permissions, approval};
use crate::core::principal::AgentPrincipal;

/// What continues once the remembered grants were read again.
#[derive(Debug)]
pub(super) enum AfterReload {
    Tool(ToolCall),
    List { connection: ConnectionId, request: RequestId },
}

impl Permissions {
    pub(super) fn reload(&mut self, out: &mut Out, then: AfterReload) {
        self.after_reload.push(then);
        out.push(Action::ReloadClients);
    }
}

/// `found` is what the file holds, if that changed.
pub(in crate::core) fn reloaded(core: &mut Core, found: Option<Result<Clients, String>>) {
    if let Some(found) = found {
        set_remembered(core, found);
    }
    for after in std::mem::take(&mut core.permissions.after_reload) {
        match after {
            AfterReload::Tool(tool @ ToolCall { request: Request::Edit { .. }, .. }) => core.edit(tool),
            AfterReload::Tool(tool) => approval::run_or_prompt(core, tool),
            AfterReload::List { connection, request } => {
                let list = list(core);
                core.out.send(connection, &Message::response(request, &list));
            }
        }
    }
}

fn set_remembered(core: &mut Core, found: Result<Clients, String>) {
    if let Err(error) = &found {
        tracing::error!("remembered permissions are ignored: {error}");
    }
    core.permissions.grants.remembered = found;
    approval::run_newly_granted(core);
}

pub(super) fn change(core: &mut Core, change: ClientsChange, purpose: ClientsPurpose) {
    let ticket = core.out.wait(Continuation::ClientsChanged(purpose));
    core.out.push(Action::ChangeClients { ticket, change });
}

/// With what the file holds now, and how many permissions changed.
pub(in crate::core) fn changed(core: &mut Core, ticket: Ticket, result: Result<(Clients, usize), String>) {
    let changed = result.map(|(clients, changed)| {
        set_remembered(core, Ok(clients));
        changed
    });
    let purpose = match core.out.resume(ticket) {
        Some(Continuation::ClientsChanged(purpose)) => Some(purpose),
        _ => None,
    };
    match (purpose, changed) {
        (None, _) | (Some(ClientsPurpose::Answer { .. }), Ok(_)) => {}
        (Some(ClientsPurpose::Answer { who, deed }), Err(error)) => {
            let text =
                format!("It is allowed for this session only, because it could not be remembered: {error}");
            tracing::error!("{text}");
            warn_in(core, who.window, text);
            core.permissions.grants.allow_for_session(who, deed);
            approval::run_newly_granted(core);
        }
        (Some(ClientsPurpose::Allow { connection, request, dialects }), Ok(_)) => {
            core.out.send(connection, &Message::response(request, &ClientsAllowResult { dialects }));
        }
        (Some(ClientsPurpose::Revoke { connection, request, revoked }), Ok(changed)) => {
            let revoked = u32::try_from(revoked + changed).unwrap_or(u32::MAX);
            core.out.send(connection, &Message::response(request, &ClientsRevokeResult { revoked }));
        }
        (Some(ClientsPurpose::Allow { connection, request, .. }), Err(error)) => {
            core.out.refuse(connection, request, errors::DENIED, format!("nothing is allowed: {error}"));
        }
        (Some(ClientsPurpose::Revoke { connection, request, .. }), Err(error)) => {
            let message = format!(
                "permissions for sessions are revoked, and remembered permissions are ignored until this \
                 is fixed: {error}"
            );
            // Until the file is fixed, none of its grants counts.
            core.permissions.grants.remembered = Err(error);
            core.out.refuse(connection, request, errors::DENIED, message);
        }
    }
}

fn warn_in(core: &mut Core, window: WindowId, text: String) {
    let window = core.windows.get(&window).filter(|window| window.capabilities.messages);
    if let Some(connection) = window.and_then(|window| window.connection) {
        let level = api::MessageLevel::Warning;
        core.connections.send_request(&mut core.out, connection, &api::StatusMessage { text, level });
    }
}

fn list(core: &Core) -> ClientsListResult {
    let mut clients: Vec<ClientSummary> = Vec::new();
    for (id, agent) in core.agents.iter() {
        let Some(window) = core.windows.get(&agent.window) else { continue };
        clients.push(ClientSummary {
            name: agent.name.clone(),
            dialect: agent.session.dialect().name.to_owned(),
            folders: window.folders.iter().map(|folder| folder.display().to_string()).collect(),
            agent: Some(id.to_string()),
            may: PermissionKind::ALL
                .into_iter()
                .filter_map(|deed| approval::grant_for(core, agent, deed))
                .collect(),
        });
    }
    let remembered = core.permissions.grants.remembered.iter().flat_map(|clients| &clients.entries);
    for entry in remembered {
        let may = entry.may.iter().filter(|(deed, _)| !core.out.config.rules_out(**deed));
        let may = may.map(|(deed, since)| Grant { deed: *deed, since: Some(since.to_string()) });
        let summary = ClientSummary {
            name: entry.name.clone(),
            dialect: entry.dialect.clone(),
            folders: vec![entry.folder.display().to_string()],
            agent: None,
            may: may.collect(),
        };
        let same = |other: &ClientSummary| {
            (&other.name, &other.dialect, &other.folders)
                == (&summary.name, &summary.dialect, &summary.folders)
        };
        if !clients.iter().any(same) {
            clients.push(summary);
        }
    }
    ClientsListResult {
        clients,
        asks: approval::summaries(core),
        never: PermissionKind::ALL.into_iter().filter(|deed| core.out.config.rules_out(*deed)).collect(),
        file: core.out.info.clients_file.clone(),
        problem: core.permissions.grants.remembered.as_ref().err().cloned(),
    }
}

pub(super) fn allow(
    core: &mut Core,
    connection: ConnectionId,
    request: RequestId,
    allow: api::ClientsAllow,
) -> Result<(), RpcError> {
    let wrong = |message: String| Err(RpcError::new(errors::INVALID_PARAMS, message));
    let folder = PathBuf::from(&allow.folder);
    if allow.deeds.is_empty() || !folder.is_absolute() {
        return wrong("name the permissions and the absolute path of the folder".to_owned());
    }
    if let Some(deed) = allow.deeds.iter().find(|deed| core.out.config.rules_out(**deed)) {
        return wrong(format!("`consent.never` in config.toml rules out `{}`", deed.name()));
    }
    let there: Vec<AgentPrincipal> = clients_there(core, &allow, &folder).map(Agent::principal).collect();
    let name = api::visible::name(&allow.name);
    if allow.session {
        if there.is_empty() {
            return wrong(format!("no agent called {name} is connected in {}", folder.display()));
        }
        let dialects = dialects_meant(core, &allow, &folder);
        for (who, deed) in there.iter().flat_map(|who| allow.deeds.iter().map(move |deed| (who, *deed))) {
            core.permissions.grants.allow_for_session(who.clone(), deed);
        }
        core.out.send(connection, &Message::response(request, &ClientsAllowResult { dialects }));
        approval::run_newly_granted(core);
        return Ok(());
    }
    let dialects = dialects_meant(core, &allow, &folder);
    let known = |dialect: &String| linkspan_dialect::names().any(|name| name == dialect);
    if let Some(unknown) = dialects.iter().find(|dialect| !known(dialect)) {
        let names: Vec<&str> = linkspan_dialect::names().collect();
        return wrong(format!("there is no dialect `{unknown}`; there are {}", names.join(", ")));
    }
    let [dialect] = dialects.as_slice() else {
        let why = if dialects.is_empty() { "is not connected there" } else { "speaks several dialects" };
        return wrong(format!("{name} {why}: name its dialect"));
    };
    let client = Client { name: allow.name, dialect: dialect.clone(), folders: vec![folder] };
    let unix_ms = core.out.unix_ms();
    let change = ClientsChange::Remember { client, deeds: allow.deeds, unix_ms };
    self::change(core, change, ClientsPurpose::Allow { connection, request, dialects });
    Ok(())
}

/// Connected agents of that name in that folder.
fn clients_there<'a>(
    core: &'a Core,
    allow: &'a api::ClientsAllow,
    folder: &'a Path,
) -> impl Iterator<Item = &'a Agent> {
    core.agents.values().filter(move |agent| {
        let window = core.windows.get(&agent.window);
        agent.introduced
            && agent.name == allow.name
            && allow.dialect.as_ref().is_none_or(|dialect| dialect == agent.session.dialect().name)
            && window.is_some_and(|window| window.folders.iter().any(|one| one == folder))
    })
}

fn dialects_meant(core: &Core, allow: &api::ClientsAllow, folder: &Path) -> Vec<String> {
    if let Some(dialect) = &allow.dialect {
        return vec![dialect.clone()];
    }
    let there = clients_there(core, allow, folder).map(|agent| agent.session.dialect().name);
    let dialects: BTreeSet<&str> = there.collect();
    dialects.into_iter().map(String::from).collect()
}

/// Effective immediately: whatever runs from now on needs a new grant.
pub(super) fn revoke(
    core: &mut Core,
    connection: ConnectionId,
    request: RequestId,
    revoke: api::ClientsRevoke,
) {
    core.reviews.drop_all_permits();
    let revoked = core.permissions.grants.revoke(revoke.name.as_deref(), &revoke.deeds);
    let change = ClientsChange::Forget { name: revoke.name, deeds: revoke.deeds };
    self::change(core, change, ClientsPurpose::Revoke { connection, request, revoked });
}
