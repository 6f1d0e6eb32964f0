//! Git in real repositories: hooks, conflicts, odd names, and repositories that mean harm.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod committing;
mod hostile;
mod reading;
mod scene;
