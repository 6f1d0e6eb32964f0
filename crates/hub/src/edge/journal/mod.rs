//! The durable record of reviews, decisions and writes: SQLite, on a thread of its own.
//!
//! Every record is answered once it is safe on disk; records that arrive together share one sync. Must not know
//! windows' connections, agents or the review rules: it stores what the core sends and returns it (`rows`,
//! `history`).
//!
//! Invariants: a damaged journal is moved aside, never deleted, and a new one is started (`schema`); no id is issued
//! twice, not even after the journal is lost (`issued_ids`); a recorded decision never waits for a reader of the
//! history.

mod chats;
mod history;
mod inspect;
mod issued_ids;
mod maintenance;
mod rows;
mod schema;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use linkspan_review::{ChangeId, ReviewId, Step, WindowId};
use rusqlite::Connection;

use crate::core::Ticket;

pub use crate::core::contract::{
    BegunUndo, ChangeSelector, ChatItemsRead, ChatRecord, HistoryAnswer, HistoryFilter, HistoryQuery,
    LineCount, RecordedChange, RememberedChat, RememberedState, RememberedWindow, ReviewPast, ReviewRecord,
    UnseenWrite,
};
pub use inspect::{Inspection, inspect};
use issued_ids::IssuedIds;
pub use maintenance::Size;

#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    #[error("journal: {0}")]
    Sqlite(#[from] rusqlite::Error),
    #[error(
        "the journal was written by a newer linkspan (format {found}, this one knows {known}): update linkspan"
    )]
    Newer { found: i64, known: i64 },
    #[error("cannot move the damaged journal aside: {source}")]
    Aside { source: std::io::Error },
    #[error("cannot use the journal {}: {source}; check that you own it and its folder and can write both", path.display())]
    File { path: PathBuf, source: std::io::Error },
    #[error("cannot write the ids in use to {}: {source}", path.display())]
    IssuedIds { path: PathBuf, source: std::io::Error },
    #[error("unreadable column `{column}`")]
    Row { column: String },
    #[error("cannot start the journal's thread: {0}")]
    Thread(std::io::Error),
}

/// How long and how much the journal keeps, and where ids in use are noted besides its own folder.
#[derive(Debug, Clone)]
pub struct Retention {
    /// Days that settled reviews and before-images are kept.
    pub days: u32,
    /// When the journal is larger than this, the oldest texts are dropped.
    pub mib: u32,
    /// The runtime directory.
    pub runtime: Option<PathBuf>,
}

impl Default for Retention {
    fn default() -> Retention {
        Retention { days: 30, mib: 512, runtime: None }
    }
}

impl Retention {
    fn limit_bytes(&self) -> u64 {
        u64::from(self.mib) * 1024 * 1024
    }
}

/// The result of a record, which is on disk or failed, or the answer to a question.
#[derive(Debug)]
pub enum JournalReply {
    History {
        ticket: Ticket,
        result: Result<HistoryAnswer, String>,
    },
    /// The ids of the change and of its undo.
    UndoBegun {
        ticket: Ticket,
        result: Result<(ChangeId, ChangeId), String>,
    },
    Review {
        review: ReviewId,
        step: Step,
        result: Result<(), String>,
    },
    Window {
        window: WindowId,
        result: Result<(), String>,
    },
    Chat {
        ticket: Ticket,
        result: Result<ChatItemsRead, String>,
    },
    /// Old conversations that it no longer has; nobody asked.
    ChatsRemoved(Vec<u64>),
}

/// The log is emptied when it has grown to about this size and no job waits …
const LOG_BYTES: usize = 4 * 1024 * 1024;
/// … or to this size in any case.
const LOG_BYTES_MOST: usize = 256 * 1024 * 1024;

/// A hub may run for months.
const BETWEEN_PRUNINGS: Duration = Duration::from_secs(24 * 3600);

enum Job {
    Record(Box<ReviewRecord>),
    Window(Box<RememberedWindow>),
    Ask { ticket: Ticket, question: HistoryQuery },
    BeginUndo { ticket: Ticket, change: Box<RecordedChange> },
    EndUndo { undo: ChangeId, done: bool, mode: Option<u32> },
    OnDisk(ReviewId),
    Chat(Box<ChatRecord>),
    ForgetChat(u64),
    ReadChat { ticket: Ticket, chat: u64, places: Range<u32>, most_bytes: usize },
}

#[derive(Debug, Clone)]
pub struct Journal {
    jobs: mpsc::Sender<Job>,
}

