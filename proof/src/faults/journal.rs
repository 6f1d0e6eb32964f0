//! The journal as it is on disk: one record for each change, with the decision that was made.

use linkspan_testkit::{World, eventually};
use rusqlite::{Connection, OpenFlags};

use super::fixture::ReviewedFile;

#[derive(Debug)]
pub(super) struct Row {
    path: String,
    verdict: Option<String>,
    delivered: bool,
    writes: i64,
}

pub(super) fn reviews(world: &World) -> Vec<Row> {
    let journal = Connection::open_with_flags(world.journal(), OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    journal.busy_timeout(linkspan_testkit::DEADLINE).unwrap();
    let sql = "SELECT path, verdict, delivered_at IS NOT NULL,
                      (SELECT count(*) FROM writes WHERE review = reviews.id)
               FROM reviews ORDER BY id";
    let mut all = journal.prepare(sql).unwrap();
    let rows = all.query_map([], |row| {
        Ok(Row {
            path: String::from_utf8_lossy(&row.get::<_, Vec<u8>>(0)?).into_owned(),
            verdict: row.get(1)?,
            delivered: row.get(2)?,
            writes: row.get(3)?,
        })
    });
    rows.unwrap().map(Result::unwrap).collect()
}

/// The newest record of a file has this verdict, and was written this many times.
#[track_caller]
pub(super) fn is_decided(world: &World, path: &str, verdict: Option<&str>, writes: i64) {
    let rows = reviews(world);
    let newest = rows.iter().rfind(|row| row.path == path).unwrap_or_else(|| panic!("no record of {path}"));
    assert_eq!((newest.verdict.as_deref(), newest.writes), (verdict, writes), "{newest:?}");
}

/// For the message of a failure.
pub(super) fn said(world: &World) -> String {
    format!("{:#?}", reviews(world))
}

/// One record for each file, decided as the user did; written once, if the hub writes it. An agent that listens on a
/// stream withdraws its older request when it sends it again: that is recorded too, without a decision.
pub(super) fn is_as_decided(
    world: &World,
    files: &[ReviewedFile],
    hub_writes: impl Fn(&ReviewedFile) -> bool,
) {
    let mut rows = reviews(world);
    rows.retain(|row| row.verdict.as_deref() != Some("withdrawn") || row.writes > 0);
    assert_eq!(rows.len(), files.len(), "one change, one record: {rows:#?}");
    for file in files {
        let row = rows.iter().find(|row| row.path == file.wanted.path);
        let row = row.unwrap_or_else(|| panic!("no record of {}: {rows:#?}", file.wanted.path));
        let verdict = if file.accepts { "accepted" } else { "rejected" };
        assert_eq!(row.verdict.as_deref(), Some(verdict), "{row:?}");
        assert_eq!(row.writes, i64::from(file.accepts && hub_writes(file)), "written once: {row:?}");
    }
    // The hub records the delivery a moment after the agent has the outcome.
    let afresh = |row: &Row| files.iter().any(|one| one.on_new_connection && one.wanted.path == row.path);
    eventually(&format!("the delivery is recorded ({rows:?})"), || {
        reviews(world).iter().all(|row| row.delivered || !afresh(row)).then_some(())
    });
}
