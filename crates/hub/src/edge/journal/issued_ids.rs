//! Which ids were issued: no id is issued twice, whatever happens to the journal.
//!
//! The journal knows the last ids exactly. Files outside of it contain a number that no id has reached yet, and are
//! written before an id reaches it; they count when the journal is new, or older than they are. If all of them are
//! lost, ids continue from the clock.

use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use linkspan_review::Step;
use rusqlite::{Connection, Transaction, params};
use serde::{Deserialize, Serialize};

use super::{Job, JournalError};

const FILE_NAME: &str = "ids.json";
/// A few numbers and their names.
const MAX_FILE_BYTES: u64 = 1024;
/// Ids that can be issued before the files are written again; they are skipped when the journal is lost.
const RESERVED_AHEAD: u64 = 100;
/// Ids from the clock count the seconds since then (2026-01-01): they stay short, and grow faster than reviews are
/// made.
const CLOCK_BEGINS: u64 = 1_767_225_600;
/// A log file that is older was not created by this start.
const FIRST_START: Duration = Duration::from_secs(60);

/// The id of a new row in `writes`.
pub(super) const NEXT_CHANGE: &str = "(SELECT max(coalesce((SELECT max(id) FROM writes), 0),
  coalesce((SELECT last FROM marks WHERE name = 'change'), 0)) + 1)";

/// One number for each kind of id.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Ids {
    pub(super) review: u64,
    pub(super) window: u64,
    pub(super) change: u64,
}

impl Ids {
    fn all(number: u64) -> Ids {
        Ids { review: number, window: number, change: number }
    }

    fn with(self, other: Ids, choose: impl Fn(u64, u64) -> u64) -> Ids {
        Ids {
            review: choose(self.review, other.review),
            window: choose(self.window, other.window),
            change: choose(self.change, other.change),
        }
    }

    fn max(self, other: Ids) -> Ids {
        self.with(other, u64::max)
    }

    fn named(self) -> [(&'static str, u64); 3] {
        [("review", self.review), ("window", self.window), ("change", self.change)]
    }

    /// The larger of a column of `marks` and of the ids in the rows themselves.
    fn read(connection: &Connection, column: &str, of_rows: [&str; 3]) -> rusqlite::Result<Ids> {
        let number = |name: &str, of_rows: &str| -> rusqlite::Result<u64> {
            let sql = format!("SELECT max({column}, {of_rows}) FROM marks WHERE name = ?1");
            let number: i64 = connection.query_row(&sql, [name], |row| row.get(0))?;
            Ok(number.cast_unsigned())
        };
        let [review, window, change] = of_rows;
        Ok(Ids {
            review: number("review", review)?,
            window: number("window", window)?,
            change: number("change", change)?,
        })
    }
}

const OF_ROWS: [&str; 3] = [
    "coalesce((SELECT max(id) FROM reviews), 0)",
    "coalesce((SELECT max(id) FROM windows), 0), coalesce((SELECT max(window) FROM reviews), 0)",
    "coalesce((SELECT max(id) FROM writes), 0)",
];

#[derive(Debug)]
pub(super) struct IssuedIds {
    /// In the state directory, where writing must succeed, and in the runtime directory, where it may fail.
    state: PathBuf,
    runtime: Option<PathBuf>,
    /// At least as large as every issued id.
    last: Ids,
    /// No id beyond it was issued.
    reserved: Ids,
}

impl IssuedIds {
    /// Finds out where ids continue.
    pub(super) fn open(
        connection: &mut Connection,
        journal: &Path,
        runtime: Option<&Path>,
    ) -> Result<IssuedIds, JournalError> {
        let folder = journal.parent().unwrap_or(Path::new("/"));
        let (state, runtime) = (folder.join(FILE_NAME), runtime.map(|folder| folder.join(FILE_NAME)));
        let known = Ids::read(connection, "last", OF_ROWS)?;
        let reserved = Ids::read(connection, "reserved", ["0"; 3])?;
        let outside =
            [Some(&state), runtime.as_ref()].into_iter().flatten().filter_map(|file| read(file).ok());
        let last = match outside.reduce(Ids::max) {
            // If a file is ahead, the journal was lost, or is an older copy.
            Some(outside) => {
                let ahead =
                    outside.with(reserved, |outside, reserved| if outside > reserved { outside } else { 0 });
                known.max(ahead)
            }
            None if known == Ids::default() && had_journal_before(folder) => Ids::all(from_the_clock()),
            None => known,
        };
        let mut ids = IssuedIds { state, runtime, last, reserved };
        let transaction = connection.transaction()?;
        for (name, last) in last.named() {
            transaction
                .execute("UPDATE marks SET last = ?2 WHERE name = ?1", params![name, last.cast_signed()])?;
        }
        if ids.reserve(last.with(Ids::all(1), u64::saturating_add)) || !ids.state.exists() {
            ids.write()?;
            ids.put(&transaction)?;
        }
        transaction.commit()?;
        Ok(ids)
    }

