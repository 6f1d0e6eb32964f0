//! Keeps the journal small: the oldest texts are dropped when it is too large, and free pages are released to the
//! disk a few at a time. Long work stops when its time is up.

use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, params};

/// Drops this part of the limit more than necessary (1/10), so that it is not done again for each record.
const HEADROOM_DIVISOR: u64 = 10;
/// Pages that are released at once: few, so that no job waits long.
const PAGES_PER_STEP: u32 = 256;
/// Pages that stay free for the next records.
const SPARE_PAGES: u64 = 256;
/// Steps of the database between two checks of the clock.
const STEPS_BETWEEN_CLOCK_CHECKS: i32 = 50;

/// In bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// The whole file, without its log.
    pub file: u64,
    /// The free part, which is used again before the file grows.
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

/// When each review ended, or far in the future if it is still needed: open reviews, undelivered decisions, changes
/// that still have to be written.
const ENDED_AT: &str = "CASE WHEN r.delivered_at IS NULL THEN 9223372036854775807
  WHEN (r.writer = 'editor' OR r.written_here) AND r.verdict = 'accepted' AND r.ended_at IS NULL THEN 9223372036854775807
  ELSE max(r.delivered_at, coalesce(r.ended_at, 0), coalesce(r.decided_at, 0)) END";

/// Drops the texts of the reviews that ended first, until the rest fits. Their decisions stay in the history, but can
/// no longer be undone. Returns how many texts were dropped.
pub(super) fn drop_oldest_texts(connection: &mut Connection, limit_bytes: u64) -> rusqlite::Result<usize> {
    let used = Size::of(connection)?.used();
    if used <= limit_bytes {
        return Ok(0);
    }
    // The rows stay, with the digests of texts that are gone.
    connection.pragma_update(None, "foreign_keys", false)?;
    let dropped = drop_oldest(connection, used - (limit_bytes - limit_bytes / HEADROOM_DIVISOR));
    connection.pragma_update(None, "foreign_keys", true)?;
    dropped
}

fn drop_oldest(connection: &mut Connection, mut excess: u64) -> rusqlite::Result<usize> {
    let transaction = connection.transaction()?;
    let columns = ["base", "left_text", "proposed", "draft", "decided_text", "result_text", "result"];
    let reviews =
        columns.map(|column| format!("SELECT r.{column} AS digest, {ENDED_AT} AS at FROM reviews r"));
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

/// Releases some free pages to the disk; returns whether there are more.
pub(super) fn release_free_pages(connection: &Connection) -> rusqlite::Result<bool> {
    let free = |connection: &Connection| -> rusqlite::Result<u64> {
        connection
            .pragma_query_value(None, "freelist_count", |row| row.get::<_, i64>(0))
            .map(i64::cast_unsigned)
    };
    let before = free(connection)?;
    if before <= SPARE_PAGES {
        return Ok(false);
    }
    // Each step releases one page.
    let mut vacuum = connection.prepare(&format!("PRAGMA incremental_vacuum({PAGES_PER_STEP})"))?;
    let mut steps = vacuum.query([])?;
    while steps.next()?.is_some() {}
    let after = free(connection)?;
    // A journal that was created without this never releases any: do not try forever.
    Ok(after < before && after > SPARE_PAGES)
}

/// A journal of an older version cannot release pages until it is rewritten, which is done here if it does not take
/// long.
pub(super) fn enable_incremental_vacuum(connection: &mut Connection, time: Duration) -> rusqlite::Result<()> {
    const INCREMENTAL: i64 = 2;
    let mode: i64 = connection.pragma_query_value(None, "auto_vacuum", |row| row.get(0))?;
    if mode == INCREMENTAL {
        return Ok(());
    }
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    if !run_with_deadline(connection, time, |connection| connection.execute_batch("VACUUM"))? {
        tracing::info!("the journal is large and has an older format: its file will not shrink");
    }
    Ok(())
}

/// Checks for damage; `None`: there was not enough time to check everything. The rest is checked when it is read.
pub(super) fn check_damage(connection: &mut Connection, time: Duration) -> rusqlite::Result<Option<String>> {
    let mut said = String::new();
    let done = run_with_deadline(connection, time, |connection| {
        said = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        Ok(())
    })?;
    Ok(done.then_some(said))
}

/// Whether the work was done in this time.
fn run_with_deadline(
    connection: &mut Connection,
    time: Duration,
    work: impl FnOnce(&Connection) -> rusqlite::Result<()>,
) -> rusqlite::Result<bool> {
    let until = Instant::now() + time;
    connection.progress_handler(STEPS_BETWEEN_CLOCK_CHECKS, Some(move || Instant::now() >= until))?;
    let worked = work(connection);
    connection.progress_handler(0, None::<fn() -> bool>)?;
    match worked {
        Ok(()) => Ok(true),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) => Ok(false),
        Err(error) => Err(error),
    }
}
