//! Who is there: our hub's windows and the lock files of other editors, each with a verdict, the best first.

mod candidate;
mod reason;
mod surroundings;
mod wsl;

use std::path::PathBuf;

pub use candidate::{Candidate, Found, Match, Secret, Verdict, Wire};
pub use reason::Reason;
pub use surroundings::{Surroundings, SurroundingsError};
pub use wsl::Wsl;

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Discovery {
    /// Every editor, the best first.
    pub candidates: Vec<Candidate>,
    /// Where we looked, in that order.
    pub looked_in: Vec<LookedIn>,
    /// Lock files of ours that nobody was behind any more.
    pub removed: Vec<PathBuf>,
}

impl Discovery {
    /// The one to use.
    pub fn best(&self) -> Option<&Candidate> {
        self.candidates.first().filter(|candidate| candidate.is_usable())
    }
}

/// A place where editors make themselves known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LookedIn {
    /// The hub's socket, or a directory of lock files.
    pub place: PathBuf,
    /// What is there.
    pub found: Seen,
}

/// What a place holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    /// A hub with so many windows.
    Hub {
        /// How many.
        windows: usize,
    },
    /// So many lock files.
    LockFiles {
        /// How many.
        count: usize,
    },
    /// No hub, or no such directory.
    Nothing,
    /// The directory is somebody else's.
    OtherOwner {
        /// Whose.
        uid: u32,
    },
    /// It cannot be looked at.
    Failed(String),
}

/// Finds every editor that an agent in these surroundings might talk to. Starts no hub.
pub fn discover(_surroundings: &Surroundings) -> Discovery {
    Discovery { candidates: Vec::new(), looked_in: Vec::new(), removed: Vec::new() }
}
