//! The history: the list without its texts, one change with its bytes, and how an undo is recorded before and after
//! it is done.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use linkspan_editor_api as api;
use linkspan_review::{AcceptedPart, ChangeId, Digest, Format, ReviewId, SetId, WindowId, Writer};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::JournalError;
use super::issued_ids::NEXT_CHANGE;
use super::rows::{CommentColumn, blob, bytes_of, id_column, id_of, origin_of, parse, taken_of, writer_of};
use super::schema::is_damage;
use crate::core::asker;
use crate::core::contract::{
    BegunUndo, ChangeSelector, HistoryAnswer, HistoryFilter, HistoryQuery, RecordedChange, UnseenWrite,
};

/// Which change was undone by which, without undos that were undone themselves.
struct Undos {
    undoes: HashMap<i64, i64>,
    /// The undo of each change that is undone.
    by: HashMap<i64, i64>,
}

impl Undos {
    fn read(connection: &Connection) -> rusqlite::Result<Undos> {
        let mut statement = connection.prepare_cached(
            "SELECT id, undoes FROM writes WHERE undoes IS NOT NULL AND state = 'done' ORDER BY id DESC",
        )?;
        let pairs = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let pairs: Vec<(i64, i64)> = pairs.collect::<Result<_, _>>()?;
        let mut by = HashMap::new();
        // Newest first: whether an undo still counts is known when it is reached.
        for (undo, undone) in &pairs {
            if !by.contains_key(undo) {
                by.entry(*undone).or_insert(*undo);
            }
        }
        Ok(Undos { undoes: pairs.into_iter().collect(), by })
    }

    /// An undo removes what a change added; the undo of an undo adds it again.
    fn is_removal(&self, change: i64) -> bool {
        let (mut change, mut seen) = (change, HashSet::new());
        while let Some(undone) = self.undoes.get(&change).filter(|undone| seen.insert(**undone)) {
            change = *undone;
        }
        seen.len() % 2 == 1
    }
}

pub(super) fn answer(
    connection: &Connection,
    question: &HistoryQuery,
) -> Result<HistoryAnswer, JournalError> {
    match question {
        HistoryQuery::List(filter) => Ok(HistoryAnswer::List(list(connection, filter)?)),
        HistoryQuery::Texts(id) => texts(connection, *id),
        HistoryQuery::Change(ChangeSelector::Change(id)) => change(connection, *id),
        HistoryQuery::Change(ChangeSelector::Review(id)) => change_of_review(connection, *id),
        HistoryQuery::Change(ChangeSelector::Last) => {
            let newest =
                list(connection, &HistoryFilter { limit: 1, undoable: true, ..HistoryFilter::default() })?;
            match newest.first() {
                Some(entry) => match entry.review.parse() {
                    Ok(review) => change_of_review(connection, review),
                    Err(_) => Ok(HistoryAnswer::Unknown),
                },
                None => Ok(HistoryAnswer::Unknown),
            }
        }
    }
}

/// Ended for good, by a decision or without one: a change that is still to be written may yet fail.
const IS_OVER: &str = "r.verdict IS NOT NULL AND r.phase NOT IN ('recording', 'pending', 'writing')
  AND (r.phase IN ('settling', 'settled')
    OR NOT ((r.writer = 'editor' OR r.written_here) AND r.verdict = 'accepted' OR r.writer = 'agent-first'))";

/// Whether the texts that an undo needs still exist: the oldest are dropped when the journal is too large.
fn kept(before: &str, after: &str) -> String {
    let is_kept = |digest: &str| {
        format!("({digest} IS NULL OR EXISTS (SELECT 1 FROM blobs WHERE blobs.digest = {digest}))")
    };
    format!("{} AND {}", is_kept(before), is_kept(after))
}

const COLUMNS: &str = "r.id, r.set_id, r.window, r.path, r.label, r.owner_key, r.writer, r.verdict, r.reason, r.superseded_by,
  r.taken, r.new_file, coalesce(r.comments, '[]') AS comments, r.decided_by, r.proposed_at, r.added, r.removed,
  r.written_here, r.on_disk, r.chat, r.turn, r.chat_item, r.prompt, r.words";

