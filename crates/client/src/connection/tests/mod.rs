//! Connections against servers on real sockets.

mod clio;
mod closing;
mod gemini;
pub(crate) mod http_server;
mod losing;
mod odd_servers;
mod ppxai;
mod replay;
pub(crate) mod server;
mod under_load;