impl Journal {
    /// Opens (or creates) the journal, reads what is unfinished, and starts its thread.
    pub fn open(
        path: &Path,
        retention: &Retention,
        recorded: impl Fn(JournalReply) + Send + 'static,
    ) -> Result<(Journal, RememberedState), JournalError> {
        let (mut connection, mut ids, remembered) = schema::open(path, |mut connection| {
            schema::prune(&mut connection, retention.days, &BTreeSet::new(), &BTreeSet::new())?;
            drop_oldest_texts(&mut connection, retention)?;
            let ids = IssuedIds::open(&mut connection, path, retention.runtime.as_deref())?;
            let (reviews, past) = rows::unfinished(&connection, now_ms())?;
            let (chats, last_chat) = chats::remembered(&connection)?;
            let remembered = RememberedState {
                chats,
                last_chat,
                reviews,
                unseen: history::unseen(&connection, now_ms())?,
                past,
                windows: rows::windows(&connection)?,
                undos: history::begun(&connection)?,
                next_review: ids.last().review + 1,
                next_window: ids.last().window + 1,
            };
            Ok((connection, ids, remembered))
        })?;
        let (jobs, inbox) = mpsc::channel();
        let retention = retention.clone();
        std::thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || run_thread(&mut connection, &mut ids, &inbox, &retention, &recorded))
            .map_err(JournalError::Thread)?;
        Ok((Journal { jobs }, remembered))
    }

    pub fn record(&self, entry: ReviewRecord) {
        // The thread ends only with the process.
        let _ = self.jobs.send(Job::Record(Box::new(entry)));
    }

    /// Not answered: a hub that does not find this record checks the file again.
    pub fn record_on_disk(&self, review: ReviewId) {
        let _ = self.jobs.send(Job::OnDisk(review));
    }

    /// Not answered: what is lost of a conversation is lost.
    pub fn record_chat(&self, record: ChatRecord) {
        let _ = self.jobs.send(Job::Chat(Box::new(record)));
    }

    pub fn forget_chat(&self, chat: u64) {
        let _ = self.jobs.send(Job::ForgetChat(chat));
    }

    /// Answered after everything that was recorded before.
    pub fn read_chat(&self, ticket: Ticket, chat: u64, places: Range<u32>, most_bytes: usize) {
        let _ = self.jobs.send(Job::ReadChat { ticket, chat, places, most_bytes });
    }

    pub fn remember_window(&self, window: RememberedWindow) {
        let _ = self.jobs.send(Job::Window(Box::new(window)));
    }

    /// Answered after everything that was recorded before.
    pub fn ask(&self, ticket: Ticket, question: HistoryQuery) {
        let _ = self.jobs.send(Job::Ask { ticket, question });
    }

    pub fn begin_undo(&self, ticket: Ticket, change: RecordedChange) {
        let _ = self.jobs.send(Job::BeginUndo { ticket, change: Box::new(change) });
    }

    /// Not answered: a hub that finds an undo begun but not ended checks the file.
    pub fn end_undo(&self, undo: ChangeId, done: bool, mode: Option<u32>) {
        let _ = self.jobs.send(Job::EndUndo { undo, done, mode });
    }
}

