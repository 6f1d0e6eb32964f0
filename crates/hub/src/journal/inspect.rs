//! A look at a journal without changing anything: for `linkspan doctor` and `linkspan status`, while a hub has it or not.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::schema::{VERSION, beside, is_damage};
use super::upkeep::{self, Size};

/// Who looks waits for it.
const LOOKING: Duration = Duration::from_secs(2);

/// What there is to say of a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Inspection {
    /// There is none yet.
    None,
    /// A hub of this version can go on with it.
    Sound {
        size: Size,
        /// There was time enough to look at all of it.
        whole: bool,
    },
    /// It was written by a newer version, which this one cannot read.
    Newer { found: i64, known: i64 },
    /// A hub would put it aside.
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
    match look(path) {
        Ok(inspection) => inspection,
        Err(error) if is_damage(&error) => Inspection::Damaged(error.to_string()),
        Err(error) => Inspection::Unreadable(error.to_string()),
    }
}

fn look(path: &Path) -> rusqlite::Result<Inspection> {
    let mut connection = open(path)?;
    connection.busy_timeout(LOOKING)?;
    let found: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if found > VERSION {
        return Ok(Inspection::Newer { found, known: VERSION });
    }
    let size = Size::of(&connection)?;
    Ok(match upkeep::damage(&mut connection, LOOKING)? {
        Some(said) if said != "ok" => Inspection::Damaged(said),
        said => Inspection::Sound { size, whole: said.is_some() },
    })
}

/// Without a log nobody has it open, and it is read as it lies there: no lock and no file beside it is made.
fn open(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    if beside(path, "-wal").exists() {
        return Connection::open_with_flags(path, flags);
    }
    let escaped: String = path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    Connection::open_with_flags(format!("file:{escaped}?immutable=1"), flags | OpenFlags::SQLITE_OPEN_URI)
}
