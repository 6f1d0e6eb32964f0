//! Reviews as rows, and back. The meaning of the columns is defined here and nowhere else.

use std::ffi::OsString;
use std::ops::Range;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use linkspan_editor_api::{ReviewOrigin, parse_turn};
use linkspan_review::{
    Accepted, AcceptedPart, Comment, Conflict, Convention, Digest, Format, Hunk, LineNumber, Outcome, Phase,
    ResolvedDecision, Review, ReviewEnd, ReviewId, Revision, SetId, SharedText, Step, Text, WindowId, Writer,
    decode, hunks,
};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};
use serde::{Deserialize, Serialize};

use super::issued_ids::NEXT_CHANGE;
use super::schema::is_damage;
use super::{JournalError, LineCount, RememberedWindow, ReviewPast, ReviewRecord};

#[derive(Serialize, Deserialize)]
pub(super) struct CommentColumn {
    pub(super) line: u32,
    pub(super) text: String,
}

#[derive(Serialize, Deserialize)]
struct TakenColumn {
    taken: Vec<String>,
    left: Vec<String>,
}

const AGENT_AS_PROPOSED: &str = "agent-as-proposed";

pub(super) fn writer_of(row: &Row<'_>) -> Result<Writer, JournalError> {
    match row.get::<_, String>("writer")?.as_str() {
        "agent" => Ok(Writer::Agent),
        AGENT_AS_PROPOSED => Ok(Writer::AgentAsProposed),
        "editor" => Ok(Writer::Hub),
        "nobody" => Ok(Writer::Nobody),
        "agent-first" => Ok(Writer::AgentFirst),
        // Never write a file on a guess.
        _ => Err(JournalError::Row { column: "writer".to_owned() }),
    }
}

/// Start and end of the four line ranges of a conflict.
type ConflictColumn = [(u32, u32); 4];

pub(super) fn put(tx: &Transaction<'_>, entry: &ReviewRecord, now: i64) -> rusqlite::Result<()> {
    let ReviewRecord { review, step, by, size, origin } = entry;
    let base = review.base.as_ref().map(|base| text_blob(tx, &base.text)).transpose()?;
    let left = review.left.as_ref().map(|left| text_blob(tx, left)).transpose()?;
    let proposed = text_blob(tx, &review.proposed)?;
    let draft = review.draft.as_ref().map(|draft| text_blob(tx, draft)).transpose()?;
    let conflicts: Vec<ConflictColumn> = review.conflicts.iter().map(conflict_column).collect();
    tx.prepare_cached(
        "INSERT INTO reviews (id, set_id, window, path, label, writer, owner_key, convention, original, format, base,
           proposed, draft, conflicts, revision, phase, proposed_at, written_here, left_text, chat, turn, chat_item,
           prompt, words)
         VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19,?20,?21,?22,?23,?24)
         ON CONFLICT (id) DO UPDATE SET set_id = ?2, label = ?5, owner_key = ?7, convention = ?8, original = ?9, format = ?10, base = ?11, proposed = ?12, draft = ?13, conflicts = ?14,
           revision = ?15, phase = ?16, written_here = ?18, left_text = ?19",
    )?
    .execute(params![
        id_column(review.id.0),
        review.set.map(|set| id_column(set.0)),
        id_column(review.window.0),
        review.path.as_os_str().as_bytes(),
        review.label,
        match review.writer {
            Writer::Agent => "agent",
            Writer::AgentAsProposed => AGENT_AS_PROPOSED,
            Writer::Hub => "editor",
            Writer::Nobody => "nobody",
            Writer::AgentFirst => "agent-first",
        },
        review.owner_key,
        match (review.convention, review.marked) {
            (Convention::AsIs, false) => "as-is",
            (Convention::AsIs, true) => "as-is marked",
            (Convention::Lf, false) => "lf",
            (Convention::Lf, true) => "lf marked",
        },
        review.original.as_bytes(),
        review.base.as_ref().map(|base| base.format.name()),
        base,
        proposed,
        draft,
        json(&conflicts),
        review.revision.0,
        phase_column(&review.phase),
        now,
        review.written_here,
        left,
        origin.as_ref().and_then(|origin| parse_turn(&origin.chat)).map(|(chat, _)| id_column(chat)),
        origin.as_ref().map(|origin| origin.turn),
        origin.as_ref().map(|origin| origin.item),
        origin.as_ref().and_then(|origin| origin.prompt.as_deref()),
        origin.as_ref().and_then(|origin| origin.words.as_deref()),
    ])?;
    let decided_text = match &review.phase {
        Phase::Deciding(decided) | Phase::Writing(decided) => Some(text_blob(tx, &decided.text)?),
        _ => None,
    };
    if let Some(outcome) = review.outcome() {
        put_outcome(tx, review, outcome, decided_text, by.as_deref(), now)?;
    }
    if *step == Step::Decided {
        // It is not in the file yet, whether its agent or the hub writes it. What the hub writes has a row in `writes`
        // once it is.
        let waits = review.writer.is_agent()
            && !review.written_here
            && review.outcome().is_some_and(|outcome| matches!(outcome.ended, ReviewEnd::Accepted(_)));
        put_on_disk(tx, review.id, waits.then_some(false))?;
    }
    if *step == Step::Rebased {
        // A decision that was recorded before no longer counts.
        put_on_disk(tx, review.id, None)?;
    }
    if matches!(step, Step::Decided | Step::Written | Step::Ended) {
        put_size(tx, review, size.unwrap_or_else(|| counted(review)))?;
    }
    // What is delivered was written before, although that record may have failed.
    let is_lost = || -> rusqlite::Result<bool> {
        let mut known = tx.prepare_cached("SELECT 1 FROM writes WHERE review = ?1")?;
        Ok(*step == Step::Delivered && review.hub_writes() && !known.exists([id_column(review.id.0)])?)
    };
    if *step == Step::Written || is_lost()? {
        put_write(tx, review, now)?;
    }
    match step {
        // An outcome without a decision is sent to an agent that is connected, and never later: it is over.
        Step::Ended | Step::Delivered => {
            tx.prepare_cached("UPDATE reviews SET delivered_at = ?2 WHERE id = ?1")?
                .execute(params![id_column(review.id.0), now])?;
        }
        _ => {}
    }
    Ok(())
}