fn list(connection: &Connection, filter: &HistoryFilter) -> Result<Vec<api::HistoryEntry>, JournalError> {
    let undos = Undos::read(connection)?;
    let mut statement = connection.prepare_cached(&format!(
        "SELECT * FROM (
           SELECT {COLUMNS}, w.id AS change, NULL AS undoes, coalesce(r.ended_at, r.decided_at) AS over_at,
             CASE WHEN w.id IS NULL THEN {} ELSE {} END AS kept
             FROM reviews r LEFT JOIN writes w ON w.review = r.id AND w.undoes IS NULL WHERE {IS_OVER}
           UNION ALL
           SELECT {COLUMNS}, w.id AS change, w.undoes, w.at AS over_at, {} AS kept
             FROM writes w JOIN reviews r ON r.id = w.review WHERE w.undoes IS NOT NULL AND w.state = 'done')
         WHERE (?1 IS NULL OR path = ?1 OR substr(path, 1, length(?2)) = ?2) AND (?3 IS NULL OR window = ?3)
           AND (?4 IS NULL OR chat = ?4) AND (?5 IS NULL OR turn = ?5)
         ORDER BY over_at DESC, change DESC, id DESC",
        kept("r.base", "r.result"),
        kept("w.before", "w.after"),
        kept("w.before", "w.after"),
    ))?;
    let path = filter.path.as_ref().map(|path| path.as_os_str().as_bytes().to_vec());
    let below = path.as_ref().map(|path| [path.strip_suffix(b"/").unwrap_or(path), b"/"].concat());
    let (window, chat) = (filter.window.map(|id| id_column(id.0)), filter.chat.map(id_column));
    let mut rows = statement.query(params![path, below, window, chat, filter.turn])?;
    let mut entries = Vec::new();
    while let Some(row) = rows.next()?.filter(|_| entries.len() < filter.limit) {
        let entry = match entry_of(row, &undos) {
            Ok(entry) => entry,
            Err(JournalError::Sqlite(error)) if is_damage(&error) => return Err(error.into()),
            // One bad row must not cost all the others.
            Err(error) => {
                tracing::error!("cannot read an entry of the history: {error}");
                continue;
            }
        };
        // Only accepted changes count as undoable here; an undo itself is undone by its id.
        if !filter.undoable || entry.undoable && entry.undoes.is_none() {
            entries.push(entry);
        }
    }
    Ok(entries)
}

/// What was accepted; of other reviews, what the user saw last.
fn texts(connection: &Connection, id: ReviewId) -> Result<HistoryAnswer, JournalError> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS}, w.id AS change, NULL AS undoes, coalesce(r.ended_at, r.decided_at) AS over_at,
           CASE WHEN w.id IS NULL THEN {} ELSE {} END AS kept,
           r.base, coalesce(r.result_text, r.draft, r.proposed) AS text
           FROM reviews r LEFT JOIN writes w ON w.review = r.id AND w.undoes IS NULL
           WHERE r.id = ?1 AND {IS_OVER}",
        kept("r.base", "r.result"),
        kept("w.before", "w.after"),
    ))?;
    let mut rows = statement.query([id_column(id.0)])?;
    let Some(row) = rows.next()? else { return Ok(HistoryAnswer::Unknown) };
    for column in ["base", "text"] {
        if !is_kept(connection, row.get(column)?)? {
            return Ok(HistoryAnswer::TextsGone { review: id });
        }
    }
    let text = |column: &str| -> Result<Option<String>, JournalError> {
        let digest: Option<Vec<u8>> = row.get(column)?;
        let bytes = digest.map(|digest| bytes_of(connection, &digest)).transpose()?;
        let bad = |_| JournalError::Row { column: column.to_owned() };
        bytes.map(|bytes| String::from_utf8(bytes).map_err(bad)).transpose()
    };
    Ok(HistoryAnswer::Texts(Box::new(api::HistoryShowResult {
        entry: entry_of(row, &Undos::read(connection)?)?,
        base: text("base")?,
        text: text("text")?.unwrap_or_default(),
    })))
}

