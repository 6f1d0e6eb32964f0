//! The durable record of reviews, decisions and writes: SQLite, on a thread of its own.
//!
//! Whoever hands in a record hears when it is safe on disk; records that arrive together share one sync.

mod history;
mod inspect;
mod marks;
mod rows;
mod schema;
#[cfg(test)]
mod tests;
mod upkeep;

use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use linkspan_review::{ChangeId, Review, ReviewId, SharedBytes, Step, WindowId, Writer};
use rusqlite::Connection;

use crate::core::Ticket;

pub use history::{BegunUndo, Change, Filter, Found, Name, Question};
pub use inspect::{Inspection, inspect};
use marks::Marks;
pub use upkeep::Size;

#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    #[error("journal: {0}")]
    Sqlite(#[from] rusqlite::Error),
    #[error(
        "the journal was written by a newer linkspan (format {found}, this one knows {known}): update linkspan"
    )]
    Newer { found: i64, known: i64 },
    #[error("the damaged journal cannot be moved aside: {source}")]
    Aside { source: std::io::Error },
    #[error("the journal {} cannot be used: {source}; make it and its folder yours and writable", path.display())]
    File { path: PathBuf, source: std::io::Error },
    #[error("the ids in use cannot be written to {}: {source}", path.display())]
    Marks { path: PathBuf, source: std::io::Error },
    #[error("unreadable column `{column}`")]
    Row { column: String },
    #[error("cannot start the journal's thread: {0}")]
    Thread(std::io::Error),
}

/// A window as it is found again after a restart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RememberedWindow {
    pub id: WindowId,
    pub editor: String,
    /// As the editor names them.
    pub folders: Vec<PathBuf>,
    /// Symlinks followed.
    pub real_folders: Vec<PathBuf>,
    /// What the editor itself calls the window, where it says so.
    pub key: String,
    pub port: u16,
    pub token: String,
    /// The discovery files that were written for it.
    pub discovery: Vec<PathBuf>,
}

/// How many milliseconds ago a review was proposed, and decided if it was.
#[derive(Debug, Clone, Copy)]
pub struct Past {
    pub review: ReviewId,
    pub proposed_ms: u64,
    pub decided_ms: Option<u64>,
}

/// An accepted change that its agent was told to write, and that was not seen in the file.
#[derive(Debug, Clone)]
pub struct Unseen {
    pub review: ReviewId,
    pub window: WindowId,
    pub path: PathBuf,
    /// Its name, for people.
    pub agent: String,
    pub writer: Writer,
    pub before: Option<SharedBytes>,
    pub accepted: SharedBytes,
}

/// What a restarted hub goes on with.
#[derive(Debug, Default)]
pub struct Remembered {
    pub reviews: Vec<Review>,
    pub unseen: Vec<Unseen>,
    pub past: Vec<Past>,
    pub windows: Vec<RememberedWindow>,
    pub undos: Vec<BegunUndo>,
    pub next_review: u64,
    pub next_window: u64,
}

/// What the journal keeps, and where it notes which ids are in use besides its own folder.
#[derive(Debug, Clone)]
pub struct Keeping {
    /// Days that settled reviews and before-images are kept.
    pub days: u32,
    /// When it holds more than so many MiB, the oldest texts go.
    pub mib: u32,
    /// The runtime directory.
    pub runtime: Option<PathBuf>,
}

impl Default for Keeping {
    fn default() -> Keeping {
        Keeping { days: 30, mib: 512, runtime: None }
    }
}

impl Keeping {
    fn limit_bytes(&self) -> u64 {
        u64::from(self.mib) * 1024 * 1024
    }
}

#[derive(Debug)]
pub struct Entry {
    pub review: Review,
    pub step: Step,
    /// The name of the surface a person decided on.
    pub by: Option<String>,
    /// Of what was accepted, where it is known already.
    pub size: Option<LineCount>,
}

/// How many lines a change adds and removes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineCount {
    pub added: u32,
    pub removed: u32,
}

/// A record is on disk, or it is not and says why; or what was asked for.
#[derive(Debug)]
pub enum Recorded {
    History {
        ticket: Ticket,
        result: Result<Found, String>,
    },
    /// The names of the change and of its undo.
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
}

