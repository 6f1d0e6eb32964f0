//! Conversations as rows, how they are read a part at a time, and how long they are kept: longer than reviews, and only
//! so many.

use std::collections::BTreeSet;
use std::ops::Range;

use rusqlite::{Connection, Transaction, params};

use super::{ChatItemsRead, ChatRecord, JournalError, RememberedChat};

/// Days without a word after which a conversation is removed.
const KEPT_DAYS: i64 = 90;

/// Conversations that are kept at most; of more, the newest.
const KEPT: i64 = 500;

/// Bytes of items that are kept at most; beyond that, the oldest conversations go.
const KEPT_BYTES: i64 = 128 * 1024 * 1024;

/// No hub records a larger item: it is not read.
const LARGEST_ITEM: i64 = 32 * 1024 * 1024;

pub(super) fn put(tx: &Transaction<'_>, record: &ChatRecord, now: i64) -> rusqlite::Result<()> {
    let chat = record.chat.cast_signed();
    tx.prepare_cached(
        "INSERT INTO chats (id, head, changed_at) VALUES (?1, ?2, ?3)
         ON CONFLICT (id) DO UPDATE SET head = ?2, changed_at = ?3",
    )?
    .execute(params![chat, record.head, now])?;
    let mut put = tx.prepare_cached(
        "INSERT INTO chat_items (chat, place, item) VALUES (?1, ?2, ?3)
         ON CONFLICT (chat, place) DO UPDATE SET item = ?3",
    )?;
    for (place, item) in &record.items {
        put.execute(params![chat, place, item])?;
    }
    Ok(())
}

pub(super) fn forget(tx: &Transaction<'_>, chat: u64) -> rusqlite::Result<()> {
    tx.execute("DELETE FROM chat_items WHERE chat = ?1", [chat.cast_signed()])?;
    tx.execute("UPDATE chats SET head = NULL WHERE id = ?1", [chat.cast_signed()])?;
    forget_words(tx)
}

/// Reviews keep no words of conversations that are forgotten.
fn forget_words(tx: &Transaction<'_>) -> rusqlite::Result<()> {
    tx.execute(
        "UPDATE reviews SET prompt = NULL, words = NULL WHERE (prompt IS NOT NULL OR words IS NOT NULL)
           AND chat IN (SELECT id FROM chats WHERE head IS NULL)",
        [],
    )?;
    Ok(())
}

/// Removes what is too old or too much, except for these, and returns what it removed.
pub(super) fn prune(tx: &Transaction<'_>, now: i64, live: &BTreeSet<u64>) -> rusqlite::Result<Vec<u64>> {
    let mut due = tx.prepare_cached(
        "SELECT id FROM chats WHERE head IS NOT NULL AND (changed_at < ?1 OR id IN (
           SELECT id FROM (
             SELECT c.id, row_number() OVER (ORDER BY changed_at DESC) AS place,
               sum((SELECT coalesce(sum(octet_length(item)), 0) FROM chat_items i WHERE i.chat = c.id))
                 OVER (ORDER BY changed_at DESC) AS bytes
             FROM chats c WHERE head IS NOT NULL) WHERE place > ?2 OR bytes > ?3))",
    )?;
    let due =
        due.query_map(params![now - KEPT_DAYS * 24 * 3600 * 1000, KEPT, KEPT_BYTES], |row| row.get(0))?;
    let mut due = due.map(|id| id.map(i64::cast_unsigned)).collect::<Result<Vec<u64>, _>>()?;
    due.retain(|chat| !live.contains(chat));
    for chat in &due {
        tx.execute("UPDATE chats SET head = NULL WHERE id = ?1", [chat.cast_signed()])?;
    }
    tx.execute("DELETE FROM chat_items WHERE chat NOT IN (SELECT id FROM chats WHERE head IS NOT NULL)", [])?;
    forget_words(tx)?;
    Ok(due)
}

