//! The agents' TCP ports and Unix sockets, and the parts of HTTP that the page's port shares.
//!
//! Owns who may connect and with what limits (`accept`, `peer_listener`, `guard`, `refusal_log`), the port of a window
//! (`listen`) and its socket (`agent_socket`), plain HTTP requests (`rpc`), event streams (`sse`), and whether the last response arrived (`tracked_stream`,
//! `delivery_probe`). Must not know what a message means, nor which agents a window has.
//!
//! Invariants: nothing of a request body is read before the guard has admitted its head; rejected connections take no
//! slot of admitted ones; every refusal is counted.

pub(crate) mod accept;
mod agent_socket;
mod delivery_probe;
pub mod guard;
pub(super) mod listen;
mod peer_listener;
pub(super) mod refusal_log;
pub(crate) mod rpc;
pub(crate) mod sse;
mod tracked_stream;