/// The log is emptied when it has grown to about this and nobody waits …
const LOG_BYTES: usize = 4 * 1024 * 1024;
/// … or to this, whoever waits.
const LOG_BYTES_MOST: usize = 256 * 1024 * 1024;

/// A hub may run for months.
const BETWEEN_PRUNINGS: Duration = Duration::from_secs(24 * 3600);

enum Job {
    Record(Box<Entry>),
    Window(Box<RememberedWindow>),
    Ask { ticket: Ticket, question: Question },
    BeginUndo { ticket: Ticket, change: Box<Change> },
    EndUndo { undo: ChangeId, done: bool, mode: Option<u32> },
    OnDisk(ReviewId),
}

#[derive(Debug, Clone)]
pub struct Journal {
    jobs: mpsc::Sender<Job>,
}

impl Journal {
    /// Opens (or makes) the journal, reads what is unfinished, and starts its thread.
    pub fn open(
        path: &Path,
        keeping: &Keeping,
        recorded: impl Fn(Recorded) + Send + 'static,
    ) -> Result<(Journal, Remembered), JournalError> {
        let (mut connection, mut marks, remembered) = schema::open(path, |mut connection| {
            schema::prune(&mut connection, keeping.days, &BTreeSet::new())?;
            drop_oldest_texts(&mut connection, keeping)?;
            let marks = Marks::open(&mut connection, path, keeping.runtime.as_deref())?;
            let (reviews, past) = rows::unfinished(&connection, now_ms())?;
            let remembered = Remembered {
                reviews,
                unseen: history::unseen(&connection, now_ms())?,
                past,
                windows: rows::windows(&connection)?,
                undos: history::begun(&connection)?,
                next_review: marks.last().review + 1,
                next_window: marks.last().window + 1,
            };
            Ok((connection, marks, remembered))
        })?;
        let (jobs, inbox) = mpsc::channel();
        let keeping = keeping.clone();
        std::thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || keep(&mut connection, &mut marks, &inbox, &keeping, &recorded))
            .map_err(JournalError::Thread)?;
        Ok((Journal { jobs }, remembered))
    }

    pub fn record(&self, entry: Entry) {
        // The thread ends only with the process.
        let _ = self.jobs.send(Job::Record(Box::new(entry)));
    }

    /// Nobody waits for it: a hub that does not find it looks at the file again.
    pub fn record_on_disk(&self, review: ReviewId) {
        let _ = self.jobs.send(Job::OnDisk(review));
    }

    pub fn remember_window(&self, window: RememberedWindow) {
        let _ = self.jobs.send(Job::Window(Box::new(window)));
    }

    /// Answered behind everything that was handed in before.
    pub fn ask(&self, ticket: Ticket, question: Question) {
        let _ = self.jobs.send(Job::Ask { ticket, question });
    }

    pub fn begin_undo(&self, ticket: Ticket, change: Change) {
        let _ = self.jobs.send(Job::BeginUndo { ticket, change: Box::new(change) });
    }

    /// Nobody waits for it: a hub that finds an undo only begun looks at the file.
    pub fn end_undo(&self, undo: ChangeId, done: bool, mode: Option<u32>) {
        let _ = self.jobs.send(Job::EndUndo { undo, done, mode });
    }
}