/// The conversations without their items, and the highest number that was ever used.
pub(super) fn remembered(connection: &Connection) -> Result<(Vec<RememberedChat>, u64), JournalError> {
    let last: Option<i64> = connection.query_row("SELECT max(id) FROM chats", [], |row| row.get(0))?;
    let mut chats = connection.prepare(
        "SELECT id, head, (SELECT max(place) + 1 FROM chat_items WHERE chat = id),
           (SELECT sum(octet_length(item)) FROM chat_items WHERE chat = id)
         FROM chats WHERE head IS NOT NULL ORDER BY id",
    )?;
    let chats = chats.query_map([], |row| {
        let (items, bytes): (Option<i64>, Option<i64>) = (row.get(2)?, row.get(3)?);
        Ok(RememberedChat {
            chat: row.get::<_, i64>(0)?.cast_unsigned(),
            head: row.get(1)?,
            items: u32::try_from(items.unwrap_or(0)).unwrap_or(u32::MAX),
            bytes: usize::try_from(bytes.unwrap_or(0)).unwrap_or(usize::MAX),
        })
    })?;
    Ok((chats.collect::<Result<_, _>>()?, last.unwrap_or(0).cast_unsigned()))
}

/// The last of these items, as many as these bytes have, and at least one.
pub(super) fn read(
    connection: &Connection,
    chat: u64,
    places: &Range<u32>,
    most_bytes: usize,
) -> Result<ChatItemsRead, JournalError> {
    let mut rows = connection.prepare_cached(
        "SELECT place, octet_length(item), CASE WHEN octet_length(item) <= ?4 THEN item END
         FROM chat_items WHERE chat = ?1 AND place >= ?2 AND place < ?3 ORDER BY place DESC",
    )?;
    let mut rows = rows.query(params![chat.cast_signed(), places.start, places.end, LARGEST_ITEM])?;
    let (mut read, mut bytes) = (ChatItemsRead { first: places.start, ..ChatItemsRead::default() }, 0);
    while let Some(row) = rows.next()? {
        let place: u32 = row.get(0)?;
        bytes += usize::try_from(row.get::<_, i64>(1)?).unwrap_or(usize::MAX);
        if bytes > most_bytes && !read.items.is_empty() {
            read.first = place + 1;
            break;
        }
        // Whatever it is: one bad item must not cost the others.
        let item = row.get_ref(2)?.as_bytes().ok().and_then(|item| serde_json::from_slice(item).ok());
        read.items.insert(place, item);
    }
    Ok(read)
}

/// Heads once said neither how many turns there were nor which messages wait.
pub(super) const COUNT_TURNS: &str = "
UPDATE chats SET head = json_set(head,
  '$.turns', (SELECT count(*) FROM (
    SELECT CASE WHEN json_valid(item) THEN item ELSE '{}' END AS item FROM chat_items WHERE chat = id)
    WHERE item ->> '$.kind' = 'user' AND NOT coalesce(item ->> '$.queued', 0) AND NOT coalesce(item ->> '$.byLinkspan', 0)),
  '$.queued', json((SELECT json_group_array(place) FROM (
    SELECT place, CASE WHEN json_valid(item) THEN item ELSE '{}' END AS item FROM chat_items WHERE chat = id ORDER BY place)
    WHERE item ->> '$.kind' = 'user' AND item ->> '$.queued')))
WHERE head IS NOT NULL AND json_valid(head);
";

#[cfg(test)]
mod tests {
    use linkspan_editor_api::ChatItem;

    use super::*;
    use crate::edge::journal::schema::CHATS;

    const DAY: i64 = 24 * 3600 * 1000;

    fn record(chat: u64, items: &[(u32, &str)]) -> ChatRecord {
        let items = items.iter().map(|(place, item)| (*place, (*item).to_owned())).collect();
        ChatRecord { chat, is_live: false, head: format!("head {chat}"), items }
    }

    #[test]
    fn items_are_kept_in_order_old_ones_go_and_no_number_is_used_again() {
        let mut connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(CHATS).unwrap();
        connection.execute_batch("CREATE TABLE reviews (chat INTEGER, prompt TEXT, words TEXT)").unwrap();
        let now = 1000 * DAY;
        let tx = connection.transaction().unwrap();
        put(&tx, &record(1, &[(0, "old")]), now - 91 * DAY).unwrap();
        put(&tx, &record(2, &[(1, "b"), (0, "a")]), now).unwrap();
        put(&tx, &record(2, &[(1, "c")]), now).unwrap();
        put(&tx, &record(3, &[(0, "x")]), now).unwrap();
        for chat in 1..=3 {
            tx.execute("INSERT INTO reviews VALUES (?1, 'do it', 'I will')", [chat]).unwrap();
        }
        forget(&tx, 3).unwrap();
        assert_eq!(prune(&tx, now, &BTreeSet::new()).unwrap(), [1]);
        tx.commit().unwrap();
        let (chats, last) = remembered(&connection).unwrap();
        let kept = RememberedChat { chat: 2, head: "head 2".into(), items: 2, bytes: 2 };
        assert_eq!((chats, last), (vec![kept], 3));
        let items: i64 =
            connection.query_row("SELECT count(*) FROM chat_items", [], |row| row.get(0)).unwrap();
        assert_eq!(items, 2);
        let mut words = connection.prepare("SELECT prompt, words FROM reviews ORDER BY chat").unwrap();
        let words = words.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        let words: Vec<(Option<String>, Option<String>)> = words.collect::<Result<_, _>>().unwrap();
        let kept = (Some("do it".to_owned()), Some("I will".to_owned()));
        assert_eq!(words, [(None, None), kept, (None, None)], "reviews keep no words of what is forgotten");
    }

