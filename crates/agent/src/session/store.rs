//! The folder of all sessions.

use std::fs::{self, DirBuilder, File};
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::file::{Line, Loaded, Session, SessionError, path};
use super::{SessionHead, VERSION, name};
use crate::host::SessionSummary;

/// The most bytes of a file that are read to describe it in a list.
const MOST_TO_LIST: u64 = 64 * 1024 * 1024;

/// Where sessions are.
#[derive(Debug, Clone)]
pub struct SessionStore {
    folder: PathBuf,
}

/// The folder, readable only by its user.
pub(super) fn make_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

impl SessionStore {
    /// In this folder, which is created when it is needed.
    pub fn new(folder: impl Into<PathBuf>) -> SessionStore {
        SessionStore { folder: folder.into() }
    }

    /// A new session. Its file is created with its first record.
    pub fn create(&self, cwd: &Path, model: &str) -> Session {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let created_at_ms = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        let head =
            SessionHead { version: VERSION, created_at_ms, cwd: cwd.to_owned(), model: model.to_owned() };
        Session::new(&self.folder, name::made_up(created_at_ms), head)
    }

    /// Opens a session by its name.
    pub fn open(&self, name: &str) -> Result<Loaded, SessionError> {
        if let Some(problem) = name::problem(name) {
            return Err(SessionError::Name(problem));
        }
        Session::open(&self.folder, name)
    }

    /// All sessions, those that were used last first. Files that are not sessions are left out.
    pub fn list(&self) -> io::Result<Vec<SessionSummary>> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut found = Vec::new();
        for entry in entries.flatten() {
            let file_name = entry.file_name();
            let Some(name) = file_name.to_str().and_then(|name| name.strip_suffix(".jsonl")) else {
                continue;
            };
            let Ok(used) = entry.metadata().and_then(|metadata| metadata.modified()) else { continue };
            if let Some(summary) = describe(&self.folder, name) {
                found.push((used, summary));
            }
        }
        found.sort_by(|one, other| {
            other.0.cmp(&one.0).then_with(|| other.1.created_at_ms.cmp(&one.1.created_at_ms))
        });
        Ok(found.into_iter().map(|(_, summary)| summary).collect())
    }
}

fn describe(folder: &Path, name: &str) -> Option<SessionSummary> {
    let file = File::open(path(folder, name)).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut lines = BufReader::new(file.take(MOST_TO_LIST)).split(b'\n');
    let Line::Session(head) = serde_json::from_slice(&lines.next()?.ok()?).ok()? else { return None };
    let (mut messages, mut model) = (0, head.model);
    for line in lines.map_while(Result::ok) {
        if line.starts_with(br#"{"record":"message""#) {
            messages += 1;
        } else if line.starts_with(br#"{"record":"cleared""#) {
            messages = 0;
        } else if line.starts_with(br#"{"record":"model""#)
            && let Ok(Line::Model { model: newer }) = serde_json::from_slice(&line)
        {
            model = newer;
        }
    }
    Some(SessionSummary {
        name: name.to_owned(),
        created_at_ms: head.created_at_ms,
        model,
        messages,
        cwd: head.cwd,
    })
}
