//! The disk of the simulated hub: one map of files, written as `files` does it, slow or broken now and then.

use std::path::{Path, PathBuf};

use linkspan_hub::core::contract::{FileError, FileState, Replacement, Restoration, WriteError};
use linkspan_hub::core::harness::needs_replacement;
use linkspan_hub::core::{Event, Ticket};
use linkspan_review::ReviewId;

use super::simulation::Simulation;

impl Simulation {
    pub(super) fn read_disk(&mut self, ticket: Ticket, folders: &[PathBuf], path: PathBuf) {
        let result = if let Err(outside) = is_inside(folders, &path) {
            Err(outside)
        } else if self.fault(3) {
            self.count("failures of the disk");
            Err(FileError::Io { path: path.display().to_string(), error: "input/output error".to_owned() })
        } else {
            let bytes = self.disk.get(&path).cloned();
            Ok(FileState { path, exists: bytes.is_some(), bytes: bytes.unwrap_or_default() })
        };
        self.finds_out(Event::FileRead { ticket, result });
    }

    /// As `files::replace` does: only over what is expected, and not at all if it is there already.
    pub(super) fn write_disk(&mut self, review: ReviewId, order: Replacement) {
        let now = self.disk.get(&order.path).map(Vec::as_slice);
        let result = match is_inside(&order.folders, &order.path)
            .map_err(WriteError::Failed)
            .and_then(|()| needs_replacement(now, Some(&order.bytes), order.expect))
        {
            Ok(false) => Ok(()),
            Ok(true) if self.fault(10) => Err(self.no_space(&order.path)),
            Ok(true) => {
                self.count("writes to disk");
                self.trace.tell(self.now, || format!("{review} is written to {}", order.path.display()));
                self.applied(review, "the disk");
                self.promises.last_write.insert(order.path.clone(), (review, order.bytes.to_vec()));
                self.puts(order.path, Some(order.bytes.to_vec()));
                Ok(())
            }
            Err(error) => {
                self.count_moved(&error, "writes that found another file");
                Err(error)
            }
        };
        self.finds_out(Event::FileWritten { review, result });
    }

    /// As `files::restore` does.
    pub(super) fn restore_disk(&mut self, ticket: Ticket, order: Restoration) {
        let (folders, path, expect, bytes) = match order {
            Restoration::Replace(order) => {
                (order.folders, order.path, order.expect, Some(order.bytes.to_vec()))
            }
            Restoration::Remove(order) => (order.folders, order.path, Some(order.expect), None),
        };
        let now = self.disk.get(&path).map(Vec::as_slice);
        let result = match is_inside(&folders, &path)
            .map_err(WriteError::Failed)
            .and_then(|()| needs_replacement(now, bytes.as_deref(), expect))
        {
            Ok(false) => Ok(None),
            Ok(true) if self.fault(20) => Err(self.no_space(&path)),
            Ok(true) => {
                self.trace.tell(self.now, || format!("{} is given back what it held", path.display()));
                let mode = bytes.is_none().then_some(0o644);
                self.puts(path, bytes);
                self.restored(ticket);
                Ok(mode)
            }
            Err(error) => {
                self.count_moved(&error, "undos that found another file");
                Err(error)
            }
        };
        self.finds_out(Event::FileRestored { ticket, result });
    }

    fn no_space(&mut self, path: &Path) -> WriteError {
        self.count("failures of the disk");
        let (path, error) = (path.display().to_string(), "no space left on device".to_owned());
        WriteError::Failed(FileError::Io { path, error })
    }

    fn count_moved(&mut self, error: &WriteError, what: &'static str) {
        if matches!(error, WriteError::BaseMoved(_)) {
            self.count(what);
        }
    }
}

fn is_inside(folders: &[PathBuf], path: &Path) -> Result<(), FileError> {
    match folders.iter().any(|folder| path.starts_with(folder)) {
        true => Ok(()),
        false => Err(FileError::Outside(path.display().to_string())),
    }
}
