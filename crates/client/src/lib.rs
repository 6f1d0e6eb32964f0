//! Reaching editors: finding them, connecting to one whatever it speaks, and asking it for a person's decision.
//! And reaching the hub: finding or starting it, asking it something, and keeping an editor attached to it.
//!
//! ```no_run
#![doc = include_str!("../examples/propose.rs")]
//! ```
//!
//! Blocking and without a runtime, so that a command costs no more than its answer. Nothing in this crate
//! prints, but for the terminal that [`confirm::Console`] asks in.

#![warn(missing_docs)]

pub mod bridge;
pub mod confirm;
pub mod connection;
mod context;
mod control;
mod dial;
pub mod discover;
mod hub;
pub mod proposal;
mod relay;
mod runtime_dir;
pub mod visible;

pub use bridge::{Bridge, BridgeConfig, BridgeError};
pub use connection::{
    AgentInfo, CallError, Change, Connection, Decided, DiffOutcome, EditorEvent, OpenError,
};
pub use context::{ContextInput, MAX_DIAGNOSTICS, format_ide_context};
pub use control::{Control, ControlError, Hello};
pub use discover::{Candidate, Discovery, Surroundings, discover};
pub use hub::{ConnectError, Hub, Start};
pub use relay::{Notice, RelayError, relay};
pub use runtime_dir::RuntimeDirError;