fn run_thread(
    connection: &mut Connection,
    ids: &mut IssuedIds,
    inbox: &mpsc::Receiver<Job>,
    retention: &Retention,
    recorded: &dyn Fn(JournalReply),
) {
    let mut pruned = Instant::now();
    let mut waiting = None;
    let mut written = 0;
    // Also those that were closed since; a few rows too many do no harm.
    let mut windows = BTreeSet::new();
    let mut live = BTreeSet::new();
    let mut later = VecDeque::new();
    // There may be free pages to release.
    let mut releasing = true;
    loop {
        if waiting.is_none() && later.is_empty() {
            let timeout = if releasing { Duration::ZERO } else { BETWEEN_PRUNINGS };
            waiting = match inbox.recv_timeout(timeout) {
                Ok(first) => Some(first),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return,
            };
        }
        let jobs: Vec<Job> = waiting.take().into_iter().chain(inbox.try_iter()).collect();
        written += jobs.iter().map(Job::bytes).sum::<usize>();
        let result = match jobs.is_empty() {
            true => Ok(()),
            false => commit(connection, ids, &jobs).map_err(|error| error.to_string()),
        };
        if let Err(error) = &result {
            tracing::error!("journal: {error}");
        }
        for job in jobs {
            let result = result.clone();
            match job {
                Job::Record(entry) => {
                    recorded(JournalReply::Review { review: entry.review.id, step: entry.step, result })
                }
                Job::Window(window) => {
                    windows.insert(window.id);
                    recorded(JournalReply::Window { window: window.id, result })
                }
                Job::Chat(record) if record.is_live => {
                    live.insert(record.chat);
                }
                Job::Chat(record) => {
                    live.remove(&record.chat);
                }
                Job::ForgetChat(chat) => {
                    live.remove(&chat);
                }
                Job::OnDisk(_) => {}
                other => later.push_back(other),
            }
        }
        // One at a time: no decision waits for readers of the history.
        match later.pop_front() {
            Some(Job::Ask { ticket, question }) => {
                let result = history::answer(connection, &question).map_err(log_error);
                recorded(JournalReply::History { ticket, result });
            }
            Some(Job::BeginUndo { ticket, change }) => {
                let result = history::begin_undo(connection, &change, now_ms()).map_err(log_error);
                recorded(JournalReply::UndoBegun { ticket, result });
            }
            Some(Job::EndUndo { undo, done, mode }) => {
                let _ = history::end_undo(connection, undo, done, mode).map_err(log_error);
            }
            Some(Job::ReadChat { ticket, chat, places, most_bytes }) => {
                let result = chats::read(connection, chat, &places, most_bytes).map_err(log_error);
                recorded(JournalReply::Chat { ticket, result });
            }
            // Each is done when it is committed.
            Some(Job::Record(_) | Job::Window(_) | Job::OnDisk(_) | Job::Chat(_) | Job::ForgetChat(_))
            | None => {}
        }
        waiting = inbox.try_recv().ok();
        let mut maintained = Ok(());
        if waiting.is_none() && pruned.elapsed() >= BETWEEN_PRUNINGS {
            pruned = Instant::now();
            maintained = schema::prune(connection, retention.days, &windows, &live).map(|removed| {
                if !removed.is_empty() {
                    recorded(JournalReply::ChatsRemoved(removed));
                }
            });
            releasing = true;
        }
        if written > LOG_BYTES && (waiting.is_none() || written > LOG_BYTES_MOST) {
            written = 0;
            maintained = maintained.and_then(|()| drop_oldest_texts(connection, retention));
            maintained = maintained.and(schema::checkpoint(connection));
            releasing = true;
        }
        if releasing && waiting.is_none() && later.is_empty() {
            match maintenance::release_free_pages(connection) {
                Ok(true) => {}
                Ok(false) => {
                    releasing = false;
                    // The file shrinks when the log is restarted.
                    maintained = maintained.and(schema::checkpoint(connection));
                }
                Err(error) => {
                    releasing = false;
                    maintained = maintained.and(Err(error));
                }
            }
        }
        if let Err(error) = maintained {
            tracing::error!("journal: {error}");
        }
    }
}

fn log_error(error: impl std::fmt::Display) -> String {
    tracing::error!("journal: {error}");
    error.to_string()
}

impl Job {
    /// A rough size of what it adds to the log: the texts, and some pages of tables and indexes.
    fn bytes(&self) -> usize {
        const PAGES: usize = 8 * 4096;
        match self {
            Job::Ask { .. } | Job::ReadChat { .. } => 0,
            Job::Window(_) | Job::EndUndo { .. } | Job::OnDisk(_) | Job::ForgetChat(_) => PAGES,
            Job::Chat(record) => PAGES + record.items.iter().map(|(_, item)| item.len()).sum::<usize>(),
            Job::BeginUndo { change, .. } => {
                PAGES + [&change.before, &change.after].into_iter().flatten().map(Vec::len).sum::<usize>()
            }
            Job::Record(entry) => PAGES + entry.review.base_text().len() + entry.review.proposed.len(),
        }
    }
}

fn drop_oldest_texts(connection: &mut Connection, retention: &Retention) -> rusqlite::Result<()> {
    let dropped = maintenance::drop_oldest_texts(connection, retention.limit_bytes())?;
    if dropped > 0 {
        tracing::info!(
            "the journal was larger than {} MiB: dropped its {dropped} oldest texts",
            retention.mib
        );
    }
    Ok(())
}

fn commit(connection: &mut Connection, ids: &mut IssuedIds, jobs: &[Job]) -> Result<(), JournalError> {
    let transaction = connection.transaction()?;
    ids.cover(&transaction, jobs)?;
    let now = now_ms();
    for job in jobs {
        match job {
            Job::Record(entry) => rows::put(&transaction, entry, now)?,
            Job::Window(window) => rows::put_window(&transaction, window, now)?,
            Job::OnDisk(review) => rows::put_on_disk(&transaction, *review, Some(true))?,
            Job::Chat(record) => chats::put(&transaction, record, now)?,
            Job::ForgetChat(chat) => chats::forget(&transaction, *chat)?,
            // Each in its turn, after what is committed here.
            Job::Ask { .. } | Job::BeginUndo { .. } | Job::EndUndo { .. } | Job::ReadChat { .. } => {}
        }
    }
    Ok(transaction.commit()?)
}

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
