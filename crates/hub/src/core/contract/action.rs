//! Everything that the hub can do. Closed: the edge turns these into I/O and adds nothing of its own.

use std::ops::Range;
use std::path::PathBuf;

use linkspan_dialect::{Dialect, DiscoveryFile, ExchangeId, IdeContext};
use linkspan_editor_api::{RequestId, ReviewOrigin};
use linkspan_review::{AgentId, ChangeId, Review, ReviewId, Step, WindowId};
use linkspan_workspace::Cancel;

use super::{
    AgentJob, ChatPeer, ChatRecord, ConnectionId, HistoryQuery, Introduction, LineCount, RecordedChange,
    RememberedWindow, Replacement, Restoration, TerminalId, Ticket, Want,
};
use crate::config::ClientsChange;
use crate::token::Token;

#[derive(Debug)]
pub enum Action {
    SendMessage {
        connection: ConnectionId,
        body: Vec<u8>,
    },
    CloseConnection {
        connection: ConnectionId,
    },
    /// Applies the rate limit of agents to this connection.
    ThrottleConnection {
        connection: ConnectionId,
    },
    SendAgent {
        agent: AgentId,
        text: String,
    },
    /// Answers the HTTP request that waits for it.
    AnswerExchange {
        agent: AgentId,
        exchange: ExchangeId,
        answer: ExchangeAnswer,
    },
    /// In dialects whose pings are messages: the message was already sent with this number.
    PingAgent {
        agent: AgentId,
        number: u64,
    },
    /// The next message on the agent's stream carries the outcome of this review.
    NameOutcome {
        agent: AgentId,
        review: ReviewId,
    },
    /// The agent has received everything up to that ping; it need not be sent again.
    ConfirmAgent {
        agent: AgentId,
        number: u64,
    },
    CloseAgent {
        agent: AgentId,
        code: u16,
        reason: &'static str,
    },
    PrepareWindow {
        ticket: Ticket,
        folders: Vec<PathBuf>,
        listen: Option<Listen>,
    },
    ClosePort {
        window: WindowId,
    },
    /// From now on ppxai's fixed port leads to this window, or nowhere.
    ServePpxaiPort {
        listen: Option<Listen>,
    },
    /// Connects to the user's Codex daemon for this window, now and whenever there is one, or no longer.
    FollowCodex {
        window: WindowId,
        on: bool,
    },
    /// Answers [`crate::core::Event::IdeAsked`]. None: no editor has that folder.
    AnswerIde {
        question: u64,
        context: Option<Box<IdeContext>>,
    },
    WriteDiscovery {
        file: DiscoveryFile,
    },
    RemoveDiscovery {
        path: PathBuf,
        token: Token,
    },
    /// Checks whether these discovery files exist.
    CheckDiscovery {
        ticket: Ticket,
        paths: Vec<PathBuf>,
    },
    ReadFile {
        ticket: Ticket,
        folders: Vec<PathBuf>,
        path: PathBuf,
        want: Want,
    },
    /// Runs on its own thread. A cancelled job needs no answer.
    RunJob {
        ticket: Ticket,
        job: AgentJob,
        cancel: Cancel,
    },
    CloseTerminal {
        terminal: TerminalId,
    },
    WriteFile {
        review: ReviewId,
        replacement: Replacement,
    },
    Record {
        review: Box<Review>,
        step: Step,
        by: Option<String>,
        /// The size of the accepted change, if it is known already.
        size: Option<LineCount>,
        /// The conversation that it comes from.
        origin: Option<Box<ReviewOrigin>>,
    },
    /// The file was seen to hold the accepted change, which its agent was to write.
    RecordOnDisk {
        review: ReviewId,
    },
    RememberWindow {
        window: RememberedWindow,
    },
    /// Sends the same message to each watcher. A watcher that does not read its messages is disconnected instead.
    Publish {
        to: Vec<ConnectionId>,
        body: Vec<u8>,
    },
    ReadHistory {
        ticket: Ticket,
        query: HistoryQuery,
    },
    BeginUndo {
        ticket: Ticket,
        change: RecordedChange,
    },
    /// Restores what a file held before a change.
    RestoreFile {
        ticket: Ticket,
        restoration: Restoration,
    },
    /// Removes the temporary file that a killed hub may have left next to this one.
    SweepTemporary {
        review: ReviewId,
        folders: Vec<PathBuf>,
        path: PathBuf,
    },
    EndUndo {
        undo: ChangeId,
        done: bool,
        /// The mode of the file that the undo removed.
        mode: Option<u32>,
    },
    /// Opens the page's port if necessary, and creates a link.
    LinkPage {
        connection: ConnectionId,
        request: RequestId,
    },
    /// Ends every session of the page and closes its connections.
    RevokePage {
        connection: ConnectionId,
        request: RequestId,
    },
    /// Answered immediately, before any other event.
    ReloadClients,
    /// Answered immediately, before any other event.
    ChangeClients {
        ticket: Ticket,
        change: ClientsChange,
    },
    /// Looks which agents can be started.
    FindAgents {
        ticket: Ticket,
    },
    /// Starts the process of this agent, or connects to its engine. What is sent to the agent goes there.
    StartChild {
        agent: AgentId,
        peer: ChatPeer,
    },
    /// Not answered: what is lost of a conversation is lost.
    RecordChat {
        record: ChatRecord,
    },
    ForgetChat {
        chat: u64,
    },
    /// Reads the last of these items, as many as these bytes have, and at least one.
    ReadChat {
        ticket: Ticket,
        chat: u64,
        places: Range<u32>,
        most_bytes: usize,
    },
    Stop,
}

/// The answer to an HTTP request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExchangeAnswer {
    Text(String),
    /// For an agent that has introduced itself.
    Introduced {
        text: String,
        who: Introduction,
    },
    /// The request is not valid in its dialect; the text gives the reason.
    Malformed(String),
    /// Accepted, without content.
    Nothing,
}

impl ExchangeAnswer {
    pub(crate) fn size(&self) -> usize {
        match self {
            ExchangeAnswer::Text(text)
            | ExchangeAnswer::Introduced { text, .. }
            | ExchangeAnswer::Malformed(text) => text.len(),
            ExchangeAnswer::Nothing => 0,
        }
    }
}

/// Where a window listens for agents, and which agents the guard admits.
#[derive(Debug, Clone)]
pub struct Listen {
    pub window: WindowId,
    /// The port and token that the window had before. They are reused if the port is free.
    pub before: Option<(u16, Token)>,
    pub connections: usize,
    /// The dialects that the user's config enables; the workspace may disable more.
    pub dialects: Vec<&'static Dialect>,
    /// The token that the user has set for dialects in which a token is optional.
    pub set_token: Option<Token>,
}
