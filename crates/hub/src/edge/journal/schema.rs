//! The journal's tables, and what happens to a file that is not a journal.
//!
//! Texts and bytes are stored once each, by digest; `sqlite3 journal.db` reads the rest.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use linkspan_review::WindowId;
use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::{JournalError, chats, issued_ids, maintenance};

/// Each version but the first has its step in `migrate`.
pub(super) const VERSION: i64 = 6;

/// The start of a hub waits for this; what is not checked then is checked when it is read.
const CHECK_TIME_LIMIT: Duration = Duration::from_secs(1);
/// Once in the life of a journal with an older format.
const REWRITE_TIME_LIMIT: Duration = Duration::from_secs(3);

/// Bytes of the log that are kept for the next records.
const MAX_LOG_BYTES: i64 = 8 * 1024 * 1024;

const TABLES: &str = "
CREATE TABLE blobs (digest BLOB PRIMARY KEY, bytes BLOB NOT NULL);
CREATE TABLE reviews (
  id INTEGER PRIMARY KEY, set_id INTEGER, window INTEGER NOT NULL, path BLOB NOT NULL, label TEXT NOT NULL,
  writer TEXT NOT NULL, owner_key TEXT NOT NULL, convention TEXT NOT NULL, original BLOB NOT NULL,
  format TEXT, base BLOB REFERENCES blobs, proposed BLOB NOT NULL REFERENCES blobs, draft BLOB REFERENCES blobs,
  conflicts TEXT NOT NULL, revision INTEGER NOT NULL,
  phase TEXT NOT NULL, verdict TEXT, reason TEXT, superseded_by INTEGER, taken TEXT, person_diff TEXT,
  new_file INTEGER, decided_text BLOB REFERENCES blobs, result_text BLOB REFERENCES blobs,
  result BLOB REFERENCES blobs, comments TEXT, decided_by TEXT,
  proposed_at INTEGER NOT NULL, decided_at INTEGER, ended_at INTEGER, delivered_at INTEGER,
  added INTEGER, removed INTEGER, written_here INTEGER NOT NULL DEFAULT 0, on_disk INTEGER,
  left_text BLOB REFERENCES blobs,
  chat INTEGER, turn INTEGER, chat_item INTEGER, prompt TEXT, words TEXT);
CREATE INDEX unfinished ON reviews (id) WHERE delivered_at IS NULL;
CREATE TABLE windows (
  id INTEGER PRIMARY KEY, editor TEXT NOT NULL, folders TEXT NOT NULL, real_folders TEXT NOT NULL, key TEXT NOT NULL, port INTEGER NOT NULL,
  token TEXT NOT NULL, discovery TEXT NOT NULL, seen_at INTEGER NOT NULL);
";

/// No bytes before: the file did not exist. None after: an undo removed it. An undo is `begun` before the file is
/// touched, and `done` or `failed` once that is known. A removed file is restored with the mode that it had.
const WRITES: &str = "
CREATE TABLE writes (
  id INTEGER PRIMARY KEY, review INTEGER NOT NULL, path BLOB NOT NULL, before BLOB REFERENCES blobs,
  after BLOB REFERENCES blobs, at INTEGER NOT NULL, undoes INTEGER, state TEXT NOT NULL DEFAULT 'done',
  mode INTEGER);
CREATE INDEX writes_of ON writes (review);
";

/// What is known about issued ids: the last one, in case its row is removed, and a number that none has reached.
const MARKS: &str = "
CREATE TABLE marks (name TEXT PRIMARY KEY, last INTEGER NOT NULL, reserved INTEGER NOT NULL);
INSERT INTO marks VALUES ('review', 0, 0), ('window', 0, 0), ('change', 0, 0);
";

/// Conversations with hosted agents. One without a head is forgotten; its number is never used again.
pub(super) const CHATS: &str = "
CREATE TABLE chats (id INTEGER PRIMARY KEY, head TEXT, changed_at INTEGER NOT NULL);
CREATE TABLE chat_items (
  chat INTEGER NOT NULL, place INTEGER NOT NULL, item TEXT NOT NULL, PRIMARY KEY (chat, place)) WITHOUT ROWID;
