//! The one process per user that agents and editors meet in: sockets, guard, windows, journal.
//!
//! `core` decides everything and does nothing; `edge` does everything and decides nothing.

pub mod config;
pub mod core;
mod edge;
pub mod files;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
pub mod guard;
mod held;
pub mod journal;
mod keeping;
pub mod page;
pub mod peer;
pub mod token;
pub mod work;

pub use edge::{RunError, run};
