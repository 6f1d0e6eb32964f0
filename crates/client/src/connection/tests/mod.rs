//! Connections against servers on real sockets.

mod losing;
mod odd_servers;
mod replay;
pub(crate) mod server;
mod under_load;
