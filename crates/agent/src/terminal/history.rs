//! The file with earlier inputs: one JSON string per line, only for its user. A line that is broken is skipped, and a
//! file that cannot be used costs the history, never the session.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::line_editor::MOST_HISTORY;

/// A longer input is not remembered on disk.
const LONGEST: usize = 64 * 1024;
/// A larger file is not read.
const LARGEST: u64 = 16 * 1024 * 1024;

/// Where inputs are remembered, if anywhere.
#[derive(Debug)]
pub(super) struct HistoryFile {
    path: Option<PathBuf>,
}

impl HistoryFile {
    pub(super) fn new(path: Option<PathBuf>) -> HistoryFile {
        HistoryFile { path }
    }

    /// Oldest first. Shortens a file that has become long.
    pub(super) fn read(&self) -> Vec<String> {
        let Some(path) = &self.path else { return Vec::new() };
        if fs::metadata(path).is_ok_and(|file| file.len() > LARGEST || !file.is_file()) {
            return Vec::new();
        }
        let text = fs::read_to_string(path).unwrap_or_default();
        let mut entries: Vec<String> =
            text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        if entries.len() > MOST_HISTORY * 2 {
            entries.drain(..entries.len() - MOST_HISTORY);
            let _ = shorten(path, &entries);
        }
        entries.drain(..entries.len().saturating_sub(MOST_HISTORY));
        entries
    }

    pub(super) fn add(&self, entry: &str) {
        if let Some(path) = &self.path
            && entry.len() <= LONGEST
        {
            // The history is a convenience.
            let _ = append(path, entry);
        }
    }
}

fn append(path: &Path, entry: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
    // One write, so that two processes do not mix their lines.
    file.write_all(format!("{}\n", serde_json::to_string(entry)?).as_bytes())
}

fn shorten(path: &Path, entries: &[String]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    for entry in entries {
        writeln!(file, "{}", serde_json::to_string(entry)?)?;
    }
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn inputs_are_remembered_whatever_they_hold() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/history");
        let history = HistoryFile::new(Some(path.clone()));
        assert!(history.read().is_empty());
        for entry in ["one", "two\nlines", "é \"quoted\""] {
            history.add(entry);
        }
        fs::write(&path, fs::read_to_string(&path).unwrap() + "broken\n\"last\"\n").unwrap();
        assert_eq!(history.read(), ["one", "two\nlines", "é \"quoted\"", "last"]);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn the_file_does_not_grow_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history");
        let all: String = (0..MOST_HISTORY * 2 + 1).map(|number| format!("\"{number}\"\n")).collect();
        fs::write(&path, all).unwrap();
        let history = HistoryFile::new(Some(path.clone()));
        assert_eq!(history.read().len(), MOST_HISTORY);
        assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), MOST_HISTORY);
        assert_eq!(history.read().last().unwrap(), &(MOST_HISTORY * 2).to_string());
    }

    #[test]
    fn a_file_that_cannot_be_used_is_no_error() {
        let history = HistoryFile::new(Some("/dev/null/x".into()));
        history.add("x");
        assert!(history.read().is_empty());
    }
}
