//! How large the journal is and stays: the oldest texts go when it is too large, and what is free goes back to the disk a
//! little at a time. Long work ends when its time is up.

use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, params};

/// What is dropped at once, so that it is not done again for each record.
const SPARE: u64 = 10;
/// Pages that are given back in one go: nobody waits long for that.
const PAGES_AT_ONCE: u32 = 256;
/// Pages that stay free for the next records.
const PAGES_KEPT: u64 = 256;
/// Steps of the database between two looks at the clock.
const STEPS: i32 = 50;

/// In bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// The whole file, without its log.
    pub file: u64,
    /// What of it is free, and used again before the file grows.
    pub free: u64,
}

impl Size {
    pub(super) fn of(connection: &Connection) -> rusqlite::Result<Size> {
        let number = |pragma: &str| -> rusqlite::Result<u64> {
            connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0)).map(i64::cast_unsigned)
        };
        let page = number("page_size")?;
        Ok(Size { file: number("page_count")? * page, free: number("freelist_count")? * page })
    }

    fn used(self) -> u64 {
        self.file.saturating_sub(self.free)
    }
}

/// When each review was over, or far in the future for what is still needed: open reviews, decisions that nobody has
/// heard of, changes that are still to be written.
const OVER_AT: &str = "CASE WHEN r.delivered_at IS NULL THEN 9223372036854775807
  WHEN (r.writer = 'editor' OR r.written_here) AND r.verdict = 'accepted' AND r.ended_at IS NULL THEN 9223372036854775807
  ELSE max(r.delivered_at, coalesce(r.ended_at, 0), coalesce(r.decided_at, 0)) END";

/// Drops the texts of what was over first, until the rest fits. What was decided stays in the history, and can not be
/// undone any more. Gives how many texts are gone.
pub(super) fn drop_oldest_texts(connection: &mut Connection, limit_bytes: u64) -> rusqlite::Result<usize> {
    let used = Size::of(connection)?.used();
    if used <= limit_bytes {
        return Ok(0);
    }
    // The rows stay and go on naming the texts that they had.
    connection.pragma_update(None, "foreign_keys", false)?;
    let dropped = drop_oldest(connection, used - (limit_bytes - limit_bytes / SPARE));
    connection.pragma_update(None, "foreign_keys", true)?;
    dropped
}

fn drop_oldest(connection: &mut Connection, mut excess: u64) -> rusqlite::Result<usize> {
    let transaction = connection.transaction()?;
    let columns = ["base", "left_text", "proposed", "draft", "decided_text", "result_text", "result"];
    let reviews =
        columns.map(|column| format!("SELECT r.{column} AS digest, {OVER_AT} AS at FROM reviews r"));
    let sql = format!(
        "SELECT u.digest, length(b.bytes) FROM (
           SELECT digest, max(at) AS last FROM ({}
             UNION ALL SELECT before, CASE state WHEN 'begun' THEN 9223372036854775807 ELSE at END FROM writes
             UNION ALL SELECT after, CASE state WHEN 'begun' THEN 9223372036854775807 ELSE at END FROM writes)
           WHERE digest IS NOT NULL GROUP BY digest) u
         JOIN blobs b ON b.digest = u.digest WHERE u.last < 9223372036854775807 ORDER BY u.last",
        reviews.join(" UNION ALL ")
    );
    let mut oldest: Vec<Vec<u8>> = Vec::new();
    {
        let mut statement = transaction.prepare(&sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()?.filter(|_| excess > 0) {
            excess = excess.saturating_sub(row.get::<_, i64>(1)?.cast_unsigned());
            oldest.push(row.get(0)?);
        }
        let mut delete = transaction.prepare("DELETE FROM blobs WHERE digest = ?1")?;
        for digest in &oldest {
            delete.execute(params![digest])?;
        }
    }
    transaction.commit()?;
    Ok(oldest.len())
}

/// Gives some free pages back to the disk; whether there are more.
pub(super) fn give_back(connection: &Connection) -> rusqlite::Result<bool> {
    let free = |connection: &Connection| -> rusqlite::Result<u64> {
        connection
            .pragma_query_value(None, "freelist_count", |row| row.get::<_, i64>(0))
            .map(i64::cast_unsigned)
    };
    let before = free(connection)?;
    if before <= PAGES_KEPT {
        return Ok(false);
    }
    // Each step gives back one page.
    let mut vacuum = connection.prepare(&format!("PRAGMA incremental_vacuum({PAGES_AT_ONCE})"))?;
    let mut steps = vacuum.query([])?;
    while steps.next()?.is_some() {}
    let after = free(connection)?;
    // A journal that was made without this knows no such thing, and must not be asked for ever.
    Ok(after < before && after > PAGES_KEPT)
}

/// Whether it can give pages back. A journal of an older version learns it by being written anew, if that is done soon.
pub(super) fn learn_to_give_back(connection: &mut Connection, time: Duration) -> rusqlite::Result<()> {
    const INCREMENTAL: i64 = 2;
    let mode: i64 = connection.pragma_query_value(None, "auto_vacuum", |row| row.get(0))?;
    if mode == INCREMENTAL {
        return Ok(());
    }
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    if !within(connection, time, |connection| connection.execute_batch("VACUUM"))? {
        tracing::info!("the journal is large and of an older version: its file does not get smaller");
    }
    Ok(())
}

/// Looks for damage; `None`: there was not time enough to look at all of it. What is read later is checked then.
pub(super) fn damage(connection: &mut Connection, time: Duration) -> rusqlite::Result<Option<String>> {
    let mut said = String::new();
    let done = within(connection, time, |connection| {
        said = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        Ok(())
    })?;
    Ok(done.then_some(said))
}

/// Whether the work was done in this time.
fn within(
    connection: &mut Connection,
    time: Duration,
    work: impl FnOnce(&Connection) -> rusqlite::Result<()>,
) -> rusqlite::Result<bool> {
    let until = Instant::now() + time;
    connection.progress_handler(STEPS, Some(move || Instant::now() >= until))?;
    let worked = work(connection);
    connection.progress_handler(0, None::<fn() -> bool>)?;
    match worked {
        Ok(()) => Ok(true),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) => Ok(false),
        Err(error) => Err(error),
    }
}
