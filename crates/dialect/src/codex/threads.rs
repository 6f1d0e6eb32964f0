//! The threads of a daemon that were seen, and which of them are followed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// More than a person has open.
const THREADS: usize = 512;

#[derive(Debug, Default)]
pub(super) struct Threads {
    known: BTreeMap<String, KnownThread>,
}

#[derive(Debug)]
struct KnownThread {
    cwd: PathBuf,
    followed: bool,
}

impl Threads {
    /// False if there are too many to remember another.
    pub(super) fn add(&mut self, id: &str, cwd: PathBuf) -> bool {
        if let Some(known) = self.known.get_mut(id) {
            known.cwd = cwd;
            return true;
        }
        if self.known.len() >= THREADS {
            return false;
        }
        self.known.insert(id.to_owned(), KnownThread { cwd, followed: false });
        true
    }

    pub(super) fn cwd(&self, id: &str) -> Option<&Path> {
        self.known.get(id).map(|thread| thread.cwd.as_path())
    }

    pub(super) fn is_followed(&self, id: &str) -> bool {
        self.known.get(id).is_some_and(|thread| thread.followed)
    }

    /// Returns whether that is new.
    pub(super) fn follow(&mut self, id: &str) -> bool {
        self.known.get_mut(id).is_some_and(|thread| !std::mem::replace(&mut thread.followed, true))
    }

    /// It could not be followed; it is tried again when something happens there.
    pub(super) fn unfollow(&mut self, id: &str) {
        if let Some(thread) = self.known.get_mut(id) {
            thread.followed = false;
        }
    }

    pub(super) fn remove(&mut self, id: &str) {
        self.known.remove(id);
    }
}
