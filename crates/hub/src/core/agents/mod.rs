//! Agents: their sessions, which of their calls wait for a review, and whether they received the answer.
//!
//! Owns every agent, the calls that ask for several changes at once, and what expired while an agent was away. Sends
//! frames and answers by itself; knows windows and reviews only by their ids. `session`, `streams` and `broadcast` are
//! the flows that connect agents with them.
//!
//! Every call is answered exactly once, and an outcome counts as delivered only when the pong of a later ping arrives.

mod broadcast;
mod bundles;
mod changed_diagnostics;
mod delivery;
pub(in crate::core) mod diagnostics_limits;
mod expired_while_away;
pub(super) mod hooks;
mod patch_calls;
mod receives;
mod roster;
pub(in crate::core) mod session;
pub(in crate::core) mod streams;

use std::collections::{BTreeMap, BTreeSet};

use linkspan_dialect::{ACP, CallId, Session};
use linkspan_editor_api::visible::is_hidden;
use linkspan_editor_api::{HookJoin, Receives};
use linkspan_review::{AgentId, ReviewId, SetId, WindowId};

use crate::core::contract::ConnectionId;
use crate::core::convert::SESSION;
use crate::core::principal::AgentPrincipal;
use crate::core::timers::TimerId;
use bundles::Bundle;
use expired_while_away::ExpiredWhileAway;
use patch_calls::{PatchCall, UnconfirmedWrites};
pub(super) use patch_calls::{PatchPart, PatchStep};

/// More than the changes that an agent may have pending.
const SETS_PER_AGENT: usize = 512;

/// The window of an agent never changes.
#[derive(Debug)]
pub(super) struct Agents {
    all: BTreeMap<AgentId, Agent>,
    /// So that events in one window do not take longer the more agents there are in others.
    by_window: BTreeMap<WindowId, BTreeSet<AgentId>>,
    expired: ExpiredWhileAway,
    /// Calls that ask for several changes at once.
    bundles: BTreeMap<(AgentId, CallId), Bundle>,
    /// Calls that ask for a patch, which is applied as a whole or not at all.
    patches: BTreeMap<(AgentId, CallId), PatchCall>,
    unconfirmed_writes: UnconfirmedWrites,
    /// How many agents have joined on the hub's own socket.
    joined: u64,
    next_set: u64,
}

/// A person reviews each; a program that proposes more at a time does not work with one.
pub(super) const OPEN_REVIEWS_PER_AGENT: usize = 256;

/// Of all agents, also those that left: otherwise an agent could propose, disconnect and come back without end.
pub(super) const OPEN_REVIEWS_PER_WINDOW: usize = 2048;

/// Where an agent's frames go.
#[derive(Debug, Clone, Copy)]
pub(super) enum Transport {
    /// A WebSocket on the window's port.
    Port,
    /// Requests on the window's port, each answered by itself.
    Calls,
    /// Requests on the window's port, and a stream for what is not an answer. A decision comes on the stream, long after
    /// its call was answered.
    Stream,
    /// Requests on the window's Unix socket, and a stream for what is not an answer. A decision is the answer to its
    /// call.
    SocketStream,
    /// The hub's own socket.
    Local(ConnectionId),
    /// A daemon of the user, to which the hub has connected.
    Daemon,
    /// A process that the hub has started. Its end is noticed without pings.
    Child,
}

#[derive(Debug)]
pub(super) struct Agent {
    pub(super) window: WindowId,
    pub(super) transport: Transport,
    /// What identifies it after a reconnect, if its name does not.
    pub(super) key: Option<String>,
    /// It is one event of the hooks of that agent.
    pub(super) hook: Option<HookJoin>,
    /// Its own names for changes that belong together.
    pub(super) sets: BTreeMap<String, SetId>,
    pub(super) session: Session,
    /// It has sent its name.
    pub(super) introduced: bool,
    pub(super) name: String,
    pub(super) version: String,
    pub(super) pid: Option<u32>,
    /// What it said about its model when it joined.
    pub(super) receives: Option<Receives>,
    pub(super) since_ms: u64,
    pub(super) awaits_pong: bool,
    /// Its connection broke, it came back by itself, and it has asked for nothing since. Gemini CLI and Qwen Code show
    /// themselves as disconnected then, and propose nothing until the user reconnects them.
    pub(super) came_back: bool,
    /// The newest stream that it listened on.
    pub(super) stream: u64,
    /// It uses a stream and none is open: when that is no longer tolerated.
    pub(super) stream_grace_timer: Option<TimerId>,
    /// It has had no stream for so long that its reviews have no owner.
    pub(super) stream_lost: bool,
    /// Calls that wait for a person.
    pub(super) waiting: Vec<(ReviewId, CallId)>,
    /// Answers that were sent, each with the ping after it: its pong shows that they arrived.
    pub(super) unconfirmed: Vec<(u64, ReviewId)>,
    pub(super) pings: u64,
}

impl Agent {
    /// Identifies the agent after a reconnect.
    pub(super) fn key(&self) -> String {
        let session = self.key.iter().flat_map(|key| [SESSION.to_string(), key.clone()]);
        format!("{}:{}{}", self.session.dialect().name, self.name, session.collect::<String>())
    }

    /// It is hosted, or behind `linkspan acp`: what it asked for is over when its connection is.
    pub(super) fn is_acp(&self) -> bool {
        self.session.dialect().name == ACP.name
    }

    pub(super) fn principal(&self) -> AgentPrincipal {
        let key = self.hook.as_ref().map_or_else(|| self.key(), hooks::grants_key);
        AgentPrincipal { window: self.window, key, name: self.name.clone() }
    }

    /// Requests and a stream.
    pub(super) fn has_stream(&self) -> bool {
        matches!(self.transport, Transport::Stream | Transport::SocketStream)
    }

    /// The agent receives a decision on its stream, long after its call was answered.
    pub(super) fn is_told_later(&self) -> bool {
        matches!(self.transport, Transport::Stream)
    }

    /// It waits for that review, as its owner or because it asked for the same.
    pub(super) fn waits_for(&self, id: ReviewId) -> bool {
        self.waiting.iter().any(|(review, _)| *review == id)
    }

    /// It has an answer to wait for, or to confirm.
    fn awaits_outcome(&self) -> bool {
        !self.waiting.is_empty() || !self.unconfirmed.is_empty()
    }
}

/// Why an agent is not admitted to a window.
pub(super) enum AdmitError {
    WindowClosed,
    DialectOff,
    TooMany,
}

impl AdmitError {
    pub(super) fn reason(&self) -> &'static str {
        match self {
            AdmitError::WindowClosed => "the editor window is closed",
            AdmitError::DialectOff => "this workspace switches the dialect off",
            AdmitError::TooMany => "too many agents in this window",
        }
    }

    pub(super) fn close_code(&self) -> u16 {
        match self {
            AdmitError::WindowClosed => 1001,
            AdmitError::DialectOff => 1008,
            AdmitError::TooMany => 1013,
        }
    }
}

/// An agent may choose any name, and every list shows it.
pub(super) const LONGEST_NAME: usize = 64;

/// The name of an agent in lists and keys, without invisible characters: they would make two agents look the same.
pub(super) fn display_name(name: &str) -> String {
    let seen = name.chars().filter(|character| !is_hidden(*character));
    shortened(seen.collect(), LONGEST_NAME)
}

pub(super) fn shortened(text: String, longest: usize) -> String {
    if text.chars().nth(longest).is_none() {
        text
    } else {
        text.chars().take(longest).chain(['…']).collect()
    }
}