";

/// Opens the journal and reads it. A damaged one is moved aside for the user to look at, never deleted, and a new one
/// is started.
pub(super) fn open<T>(
    path: &Path,
    read: impl Fn(Connection) -> Result<T, JournalError>,
) -> Result<T, JournalError> {
    let error = match open_sound(path).and_then(&read) {
        Err(JournalError::Sqlite(error)) if is_damage(&error) => error,
        opened => return opened,
    };
    let aside = path.with_extension(format!("damaged-{}.db", super::now_ms()));
    tracing::error!(
        "the journal is damaged ({error}); moved it to {} and started a new one",
        aside.display()
    );
    for suffix in ["", "-wal", "-shm"] {
        match std::fs::rename(with_suffix(path, suffix), with_suffix(&aside, suffix)) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            moved => moved.map_err(|source| JournalError::Aside { source })?,
        }
    }
    open_sound(path).and_then(read)
}

pub(super) fn is_damage(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    matches!(error.sqlite_error_code(), Some(DatabaseCorrupt | NotADatabase))
}

/// The path of the file itself, its log, or the index of its log.
pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name: OsString = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn open_sound(path: &Path) -> Result<Connection, JournalError> {
    make_private(path).map_err(|source| JournalError::File { path: path.to_owned(), source })?;
    let mut connection = Connection::open(path)?;
    connection.busy_timeout(Duration::from_secs(2))?;
    // Only a test writes at the same time: wait for it.
    connection.set_transaction_behavior(TransactionBehavior::Immediate);
    let version = |connection: &Connection| -> rusqlite::Result<i64> {
        connection.pragma_query_value(None, "user_version", |row| row.get(0))
    };
    // A newer journal is not touched.
    let found = version(&connection)?;
    if found > VERSION {
        return Err(JournalError::Newer { found, known: VERSION });
    }
    // Before anything else: it must be set when the first page is written.
    if found == 0 {
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    }
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // Copying the log into the tables would delay the job that triggers it; it is done when no job waits.
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    // A log that a burst made large shrinks when it is restarted.
    connection.pragma_update(None, "journal_size_limit", MAX_LOG_BYTES)?;
    // A decision is sent to the agent only once it survives a power cut.
    connection.pragma_update(None, "synchronous", "FULL")?;
    match maintenance::check_damage(&mut connection, CHECK_TIME_LIMIT)? {
        Some(said) if said != "ok" => {
            let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
            return Err(rusqlite::Error::SqliteFailure(code, Some(said)).into());
        }
        Some(_) => {}
        None => tracing::info!("the journal is large: not all of it was checked at startup"),
    }
    if found == 0 {
        let transaction = connection.transaction()?;
        transaction.execute_batch(TABLES)?;
        transaction.execute_batch(WRITES)?;
        transaction.execute_batch(MARKS)?;
        transaction.execute_batch(CHATS)?;
        transaction.pragma_update(None, "user_version", VERSION)?;
        transaction.commit()?;
    }
    for version in (found..VERSION).filter(|_| found > 0) {
        let transaction = connection.transaction()?;
        migrate(&transaction, version)?;
        transaction.pragma_update(None, "user_version", version + 1)?;
        transaction.commit()?;
    }
    maintenance::enable_incremental_vacuum(&mut connection, REWRITE_TIME_LIMIT)?;
    Ok(connection)
}

