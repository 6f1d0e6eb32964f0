//! Reaching the hub: finding or starting it, asking it something, and keeping an editor attached to it.
//!
//! Blocking and without a runtime, so that a command costs no more than its answer. Nothing in this crate
//! prints, or knows what a review is.

mod control;
mod dial;
pub mod discover;
mod hub;
mod relay;
mod runtime_dir;

pub use control::{Control, ControlError, Hello};
pub use discover::{Candidate, Discovery, Surroundings, discover};
pub use hub::{ConnectError, Hub, Start};
pub use relay::{Notice, RelayError, relay};
pub use runtime_dir::RuntimeDirError;
