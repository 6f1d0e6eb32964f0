//! Files of a window whose diagnostics changed since agents received them.

use std::collections::BTreeSet;
use std::path::PathBuf;

/// Files that wait until the editor is asked. Beyond this number, agents do not learn about further ones.
const FILES_MOST: usize = 256;

#[derive(Debug, Default)]
pub(in crate::core) struct ChangedDiagnostics {
    files: BTreeSet<PathBuf>,
    /// The editor was asked for one of them.
    asking: bool,
}

impl ChangedDiagnostics {
    pub(in crate::core) fn add(&mut self, paths: &[PathBuf]) {
        let room = FILES_MOST.saturating_sub(self.files.len());
        self.files.extend(paths.iter().take(room).cloned());
    }

    /// The file to ask for, one at a time.
    pub(in crate::core) fn next(&mut self) -> Option<PathBuf> {
        if self.asking {
            return None;
        }
        let next = self.files.pop_first();
        self.asking = next.is_some();
        next
    }

    /// An editor that does not answer is not asked for the rest.
    pub(in crate::core) fn answered(&mut self, successfully: bool) {
        self.asking = false;
        if !successfully {
            self.files.clear();
        }
    }
}
