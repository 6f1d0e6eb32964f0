//! Connections as TCP and Unix sockets are: in order each way, at any pace, and with nothing across one another. One
//! that is cut loses what is on the way, and each end finds out in its own time, or never.

use linkspan_hub::core::ConnectionId;
use linkspan_review::{AgentId, ReviewId};
use serde_json::Value;

use super::streams::Position;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct WireId(pub(super) usize);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Peer {
    Agent(usize),
    Editor(usize),
    Command(usize),
    /// Of a hosted agent.
    Process(usize),
    ChatUser(usize),
}

/// Which door of the hub it leads to.
#[derive(Debug, Clone, Copy)]
pub(super) enum Endpoint {
    Port(u16),
    /// The same port, for requests by POST and notifications on a stream.
    Stream(u16),
    Socket,
    /// That of the browser page, behind its own guard.
    Page,
}

/// What the hub knows it as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PeerName {
    Agent(AgentId),
    /// One connection of a session, which is known by its key.
    Session,
    Local(ConnectionId),
}

#[derive(Debug)]
pub(super) struct Wire {
    pub(super) peer: Peer,
    pub(super) door: Endpoint,
    /// Of the hub that it was opened to.
    pub(super) life: u64,
    pub(super) name: Option<PeerName>,
    pub(super) cut_at: Option<u64>,
    /// The hub has seen its end, or made it.
    pub(super) over_for_hub: bool,
    pub(super) over_at: Option<u64>,
    pub(super) over_for_peer: bool,
    /// How much of what the hub sent the peer has not read.
    pub(super) unread: usize,
    /// When the last thing on the way to each end arrives.
    pub(super) to_hub_at: u64,
    pub(super) to_peer_at: u64,
}

impl Wire {
    /// A pipe ends only with one of its ends.
    pub(super) fn can_be_cut(&self) -> bool {
        self.is_whole() && !matches!(self.peer, Peer::Process(_))
    }

    pub(super) fn is_whole(&self) -> bool {
        self.cut_at.is_none() && !self.over_for_hub && !self.over_for_peer
    }
}

#[derive(Debug)]
pub(super) enum ToHub {
    Opened,
    Text(String),
    Post { key: String, text: String },
    Listen { key: String, last: Option<Position> },
    Pong(u64),
    Closed,
}

#[derive(Debug)]
pub(super) enum ToPeer {
    Frame(Value),
    /// With the review whose outcome it carries.
    Event(Position, Value, Option<ReviewId>),
    Ping(u64),
    Closed,
}