fn keep(
    connection: &mut Connection,
    marks: &mut Marks,
    inbox: &mpsc::Receiver<Job>,
    keeping: &Keeping,
    recorded: &dyn Fn(Recorded),
) {
    let mut pruned = Instant::now();
    let mut waiting = None;
    let mut written = 0;
    // Also those that were closed since; some rows too many do no harm.
    let mut windows = BTreeSet::new();
    let mut later = VecDeque::new();
    // There may be free pages to give back.
    let mut giving_back = true;
    loop {
        if waiting.is_none() && later.is_empty() {
            let patience = if giving_back { Duration::ZERO } else { BETWEEN_PRUNINGS };
            waiting = match inbox.recv_timeout(patience) {
                Ok(first) => Some(first),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return,
            };
        }
        let jobs: Vec<Job> = waiting.take().into_iter().chain(inbox.try_iter()).collect();
        written += jobs.iter().map(Job::bytes).sum::<usize>();
        let result = match jobs.is_empty() {
            true => Ok(()),
            false => commit(connection, marks, &jobs).map_err(|error| error.to_string()),
        };
        if let Err(error) = &result {
            tracing::error!("journal: {error}");
        }
        for job in jobs {
            let result = result.clone();
            match job {
                Job::Record(entry) => {
                    recorded(Recorded::Review { review: entry.review.id, step: entry.step, result })
                }
                Job::Window(window) => {
                    windows.insert(window.id);
                    recorded(Recorded::Window { window: window.id, result })
                }
                Job::OnDisk(_) => {}
                other => later.push_back(other),
            }
        }
        // One at a time: no decision waits for those who read the past.
        match later.pop_front() {
            Some(Job::Ask { ticket, question }) => {
                let result = history::answer(connection, &question).map_err(told);
                recorded(Recorded::History { ticket, result });
            }
            Some(Job::BeginUndo { ticket, change }) => {
                let result = history::begin_undo(connection, &change, now_ms()).map_err(told);
                recorded(Recorded::UndoBegun { ticket, result });
            }
            Some(Job::EndUndo { undo, done, mode }) => {
                let _ = history::end_undo(connection, undo, done, mode).map_err(told);
            }
            Some(Job::Record(_) | Job::Window(_) | Job::OnDisk(_)) | None => {}
        }
        waiting = inbox.try_recv().ok();
        let mut tidied = Ok(());
        if waiting.is_none() && pruned.elapsed() >= BETWEEN_PRUNINGS {
            pruned = Instant::now();
            tidied = schema::prune(connection, keeping.days, &windows);
            giving_back = true;
        }
        if written > LOG_BYTES && (waiting.is_none() || written > LOG_BYTES_MOST) {
            written = 0;
            tidied = tidied.and_then(|()| drop_oldest_texts(connection, keeping));
            tidied = tidied.and(schema::checkpoint(connection));
            giving_back = true;
        }
        if giving_back && waiting.is_none() && later.is_empty() {
            match upkeep::give_back(connection) {
                Ok(true) => {}
                Ok(false) => {
                    giving_back = false;
                    // What was given back is cut off the file when the log begins anew.
                    tidied = tidied.and(schema::checkpoint(connection));
                }
                Err(error) => {
                    giving_back = false;
                    tidied = tidied.and(Err(error));
                }
            }
        }
        if let Err(error) = tidied {
            tracing::error!("journal: {error}");
        }
    }
}

fn told(error: impl std::fmt::Display) -> String {
    tracing::error!("journal: {error}");
    error.to_string()
}

impl Job {
    /// About what it adds to the log: the texts, and some pages of tables and indexes.
    fn bytes(&self) -> usize {
        const PAGES: usize = 8 * 4096;
        match self {
            Job::Ask { .. } => 0,
            Job::Window(_) | Job::EndUndo { .. } | Job::OnDisk(_) => PAGES,
            Job::BeginUndo { change, .. } => {
                PAGES + [&change.before, &change.after].into_iter().flatten().map(Vec::len).sum::<usize>()
            }
            Job::Record(entry) => PAGES + entry.review.base_text().len() + entry.review.proposed.len(),
        }
    }
}

fn drop_oldest_texts(connection: &mut Connection, keeping: &Keeping) -> rusqlite::Result<()> {
    let dropped = upkeep::drop_oldest_texts(connection, keeping.limit_bytes())?;
    if dropped > 0 {
        tracing::info!("the journal held more than {} MiB: its {dropped} oldest texts are gone", keeping.mib);
    }
    Ok(())
}

fn commit(connection: &mut Connection, marks: &mut Marks, jobs: &[Job]) -> Result<(), JournalError> {
    let transaction = connection.transaction()?;
    marks.cover(&transaction, jobs)?;
    let now = now_ms();
    for job in jobs {
        match job {
            Job::Record(entry) => rows::put(&transaction, entry, now)?,
            Job::Window(window) => rows::put_window(&transaction, window, now)?,
            Job::OnDisk(review) => rows::put_on_disk(&transaction, *review, Some(true))?,
            // Each in its turn, behind what is committed here.
            Job::Ask { .. } | Job::BeginUndo { .. } | Job::EndUndo { .. } => {}
        }
    }
    Ok(transaction.commit()?)
}

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
