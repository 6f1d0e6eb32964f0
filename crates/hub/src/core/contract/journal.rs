//! Records for the journal, queries and their answers, and what a starting hub finds in it.

use std::path::PathBuf;

use linkspan_editor_api as api;
use linkspan_review::{ChangeId, Digest, Review, ReviewId, SharedBytes, Step, WindowId, Writer};

use super::RememberedChat;

/// A window that is recognised after a restart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RememberedWindow {
    pub id: WindowId,
    pub editor: String,
    /// As named by the editor.
    pub folders: Vec<PathBuf>,
    /// With symlinks resolved.
    pub real_folders: Vec<PathBuf>,
    /// The editor's own id of the window, or empty.
    pub key: String,
    pub port: u16,
    pub token: String,
    /// The discovery files that were written for it.
    pub discovery: Vec<PathBuf>,
}

/// How many milliseconds ago a review was proposed, and decided if it was, and where it comes from.
#[derive(Debug, Clone)]
pub struct ReviewPast {
    pub review: ReviewId,
    pub proposed_ms: u64,
    pub decided_ms: Option<u64>,
    pub origin: Option<Box<api::ReviewOrigin>>,
}

/// An accepted change that its agent was to write and that has not been seen in the file.
#[derive(Debug, Clone)]
pub struct UnseenWrite {
    pub review: ReviewId,
    pub window: WindowId,
    pub path: PathBuf,
    /// Identifies the agent.
    pub owner_key: String,
    /// How many milliseconds ago it was accepted.
    pub decided_ms: u64,
    pub writer: Writer,
    pub before: Option<SharedBytes>,
    pub accepted: SharedBytes,
}

/// What a starting hub continues with.
#[derive(Debug, Default)]
pub struct RememberedState {
    pub reviews: Vec<Review>,
    pub unseen: Vec<UnseenWrite>,
    pub past: Vec<ReviewPast>,
    pub windows: Vec<RememberedWindow>,
    pub undos: Vec<BegunUndo>,
    pub chats: Vec<RememberedChat>,
    /// The highest number that a conversation ever had.
    pub last_chat: u64,
    pub next_review: u64,
    pub next_window: u64,
}

/// A step of a review, to be recorded.
#[derive(Debug)]
pub struct ReviewRecord {
    pub review: Review,
    pub step: Step,
    /// The name of the surface on which the user decided.
    pub by: Option<String>,
    /// The size of the accepted change, if it is known already.
    pub size: Option<LineCount>,
    /// The conversation that it comes from.
    pub origin: Option<Box<api::ReviewOrigin>>,
}

/// How many lines a change adds and removes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineCount {
    pub added: u32,
    pub removed: u32,
}

/// A query about past changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HistoryQuery {
    List(HistoryFilter),
    /// Everything that an undo of this change needs.
    Change(ChangeSelector),
    /// What was decided in a closed review.
    Texts(ReviewId),
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HistoryFilter {
    pub limit: usize,
    /// A file, or a folder with everything in it.
    pub path: Option<PathBuf>,
    pub window: Option<WindowId>,
    pub undoable: bool,
    /// The number of a conversation, and of one of its turns.
    pub chat: Option<u64>,
    pub turn: Option<u32>,
}

/// How the user names a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeSelector {
    Change(ChangeId),
    Review(ReviewId),
    /// The newest change that has not been undone.
    Last,
}

#[derive(Debug)]
pub enum HistoryAnswer {
    List(Vec<api::HistoryEntry>),
    Change(Box<RecordedChange>),
    Texts(Box<api::HistoryShowResult>),
    /// The review ended without a write; its verdict is the reason.
    NothingWritten {
        review: ReviewId,
        verdict: String,
    },
    /// The texts that an undo needs were dropped because the journal was full.
    TextsGone {
        review: ReviewId,
    },
    Unknown,
}

/// A change that was written, by the hub or by its agent. Without bytes, the file does not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedChange {
    /// `None` if an agent wrote it and it has not been undone.
    pub id: Option<ChangeId>,
    pub review: ReviewId,
    /// Who wrote it. The hub writes every undo.
    pub writer: Writer,
    pub window: WindowId,
    pub path: PathBuf,
    pub before: Option<Vec<u8>>,
    pub after: Option<Vec<u8>>,
    /// The mode of the file, if this change removed it.
    pub mode: Option<u32>,
    pub undone_by: Option<ChangeId>,
}

/// An undo that an earlier hub began, without a record of whether it was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BegunUndo {
    pub id: ChangeId,
    pub review: ReviewId,
    pub window: WindowId,
    pub path: PathBuf,
    /// What the file holds if the undo was not done; `None`: it does not exist.
    pub before: Option<Digest>,
    /// What the file holds if the undo was done; `None`: it does not exist.
    pub after: Option<Digest>,
}
