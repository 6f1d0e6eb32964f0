//! Agents on the hub's own socket: how a connection becomes one, and its goodbye. After that they are agents like
//! any other.

use linkspan_dialect::OWN;
use linkspan_editor_api::{AgentJoin, AgentJoinResult, Message, RequestId, RpcError, errors};
use linkspan_review::{AgentId, SetId, WindowId};

use super::Core;
use super::agents::{NotLetIn, Reach, called};
use super::event::{Action, LocalId};

/// A word, not a text: it stands in the key of every review of its agent.
const LONGEST_SESSION: usize = 64;

/// As many sets as changes that an agent may have waiting, and some that are over.
const SETS_PER_AGENT: usize = 512;

impl Core {
    pub(super) fn join(
        &mut self,
        local: LocalId,
        request: RequestId,
        join: AgentJoin,
    ) -> Result<(), RpcError> {
        self.unbound(local)?;
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        let session = &join.session;
        if session.is_empty() || session.len() > LONGEST_SESSION || !session.bytes().all(is_word) {
            let message = format!("`session` must be 1 to {LONGEST_SESSION} letters, digits, `-` and `_`");
            return Err(RpcError::new(errors::INVALID_PARAMS, message));
        }
        let window = self.window_named(&join.window)?;
        let name = called(&join.name);
        // The same agent come back before we saw it leave.
        let stale = self.agents.iter().find(|(_, other)| {
            other.window == window && other.name == name && other.key.as_ref() == Some(session)
        });
        if let Some(stale) = stale.map(|(id, _)| *id) {
            self.hang_up(stale, 1001, "it has joined again");
        }
        let mut agent = self.let_in(window, OWN, Reach::Local(local)).map_err(|not| refused(&not))?;
        agent.introduced = true;
        agent.name = name;
        agent.version = called(&join.version);
        agent.pid = join.pid;
        agent.key = Some(join.session);
        self.joined += 1;
        // The edge mints odd ones for those who come to a window's port.
        let id = AgentId(2 * self.joined);
        if let Some(connection) = self.locals.get_mut(&local) {
            connection.agent = Some(id);
        }
        self.act(Action::PaceLocal { local });
        // From now on all frames are of its dialect.
        self.watchers.remove(&local);
        tracing::info!("agent {id} ({}) joined {window}", agent.name);
        self.agents.insert(id, agent);
        self.consent_came(id);
        let Some(home) = self.windows.get(&window) else { return Ok(()) };
        let result = AgentJoinResult {
            agent: id.to_string(),
            window: window.to_string(),
            editor: home.editor.clone(),
            folders: home.identity.folders.iter().map(|folder| folder.display().to_string()).collect(),
        };
        self.send(local, &Message::response(request, &result));
        self.agent_joined(id);
        Ok(())
    }

    /// Not an editor's connection, nor an agent's yet.
    pub(super) fn unbound(&self, local: LocalId) -> Result<(), RpcError> {
        let unbound = self
            .locals
            .get(&local)
            .is_some_and(|local| local.window.is_none() && !local.attaching && local.agent.is_none());
        match unbound {
            true => Ok(()),
            false => Err(RpcError::new(errors::INVALID_REQUEST, "this connection is attached already")),
        }
    }

    fn window_named(&self, name: &str) -> Result<WindowId, RpcError> {
        let known = self.windows.keys().copied().find(|window| window.to_string() == name);
        known.ok_or_else(|| {
            let windows = self.windows.iter().map(|(id, window)| {
                let folders = window.identity.folders.iter().map(|folder| folder.display().to_string());
                format!("{id} ({}, {})", window.editor.name, folders.collect::<Vec<_>>().join(", "))
            });
            let windows: Vec<String> = windows.collect();
            let there = match windows.as_slice() {
                [] => "there are none; open the folder in an editor, or run `linkspan serve`".to_owned(),
                windows => format!("there are {}", windows.join("; ")),
            };
            // As much of a stranger's word as an error repeats.
            let name: String = name.chars().take(80).collect();
            RpcError::new(errors::UNKNOWN_WINDOW, format!("there is no window `{name}`: {there}"))
        })
    }

    pub(super) fn joined_frame(&mut self, agent: AgentId, body: &[u8]) {
        match std::str::from_utf8(body) {
            Ok(text) => self.agent_frame(agent, text, None),
            Err(_) => self.agent_binary(agent),
        }
    }

    /// The agent's own word: what it has open is withdrawn, and the connection ends.
    pub(super) fn leave(&mut self, id: AgentId) {
        if let Some(reach) = self.agents.get(&id).map(|agent| agent.reach) {
            self.ended(id, reach, true);
        }
    }

    /// The set behind an agent's own word for it.
    pub(super) fn set_of(&mut self, id: AgentId, word: Option<String>) -> Option<SetId> {
        let word = word?;
        let agent = self.agents.get_mut(&id)?;
        if let Some(set) = agent.sets.get(&word) {
            return Some(*set);
        }
        if agent.sets.len() >= SETS_PER_AGENT {
            let open: Vec<SetId> = self.state.reviews().filter_map(|review| review.set).collect();
            agent.sets.retain(|_, set| open.contains(set));
        }
        let set = SetId(self.next_set);
        self.next_set += 1;
        agent.sets.insert(word, set);
        Some(set)
    }
}

fn refused(not: &NotLetIn) -> RpcError {
    let code = match not {
        NotLetIn::WindowClosed => errors::UNKNOWN_WINDOW,
        NotLetIn::DialectOff | NotLetIn::TooMany => errors::DENIED,
    };
    let remedy = match not {
        NotLetIn::WindowClosed => "open it again",
        NotLetIn::DialectOff => "see `dialects_off` in config.toml or .linkspan.toml",
        NotLetIn::TooMany => "let one leave, or raise `limits.connections`",
    };
    RpcError::new(code, format!("{}: {remedy}", not.reason()))
}
