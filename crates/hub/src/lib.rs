//! The hub: the one process per user that agents and editors connect to.
//!
//! `core` decides everything and does no I/O; `edge` does all I/O and decides nothing. `config` is what the user can
//! set, `token` the secret of a window.

pub mod config;
pub mod core;
mod edge;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
pub mod token;

pub use edge::http::guard;
pub use edge::jobs;
pub use edge::{RunError, run};
pub use edge::{disk, journal, page, peer};
