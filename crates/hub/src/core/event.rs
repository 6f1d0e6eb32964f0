//! Everything that can happen to the hub, and everything it can do. Both are closed: the edge turns I/O into
//! events and actions into I/O, and adds nothing of its own.

use std::path::PathBuf;
use std::time::Duration;

use linkspan_dialect::{Dialect, DiscoveryFile, Exchange};
use linkspan_editor_api::{PageLinkResult, PageRevokeResult, RequestId};
use linkspan_review::{AgentId, ChangeId, Review, ReviewId, Step, WindowId};

use crate::config::{Clients, ClientsChange, WorkspaceConfig};
use crate::files::{FileError, FileState, Replacement, Restoration, Want, WriteError};
use crate::guard::Refusal;
use crate::journal::{Change, Found, LineCount, Question, RememberedWindow};
use crate::token::Token;
use crate::work::Done;
use linkspan_dialect::Work;
use linkspan_workspace::{Cancel, Workspace, WorkspaceError};

pub use super::terminals::{Opening, TerminalId};

/// One connection on the hub's own socket, an editor or a command, or an open page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalId(pub u64);

/// Ties what the edge found out to the question that was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

#[derive(Debug)]
pub enum Event {
    LocalOpened {
        local: LocalId,
    },
    /// A browser that was let in: a connection like a command's, with less to ask.
    PageOpened {
        local: LocalId,
    },
    /// The body of one framed message.
    LocalMessage {
        local: LocalId,
        body: Vec<u8>,
    },
    LocalClosed {
        local: LocalId,
    },
    AgentOpened {
        agent: AgentId,
        window: WindowId,
        dialect: &'static Dialect,
        /// Who it is, on a wire where agents do not introduce themselves.
        called: Option<String>,
    },
    /// An agent whose requests come over any connection, known by its session.
    SessionOpened {
        agent: AgentId,
        window: WindowId,
        dialect: &'static Dialect,
        /// What of the session survives this hub.
        key: String,
        /// Who it is, where it said so to an earlier hub.
        known: Option<Introduction>,
    },
    /// It listens to what is not an answer. Streams of a session are numbered from 1.
    StreamOpened {
        agent: AgentId,
        stream: u64,
        /// Reviews whose outcome it says it has received on an earlier stream, perhaps of an earlier hub.
        received: Vec<ReviewId>,
    },
    StreamClosed {
        agent: AgentId,
        stream: u64,
    },
    AgentFrame {
        agent: AgentId,
        text: String,
        /// The HTTP request that it came with.
        exchange: Option<Exchange>,
    },
    /// A frame that is not text: no dialect has a meaning for it.
    AgentBinary {
        agent: AgentId,
    },
    /// It answered a ping: this one, if it said which.
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
        result: Result<Prepared, String>,
    },
    /// Whether the port that clients know by heart could be had.
    WellKnownServed {
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
    /// A window would be found again after a restart.
    WindowRemembered {
        window: WindowId,
        result: Result<(), String>,
    },
    /// What the journal was asked.
    HistoryRead {
        ticket: Ticket,
        result: Result<Found, String>,
    },
    /// An undo is in the journal: the names of the change and of its undo. The file is as it was.
    UndoBegun {
        ticket: Ticket,
        result: Result<(ChangeId, ChangeId), String>,
    },
    /// With the mode of a file that was removed.
    FileRestored {
        ticket: Ticket,
        result: Result<Option<u32>, WriteError>,
    },
    PageLinked {
        local: LocalId,
        request: RequestId,
        result: Result<PageLinkResult, String>,
    },
    PageRevoked {
        local: LocalId,
        request: RequestId,
        result: Result<PageRevokeResult, String>,
    },
    /// With what `clients.toml` holds, if that is not what it held before.
    ClientsLookedAt {
        found: Option<Result<Clients, String>>,
    },
    /// With what it holds now, and how many permissions that changed.
    ClientsChanged {
        ticket: Ticket,
        result: Result<(Clients, usize), String>,
    },
    /// What was done for an agent.
    ToolRan {
        ticket: Ticket,
        result: Result<Done, WorkspaceError>,
    },
    /// A discovery file was written, or could not be.
    DiscoveryWritten {
        path: PathBuf,
        result: Result<(), String>,
    },
    /// The answer to [`Action::LookForDiscovery`]: these are not there.
    DiscoveryLookedFor {
        ticket: Ticket,
        missing: Vec<PathBuf>,
    },
    /// A signal asks the hub to leave.
    StopRequested,
    /// The time [`super::Core::next_deadline`] named has come.
    Tick,
}