fn entry_of(row: &Row<'_>, undos: &Undos) -> Result<api::HistoryEntry, JournalError> {
    let change: Option<i64> = row.get("change")?;
    let undoes: Option<i64> = row.get("undoes")?;
    let owner: String = row.get("owner_key")?;
    let (dialect, agent) = asker(&owner);
    let comments: Vec<CommentColumn> = parse(row, "comments")?;
    let verdict: String = row.get("verdict")?;
    let by_agent = verdict == "accepted" && writer_of(row)?.is_agent() && !row.get("written_here")?;
    let on_disk = if change.is_some() { Some(true) } else { row.get("on_disk")? };
    // An older version did not check whether the agent wrote it.
    let written = change.is_some() || by_agent && on_disk != Some(false);
    let undone = change.is_some_and(|change| undos.by.contains_key(&change));
    let (mut added, mut removed) = (row.get("added")?, row.get("removed")?);
    if change.is_some_and(|change| undos.is_removal(change)) {
        std::mem::swap(&mut added, &mut removed);
    }
    let name = |id: i64| ChangeId(id.cast_unsigned()).to_string();
    Ok(api::HistoryEntry {
        review: ReviewId(id_of(row, "id")?).to_string(),
        change: change.map(name),
        undoes: undoes.map(name),
        set: row.get::<_, Option<i64>>("set_id")?.map(|set| SetId(set.cast_unsigned()).to_string()),
        window: WindowId(id_of(row, "window")?).to_string(),
        agent: agent.to_owned(),
        dialect: dialect.to_owned(),
        path: path_of(row)?.display().to_string(),
        label: row.get("label")?,
        ended: ended_of(row, &verdict)?,
        comments: comments.into_iter().map(|c| api::ReviewComment { line: c.line, text: c.text }).collect(),
        proposed_at_ms: id_of(row, "proposed_at")?,
        ended_at_ms: id_of(row, "over_at")?,
        decided_by: row.get("decided_by")?,
        added,
        removed,
        new_file: undoes.is_none() && row.get::<_, Option<bool>>("new_file")?.unwrap_or_default(),
        undoable: written && !undone && row.get("kept")?,
        undone,
        on_disk,
        origin: origin_of(row)?,
    })
}

fn ended_of(row: &Row<'_>, verdict: &str) -> Result<api::ReviewEnded, JournalError> {
    let bad = |column: &str| JournalError::Row { column: column.to_owned() };
    Ok(match verdict {
        "accepted" => api::ReviewEnded::Accepted {
            taken: match taken_of(row.get("taken")?).ok_or_else(|| bad("taken"))? {
                AcceptedPart::All => api::AcceptedPart::All,
                AcceptedPart::Some { .. } => api::AcceptedPart::Some,
                AcceptedPart::Edited => api::AcceptedPart::Edited,
            },
            // May be as long as the file.
            person_diff: None,
        },
        "rejected" => api::ReviewEnded::Rejected { reason: row.get("reason")? },
        "withdrawn" => api::ReviewEnded::Withdrawn,
        "superseded" => {
            api::ReviewEnded::Superseded { by: ReviewId(id_of(row, "superseded_by")?).to_string() }
        }
        "failed" => api::ReviewEnded::Failed { error: row.get("reason")? },
        _ => return Err(bad("verdict")),
    })
}

fn path_of(row: &Row<'_>) -> rusqlite::Result<PathBuf> {
    Ok(PathBuf::from(OsString::from_vec(row.get("path")?)))
}

fn change(connection: &Connection, id: ChangeId) -> Result<HistoryAnswer, JournalError> {
    let mut statement = connection.prepare_cached(
        "SELECT w.*, r.window, r.writer FROM writes w JOIN reviews r ON r.id = w.review WHERE w.id = ?1 AND w.state = 'done'",
    )?;
    let mut rows = statement.query([id_column(id.0)])?;
    let Some(row) = rows.next()? else { return Ok(HistoryAnswer::Unknown) };
    for column in ["before", "after"] {
        if !is_kept(connection, row.get(column)?)? {
            return Ok(HistoryAnswer::TextsGone { review: ReviewId(id_of(row, "review")?) });
        }
    }
    let bytes = |column: &str| -> Result<Option<Vec<u8>>, JournalError> {
        let digest: Option<Vec<u8>> = row.get(column)?;
        digest.map(|digest| bytes_of(connection, &digest)).transpose()
    };
    let undone_by = Undos::read(connection)?.by.get(&id_column(id.0)).copied();
    let is_undo = row.get::<_, Option<i64>>("undoes")?.is_some();
    Ok(HistoryAnswer::Change(Box::new(RecordedChange {
        id: Some(id),
        review: ReviewId(id_of(row, "review")?),
        writer: if is_undo { Writer::Hub } else { writer_of(row)? },
        window: WindowId(id_of(row, "window")?),
        path: path_of(row)?,
        before: bytes("before")?,
        after: bytes("after")?,
        mode: row.get("mode")?,
        undone_by: undone_by.map(|undo| ChangeId(undo.cast_unsigned())),
    })))
}