    /// The last ids that may have been issued.
    pub(super) fn last(&self) -> Ids {
        self.last
    }

    /// Reserves the ids of these jobs before they are committed, and so before anyone sees them.
    pub(super) fn cover(&mut self, transaction: &Transaction<'_>, jobs: &[Job]) -> Result<(), JournalError> {
        for job in jobs {
            match job {
                Job::Record(entry) => {
                    self.last.review = self.last.review.max(entry.review.id.0);
                    self.last.change += u64::from(entry.step == Step::Written);
                }
                Job::Window(window) => self.last.window = self.last.window.max(window.id.0),
                // The change, if it has no id yet, and the undo.
                Job::BeginUndo { .. } => self.last.change += 2,
                Job::Ask { .. }
                | Job::ReadChat { .. }
                | Job::EndUndo { .. }
                | Job::OnDisk(_)
                | Job::Chat(_)
                | Job::ForgetChat(_) => {}
            }
        }
        if self.reserve(self.last) {
            self.write()?;
            self.put(transaction)?;
        }
        Ok(())
    }

    /// Whether more had to be reserved.
    fn reserve(&mut self, needed: Ids) -> bool {
        let before = self.reserved;
        self.reserved =
            before.with(
                needed,
                |reserved, needed| if needed > reserved { needed + RESERVED_AHEAD } else { reserved },
            );
        self.reserved != before
    }

    fn put(&self, transaction: &Transaction<'_>) -> rusqlite::Result<()> {
        for (name, reserved) in self.reserved.named() {
            let row = params![name, reserved.cast_signed()];
            transaction.prepare_cached("UPDATE marks SET reserved = ?2 WHERE name = ?1")?.execute(row)?;
        }
        Ok(())
    }

    fn write(&self) -> Result<(), JournalError> {
        let contents = serde_json::to_vec(&self.reserved).unwrap_or_default();
        if let Some(Err(error)) = self.runtime.as_ref().map(|file| write(file, &contents)) {
            tracing::warn!("cannot write the ids in use to the runtime directory: {error}");
        }
        write(&self.state, &contents)
            .map_err(|source| JournalError::IssuedIds { path: self.state.clone(), source })
    }
}

/// Before rows are removed: keeps the last ids that are in them.
pub(super) fn preserve(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    let last = Ids::read(transaction, "last", OF_ROWS)?;
    for (name, last) in last.named() {
        transaction
            .execute("UPDATE marks SET last = ?2 WHERE name = ?1", params![name, last.cast_signed()])?;
    }
    Ok(())
}

fn read(file: &Path) -> io::Result<Ids> {
    let mut bytes = Vec::new();
    crate::edge::disk::open_regular(file)?.take(MAX_FILE_BYTES).read_to_end(&mut bytes)?;
    Ok(serde_json::from_slice(&bytes)?)
}

/// Replaces the file so that it is complete or unchanged even after a power cut.
fn write(file: &Path, contents: &[u8]) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("/"));
    let private = fs::Permissions::from_mode(0o600);
    let mut temporary = tempfile::Builder::new().prefix(".ids-").permissions(private).tempfile_in(folder)?;
    temporary.write_all(contents)?;
    temporary.as_file().sync_all()?;
    temporary.persist(file)?;
    fs::File::open(folder)?.sync_all()
}

/// Whether there was a journal here before this one: a damaged one, an ids file that cannot be read, or a log file
/// that this start did not create.
fn had_journal_before(folder: &Path) -> bool {
    let log = fs::metadata(folder.join("hub.log")).and_then(|found| found.created());
    let old_log = log.is_ok_and(|created| created.elapsed().is_ok_and(|age| age > FIRST_START));
    let names = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let left = |name: &str| name == FILE_NAME || name.starts_with("journal.damaged-");
    old_log || names.into_iter().any(|name| left(&name.to_string_lossy()))
}

fn from_the_clock() -> u64 {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    seconds.checked_sub(CLOCK_BEGINS).unwrap_or_else(|| {
        // The clock is wrong.
        10_000_000 + u64::from(getrandom::u32().unwrap_or_default() % 10_000_000)
    })
}