fn put_outcome(
    tx: &Transaction<'_>,
    review: &Review,
    outcome: &Outcome,
    decided_text: Option<Vec<u8>>,
    by: Option<&str>,
    now: i64,
) -> rusqlite::Result<()> {
    let comments: Vec<CommentColumn> =
        outcome.comments.iter().map(|c| CommentColumn { line: c.line.0, text: c.text.clone() }).collect();
    let (verdict, reason, superseded_by) = match &outcome.ended {
        ReviewEnd::Accepted(_) => ("accepted", None, None),
        ReviewEnd::Rejected { reason } => ("rejected", reason.as_deref(), None),
        ReviewEnd::Withdrawn => ("withdrawn", None, None),
        ReviewEnd::Superseded { by } => ("superseded", None, Some(id_column(by.0))),
        ReviewEnd::Failed { error } => ("failed", Some(error.as_str()), None),
    };
    let accepted = match &outcome.ended {
        ReviewEnd::Accepted(accepted) => Some(accepted),
        _ => None,
    };
    let result = accepted.map(|accepted| blob(tx, accepted.bytes.digest(), &accepted.bytes)).transpose()?;
    let result_text = accepted.map(|accepted| text_blob(tx, &accepted.text)).transpose()?;
    tx.prepare_cached(
        "UPDATE reviews SET verdict = ?2, reason = ?3, superseded_by = ?4, taken = ?5, person_diff = ?6, new_file = ?7,
           decided_text = coalesce(?8, decided_text), result_text = ?9, result = ?10, comments = ?11,
           decided_by = coalesce(?12, decided_by), decided_at = coalesce(decided_at, ?13),
           ended_at = CASE WHEN ?14 THEN coalesce(ended_at, ?13) ELSE ended_at END
         WHERE id = ?1",
    )?
    .execute(params![
        id_column(review.id.0),
        verdict,
        reason,
        superseded_by,
        accepted.map(|accepted| taken_column(&accepted.taken)),
        accepted.and_then(|accepted| accepted.person_diff.as_deref()),
        accepted.map(|accepted| accepted.new_file),
        decided_text,
        result_text,
        result,
        json(&comments),
        by,
        now,
        matches!(review.phase, Phase::Settling(_) | Phase::Settled { .. }),
    ])?;
    Ok(())
}

/// Whether the file was seen to contain what its agent was to write; `None` if the agent does not write it.
pub(super) fn put_on_disk(
    connection: &Connection,
    review: ReviewId,
    on_disk: Option<bool>,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached("UPDATE reviews SET on_disk = ?2 WHERE id = ?1")?
        .execute(params![id_column(review.0), on_disk])?;
    Ok(())
}

