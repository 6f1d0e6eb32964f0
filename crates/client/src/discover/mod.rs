//! Who is there: our hub's windows and the lock files of other editors, each with a verdict, the best first.

mod candidate;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod hello;
mod here;
mod hub_windows;
mod leads;
mod listening;
mod lock_dir;
mod lock_file;
mod matching;
mod ppxai_bridge;
mod real_path;
mod reason;
mod surroundings;
#[cfg(test)]
mod tests;
mod worktree;
mod wsl;

use std::fmt;
use std::path::PathBuf;

use here::Here;
use leads::Leads;

pub use candidate::{Candidate, Found, Match, Secret, Verdict, Wire};
pub use ppxai_bridge::ppxai_bridge;
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

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        match self {
            Seen::Hub { windows } => write!(f, "a hub with {windows} window{}", plural(*windows)),
            Seen::LockFiles { count } => write!(f, "{count} lock file{}", plural(*count)),
            Seen::Nothing => f.write_str("nothing there"),
            Seen::OtherOwner { uid } => write!(f, "it belongs to user {uid}, so it is not trusted"),
            Seen::Failed(message) => f.write_str(message),
        }
    }
}

/// Finds every editor that an agent in these surroundings might talk to. Starts no hub.
///
/// Only editors that fit are spoken to, because some serve one agent at a time and the newest wins. Lock files of
/// ours with nobody behind them are removed, and nobody else's.
pub fn discover(surroundings: &Surroundings) -> Discovery {
    let mut here = Here::of(surroundings);
    let (windows, hub) = hub_windows::ask(&surroundings.places);
    let mut leads = Leads::read(surroundings, &mut here, &windows);
    leads.ask();
    let removed = leads.remove_stale();
    let (mut candidates, directories) = leads.into_parts();
    candidates.extend(windows.into_iter().map(|window| {
        let folders: Vec<PathBuf> = window.folders.iter().map(PathBuf::from).collect();
        let matched = here.matches(Some(&window.window), window.port, &folders);
        hub_windows::candidate(window, matched)
    }));
    candidates.sort_by_cached_key(rank);
    let looked_in = std::iter::once(hub).chain(directories).collect();
    Discovery { candidates, looked_in, removed }
}

/// The smaller the better. Through the hub more can be said than through any other protocol.
fn rank(candidate: &Candidate) -> impl Ord + use<> {
    let wire = match candidate.wire {
        Wire::Hub { .. } => 0,
        Wire::Claude { .. } => 1,
        Wire::Nexus3 { .. } => 2,
        Wire::Gemini { .. } => 3,
        Wire::Clio { .. } => 4,
        Wire::Ppxai { .. } => 5,
    };
    let matched = (candidate.matched.is_none(), candidate.matched);
    (!candidate.is_usable(), matched, wire, candidate.wire.port())
}
