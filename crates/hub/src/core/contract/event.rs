//! Everything that can happen to the hub. Closed: the edge turns I/O into these and adds nothing of its own.

use std::path::PathBuf;

use linkspan_dialect::{Dialect, ExchangeId};
use linkspan_editor_api::{PageLinkResult, PageRevokeResult, RequestId};
use linkspan_review::{AgentId, ChangeId, ReviewId, Step, WindowId};
use linkspan_workspace::WorkspaceError;

use super::{
    ChatItemsRead, FileError, FileState, HistoryAnswer, HostedAgent, JobOutput, Refusal, WriteError,
};
use crate::config::{Clients, WorkspaceConfig};
use crate::token::Token;

/// A connection on the hub's own socket (an editor or a command), or an open page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub u64);

/// Ties the answer of the edge to the action that asked for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

#[derive(Debug)]
pub enum Event {
    ConnectionOpened {
        connection: ConnectionId,
    },
    /// An admitted browser: a connection like a command's, with fewer methods.
    PageOpened {
        connection: ConnectionId,
    },
    /// The body of one framed message.
    ConnectionMessage {
        connection: ConnectionId,
        body: Vec<u8>,
    },
    ConnectionClosed {
        connection: ConnectionId,
    },
    AgentOpened {
        agent: AgentId,
        window: WindowId,
        dialect: &'static Dialect,
        /// The agent's name, in dialects in which agents do not introduce themselves.
        called: Option<String>,
    },
    /// An agent that is identified by its session; its requests come over any connection.
    SessionOpened {
        agent: AgentId,
        window: WindowId,
        dialect: &'static Dialect,
        /// The part of the session id that stays valid after a restart of the hub.
        key: String,
        /// Who the agent is, if it introduced itself to an earlier hub.
        known: Option<Introduction>,
    },
    /// The agent opened a stream for notifications. The streams of a session are numbered from 1.
    StreamOpened {
        agent: AgentId,
        stream: u64,
        /// Reviews whose outcome the agent reports as received on an earlier stream, perhaps of an earlier hub.
        received: Vec<ReviewId>,
    },
    StreamClosed {
        agent: AgentId,
        stream: u64,
    },
    AgentFrame {
        agent: AgentId,
        text: String,
        /// The HTTP request that carried the frame.
        exchange: Option<ExchangeId>,
    },
    /// The peer of this HTTP request is gone, and its answer was not taken.
    ExchangeGone {
        agent: AgentId,
        exchange: ExchangeId,
    },
    /// A frame that is not text. No dialect uses these.
    AgentBinary {
        agent: AgentId,
    },
    /// The agent answered a ping: this one, if the answer names it.
    AgentPong {
        agent: AgentId,
        number: Option<u64>,
    },
    AgentClosed {
        agent: AgentId,
        said_goodbye: bool,
    },
    Refused {
        refusal: Refusal,
    },
    WindowPrepared {
        ticket: Ticket,
        result: Result<PreparedWindow, String>,
    },
    /// Whether ppxai's fixed port could be opened.
    PpxaiPortServed {
        open: bool,
    },
    FileRead {
        ticket: Ticket,
        result: Result<FileState, FileError>,
    },
    FileWritten {
        review: ReviewId,
        result: Result<(), WriteError>,
    },
    Recorded {
        review: ReviewId,
        step: Step,
        result: Result<(), String>,
    },
    /// The window is in the journal, so it is found again after a restart.
    WindowRemembered {
        window: WindowId,
        result: Result<(), String>,
    },
    /// The answer to [`crate::core::contract::Action::ReadHistory`].
    HistoryRead {
        ticket: Ticket,
        result: Result<HistoryAnswer, String>,
    },
    /// The answer to [`crate::core::contract::Action::ReadChat`].
    ChatRead {
        ticket: Ticket,
        result: Result<ChatItemsRead, String>,
    },
    /// The journal has removed old conversations.
    ChatsRemoved {
        chats: Vec<u64>,
    },
    /// An undo is in the journal, with the ids of the change and of its undo. The file is still unchanged.
    UndoBegun {
        ticket: Ticket,
        result: Result<(ChangeId, ChangeId), String>,
    },
    /// With the mode of the file, if it was removed.
    FileRestored {
        ticket: Ticket,
        result: Result<Option<u32>, WriteError>,
    },
    PageLinked {
        connection: ConnectionId,
        request: RequestId,
        result: Result<PageLinkResult, String>,
    },
    PageRevoked {
        connection: ConnectionId,
        request: RequestId,
        result: Result<PageRevokeResult, String>,
    },
    /// The contents of `clients.toml`, if they changed since the last time.
    ClientsReloaded {
        found: Option<Result<Clients, String>>,
    },
    /// The new contents of `clients.toml`, and how many permissions changed.
    ClientsChanged {
        ticket: Ticket,
        result: Result<(Clients, usize), String>,
    },
    /// A job for an agent ended.
    JobDone {
        ticket: Ticket,
        result: Result<JobOutput, WorkspaceError>,
    },
    /// A discovery file was written, or could not be.
    DiscoveryWritten {
        path: PathBuf,
        result: Result<(), String>,
    },
    /// The answer to [`crate::core::contract::Action::CheckDiscovery`]: these files are missing.
    DiscoveryChecked {
        ticket: Ticket,
        missing: Vec<PathBuf>,
    },
    /// Codex's terminal program asks where the user is in this folder.
    IdeAsked {
        question: u64,
        root: PathBuf,
    },
    /// The agents of `agents.toml` and those that are built in.
    AgentsFound {
        ticket: Ticket,
        result: Result<Vec<HostedAgent>, String>,
    },
    /// The process of a hosted agent ended, or could not be started.
    ChildEnded {
        agent: AgentId,
        why: String,
    },
    /// A signal asks the hub to stop.
    StopRequested,
    /// The deadline of [`crate::core::Core::next_deadline`] has passed.
    Tick,
}

/// What the edge made ready for a window.
#[derive(Debug)]
pub struct PreparedWindow {
    /// Symlinks followed, in the order given; those that do not exist are missing.
    pub folders: Vec<PathBuf>,
    pub workspace: Vec<WorkspaceConfig>,
    /// The port for agents and its token; `None` if only the folders were asked for.
    pub endpoint: Option<(u16, Token)>,
    /// The Unix socket for agents, or why it could not be made; `None` if none was asked for.
    pub socket: Option<Result<PathBuf, String>>,
}

/// How an agent introduces itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Introduction {
    pub name: String,
    pub version: String,
}
