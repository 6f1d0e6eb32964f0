//! The port that clients know by heart: the same socket for one window after the other.

use std::net::{Ipv4Addr, TcpListener};

use tokio::task::AbortHandle;

use super::{Edge, listen};
use crate::core::Listen;

#[derive(Debug, Default)]
pub(super) struct WellKnown {
    socket: Option<TcpListener>,
    task: Option<AbortHandle>,
}

impl WellKnown {
    /// For that window from now on, or for none; gives whether it is open. Who is connected comes again.
    pub(super) fn serve(&mut self, edge: &Edge, listen: Option<Listen>) -> bool {
        self.stop();
        let Some(listen) = listen else {
            self.socket = None;
            return false;
        };
        let Some((port, _)) = listen.before else { return false };
        if self.socket.is_none() {
            self.socket = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).ok();
        }
        let Some(socket) = &self.socket else {
            tracing::info!("port {port} is taken: ppxai's clients find their window by its own port only");
            return false;
        };
        match listen::again(edge, socket, listen) {
            Ok(task) => self.task = Some(task),
            Err(error) => tracing::error!("port {port} cannot be served: {error}"),
        }
        self.task.is_some()
    }

    pub(super) fn stop(&mut self) {
        if let Some(task) = self.task.take() {
            task.abort();
        }
    }
}
