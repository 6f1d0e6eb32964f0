//! Session files: one append-only file of JSON lines for each conversation, so that a killed agent goes on where it was.
//! Owns names, locks and durability; must not know what a conversation does with its records.

mod file;
mod name;
mod store;

pub use file::{Loaded, Session, SessionError};
pub use store::SessionStore;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The first line of a session file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionHead {
    /// Of the format.
    pub version: u32,
    /// When it began, in milliseconds since 1970.
    pub created_at_ms: u64,
    /// The folder of its agent.
    pub cwd: PathBuf,
    /// `provider/model` at its start.
    pub model: String,
}

/// Of the format of session files.
const VERSION: u32 = 1;

#[cfg(test)]
mod tests;
