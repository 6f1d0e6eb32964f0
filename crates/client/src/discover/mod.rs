//! Finds editors: our hub's windows and the lock files of other editors, each with a verdict and a remedy, the best
//! first. Must not send more to an editor than it takes to see that it answers.

mod candidate;
mod folder_match;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod hub_windows;
mod listening_ports;
mod liveness;
mod lock_candidates;
mod lock_dir;
mod lock_file;
mod ppxai_bridge;
mod real_path;
mod reason;
mod surroundings;
#[cfg(test)]
mod tests;
mod working_dir;
mod worktree;
mod wsl;

use std::fmt;
use std::path::PathBuf;

use linkspan_editor_api::WindowStatus;

use lock_candidates::LockCandidates;
use working_dir::WorkingDir;

pub use candidate::{Candidate, CandidateVerdict, FoundBy, Match, Secret, Wire};
pub use ppxai_bridge::ppxai_bridge;
pub use reason::Reason;
pub use surroundings::{Surroundings, SurroundingsError};
pub use wsl::Wsl;

/// The result of discovery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Discovery {
    /// Every editor, the best first.
    pub candidates: Vec<Candidate>,
    /// The places that were searched, in this order.
    pub looked_in: Vec<LookedIn>,
    /// Stale lock files of ours that were removed.
    pub removed: Vec<PathBuf>,
}

impl Discovery {
    /// The one to use.
    pub fn best(&self) -> Option<&Candidate> {
        self.candidates.first().filter(|candidate| candidate.is_usable())
    }
}

/// A place that was searched for editors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LookedIn {
    /// The hub's socket, or a directory of lock files.
    pub place: PathBuf,
    /// The result.
    pub found: LookupResult,
}

/// The result of searching one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LookupResult {
    /// A hub.
    Hub {
        /// Their number.
        windows: usize,
    },
    /// Lock files.
    LockFiles {
        /// Their number.
        count: usize,
    },
    /// No hub, or no such directory.
    Nothing,
    /// The directory belongs to another user.
    OtherOwner {
        /// Its owner.
        uid: u32,
    },
    /// It cannot be read.
    Failed(String),
}

impl fmt::Display for LookupResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        match self {
            LookupResult::Hub { windows } => write!(f, "a hub with {windows} window{}", plural(*windows)),
            LookupResult::LockFiles { count } => write!(f, "{count} lock file{}", plural(*count)),
            LookupResult::Nothing => f.write_str("nothing there"),
            LookupResult::OtherOwner { uid } => write!(f, "it belongs to user {uid}, so it is not trusted"),
            LookupResult::Failed(message) => f.write_str(message),
        }
    }
}

/// Finds every editor that an agent in these surroundings might use. Starts no hub.
///
/// Only editors that fit are contacted, because some serve one agent at a time and the newest wins. Stale lock files of
/// ours are removed, and no others.
pub fn discover(surroundings: &Surroundings) -> Discovery {
    let mut working_dir = WorkingDir::of(surroundings);
    let (windows, hub) = hub_windows::ask(&surroundings.places);
    let mut lock_candidates = LockCandidates::read(surroundings, &mut working_dir, &windows);
    lock_candidates.ask();
    let removed = lock_candidates.remove_stale();
    let (mut candidates, directories) = lock_candidates.into_parts();
    candidates.extend(windows.into_iter().map(|window| fitted(window, &mut working_dir)));
    candidates.sort_by_cached_key(rank);
    let looked_in = std::iter::once(hub).chain(directories).collect();
    Discovery { candidates, looked_in, removed }
}

/// The windows of our hub alone, the best first. Reads no lock file and contacts no other editor, so it takes one
/// question to the hub. Starts no hub.
pub fn discover_hub_windows(surroundings: &Surroundings) -> Vec<Candidate> {
    let (windows, _) = hub_windows::ask(&surroundings.places);
    if windows.is_empty() {
        return Vec::new();
    }
    let mut working_dir = WorkingDir::of(surroundings);
    let mut candidates: Vec<Candidate> =
        windows.into_iter().map(|window| fitted(window, &mut working_dir)).collect();
    candidates.sort_by_cached_key(rank);
    candidates
}

fn fitted(window: WindowStatus, working_dir: &mut WorkingDir<'_>) -> Candidate {
    let folders: Vec<PathBuf> = window.folders.iter().map(PathBuf::from).collect();
    let matched = working_dir.matches(Some(&window.window), window.port, &folders);
    hub_windows::candidate(window, matched)
}

/// The smaller the better. The hub supports more than any other protocol.
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
