//! The history of the current commit.

use std::path::Path;

use serde::Serialize;

use super::repository::{Repository, literal};
use crate::cancel::Cancel;
use crate::error::WorkspaceError;
use crate::folders::Workspace;

const MOST: usize = 1000;
const FORMAT: &str = "--format=%H%x00%an%x00%ae%x00%at%x00%s%x00%b%x00";
const FIELDS: usize = 6;

/// One commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LogEntry {
    /// Its full hash.
    pub hash: String,
    /// The author's name.
    pub author: String,
    /// The author's address.
    pub email: String,
    /// The author date, in seconds since 1970.
    pub time: i64,
    /// The first line of the message.
    pub subject: String,
    /// The rest of the message.
    pub body: String,
}

/// The newest first, at most 1,000; only commits that touched `path`, if given. Empty if there is no commit yet.
pub fn log(
    workspace: &Workspace,
    folder: &Path,
    limit: usize,
    path: Option<&Path>,
    cancel: &Cancel,
) -> Result<Vec<LogEntry>, WorkspaceError> {
    let repository = Repository::open(workspace, folder, cancel)?;
    let path = path.map(|path| repository.named(path)).transpose()?;
    // For a folder that is only part of its repository, the history of that part.
    let path = path.as_deref().or(repository.is_part().then_some(Path::new(".")));
    read(&repository, limit, path, cancel)
}

pub(super) fn read(
    repository: &Repository<'_>,
    limit: usize,
    path: Option<&Path>,
    cancel: &Cancel,
) -> Result<Vec<LogEntry>, WorkspaceError> {
    let count = format!("--max-count={}", limit.min(MOST));
    let plain = ["--no-show-signature", "--no-patch", "--no-color", "--encoding=UTF-8", FORMAT, &count, "--"];
    let ran = repository.reading("log").args(plain).args(path.map(literal)).run(cancel)?;
    if !ran.status.success() && !ran.truncated {
        return if ran.errors.contains("does not have any commits yet") {
            Ok(Vec::new())
        } else {
            Err(ran.failure())
        };
    }
    let text = String::from_utf8_lossy(&ran.output);
    let fields: Vec<&str> = text.split('\0').collect();
    Ok(fields.chunks_exact(FIELDS).filter_map(entry).collect())
}

fn entry(fields: &[&str]) -> Option<LogEntry> {
    let [hash, author, email, time, subject, body] = fields else { return None };
    Some(LogEntry {
        // Commits are separated by a line break.
        hash: hash.trim_start().to_owned(),
        author: (*author).to_owned(),
        email: (*email).to_owned(),
        time: time.parse().ok()?,
        subject: (*subject).to_owned(),
        body: body.trim_end().to_owned(),
    })
}
