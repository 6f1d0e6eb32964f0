//! What commands ask about agents and their permissions: listing, allowing, revoking. And `clients.toml`, which is
//! looked at before it matters and changed by the edge; what stands in it is known to `consent`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use linkspan_dialect::Request;
use linkspan_editor_api as api;
use linkspan_editor_api::{
    ClientSummary, ClientsAllowResult, ClientsListResult, ClientsRevokeResult, Message, Permission,
    RequestId, RpcError, errors,
};

use super::Core;
use super::agents::Agent;
use super::asking::who;
use super::consent::{Deed, Who};
use super::editor::Resume;
use super::event::{Action, LocalId, Ticket};
use super::tools::ToolCall;
use crate::config::{Client, Clients, ClientsChange};

/// What goes on once it is known what is remembered.
#[derive(Debug)]
pub(super) enum Looking {
    Tool(ToolCall),
    List { local: LocalId, request: RequestId },
}

/// Why the file is changed.
#[derive(Debug)]
pub(super) enum Changing {
    /// She said "always" to a question.
    Answer {
        who: Who,
        deed: Deed,
    },
    Allow {
        local: LocalId,
        request: RequestId,
        dialects: Vec<String>,
    },
    /// With how many permissions of sessions were taken back.
    Revoke {
        local: LocalId,
        request: RequestId,
        revoked: usize,
    },
}

impl Core {
    pub(super) fn look_at_clients(&mut self, looking: Looking) {
        self.looking.push(looking);
        self.act(Action::LookAtClients);
    }

    /// With what the file holds, if that is something else than before.
    pub(super) fn clients_looked_at(&mut self, found: Option<Result<Clients, String>>) {
        if let Some(found) = found {
            self.clients_known(found);
        }
        for looking in std::mem::take(&mut self.looking) {
            match looking {
                Looking::Tool(tool @ ToolCall { request: Request::Edit { .. }, .. }) => self.edit(tool),
                Looking::Tool(tool) => self.ask_or_do(tool),
                Looking::List { local, request } => {
                    let list = self.clients();
                    self.send(local, &Message::response(request, &list));
                }
            }
        }
    }

    fn clients_known(&mut self, found: Result<Clients, String>) {
        if let Err(error) = &found {
            tracing::error!("nothing that was allowed for good counts: {error}");
        }
        self.consent.remembered = found;
        self.do_what_is_allowed();
    }

    pub(super) fn change_clients(&mut self, change: ClientsChange, changing: Changing) {
        let ticket = self.ticket();
        self.changing.insert(ticket, changing);
        self.act(Action::ChangeClients { ticket, change });
    }

    /// With what the file holds now, and how many permissions that changed.
    pub(super) fn clients_changed(&mut self, ticket: Ticket, result: Result<(Clients, usize), String>) {
        let changed = result.map(|(clients, changed)| {
            self.clients_known(Ok(clients));
            changed
        });
        match (self.changing.remove(&ticket), changed) {
            (None, _) | (Some(Changing::Answer { .. }), Ok(_)) => {}
            (Some(Changing::Answer { who, deed }), Err(error)) => {
                let text = format!("It is allowed for this session, and could not be remembered: {error}");
                tracing::error!("{text}");
                self.warn_in(who.window, text);
                self.consent.allow_for_session(who, deed);
                self.do_what_is_allowed();
            }
            (Some(Changing::Allow { local, request, dialects }), Ok(_)) => {
                self.send(local, &Message::response(request, &ClientsAllowResult { dialects }));
            }
            (Some(Changing::Revoke { local, request, revoked }), Ok(changed)) => {
                let revoked = u32::try_from(revoked + changed).unwrap_or(u32::MAX);
                self.send(local, &Message::response(request, &ClientsRevokeResult { revoked }));
            }
            (Some(Changing::Allow { local, request, .. }), Err(error)) => {
                self.refuse(local, request, errors::DENIED, format!("nothing is allowed: {error}"));
            }
            (Some(Changing::Revoke { local, request, .. }), Err(error)) => {
                let message = format!(
                    "what was allowed for sessions is revoked, and nothing that is remembered counts until \
                     this is put right: {error}"
                );
                // As good as its word, until the file is put right.
                self.consent.remembered = Err(error);
                self.refuse(local, request, errors::DENIED, message);
            }
        }
    }

    fn warn_in(&mut self, window: linkspan_review::WindowId, text: String) {
        let window = self.windows.get(&window).filter(|window| window.capabilities.messages);
        if let Some(local) = window.and_then(|window| window.local) {
            let level = api::MessageLevel::Warning;
            self.ask(local, &api::StatusMessage { text, level }, Resume::Ignore);
        }
    }

