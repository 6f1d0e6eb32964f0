//! Git, through the user's own `git` program and configuration. What only reads runs no code of the repository;
//! what commits runs its hooks, as the user's own commit would.
//!
//! Paths in answers are written from the folder that was asked about. What is outside of it, or denied, is left out.

mod child;
mod commit;
mod diff;
mod log;
mod origin;
mod program;
mod repository;
mod stage;
mod status;

pub use commit::{Commit, commit};
pub use diff::{GitDiff, diff};
pub use log::{LogEntry, log};
pub use stage::stage;
pub use status::{GitStatus, Renamed, status};
