//! What crosses the border of `core`: events and actions, and the types in them.
//!
//! Plain data, owned by `core`, so that `core` imports no one who does I/O: the edge imports these types from here. Knows
//! no state of the hub.

mod action;
mod chat;
mod event;
mod file;
mod job;
mod journal;
mod refusal;

pub use action::{Action, ExchangeAnswer, Listen};
pub use chat::{
    ChatItemsRead, ChatPeer, ChatRecord, ChildCommand, EngineAddress, HostedAgent, RememberedChat,
};
pub use event::{ConnectionId, Event, Introduction, PreparedWindow, Ticket};
pub use file::{FileError, FileState, Removal, Replacement, Restoration, Want, WriteError};
pub use job::{AgentJob, JobOutput, TerminalId, TerminalSetup};
pub use journal::{
    BegunUndo, ChangeSelector, HistoryAnswer, HistoryFilter, HistoryQuery, LineCount, RecordedChange,
    RememberedState, RememberedWindow, ReviewPast, ReviewRecord, UnseenWrite,
};
pub use refusal::Refusal;
