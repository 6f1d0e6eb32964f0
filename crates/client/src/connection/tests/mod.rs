//! Connections against servers on real sockets.

mod clio;
mod connection_loss;
mod gemini;
pub(crate) mod http_server;
mod load;
mod odd_servers;
mod ppxai;
mod replay;
pub(crate) mod server;
mod tab_closing;