    #[test]
    fn more_than_the_most_are_removed_oldest_first() {
        let mut connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(CHATS).unwrap();
        connection.execute_batch("CREATE TABLE reviews (chat INTEGER, prompt TEXT, words TEXT)").unwrap();
        let tx = connection.transaction().unwrap();
        for chat in 1..=502 {
            put(&tx, &record(chat, &[]), chat.cast_signed()).unwrap();
        }
        assert_eq!(prune(&tx, 502, &BTreeSet::from([2])).unwrap(), [1], "the agent of t2 runs");
        assert_eq!(prune(&tx, 502, &BTreeSet::new()).unwrap(), [2]);
        tx.commit().unwrap();
        let (chats, _) = remembered(&connection).unwrap();
        assert_eq!((chats.len(), chats[0].chat), (500, 3));
    }

    fn notice(text: &str) -> (String, Option<ChatItem>) {
        let item = ChatItem::Notice { text: text.to_owned(), is_error: false };
        (serde_json::to_string(&item).unwrap(), Some(item))
    }

    #[test]
    fn items_are_read_from_the_last_on_and_a_damaged_one_hides_no_other() {
        let mut connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(CHATS).unwrap();
        let (first, second, third) = (notice("one"), notice("two"), notice("three"));
        let texts: Vec<&str> = vec![&first.0, &second.0, "{\"kind\": 7}", &third.0];
        let tx = connection.transaction().unwrap();
        put(&tx, &record(1, &(0..).zip(texts).collect::<Vec<_>>()), 0).unwrap();
        tx.execute("INSERT INTO chat_items VALUES (1, -5, 'x'), (1, 5000000000, 'x'), (1, 7, x'ff')", [])
            .unwrap();
        tx.commit().unwrap();
        let read = |places, bytes| read(&connection, 1, &places, bytes).unwrap();
        let all = [(0, first.1), (1, second.1.clone()), (2, None), (3, third.1.clone()), (7, None)];
        assert_eq!(read(0..100, 1 << 20), ChatItemsRead { first: 0, items: all.into() });
        let last = ChatItemsRead { first: 3, items: [(3, third.1)].into() };
        assert_eq!(read(0..4, 1), last, "at least one");
        assert_eq!(read(1..2, 1), ChatItemsRead { first: 1, items: [(1, second.1)].into() });
        assert_eq!(read(9..12, 1), ChatItemsRead { first: 9, ..ChatItemsRead::default() });
    }

    #[test]
    fn heads_of_earlier_hubs_learn_how_many_turns_there_were_and_what_waits() {
        let mut connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(CHATS).unwrap();
        let tx = connection.transaction().unwrap();
        let user = |queued: bool, by_linkspan: bool| {
            let (attachments, pictures) = (Vec::new(), Vec::new());
            let item = ChatItem::User { text: "x".into(), attachments, pictures, queued, by_linkspan };
            serde_json::to_string(&item).unwrap()
        };
        let items =
            [user(false, false), user(false, true), user(true, false), "broken".into(), user(false, false)];
        let items = (0..).zip(items.iter().map(String::as_str)).collect::<Vec<_>>();
        put(&tx, &ChatRecord { head: "{\"title\":\"a\"}".into(), ..record(1, &items) }, 0).unwrap();
        put(&tx, &record(2, &[]), 0).unwrap();
        tx.execute_batch(COUNT_TURNS).unwrap();
        tx.commit().unwrap();
        let heads: Vec<String> = remembered(&connection).unwrap().0.into_iter().map(|it| it.head).collect();
        assert_eq!(heads, ["{\"title\":\"a\",\"turns\":2,\"queued\":[2]}", "head 2"]);
    }
}