/// How many lines it adds and removes, so that a list need not read the texts.
fn put_size(tx: &Transaction<'_>, review: &Review, size: LineCount) -> rusqlite::Result<()> {
    tx.prepare_cached("UPDATE reviews SET added = ?2, removed = ?3 WHERE id = ?1")?.execute(params![
        id_column(review.id.0),
        size.added,
        size.removed
    ])?;
    Ok(())
}

fn counted(review: &Review) -> LineCount {
    let hunks = match &review.phase {
        Phase::Deciding(decided) if matches!(decided.outcome.ended, ReviewEnd::Accepted(_)) => {
            hunks(review.file_text(), &decided.text)
        }
        // What was written, which the editor's own rules may have changed.
        Phase::Settling(outcome)
            if let ReviewEnd::Accepted(accepted) = &outcome.ended
                && let Ok(written) = decode(&accepted.bytes) =>
        {
            hunks(review.file_text(), &written.text)
        }
        _ => review.hunks(),
    };
    let lines = |side: fn(&Hunk) -> &Range<u32>| -> u32 {
        hunks.iter().map(|hunk| side(hunk).end.saturating_sub(side(hunk).start)).sum()
    };
    LineCount { added: lines(|hunk| &hunk.after), removed: lines(|hunk| &hunk.before) }
}

/// The before-image is what an undo restores. If it cannot be encoded, no row is added: NULL means that there was no
/// file.
fn put_write(tx: &Transaction<'_>, review: &Review, now: i64) -> rusqlite::Result<()> {
    let Some(Outcome { ended: ReviewEnd::Accepted(accepted), .. }) = review.outcome() else { return Ok(()) };
    let Ok(before) = review.base.as_ref().map(|base| base.encode()).transpose() else { return Ok(()) };
    let before = before.map(|bytes| blob(tx, bytes.digest(), &bytes)).transpose()?;
    let after = blob(tx, accepted.bytes.digest(), &accepted.bytes)?;
    let sql = format!(
        "INSERT INTO writes (id, review, path, before, after, at) VALUES ({NEXT_CHANGE},?1,?2,?3,?4,?5)"
    );
    tx.prepare_cached(&sql)?.execute(params![
        id_column(review.id.0),
        review.path.as_os_str().as_bytes(),
        before,
        after,
        now
    ])?;
    Ok(())
}

/// Open reviews, and decided ones whose outcome was not delivered yet.
pub(super) fn unfinished(
    connection: &Connection,
    now: i64,
) -> Result<(Vec<Review>, Vec<ReviewPast>), JournalError> {
    let mut statement = connection.prepare(
        "SELECT * FROM reviews WHERE delivered_at IS NULL
           AND (phase <> 'settled' OR verdict IN ('accepted', 'rejected')) ORDER BY id",
    )?;
    let mut rows = statement.query([])?;
    let (mut reviews, mut past) = (Vec::new(), Vec::new());
    while let Some(row) = rows.next()? {
        let id: i64 = row.get("id")?;
        match review_of(connection, row) {
            Ok(review) => {
                let ago = |at: i64| u64::try_from(now.saturating_sub(at)).unwrap_or_default();
                past.push(ReviewPast {
                    review: review.id,
                    proposed_ms: ago(row.get("proposed_at")?),
                    decided_ms: row.get::<_, Option<i64>>("decided_at")?.map(ago),
                    origin: origin_of(row)?.map(Box::new),
                });
                reviews.push(review);
            }
            Err(JournalError::Sqlite(error)) if is_damage(&error) => return Err(error.into()),
            // One bad row must not cost all the others.
            Err(error) => tracing::error!("cannot read review r{id} from the journal: {error}"),
        }
    }
    Ok((reviews, past))
}

fn review_of(connection: &Connection, row: &Row<'_>) -> Result<Review, JournalError> {
    let text = |column: &str| -> Result<Option<String>, JournalError> {
        let Some(digest) = row.get::<_, Option<Vec<u8>>>(column)? else { return Ok(None) };
        let bytes = bytes_of(connection, &digest)?;
        String::from_utf8(bytes).map(Some).map_err(|_| JournalError::Row { column: column.to_owned() })
    };
    let bad = |column: &str| JournalError::Row { column: column.to_owned() };
    let base = match (row.get::<_, Option<String>>("format")?, text("base")?) {
        (Some(format), Some(text)) => {
            let format = Format::from_name(&format).ok_or_else(|| bad("format"))?;
            Some(Text { format, text: text.into() })
        }
        _ => None,
    };
    let conflicts: Vec<ConflictColumn> = parse(row, "conflicts")?;
    let original: Vec<u8> = row.get("original")?;
    let convention: String = row.get("convention")?;
    let phase = phase_of(connection, row, &text)?;
    Ok(Review {
        id: ReviewId(id_of(row, "id")?),
        set: row.get::<_, Option<i64>>("set_id")?.map(|set| SetId(set.cast_unsigned())),
        window: WindowId(id_of(row, "window")?),
        path: PathBuf::from(OsString::from_vec(row.get("path")?)),
        label: row.get("label")?,
        writer: writer_of(row)?,
        written_here: row.get("written_here")?,
        owner_key: row.get("owner_key")?,
        owner: None,
        base,
        left: text("left_text")?.map(SharedText::from),
        proposed: text("proposed")?.ok_or_else(|| bad("proposed"))?.into(),
        convention: if convention.starts_with("lf") { Convention::Lf } else { Convention::AsIs },
        marked: convention.ends_with("marked"),
        original: Digest::from_bytes(original.try_into().map_err(|_| bad("original"))?),
        draft: text("draft")?.map(SharedText::from),
        conflicts: conflicts.into_iter().map(conflict_of).collect(),
        revision: Revision(row.get("revision")?),
        phase,
    })
}

