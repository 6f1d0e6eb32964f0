//! For fuzz targets only: what this crate makes of foreign bytes, without the sockets and files they come from.

pub use crate::connection::fuzzing::{Read, WIRES, event, read};
pub use crate::connection::gateway_fuzzing::{Gateway, Move};
pub use crate::discover::fuzzing::{Lock, gemini_port_of, lock_file, port_of};
pub use crate::relay::fuzzing::{Passed, Relay};
