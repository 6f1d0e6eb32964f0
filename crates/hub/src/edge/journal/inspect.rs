//! Inspects a journal without changing anything: for `linkspan doctor` and `linkspan status`, whether or not a hub
//! has it open.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::maintenance::{self, Size};
use super::schema::{VERSION, is_damage, with_suffix};

/// A user waits for the result.
const TIME_LIMIT: Duration = Duration::from_secs(2);

/// The state of a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Inspection {
    /// There is none yet.
    None,
    /// A hub of this version can use it.
    Sound {
        size: Size,
        /// There was enough time to check all of it.
        whole: bool,
    },
    /// It was written by a newer version, and this one cannot read it.
    Newer { found: i64, known: i64 },
    /// A hub would move it aside.
    Damaged(String),
    /// It cannot be opened or read.
    Unreadable(String),
}

pub fn inspect(path: &Path) -> Inspection {
    match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Inspection::None,
        Err(error) => return Inspection::Unreadable(error.to_string()),
        Ok(found) if found.len() == 0 => return Inspection::None,
        Ok(_) => {}
    }
    match try_inspect(path) {
        Ok(inspection) => inspection,
        Err(error) if is_damage(&error) => Inspection::Damaged(error.to_string()),
        Err(error) => Inspection::Unreadable(error.to_string()),
    }
}

fn try_inspect(path: &Path) -> rusqlite::Result<Inspection> {
    let mut connection = open(path)?;
    connection.busy_timeout(TIME_LIMIT)?;
    let found: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if found > VERSION {
        return Ok(Inspection::Newer { found, known: VERSION });
    }
    let size = Size::of(&connection)?;
    Ok(match maintenance::check_damage(&mut connection, TIME_LIMIT)? {
        Some(said) if said != "ok" => Inspection::Damaged(said),
        said => Inspection::Sound { size, whole: said.is_some() },
    })
}

/// Without a log no process has it open, and it is read as it is: no lock and no other file is created.
fn open(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    if with_suffix(path, "-wal").exists() {
        return Connection::open_with_flags(path, flags);
    }
    let escaped: String = path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    Connection::open_with_flags(format!("file:{escaped}?immutable=1"), flags | OpenFlags::SQLITE_OPEN_URI)
}
