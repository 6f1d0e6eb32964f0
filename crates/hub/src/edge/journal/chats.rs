//! Conversations as rows, and how long they are kept: longer than reviews, and only so many.

use rusqlite::{Connection, Transaction, params};

use super::{ChatRecord, JournalError, RememberedChat};

/// Days without a word after which a conversation is removed.
const KEPT_DAYS: i64 = 90;

/// Conversations that are kept at most; of more, the newest.
const KEPT: i64 = 500;

/// Bytes of items that are kept at most; beyond that, the oldest conversations go.
const KEPT_BYTES: i64 = 128 * 1024 * 1024;

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
    Ok(())
}

pub(super) fn prune(tx: &Transaction<'_>, now: i64) -> rusqlite::Result<()> {
    tx.execute(
        "UPDATE chats SET head = NULL WHERE changed_at < ?1 OR id IN (
           SELECT id FROM (
             SELECT c.id, row_number() OVER (ORDER BY changed_at DESC) AS place,
               sum((SELECT coalesce(sum(length(item)), 0) FROM chat_items i WHERE i.chat = c.id))
                 OVER (ORDER BY changed_at DESC) AS bytes
             FROM chats c WHERE head IS NOT NULL) WHERE place > ?2 OR bytes > ?3)",
        params![now - KEPT_DAYS * 24 * 3600 * 1000, KEPT, KEPT_BYTES],
    )?;
    tx.execute("DELETE FROM chat_items WHERE chat NOT IN (SELECT id FROM chats WHERE head IS NOT NULL)", [])?;
    Ok(())
}

/// The conversations, and the highest number that was ever used.
pub(super) fn remembered(connection: &Connection) -> Result<(Vec<RememberedChat>, u64), JournalError> {
    let last: Option<i64> = connection.query_row("SELECT max(id) FROM chats", [], |row| row.get(0))?;
    let mut heads = connection.prepare("SELECT id, head FROM chats WHERE head IS NOT NULL ORDER BY id")?;
    let heads = heads.query_map([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))?;
    let mut items = connection.prepare("SELECT item FROM chat_items WHERE chat = ?1 ORDER BY place")?;
    let mut chats = Vec::new();
    for head in heads {
        let (id, head) = head?;
        let items = items.query_map([id], |row| row.get(0))?.collect::<Result<_, _>>()?;
        chats.push(RememberedChat { chat: id.cast_unsigned(), head, items });
    }
    Ok((chats, last.unwrap_or(0).cast_unsigned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edge::journal::schema::CHATS;

    const DAY: i64 = 24 * 3600 * 1000;

    fn record(chat: u64, items: &[(u32, &str)]) -> ChatRecord {
        let items = items.iter().map(|(place, item)| (*place, (*item).to_owned())).collect();
        ChatRecord { chat, head: format!("head {chat}"), items }
    }

    #[test]
    fn items_are_kept_in_order_old_ones_go_and_no_number_is_used_again() {
        let mut connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(CHATS).unwrap();
        let now = 1000 * DAY;
        let tx = connection.transaction().unwrap();
        put(&tx, &record(1, &[(0, "old")]), now - 91 * DAY).unwrap();
        put(&tx, &record(2, &[(1, "b"), (0, "a")]), now).unwrap();
        put(&tx, &record(2, &[(1, "c")]), now).unwrap();
        put(&tx, &record(3, &[(0, "x")]), now).unwrap();
        forget(&tx, 3).unwrap();
        prune(&tx, now).unwrap();
        tx.commit().unwrap();
        let (chats, last) = remembered(&connection).unwrap();
        let kept = RememberedChat { chat: 2, head: "head 2".into(), items: vec!["a".into(), "c".into()] };
        assert_eq!((chats, last), (vec![kept], 3));
        let items: i64 =
            connection.query_row("SELECT count(*) FROM chat_items", [], |row| row.get(0)).unwrap();
        assert_eq!(items, 2);
    }

    #[test]
    fn more_than_the_most_are_removed_oldest_first() {
        let mut connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(CHATS).unwrap();
        let tx = connection.transaction().unwrap();
        for chat in 1..=502 {
            put(&tx, &record(chat, &[]), chat.cast_signed()).unwrap();
        }
        prune(&tx, 502).unwrap();
        tx.commit().unwrap();
        let (chats, _) = remembered(&connection).unwrap();
        assert_eq!((chats.len(), chats[0].chat), (500, 3));
    }
}