    fn clients(&self) -> ClientsListResult {
        let mut clients: Vec<ClientSummary> = Vec::new();
        for (id, agent) in self.agents.iter() {
            let Some(window) = self.windows.get(&agent.window) else { continue };
            clients.push(ClientSummary {
                name: agent.name.clone(),
                dialect: agent.session.dialect().name.to_owned(),
                folders: window.folders.iter().map(|folder| folder.display().to_string()).collect(),
                agent: Some(id.to_string()),
                may: Deed::ALL.into_iter().filter_map(|deed| self.may(agent, deed)).collect(),
            });
        }
        let remembered = self.consent.remembered.iter().flat_map(|clients| &clients.entries);
        for entry in remembered {
            let may = entry.may.iter().filter(|(deed, _)| !self.config.rules_out(**deed));
            let may = may.map(|(deed, since)| Permission { deed: *deed, since: Some(since.to_string()) });
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
            asks: self.asks(),
            never: Deed::ALL.into_iter().filter(|deed| self.config.rules_out(*deed)).collect(),
            file: self.identity.clients_file.clone(),
            problem: self.consent.remembered.as_ref().err().cloned(),
        }
    }

    pub(super) fn clients_allow(
        &mut self,
        local: LocalId,
        request: RequestId,
        allow: api::ClientsAllow,
    ) -> Result<(), RpcError> {
        let wrong = |message: String| Err(RpcError::new(errors::INVALID_PARAMS, message));
        let folder = PathBuf::from(&allow.folder);
        if allow.deeds.is_empty() || !folder.is_absolute() {
            return wrong("say what is allowed, and the absolute path of the folder".to_owned());
        }
        if let Some(deed) = allow.deeds.iter().find(|deed| self.config.rules_out(**deed)) {
            return wrong(format!("`consent.never` in config.toml rules out `{}`", deed.word()));
        }
        let there: Vec<Who> = self.clients_there(&allow, &folder).map(who).collect();
        let name = api::visible::name(&allow.name);
        if allow.session {
            if there.is_empty() {
                return wrong(format!("no agent called {name} is connected in {}", folder.display()));
            }
            let dialects = self.dialects_meant(&allow, &folder);
            for (who, deed) in there.iter().flat_map(|who| allow.deeds.iter().map(move |deed| (who, *deed))) {
                self.consent.allow_for_session(who.clone(), deed);
            }
            self.send(local, &Message::response(request, &ClientsAllowResult { dialects }));
            self.do_what_is_allowed();
            return Ok(());
        }
        let dialects = self.dialects_meant(&allow, &folder);
        let known = |dialect: &String| linkspan_dialect::names().any(|name| name == dialect);
        if let Some(unknown) = dialects.iter().find(|dialect| !known(dialect)) {
            let names: Vec<&str> = linkspan_dialect::names().collect();
            return wrong(format!("there is no dialect `{unknown}`; there are {}", names.join(", ")));
        }
        let [dialect] = dialects.as_slice() else {
            let why = if dialects.is_empty() { "is not connected there" } else { "speaks several dialects" };
            return wrong(format!("{name} {why}: say which dialect is meant"));
        };
        let client = Client { name: allow.name, dialect: dialect.clone(), folders: vec![folder] };
        let unix_ms = self.identity.started_at_ms + self.now_ms;
        let change = ClientsChange::Remember { client, deeds: allow.deeds, unix_ms };
        self.change_clients(change, Changing::Allow { local, request, dialects });
        Ok(())
    }

    /// Connected agents of that name in that folder.
    fn clients_there<'a>(
        &'a self,
        allow: &'a api::ClientsAllow,
        folder: &'a Path,
    ) -> impl Iterator<Item = &'a Agent> {
        self.agents.values().filter(move |agent| {
            let window = self.windows.get(&agent.window);
            agent.introduced
                && agent.name == allow.name
                && allow.dialect.as_ref().is_none_or(|dialect| dialect == agent.session.dialect().name)
                && window.is_some_and(|window| window.folders.iter().any(|one| one == folder))
        })
    }

    fn dialects_meant(&self, allow: &api::ClientsAllow, folder: &Path) -> Vec<String> {
        if let Some(dialect) = &allow.dialect {
            return vec![dialect.clone()];
        }
        let there = self.clients_there(allow, folder).map(|agent| agent.session.dialect().name);
        let dialects: BTreeSet<&str> = there.collect();
        dialects.into_iter().map(String::from).collect()
    }

    /// At once: what is carried out from now on needs another word.
    pub(super) fn clients_revoke(&mut self, local: LocalId, request: RequestId, revoke: api::ClientsRevoke) {
        self.permits.forget_all();
        let revoked = self.consent.revoke(revoke.name.as_deref(), &revoke.deeds);
        let change = ClientsChange::Forget { name: revoke.name, deeds: revoke.deeds };
        self.change_clients(change, Changing::Revoke { local, request, revoked });
    }
}
