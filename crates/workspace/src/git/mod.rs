//! Git, through the user's own `git` program and configuration. Reading runs no code of the repository; committing runs
//! its hooks, like the user's own commit.
//!
//! Paths in results are relative to the requested folder. Files outside of it, and denied ones, are omitted.

mod child;
mod commit;
mod diff;
mod log;
mod program;
mod repository;
mod repository_ownership;
mod stage;
mod status;

pub use commit::{Commit, commit};
pub use diff::{GitDiff, diff};
pub use log::{LogEntry, log};
pub use stage::stage;
pub use status::{GitStatus, Renamed, status};
