//! The fixed port that ppxai's clients try first: one socket, which serves one window after the other.

use std::net::{Ipv4Addr, TcpListener};

use tokio::task::AbortHandle;

use crate::core::Listen;
use crate::edge::Edge;
use crate::edge::http::listen;

#[derive(Debug, Default)]
pub(crate) struct PpxaiPort {
    socket: Option<TcpListener>,
    task: Option<AbortHandle>,
}

impl PpxaiPort {
    /// Serves that window from now on, or none; returns whether the port is open. Connected clients connect again.
    pub(crate) fn serve(&mut self, edge: &Edge, listen: Option<Listen>) -> bool {
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
            tracing::info!("port {port} is in use: ppxai's clients can only find a window by its own port");
            return false;
        };
        match listen::serve_existing(edge, socket, listen) {
            Ok(task) => self.task = Some(task),
            Err(error) => tracing::error!("cannot serve port {port}: {error}"),
        }
        self.task.is_some()
    }

    pub(crate) fn stop(&mut self) {
        if let Some(task) = self.task.take() {
            task.abort();
        }
    }
}
