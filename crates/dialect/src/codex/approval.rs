//! Patches that wait for an approval, and what was announced about their contents. Each approval is answered once or
//! not at all.

use std::collections::VecDeque;

use serde_json::Value;

use crate::patch::PatchFile;

/// Patches that were announced and not asked about, such as those that Codex applies without a question.
const ANNOUNCED: usize = 64;

/// Codex counts its requests up, so an older one does not come again.
const ANSWERED: usize = 1024;

/// An approval that Codex asked for.
#[derive(Debug)]
pub(super) struct Approval {
    pub(super) thread: String,
    pub(super) turn: String,
    pub(super) item: String,
    /// The id of its request, as it was sent.
    pub(super) request: Value,
    pub(super) stage: ApprovalStage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ApprovalStage {
    /// Nobody has answered.
    Asked,
    /// We said no, because the hub writes what was accepted; Codex has not confirmed it.
    Declining,
    /// Codex has confirmed our no: the hub may write.
    Declined,
    /// Somebody else was first, and Codex applied the whole patch.
    Overruled,
    /// We answered. It is over when this many confirmations have come.
    Answered { awaited: u8 },
}

impl Approval {
    pub(super) fn is_of(&self, thread: &str, item: &str) -> bool {
        self.thread == thread && self.item == item
    }

    /// The decision was sent, and perhaps not received yet.
    pub(super) fn is_unconfirmed(&self) -> bool {
        self.stage != ApprovalStage::Asked
    }
}

/// What `item/started` said, until the item is done.
#[derive(Debug, Default)]
pub(super) struct AnnouncedItems {
    items: VecDeque<(String, String, Vec<PatchFile>)>,
}

impl AnnouncedItems {
    pub(super) fn add(&mut self, thread: &str, item: &str, files: Vec<PatchFile>) {
        self.remove(thread, item);
        if self.items.len() >= ANNOUNCED {
            self.items.pop_front();
        }
        self.items.push_back((thread.to_owned(), item.to_owned(), files));
    }

    pub(super) fn get(&self, thread: &str, item: &str) -> Option<&[PatchFile]> {
        let found = self.items.iter().find(|(of, id, _)| of == thread && id == item);
        found.map(|(_, _, files)| files.as_slice())
    }

    pub(super) fn remove(&mut self, thread: &str, item: &str) {
        self.items.retain(|(of, id, _)| of != thread || id != item);
    }

    pub(super) fn forget_thread(&mut self, thread: &str) {
        self.items.retain(|(of, _, _)| of != thread);
    }
}

/// Approvals that were answered on this connection, so that none is answered twice.
#[derive(Debug, Default)]
pub(super) struct AnsweredRequests {
    newest: VecDeque<(String, Value)>,
}

impl AnsweredRequests {
    pub(super) fn add(&mut self, thread: &str, request: &Value) {
        if self.newest.len() >= ANSWERED {
            self.newest.pop_front();
        }
        self.newest.push_back((thread.to_owned(), request.clone()));
    }

    pub(super) fn contains(&self, thread: &str, request: &Value) -> bool {
        self.newest.iter().any(|(of, id)| of == thread && id == request)
    }
}