/// No digest: there is nothing to keep.
fn is_kept(connection: &Connection, digest: Option<Vec<u8>>) -> rusqlite::Result<bool> {
    match digest {
        Some(digest) => connection.prepare_cached("SELECT 1 FROM blobs WHERE digest = ?1")?.exists([digest]),
        None => Ok(true),
    }
}

fn change_of_review(connection: &Connection, id: ReviewId) -> Result<HistoryAnswer, JournalError> {
    let ours: Option<i64> = connection
        .prepare_cached("SELECT max(id) FROM writes WHERE review = ?1 AND undoes IS NULL")?
        .query_row([id_column(id.0)], |row| row.get(0))?;
    if let Some(ours) = ours {
        return change(connection, ChangeId(ours.cast_unsigned()));
    }
    let mut statement = connection.prepare_cached(&format!(
        "SELECT window, path, format, base, result, verdict, writer, written_here FROM reviews r WHERE id = ?1 AND {IS_OVER}"
    ))?;
    let mut rows = statement.query([id_column(id.0)])?;
    let Some(row) = rows.next()? else { return Ok(HistoryAnswer::Unknown) };
    let verdict: String = row.get("verdict")?;
    if verdict != "accepted" || !writer_of(row)?.is_agent() || row.get("written_here")? {
        return Ok(HistoryAnswer::NothingWritten { review: id, verdict });
    }
    for column in ["base", "result"] {
        if !is_kept(connection, row.get(column)?)? {
            return Ok(HistoryAnswer::TextsGone { review: id });
        }
    }
    let result: Vec<u8> = row.get("result")?;
    Ok(HistoryAnswer::Change(Box::new(RecordedChange {
        id: None,
        review: id,
        writer: writer_of(row)?,
        window: WindowId(id_of(row, "window")?),
        path: path_of(row)?,
        before: base_bytes(connection, row)?,
        after: Some(bytes_of(connection, &result)?),
        mode: None,
        undone_by: None,
    })))
}

/// The base of a review is stored as text; encoded in its format, it is the file's bytes again.
fn base_bytes(connection: &Connection, row: &Row<'_>) -> Result<Option<Vec<u8>>, JournalError> {
    let bad = || JournalError::Row { column: "base".to_owned() };
    let columns = (row.get::<_, Option<String>>("format")?, row.get::<_, Option<Vec<u8>>>("base")?);
    let (format, base) = match columns {
        (Some(format), Some(base)) => (format, base),
        (None, None) => return Ok(None),
        _ => return Err(bad()),
    };
    let format = Format::from_name(&format).ok_or_else(bad)?;
    let text = String::from_utf8(bytes_of(connection, &base)?).map_err(|_| bad())?;
    format.encode(&text).map(Some).map_err(|_| bad())
}

/// Recorded before the file is touched. A change that an agent wrote gets its id here. Returns the ids of the change
/// and of the undo.
pub(super) fn begin_undo(
    connection: &mut Connection,
    change: &RecordedChange,
    now: i64,
) -> rusqlite::Result<(ChangeId, ChangeId)> {
    let transaction = connection.transaction()?;
    let put = |before: &Option<Vec<u8>>,
               after: &Option<Vec<u8>>,
               at: i64,
               undoes,
               state|
     -> rusqlite::Result<i64> {
        let before = before.as_ref().map(|bytes| blob(&transaction, Digest::of(bytes), bytes)).transpose()?;
        let after = after.as_ref().map(|bytes| blob(&transaction, Digest::of(bytes), bytes)).transpose()?;
        let path = change.path.as_os_str().as_bytes();
        transaction
            .prepare_cached(&format!(
                "INSERT INTO writes (id, review, path, before, after, at, undoes, state)
                   VALUES ({NEXT_CHANGE},?1,?2,?3,?4,?5,?6,?7)"
            ))?
            .execute(params![id_column(change.review.0), path, before, after, at, undoes, state])?;
        Ok(transaction.last_insert_rowid())
    };
    let undone = match change.id {
        Some(id) => id_column(id.0),
        None => {
            let at: Option<i64> = transaction
                .query_row(
                    "SELECT decided_at FROM reviews WHERE id = ?1",
                    [id_column(change.review.0)],
                    |row| row.get(0),
                )
                .optional()?
                .flatten();
            put(&change.before, &change.after, at.unwrap_or(now), None, "done")?
        }
    };
    let undo = put(&change.after, &change.before, now, Some(undone), "begun")?;
    transaction.commit()?;
    Ok((ChangeId(undone.cast_unsigned()), ChangeId(undo.cast_unsigned())))
}