fn phase_of(
    connection: &Connection,
    row: &Row<'_>,
    text: &dyn Fn(&str) -> Result<Option<String>, JournalError>,
) -> Result<Phase, JournalError> {
    let bad = |column: &str| JournalError::Row { column: column.to_owned() };
    let phase: String = row.get("phase")?;
    match phase.as_str() {
        "recording" => return Ok(Phase::Recording),
        "pending" => return Ok(Phase::Pending),
        _ => {}
    }
    let ended = match row.get::<_, Option<String>>("verdict")?.as_deref() {
        Some("accepted") => {
            let result: Vec<u8> = row.get("result")?;
            ReviewEnd::Accepted(Accepted {
                text: text("result_text")?.ok_or_else(|| bad("result_text"))?.into(),
                bytes: bytes_of(connection, &result)?.into(),
                taken: taken_of(row.get("taken")?).ok_or_else(|| bad("taken"))?,
                person_diff: row.get("person_diff")?,
                new_file: row.get("new_file")?,
            })
        }
        Some("rejected") => ReviewEnd::Rejected { reason: row.get("reason")? },
        Some("withdrawn") => ReviewEnd::Withdrawn,
        Some("superseded") => ReviewEnd::Superseded { by: ReviewId(id_of(row, "superseded_by")?) },
        Some("failed") => ReviewEnd::Failed { error: row.get("reason")? },
        _ => return Err(bad("verdict")),
    };
    let comments: Vec<CommentColumn> = parse(row, "comments")?;
    let comments = comments.into_iter().map(|c| Comment { line: LineNumber(c.line), text: c.text }).collect();
    let outcome = Outcome { ended, comments, by: None };
    let decided = |outcome| -> Result<Box<ResolvedDecision>, JournalError> {
        Ok(Box::new(ResolvedDecision { outcome, text: text("decided_text")?.unwrap_or_default().into() }))
    };
    Ok(match phase.as_str() {
        "deciding" => Phase::Deciding(decided(outcome)?),
        "writing" => Phase::Writing(decided(outcome)?),
        "settling" => Phase::Settling(Box::new(outcome)),
        "settled" => Phase::Settled { outcome: Box::new(outcome), delivered: false },
        _ => return Err(bad("phase")),
    })
}

/// The conversation that a review comes from.
pub(super) fn origin_of(row: &Row<'_>) -> rusqlite::Result<Option<ReviewOrigin>> {
    let Some(chat) = row.get::<_, Option<i64>>("chat")? else { return Ok(None) };
    Ok(Some(ReviewOrigin {
        chat: format!("t{chat}"),
        turn: row.get::<_, Option<u32>>("turn")?.unwrap_or_default(),
        item: row.get::<_, Option<u32>>("chat_item")?.unwrap_or_default(),
        prompt: row.get("prompt")?,
        words: row.get("words")?,
    }))
}

pub(super) fn put_window(
    connection: &Connection,
    window: &RememberedWindow,
    now: i64,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO windows (id, editor, folders, key, port, token, discovery, seen_at, real_folders)
             VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9)
             ON CONFLICT (id) DO UPDATE SET editor = ?2, folders = ?3, key = ?4, port = ?5, token = ?6, discovery = ?7,
               seen_at = ?8, real_folders = ?9",
        )?
        .execute(params![
            id_column(window.id.0),
            window.editor,
            json(&window.folders),
            window.key,
            window.port,
            window.token,
            json(&window.discovery),
            now,
            json(&window.real_folders),
        ])?;
    Ok(())
}

