//! One Unix socket per window, for agents that connect to one: made with the window, made again if it was removed,
//! and removed with the window. Its requests are answered as on the window's port (`listen`).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use linkspan_dialect::{Dialect, Endpoint};
use linkspan_editor_api::Places;
use linkspan_review::WindowId;
use tokio::net::UnixListener;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};

use crate::edge::disk::make_private_folder;
use crate::edge::http::accept;
use crate::edge::http::guard::Tokens;
use crate::edge::http::listen::{Address, AgentConnection, AgentPort};
use crate::edge::http::sse::sessions::Sessions;
use crate::edge::startup::check_runtime_dir;
use crate::edge::startup::socket_file::{self, CHECK_INTERVAL, FileId};
use crate::edge::{Edge, SHUTDOWN_GRACE};
use crate::token::Token;

/// A window's socket while it is open.
pub(crate) struct AgentSocket {
    bound: Arc<BoundSocket>,
    checking: AbortHandle,
    streams: watch::Receiver<usize>,
}

struct BoundSocket {
    path: PathBuf,
    agent_port: Arc<AgentPort>,
    connections: usize,
    edge: Edge,
    state: Mutex<SocketState>,
}

#[derive(Default)]
struct SocketState {
    /// Our file, as opposed to another one at the same path.
    id: Option<FileId>,
    /// One for each time that it was made: agents that are connected stay so when the file is removed.
    accepting: Vec<AbortHandle>,
}

impl AgentSocket {
    /// `None` if no dialect needs a socket. The error says why there is none, and what to do.
    pub(super) fn open(
        edge: &Edge,
        window: WindowId,
        token: &Token,
        connections: usize,
        dialects: &[&'static Dialect],
    ) -> Option<Result<AgentSocket, String>> {
        let needs = |dialect: &&Dialect| matches!(dialect.endpoint, Endpoint::SocketStream { .. });
        let dialects: Vec<&'static Dialect> = dialects.iter().copied().filter(needs).collect();
        if dialects.is_empty() {
            return None;
        }
        let opened = AgentSocket::bind(edge, window, token, connections, dialects);
        if let Err(why) = &opened {
            tracing::error!("some agents cannot connect to {window}: {why}");
        }
        Some(opened)
    }

    fn bind(
        edge: &Edge,
        window: WindowId,
        token: &Token,
        connections: usize,
        dialects: Vec<&'static Dialect>,
    ) -> Result<AgentSocket, String> {
        let path = edge.places.agent_socket(&window.to_string()).map_err(|error| error.to_string())?;
        let tokens = Tokens { window: token.clone(), configured: None };
        let sessions = Sessions::named_by_agents();
        let streams = sessions.streams.subscribe();
        let agent_port = Arc::new(AgentPort { window, tokens, address: Address::Socket, dialects, sessions });
        let state = Mutex::default();
        let bound = Arc::new(BoundSocket { path, agent_port, connections, edge: edge.clone(), state });
        bound.bind().map_err(|error| format!("cannot listen on {}: {error}", bound.path.display()))?;
        let checking = tokio::spawn(Arc::clone(&bound).keep()).abort_handle();
        Ok(AgentSocket { bound, checking, streams })
    }

    pub(super) fn path(&self) -> &Path {
        &self.bound.path
    }

    /// No new connection finds it from now on; streams that are ending may send their last events.
    pub(super) async fn close(mut self) {
        // First: the next socket of this window may take its place while we wait.
        self.unlink();
        let _ = timeout(SHUTDOWN_GRACE, self.streams.wait_for(|streams| *streams == 0)).await;
        for accepting in std::mem::take(&mut self.bound.state().accepting) {
            accepting.abort();
        }
    }

    fn unlink(&self) {
        self.checking.abort();
        self.bound.remove();
    }
}

/// A window that was being opened when the hub stopped is never closed: its socket is dropped with the message that
/// nobody reads.
impl Drop for AgentSocket {
    fn drop(&mut self) {
        self.unlink();
    }
}

impl BoundSocket {
    /// A cleaner of temporary files, or the end of a login session, may remove the socket of a running hub.
    async fn keep(self: Arc<Self>) {
        let mut error_logged = false;
        loop {
            sleep(CHECK_INTERVAL).await;
            let found = FileId::of(&self.path);
            // Without the directory, another hub may listen there; with it, the directory is restored first.
            if (found.is_some() && found == self.state().id) || !self.edge.has_runtime_dir() {
                continue;
            }
            match self.bind() {
                Ok(()) => {
                    tracing::warn!("the socket {} was removed; created it again", self.path.display());
                    error_logged = false;
                }
                Err(error) if !error_logged => {
                    error_logged = true;
                    let path = self.path.display();
                    tracing::error!("the socket {path} was removed and cannot be created again: {error}");
                }
                Err(_) => {}
            }
        }
    }

    fn bind(&self) -> io::Result<()> {
        let places: &Places = &self.edge.places;
        check_runtime_dir(&places.runtime).map_err(io::Error::other)?;
        make_private_folder(&places.runtime)?;
        make_private_folder(&places.agent_sockets())?;
        let listener = socket_file::bind(&self.path)?;
        let mut state = self.state();
        state.id = FileId::of(&self.path);
        state.accepting.push(self.accept(listener));
        Ok(())
    }

    fn accept(&self, listener: UnixListener) -> AbortHandle {
        let (agent_port, edge) = (Arc::clone(&self.agent_port), self.edge.clone());
        let enter = move |stream, connection_guard| {
            let connection = AgentConnection::new(connection_guard, Arc::clone(&agent_port), edge.clone());
            async move { drop(connection.serve(stream).await) }
        };
        let accepting = accept::accept(listener, self.connections, self.edge.clone(), enter);
        tokio::spawn(accepting).abort_handle()
    }

    fn remove(&self) {
        let id = self.state().id.take();
        if id.is_some() && FileId::of(&self.path) == id {
            let _ = fs::remove_file(&self.path);
        }
    }

    fn state(&self) -> MutexGuard<'_, SocketState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