/// A window's place in the world, made by the edge.
#[derive(Debug)]
pub struct Prepared {
    /// Symlinks followed, in the order given; those that do not exist are left out.
    pub folders: Vec<PathBuf>,
    pub workspace: Vec<WorkspaceConfig>,
    /// The port agents find and the token they need there; `None` when only the folders were asked about.
    pub door: Option<(u16, Token)>,
}

#[derive(Debug)]
pub enum Action {
    SendLocal {
        local: LocalId,
        body: Vec<u8>,
    },
    CloseLocal {
        local: LocalId,
    },
    /// It may send no more than agents may.
    PaceLocal {
        local: LocalId,
    },
    SendAgent {
        agent: AgentId,
        text: String,
    },
    /// To the one HTTP request that waits for it.
    AnswerExchange {
        agent: AgentId,
        exchange: Exchange,
        answer: ExchangeAnswer,
    },
    /// Where pings are messages, the one that was sent last.
    PingAgent {
        agent: AgentId,
        number: u64,
    },
    /// The next message on its stream tells the outcome of this review.
    NameOutcome {
        agent: AgentId,
        review: ReviewId,
    },
    /// It has got everything up to that ping, and need not be sent it again.
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
    /// The port that clients know by heart leads to that window from now on, or nowhere.
    ServeWellKnown {
        listen: Option<Listen>,
    },
    WriteDiscovery {
        file: DiscoveryFile,
    },
    RemoveDiscovery {
        path: PathBuf,
        token: Token,
    },
    /// Are these discovery files there?
    LookForDiscovery {
        ticket: Ticket,
        paths: Vec<PathBuf>,
    },
    ReadFile {
        ticket: Ticket,
        folders: Vec<PathBuf>,
        path: PathBuf,
        want: Want,
    },
    /// On a thread of its own; whoever cancels it does not want the answer.
    RunTool {
        ticket: Ticket,
        tool: Tool,
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
        /// Of what was accepted, where it is known already.
        size: Option<LineCount>,
    },
    /// The agent wrote what was accepted: the file was seen to hold it.
    RecordOnDisk {
        review: ReviewId,
    },
    RememberWindow {
        window: RememberedWindow,
    },
    /// The same to each; whoever has not read the last ones is let go instead.
    Publish {
        to: Vec<LocalId>,
        body: Vec<u8>,
    },
    ReadHistory {
        ticket: Ticket,
        question: Question,
    },
    BeginUndo {
        ticket: Ticket,
        change: Change,
    },
    /// Gives a file back what it held; `None`: it is removed.
    RestoreFile {
        ticket: Ticket,
        restoration: Restoration,
    },
    /// A hub that was killed may have left its temporary file beside this one.
    SweepBeside {
        review: ReviewId,
        folders: Vec<PathBuf>,
        path: PathBuf,
    },
    EndUndo {
        undo: ChangeId,
        done: bool,
        /// Of the file that it removed.
        mode: Option<u32>,
    },
    /// Opens the page's port, if it is not open, and makes a link.
    LinkPage {
        local: LocalId,
        request: RequestId,
    },
    /// Ends every session of the page, and closes those that are open.
    RevokePage {
        local: LocalId,
        request: RequestId,
    },
    /// Answered at once, before anything else happens.
    LookAtClients,
    /// The same.
    ChangeClients {
        ticket: Ticket,
        change: ClientsChange,
    },
    Stop,
}

/// Who an agent is, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Introduction {
    pub name: String,
    pub version: String,
}

/// What is done for an agent without an editor.
#[derive(Debug)]
pub enum Tool {
    Work {
        workspace: Workspace,
        /// Its paths are absolute.
        work: Work,
    },
    /// A command in one of the hub's own terminals, which is opened if it is not open.
    Run { terminal: TerminalId, opening: Opening, command: String, cwd: Option<PathBuf>, timeout: Duration },
    /// What one of the hub's own terminals shows.
    Show { terminal: TerminalId },
}

/// What an HTTP request is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExchangeAnswer {
    Text(String),
    /// The same to an agent that has said who it is.
    Introduced {
        text: String,
        who: Introduction,
    },
    /// It was no request of its dialect; this says why.
    Malformed(String),
    /// It was heard, and there is nothing to say.
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

/// Where a window listens for agents, and whom the guard lets in.
#[derive(Debug, Clone)]
pub struct Listen {
    pub window: WindowId,
    /// The port it had before, to be had again if it is free, with the token agents know there.
    pub before: Option<(u16, Token)>,
    pub connections: usize,
    /// Dialects the person's config leaves on; the workspace may take more away.
    pub dialects: Vec<&'static Dialect>,
    /// The token that the person has set for dialects that ask for one only then.
    pub set_token: Option<Token>,
}
