//! Git in real repositories: hooks, conflicts, odd names, and malicious repositories.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod commit;
mod hostile;
mod read;
mod scene;