/// From this version to the next.
fn migrate(transaction: &Transaction<'_>, version: i64) -> rusqlite::Result<()> {
    match version {
        1 => {
            transaction.execute_batch(
                "ALTER TABLE reviews ADD COLUMN added INTEGER;
                 ALTER TABLE reviews ADD COLUMN removed INTEGER;
                 ALTER TABLE writes RENAME TO writes_1;",
            )?;
            transaction.execute_batch(WRITES)?;
            transaction.execute_batch(
                "INSERT INTO writes (id, review, path, before, after, at)
                   SELECT id, review, path, before, after, at FROM writes_1;
                 DROP TABLE writes_1;",
            )
        }
        2 => {
            transaction.execute_batch(
                "ALTER TABLE reviews ADD COLUMN written_here INTEGER NOT NULL DEFAULT 0;
                 ALTER TABLE reviews ADD COLUMN on_disk INTEGER;
                 ALTER TABLE reviews ADD COLUMN left_text BLOB REFERENCES blobs;",
            )?;
            transaction.execute_batch(MARKS)
        }
        3 => transaction.execute_batch(CHATS),
        4 => transaction.execute_batch(
            "ALTER TABLE reviews ADD COLUMN chat INTEGER;
             ALTER TABLE reviews ADD COLUMN turn INTEGER;
             ALTER TABLE reviews ADD COLUMN chat_item INTEGER;
             ALTER TABLE reviews ADD COLUMN prompt TEXT;
             ALTER TABLE reviews ADD COLUMN words TEXT;",
        ),
        5 => transaction.execute_batch(chats::COUNT_TURNS),
        _ => Ok(()),
    }
}

/// The journal contains texts and tokens: only its owner may read it, even if another program created the file. SQLite
/// gives its other files the same mode.
fn make_private(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path)?;
    for suffix in ["", "-wal", "-shm"] {
        let path = with_suffix(path, suffix);
        if std::fs::metadata(&path).is_ok_and(|found| found.permissions().mode() & 0o077 != 0) {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
        }
    }
    Ok(())
}

/// Moves what was committed from the log into the tables, and restarts the log. Its file keeps its size: syncing
/// bytes within a file costs the disk half as much as making the file longer.
pub(super) fn checkpoint(connection: &Connection) -> rusqlite::Result<()> {
    connection.query_row("PRAGMA wal_checkpoint(RESTART)", [], |_| Ok(()))
}

/// Removes what was settled more than `keep_days` ago, and texts that only those rows referred to. An accepted change
/// that was not written yet is not settled, and one that was undone lately can still be redone. `windows` and `live`
/// conversations are in use. Returns the conversations that were removed.
pub(super) fn prune(
    connection: &mut Connection,
    keep_days: u32,
    windows: &BTreeSet<WindowId>,
    live: &BTreeSet<u64>,
) -> rusqlite::Result<Vec<u64>> {
    let before_ms = super::now_ms() - i64::from(keep_days) * 24 * 3600 * 1000;
    let transaction = connection.transaction()?;
    issued_ids::preserve(&transaction)?;
    transaction.execute(
        "DELETE FROM reviews WHERE coalesce(delivered_at, ended_at, decided_at) < ?1
           AND NOT (((writer = 'editor' OR written_here) AND verdict = 'accepted' OR writer = 'agent-first')
             AND ended_at IS NULL)
           AND id NOT IN (SELECT review FROM writes WHERE at >= ?1)",
        [before_ms],
    )?;
    transaction.execute(
        "DELETE FROM writes WHERE review NOT IN (SELECT review FROM writes WHERE at >= ?1)",
        [before_ms],
    )?;
    for window in windows {
        let seen = (super::now_ms(), window.0.cast_signed());
        transaction.execute("UPDATE windows SET seen_at = ?1 WHERE id = ?2", seen)?;
    }
    let removed = chats::prune(&transaction, super::now_ms(), live)?;
    // The window of a review determines where that review's file may be written.
    transaction.execute(
        "DELETE FROM windows WHERE seen_at < ?1 AND id NOT IN (SELECT window FROM reviews)",
        [before_ms],
    )?;
    transaction.execute(
        "DELETE FROM blobs WHERE digest NOT IN (
           SELECT base FROM reviews WHERE base IS NOT NULL UNION SELECT proposed FROM reviews
           UNION SELECT left_text FROM reviews WHERE left_text IS NOT NULL
           UNION SELECT draft FROM reviews WHERE draft IS NOT NULL
           UNION SELECT decided_text FROM reviews WHERE decided_text IS NOT NULL
           UNION SELECT result_text FROM reviews WHERE result_text IS NOT NULL
           UNION SELECT result FROM reviews WHERE result IS NOT NULL
           UNION SELECT before FROM writes WHERE before IS NOT NULL
           UNION SELECT after FROM writes WHERE after IS NOT NULL)",
        [],
    )?;
    transaction.commit()?;
    Ok(removed)
}