pub(super) fn end_undo(
    connection: &Connection,
    undo: ChangeId,
    done: bool,
    mode: Option<u32>,
) -> rusqlite::Result<()> {
    let state = if done { "done" } else { "failed" };
    connection.prepare_cached("UPDATE writes SET state = ?2, mode = ?3 WHERE id = ?1")?.execute(params![
        id_column(undo.0),
        state,
        mode
    ])?;
    Ok(())
}

pub(super) fn begun(connection: &Connection) -> Result<Vec<BegunUndo>, JournalError> {
    let mut statement = connection.prepare(
        "SELECT w.id, w.review, w.path, w.before, w.after, r.window FROM writes w JOIN reviews r ON r.id = w.review
         WHERE w.state = 'begun'",
    )?;
    let mut rows = statement.query([])?;
    let mut begun = Vec::new();
    while let Some(row) = rows.next()? {
        let digest = |column: &str| -> Result<Option<Digest>, JournalError> {
            let bad = |_| JournalError::Row { column: column.to_owned() };
            let digest: Option<Vec<u8>> = row.get(column)?;
            digest.map(|digest| digest.try_into().map(Digest::from_bytes).map_err(bad)).transpose()
        };
        begun.push(BegunUndo {
            id: ChangeId(id_of(row, "id")?),
            review: ReviewId(id_of(row, "review")?),
            window: WindowId(id_of(row, "window")?),
            path: path_of(row)?,
            before: digest("before")?,
            after: digest("after")?,
        });
    }
    Ok(begun)
}

/// How long ago a change may have been accepted for a new hub to check whether its agent has written it since.
const UNSEEN_MS: i64 = 3600 * 1000;
const UNSEEN_LIMIT: i64 = 64;

/// Changes that agents were lately told to write and that were not seen in the file, newest first. One that the user is
/// asked about again since has no result.
pub(super) fn unseen(connection: &Connection, now: i64) -> Result<Vec<UnseenWrite>, JournalError> {
    let mut statement = connection.prepare(
        "SELECT id, window, path, owner_key, writer, format, base, result, decided_at FROM reviews
         WHERE on_disk = 0 AND result IS NOT NULL AND decided_at > ?1 ORDER BY id DESC LIMIT ?2",
    )?;
    let mut rows = statement.query([now - UNSEEN_MS, UNSEEN_LIMIT])?;
    let mut unseen = Vec::new();
    while let Some(row) = rows.next()? {
        let result: Vec<u8> = row.get("result")?;
        let decided_at: i64 = row.get("decided_at")?;
        let (before, accepted) = match (base_bytes(connection, row), bytes_of(connection, &result)) {
            (Ok(before), Ok(accepted)) => (before, accepted),
            (Err(JournalError::Sqlite(error)), _) | (_, Err(JournalError::Sqlite(error)))
                if is_damage(&error) =>
            {
                return Err(error.into());
            }
            // One bad row must not cost all the others.
            _ => continue,
        };
        unseen.push(UnseenWrite {
            review: ReviewId(id_of(row, "id")?),
            window: WindowId(id_of(row, "window")?),
            path: path_of(row)?,
            owner_key: row.get("owner_key")?,
            decided_ms: u64::try_from(now - decided_at).unwrap_or(0),
            writer: writer_of(row)?,
            before: before.map(Into::into),
            accepted: accepted.into(),
        });
    }
    Ok(unseen)
}
