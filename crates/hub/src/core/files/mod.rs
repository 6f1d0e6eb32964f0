//! What a file holds now: the live text where the editor has unsaved changes, else the disk.
//!
//! Read before a change is shown, before a decision counts, and when a write finds the file changed. Owns the reads that
//! wait for an editor to come back; reads that are under way are in `pending`. What a read is for, and what follows from
//! it, is in its `ReadPurpose`; `core/resume.rs` continues with it.
//!
//! Must not know: reviews, undos and requests, except where to look for their files.

mod deferred;
pub(super) mod read;

use std::path::PathBuf;

use linkspan_editor_api::DocumentTextResult;
use linkspan_review::{Text, same_endings};

use crate::core::Core;
use crate::core::contract::FileState;
use crate::core::pending::{NoAnswer, ReadPurpose};

/// A disk may be slow to wake up.
pub(in crate::core) const READ_SECONDS: u64 = 20;

#[derive(Debug, Default)]
pub(super) struct Files {
    /// Reads whose editor is away.
    deferred: Vec<(ReadPurpose, PathBuf)>,
}

impl Files {
    pub(super) fn deferred(&self) -> usize {
        self.deferred.len()
    }
}

/// What a file holds, and how the editor has it open.
#[derive(Debug)]
pub(in crate::core) struct Base {
    pub(in crate::core) path: PathBuf,
    pub(in crate::core) text: Option<Text>,
    pub(in crate::core) buffer: Option<Buffer>,
    /// The editor's id of the language, if it has the file open.
    pub(in crate::core) language: Option<String>,
}

/// An open document, as it was when its text was read.
#[derive(Debug, Clone, Copy)]
pub(in crate::core) struct Buffer {
    pub(in crate::core) version: Option<i64>,
    pub(in crate::core) dirty: bool,
    /// Its text is exactly that of the file. If not, the editor unified line endings when it loaded the file, reads it in
    /// another encoding, or has not yet noticed that it changed.
    pub(in crate::core) as_on_disk: bool,
}

impl Buffer {
    /// Whether the editor can replace the one text by the other without changing anything else. Unsaved text can only be
    /// changed in the editor.
    pub(in crate::core) fn can_take(self, text: &str, instead_of: &str) -> bool {
        self.dirty || (self.as_on_disk && same_endings(instead_of, text))
    }
}

/// What other parts of the core start.
impl Core {
    /// Reads a file; [`Core::base_known`] continues with the purpose, exactly once.
    pub(super) fn read_base(&mut self, purpose: ReadPurpose, path: PathBuf) {
        read::read_base(self, purpose, path);
    }

    /// The editor answered with what it holds.
    pub(super) fn live_text(
        &mut self,
        purpose: ReadPurpose,
        disk: FileState,
        answer: Result<DocumentTextResult, NoAnswer>,
    ) {
        read::live_text(self, purpose, disk, answer);
    }

    /// Reads that wait for an editor that is back, or will not come back, are done now.
    pub(super) fn retry_deferred_reads(&mut self) {
        deferred::retry_deferred_reads(self);
    }
}