pub(super) fn windows(connection: &Connection) -> Result<Vec<RememberedWindow>, JournalError> {
    let mut statement = connection.prepare("SELECT * FROM windows ORDER BY id")?;
    let mut rows = statement.query([])?;
    let mut windows = Vec::new();
    while let Some(row) = rows.next()? {
        match window_of(row) {
            Ok(window) => windows.push(window),
            Err(JournalError::Sqlite(error)) if is_damage(&error) => return Err(error.into()),
            Err(error) => tracing::error!("cannot read a window from the journal: {error}"),
        }
    }
    Ok(windows)
}

fn window_of(row: &Row<'_>) -> Result<RememberedWindow, JournalError> {
    Ok(RememberedWindow {
        id: WindowId(id_of(row, "id")?),
        editor: row.get("editor")?,
        folders: parse(row, "folders")?,
        real_folders: parse(row, "real_folders")?,
        key: row.get("key")?,
        port: row.get("port")?,
        token: row.get("token")?,
        discovery: parse(row, "discovery")?,
    })
}

pub(super) fn blob(tx: &Transaction<'_>, digest: Digest, bytes: &[u8]) -> rusqlite::Result<Vec<u8>> {
    let digest = digest.as_bytes().to_vec();
    // Most already exist, and passing bytes to the database copies them.
    if !tx.prepare_cached("SELECT 1 FROM blobs WHERE digest = ?1")?.exists([&digest])? {
        tx.prepare_cached("INSERT INTO blobs (digest, bytes) VALUES (?1, ?2)")?
            .execute(params![digest, bytes])?;
    }
    Ok(digest)
}

fn text_blob(tx: &Transaction<'_>, text: &SharedText) -> rusqlite::Result<Vec<u8>> {
    blob(tx, text.digest(), text.as_bytes())
}

pub(super) fn bytes_of(connection: &Connection, digest: &[u8]) -> Result<Vec<u8>, JournalError> {
    let bytes: Option<Vec<u8>> = connection
        .prepare_cached("SELECT bytes FROM blobs WHERE digest = ?1")?
        .query_row([digest], |row| row.get(0))
        .optional()?;
    // The database does not verify its pages, and these bytes may be written to the user's file.
    bytes
        .filter(|bytes| Digest::of(bytes).as_bytes()[..] == *digest)
        .ok_or_else(|| JournalError::Row { column: "digest".to_owned() })
}

/// SQLite's integers are signed; ids are minted from 1 upwards and never get that far.
pub(super) fn id_column(id: u64) -> i64 {
    id.cast_signed()
}

pub(super) fn id_of(row: &Row<'_>, column: &str) -> rusqlite::Result<u64> {
    row.get::<_, i64>(column).map(i64::cast_unsigned)
}

fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

pub(super) fn parse<T: serde::de::DeserializeOwned>(row: &Row<'_>, column: &str) -> Result<T, JournalError> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text).map_err(|_| JournalError::Row { column: column.to_owned() })
}

fn phase_column(phase: &Phase) -> &'static str {
    match phase {
        Phase::Recording => "recording",
        Phase::Pending => "pending",
        Phase::Deciding(_) => "deciding",
        Phase::Writing(_) => "writing",
        Phase::Settling(_) => "settling",
        Phase::Settled { .. } => "settled",
    }
}

fn conflict_column(conflict: &Conflict) -> ConflictColumn {
    [&conflict.base, &conflict.ours, &conflict.theirs, &conflict.merged].map(|range| (range.start, range.end))
}

fn conflict_of(column: ConflictColumn) -> Conflict {
    let [base, ours, theirs, merged] = column.map(|(start, end)| start..end);
    Conflict { base, ours, theirs, merged }
}

fn taken_column(taken: &AcceptedPart) -> String {
    match taken {
        AcceptedPart::All => "all".to_owned(),
        AcceptedPart::Edited => "edited".to_owned(),
        AcceptedPart::Some { taken, left } => json(&TakenColumn {
            taken: taken.iter().map(ToString::to_string).collect(),
            left: left.iter().map(ToString::to_string).collect(),
        }),
    }
}

pub(super) fn taken_of(column: String) -> Option<AcceptedPart> {
    match column.as_str() {
        "all" => return Some(AcceptedPart::All),
        "edited" => return Some(AcceptedPart::Edited),
        _ => {}
    }
    let column: TakenColumn = serde_json::from_str(&column).ok()?;
    let ids = |names: Vec<String>| names.iter().map(|name| name.parse().ok()).collect::<Option<Vec<_>>>();
    Some(AcceptedPart::Some { taken: ids(column.taken)?, left: ids(column.left)? })
}
