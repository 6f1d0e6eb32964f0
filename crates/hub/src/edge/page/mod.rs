//! The browser page: one port on 127.0.0.1, opened when a link is requested, and who may use it.
//!
//! `linkspan page` requests `page/link`; the port is opened if it is not open, and a secret is minted (`access`). The
//! page exchanges that secret for a cookie, loads its files (`routes`, `serve`, `assets`) and opens a WebSocket
//! (`socket`), which the core treats like a connection of a command. Sessions survive a crash of the hub
//! (`persisted`).
//!
//! Must not know reviews: which methods the page may call is decided in the core. Invariants: nothing is served
//! without the cookie, except the files that are in every binary; another origin gets nothing; no secret is stored,
//! only digests.

pub mod access;
mod assets;
pub(crate) mod persisted;
pub mod routes;
mod serve;
mod socket;

use std::io;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use linkspan_editor_api::{PageLinkResult, PageRevokeResult};
use tokio::net::TcpListener;
use tokio::sync::{OnceCell, watch};
use tokio::task::AbortHandle;

use crate::edge::http::accept;
use crate::edge::ws::inflight_budget::InflightBudget;
use crate::edge::{Edge, hub_socket};
use access::{Access, LINK_SECONDS, Secret, SessionId};
use persisted::PageFile;

#[derive(Debug)]
pub(crate) struct Page {
    state: Mutex<State>,
    /// Signals that sessions may have lost access.
    changed: watch::Sender<()>,
    started: Instant,
    /// The port that the user has configured; 0 for any.
    wanted: u16,
    /// The port of an earlier hub: users may have forwarded that one.
    before: Option<u16>,
    open: OnceCell<PagePort>,
    /// For messages that have not arrived completely; separate from the agents' budget.
    budget: Arc<InflightBudget>,
}

#[derive(Debug)]
struct State {
    access: Access,
    /// None once the hub is shutting down: nothing is persisted from then on.
    file: Option<PageFile>,
}

#[derive(Debug)]
struct PagePort {
    port: u16,
    accepting: AbortHandle,
}

impl Page {
    /// Not served until a link is requested, unless a hub that was killed left browsers with access.
    pub(crate) async fn new(file: PageFile, wanted: u16, edge: &Edge) -> Arc<Page> {
        let before = file.read().filter(|before| wanted == 0 || wanted == before.port);
        if before.is_none() {
            // For good: the old port must not count again when the user configures it later.
            file.remove_or_warn();
        }
        let sessions = before.iter().flat_map(|before| before.sessions.iter().copied());
        let state = Mutex::new(State { access: Access::restored(sessions), file: Some(file) });
        let page = Arc::new(Page {
            state,
            changed: watch::Sender::new(()),
            started: Instant::now(),
            wanted,
            before: before.as_ref().map(|before| before.port),
            open: OnceCell::new(),
            budget: InflightBudget::new(hub_socket::message_bytes(&edge.limits)),
        });
        if before.is_some_and(|before| !before.sessions.is_empty())
            && let Err(error) = page.port(edge).await
        {
            tracing::warn!("cannot serve the page: {error}");
        }
        page
    }

    /// Opens the port if it is not open yet.
    async fn port(self: &Arc<Page>, edge: &Edge) -> Result<u16, String> {
        let open_port = self.open.get_or_try_init(|| async {
            let listener = self.bind().await.map_err(|error| match self.wanted {
                0 => format!("cannot open a port on 127.0.0.1: {error}"),
                wanted => format!(
                    "cannot open port {wanted} on 127.0.0.1: {error}; free it, or set `port` in `[page]` of \
                     config.toml to another, or to 0 for any"
                ),
            })?;
            let port = listener.local_addr().map_err(|error| error.to_string())?.port();
            if let Err(error) = self.persist(&self.state(), Some(port)) {
                tracing::warn!("{error}");
            }
            let (page, within) = (Arc::clone(self), edge.clone());
            let enter = move |stream, connection_guard| {
                serve::enter(stream, connection_guard, Arc::clone(&page), port, within.clone())
            };
            let accepting = tokio::spawn(accept::accept(listener, serve::CONNECTIONS, edge.clone(), enter));
            Ok::<_, String>(PagePort { port, accepting: accepting.abort_handle() })
        });
        Ok(open_port.await?.port)
    }

    async fn bind(&self) -> io::Result<TcpListener> {
        let bind = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
        let Some(before) = self.before else { return bind(self.wanted).await };
        // The hub that had the port may have been killed a moment ago, and not be gone completely.
        for _ in 0..5 {
            if let Ok(listener) = bind(before).await {
                return Ok(listener);
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        // The process that has the port now may have been sent the cookies.
        if let (_, Err(error)) = self.end_access(None) {
            tracing::warn!("{error}");
        }
        bind(self.wanted).await
    }

    pub(crate) async fn link(self: &Arc<Page>, edge: &Edge) -> Result<PageLinkResult, String> {
        let port = self.port(edge).await?;
        let secret =
            Secret::mint().map_err(|error| format!("the system provides no random numbers: {error}"))?;
        self.state().access.add_link(&secret, self.now_ms());
        let url = format!("http://127.0.0.1:{port}/#{}", secret.reveal());
        Ok(PageLinkResult { url, port, expires_in_seconds: LINK_SECONDS })
    }

    pub(crate) fn revoke(&self) -> Result<PageRevokeResult, String> {
        let ((sessions, links), persisted) = self.end_access(self.open.get().map(|open_port| open_port.port));
        self.changed.send_replace(());
        persisted.map_err(|error| {
            format!(
                "access is revoked, but a hub that resumes this one would restore it: {error}; remove \
                 that file"
            )
        })?;
        let count = |number| u32::try_from(number).unwrap_or(u32::MAX);
        Ok(PageRevokeResult { sessions: count(sessions), links: count(links) })
    }

    /// Ends all access, also for a later hub that resumes this one, unless that fails.
    fn end_access(&self, port: Option<u16>) -> ((usize, usize), Result<(), String>) {
        let mut state = self.state();
        let ended = state.access.revoke(self.now_ms());
        (ended, self.persist(&state, port))
    }

    /// The hub is shutting down: all access ends, and no later hub restores it.
    pub(crate) fn shut_down(&self) {
        if let Some(open_port) = self.open.get() {
            open_port.accepting.abort();
        }
        let mut state = self.state();
        state.access.revoke(self.now_ms());
        if let Some(file) = state.file.take() {
            file.remove_or_warn();
        }
    }

    /// The secret of a new session, if `offered` is the secret of a link.
    fn exchange(&self, offered: &str, port: u16) -> Option<Secret> {
        let secret = Secret::mint().ok()?;
        let mut state = self.state();
        if !state.access.exchange(offered, &secret, self.now_ms()) {
            return None;
        }
        if let Err(error) = self.persist(&state, Some(port)) {
            tracing::warn!("{error}");
        }
        // The new session may have displaced the oldest.
        self.changed.send_replace(());
        Some(secret)
    }

    fn session(&self, offered: &str) -> Option<SessionId> {
        self.state().access.session(offered)
    }

    fn is_active(&self, session: SessionId) -> bool {
        self.state().access.is_active(session)
    }

    /// Persists the state for a later hub, which needs nothing as long as no port is open.
    fn persist(&self, state: &State, port: Option<u16>) -> Result<(), String> {
        match (&state.file, port) {
            (Some(file), Some(port)) => file.write(port, state.access.sessions()),
            (Some(file), None) => file.remove(),
            (None, _) => Ok(()),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}
