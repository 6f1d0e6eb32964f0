//! Continues with what a file was read for. The only place that knows all purposes, so that `files` need not.

use std::path::Path;

use linkspan_dialect::Failure;
use linkspan_review::ReviewId;

use crate::core::Core;
use crate::core::contract::FileState;
use crate::core::files::Base;
use crate::core::history::undo;
use crate::core::pending::ReadPurpose;
use crate::core::reviews::{agent_writes, decide, edits, patches, propose, write};

impl Core {
    pub(super) fn base_known(&mut self, purpose: ReadPurpose, base: Result<Base, Failure>) {
        match purpose {
            ReadPurpose::Path(tool) => {
                let checked = base.map(|base| (base.path, base.text.is_some()));
                self.path_checked(tool, checked);
            }
            ReadPurpose::Text(tool) => self.text_read(&tool, base),
            ReadPurpose::CompareWith(tool) => propose::compared_file_read(self, tool, base),
            ReadPurpose::Proposal { tool, again, left } => propose::base_read(self, tool, again, left, base),
            ReadPurpose::Edit { editing, part, .. } => edits::edit_read(self, editing, part, base),
            ReadPurpose::Decision { decider, review, seen, decision } => {
                decide::base_read(self, decider, review, seen, decision, base);
            }
            ReadPurpose::Write { review, save, failed, maybe_written, .. } => {
                write::doubtful_write_read(self, review, save, (failed, maybe_written), base);
            }
            ReadPurpose::WriteHere { review, .. } => patches::base_read(self, review, base),
            ReadPurpose::LateWrite { review, save } => write::late_write_read(self, review, save, base),
            ReadPurpose::AgentWrite(review) => self.agent_write_read(review, None),
            ReadPurpose::Undo(read) => undo::undo_read(self, read, base),
        }
    }

    /// `None`: the file could not be read.
    pub(super) fn agent_write_read(&mut self, review: ReviewId, file: Option<FileState>) {
        agent_writes::file_read(self, review, file);
    }

    /// A file was read for another reason: if an agent wrote its accepted change there, that is known now, before the
    /// file changes again.
    pub(super) fn file_seen(&mut self, path: &Path, holds: Option<&[u8]>) {
        agent_writes::file_seen(self, path, holds);
    }
}
