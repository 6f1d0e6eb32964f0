//! The browser page: one port on 127.0.0.1, opened when somebody wants a link, and who may use it.
//!
//! Serves the page's files and carries messages between it and the core. What may be asked is for the core.

pub mod access;
mod assets;
pub mod head;
pub(crate) mod kept;
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

use crate::edge::room::Room;
use crate::edge::{Edge, entry, local};
use access::{Access, LINK_SECONDS, Secret, SessionId};
use kept::Kept;

#[derive(Debug)]
pub(crate) struct Page {
    state: Mutex<State>,
    /// Those who had access may have it no longer.
    changed: watch::Sender<()>,
    started: Instant,
    /// The port that the person wants it at; 0: any.
    wanted: u16,
    /// Where an earlier hub had it: people forward that one.
    before: Option<u16>,
    open: OnceCell<Door>,
    /// For messages that are on their way: agents take nothing of it.
    room: Arc<Room>,
}

#[derive(Debug)]
struct State {
    access: Access,
    /// None once the hub is leaving: nothing is kept from then on.
    kept: Option<Kept>,
}

#[derive(Debug)]
struct Door {
    port: u16,
    accepting: AbortHandle,
}

impl Page {
    /// Closed, unless a hub that died left browsers that have access.
    pub(crate) async fn new(kept: Kept, wanted: u16, edge: &Edge) -> Arc<Page> {
        let before = kept.read().filter(|before| wanted == 0 || wanted == before.port);
        if before.is_none() {
            // For good, and not until the person wants the old port again.
            kept.remove_or_warn();
        }
        let sessions = before.iter().flat_map(|before| before.sessions.iter().copied());
        let state = Mutex::new(State { access: Access::restored(sessions), kept: Some(kept) });
        let page = Arc::new(Page {
            state,
            changed: watch::Sender::new(()),
            started: Instant::now(),
            wanted,
            before: before.as_ref().map(|before| before.port),
            open: OnceCell::new(),
            room: Room::new(local::message_bytes(&edge.limits)),
        });
        if before.is_some_and(|before| !before.sessions.is_empty())
            && let Err(error) = page.port(edge).await
        {
            tracing::warn!("the page is not served: {error}");
        }
        page
    }

    /// Opens the port if it is not open yet.
    async fn port(self: &Arc<Page>, edge: &Edge) -> Result<u16, String> {
        let door = self.open.get_or_try_init(|| async {
            let listener = self.bind().await.map_err(|error| match self.wanted {
                0 => format!("no port on 127.0.0.1 can be opened: {error}"),
                wanted => format!(
                    "port {wanted} on 127.0.0.1 cannot be opened: {error}; free it, or set `port` in `[page]` of \
                     config.toml to another, or to 0 for any"
                ),
            })?;
            let port = listener.local_addr().map_err(|error| error.to_string())?.port();
            if let Err(error) = self.keep(&self.state(), Some(port)) {
                tracing::warn!("{error}");
            }
            let (page, within) = (Arc::clone(self), edge.clone());
            let enter =
                move |stream, inside| serve::enter(stream, inside, Arc::clone(&page), port, within.clone());
            let accepting =
                tokio::spawn(entry::accept(listener, serve::CONNECTIONS, edge.clone(), enter));
            Ok::<_, String>(Door { port, accepting: accepting.abort_handle() })
        });
        Ok(door.await?.port)
    }

    async fn bind(&self) -> io::Result<TcpListener> {
        let bind = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
        let Some(before) = self.before else { return bind(self.wanted).await };
        // The hub that had it may have been killed a moment ago, and not be all gone.
        for _ in 0..5 {
            if let Ok(listener) = bind(before).await {
                return Ok(listener);
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        // Whoever has it now may have been sent the cookies.
        if let (_, Err(error)) = self.forget(None) {
            tracing::warn!("{error}");
        }
        bind(self.wanted).await
    }

    pub(crate) async fn link(self: &Arc<Page>, edge: &Edge) -> Result<PageLinkResult, String> {
        let port = self.port(edge).await?;
        let secret = Secret::mint().map_err(|error| format!("the system gives no randomness: {error}"))?;
        self.state().access.add_link(&secret, self.now_ms());
        let url = format!("http://127.0.0.1:{port}/#{}", secret.reveal());
        Ok(PageLinkResult { url, port, expires_in_seconds: LINK_SECONDS })
    }

    pub(crate) fn revoke(&self) -> Result<PageRevokeResult, String> {
        let ((sessions, links), kept) = self.forget(self.open.get().map(|door| door.port));
        self.changed.send_replace(());
        kept.map_err(|error| {
            format!(
                "access is taken back, but a hub that takes over from this one would give it again: {error}; remove \
                 that file"
            )
        })?;
        let count = |number| u32::try_from(number).unwrap_or(u32::MAX);
        Ok(PageRevokeResult { sessions: count(sessions), links: count(links) })
    }

    /// Ends all access, also for a later hub that continues this one, unless that fails.
    fn forget(&self, port: Option<u16>) -> ((usize, usize), Result<(), String>) {
        let mut state = self.state();
        let ended = state.access.revoke(self.now_ms());
        (ended, self.keep(&state, port))
    }

    /// The hub is leaving: whoever has access has it no longer, and no later hub gives it back.
    pub(crate) fn leave(&self) {
        if let Some(door) = self.open.get() {
            door.accepting.abort();
        }
        let mut state = self.state();
        state.access.revoke(self.now_ms());
        if let Some(kept) = state.kept.take() {
            kept.remove_or_warn();
        }
    }

    /// The secret of a new session, if that is the secret of a link.
    fn exchange(&self, offered: &str, port: u16) -> Option<Secret> {
        let secret = Secret::mint().ok()?;
        let mut state = self.state();
        if !state.access.exchange(offered, &secret, self.now_ms()) {
            return None;
        }
        if let Err(error) = self.keep(&state, Some(port)) {
            tracing::warn!("{error}");
        }
        // One more may be one too many.
        self.changed.send_replace(());
        Some(secret)
    }

    fn session(&self, offered: &str) -> Option<SessionId> {
        self.state().access.session(offered)
    }

    fn lives(&self, session: SessionId) -> bool {
        self.state().access.lives(session)
    }

    /// For a later hub, which needs nothing as long as there is no port.
    fn keep(&self, state: &State, port: Option<u16>) -> Result<(), String> {
        match (&state.kept, port) {
            (Some(kept), Some(port)) => kept.write(port, state.access.sessions()),
            (Some(kept), None) => kept.remove(),
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
