//! One TCP port per window: has the guard check each request, and passes admitted ones to the right protocol. The
//! window's Unix socket (`agent_socket`) is served in the same way.

use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request};
use linkspan_dialect::{Dialect, Endpoint, Route};
use linkspan_review::{AgentId, WindowId};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, OnceCell, watch};
use tokio::task::AbortHandle;
use tokio::time::timeout;

use crate::core::contract::Refusal;
use crate::core::{Event, Listen};
use crate::edge::http::accept::{self, ConnectionGuard, KeepOpen, ServeOutcome};
use crate::edge::http::agent_socket::AgentSocket;
use crate::edge::http::guard::{self, RequestHead, RequestKind, Tokens};
use crate::edge::http::rpc::{self, HttpAgent};
use crate::edge::http::sse::sessions::Sessions;
use crate::edge::http::sse::stream::StreamRequest;
use crate::edge::http::tracked_stream::PeerStream;
use crate::edge::ws::agent;
use crate::edge::{Edge, LoopMessage, SHUTDOWN_GRACE};
use crate::token::Token;

/// Counts connections across all windows and reopened ports, so that no two agents share an id. Odd ids: the core
/// gives even ones to agents that join on the hub's own socket.
static AGENTS: AtomicU64 = AtomicU64::new(1);

/// A port or socket for the agents of one window.
pub(super) struct AgentPort {
    pub(super) window: WindowId,
    pub(super) tokens: Tokens,
    pub(super) address: Address,
    pub(super) dialects: Vec<&'static Dialect>,
    pub(super) sessions: Arc<Sessions>,
}

/// Where its requests arrive, which decides what the guard checks.
#[derive(Debug, Clone, Copy)]
pub(super) enum Address {
    Port(u16),
    Socket,
}

/// A window's port while it is open, and its Unix socket.
pub(crate) struct OpenPort {
    accepting: AbortHandle,
    streams: watch::Receiver<usize>,
    socket: Option<AgentSocket>,
}

impl OpenPort {
    /// Streams that are ending may send their last events; everything else ends at once.
    pub(crate) async fn close(mut self) {
        if let Some(socket) = self.socket.take() {
            socket.close().await;
        }
        let _ = timeout(SHUTDOWN_GRACE, self.streams.wait_for(|streams| *streams == 0)).await;
        self.accepting.abort();
    }
}

/// Where agents find a window.
pub(crate) struct WindowAddress {
    pub(crate) port: u16,
    pub(crate) token: Token,
    /// The Unix socket, or why there is none; `None` if no dialect needs it.
    pub(crate) socket: Option<Result<PathBuf, String>>,
}

/// Opens the window's previous port if it is free, otherwise any. The previous token is valid only on the previous
/// port. A socket that cannot be made keeps out only the agents that need it.
pub(crate) async fn open(edge: &Edge, listen: Listen) -> std::io::Result<WindowAddress> {
    let Listen { window, before, connections, dialects, set_token } = listen;
    let previous = match before {
        Some((port, token)) => {
            TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.ok().map(|listener| (listener, token))
        }
        None => None,
    };
    let (listener, token) = match previous {
        Some(previous) => previous,
        // The process that has the previous port now may have been sent the previous token.
        None => (TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?, Token::mint()?),
    };
    let port = listener.local_addr()?.port();
    let opened = AgentSocket::open(edge, window, &token, connections, &dialects);
    let (socket, path) = match opened {
        Some(Ok(socket)) => {
            let path = socket.path().to_owned();
            (Some(socket), Some(Ok(path)))
        }
        Some(Err(why)) => (None, Some(Err(why))),
        None => (None, None),
    };
    let tokens = Tokens { window: token.clone(), configured: set_token };
    let sessions = Sessions::named_by_hub(&token);
    let streams = sessions.streams.subscribe();
    let agent_port = AgentPort { window, tokens, address: Address::Port(port), dialects, sessions };
    let open_port = OpenPort { accepting: accept(edge, listener, connections, agent_port), streams, socket };
    let _ = edge.inbox.send(LoopMessage::NewPort(window, open_port)).await;
    Ok(WindowAddress { port, token, socket: path })
}

/// Serves this window on a socket that is already open.
pub(crate) fn serve_existing(
    edge: &Edge,
    socket: &std::net::TcpListener,
    listen: Listen,
) -> std::io::Result<AbortHandle> {
    let Listen { window, before, connections, dialects, set_token } = listen;
    let socket = socket.try_clone()?;
    socket.set_nonblocking(true)?;
    let (listener, port) = (TcpListener::from_std(socket)?, before.as_ref().map_or(0, |(port, _)| *port));
    let window_token = before.map_or_else(Token::mint, |(_, token)| Ok(token))?;
    let sessions = Sessions::named_by_hub(&window_token);
    let tokens = Tokens { window: window_token, configured: set_token };
    let address = Address::Port(port);
    Ok(accept(edge, listener, connections, AgentPort { window, tokens, address, dialects, sessions }))
}

fn accept(edge: &Edge, listener: TcpListener, connections: usize, agent_port: AgentPort) -> AbortHandle {
    let (agent_port, within) = (Arc::new(agent_port), edge.clone());
    let task =
        tokio::spawn(accept::accept(listener, connections, edge.clone(), move |stream, connection_guard| {
            serve_connection(stream, connection_guard, Arc::clone(&agent_port), within.clone())
        }));
    task.abort_handle()
}

async fn serve_connection(
    stream: TcpStream,
    connection_guard: Arc<ConnectionGuard>,
    agent_port: Arc<AgentPort>,
    edge: Edge,
) {
    let connection = AgentConnection::new(connection_guard, agent_port, edge);
    let served = connection.serve(stream).await;
    if let Some(Some(http_agent)) = connection.http_agent.get() {
        http_agent.close();
        if let Ok(ServeOutcome::Closed(left)) = served
            && http_agent.has_unconfirmed()
            && left.peer_read_everything().await
        {
            http_agent.confirm_all(&connection.edge).await;
        }
        connection.edge.send_event(Event::AgentClosed { agent: http_agent.agent, said_goodbye: false }).await;
    }
}

/// One connection to a window's port or socket.
pub(super) struct AgentConnection {
    agent_port: Arc<AgentPort>,
    edge: Edge,
    connection_guard: Arc<ConnectionGuard>,
    /// The agent behind it, if it sends plain HTTP requests; `None` inside if the hub is shutting down.
    http_agent: OnceCell<Option<Arc<HttpAgent>>>,
    keep_open: KeepOpen,
    /// Set while a stream is served on it.
    stream: OnceLock<StreamCount>,
    cut: Arc<Notify>,
}

/// Counts a stream until its connection has ended.
struct StreamCount(watch::Sender<usize>);

impl StreamCount {
    fn new(streams: &watch::Sender<usize>) -> StreamCount {
        streams.send_modify(|streams| *streams += 1);
        StreamCount(streams.clone())
    }
}

impl Drop for StreamCount {
    fn drop(&mut self) {
        self.0.send_modify(|streams| *streams -= 1);
    }
}

impl AgentConnection {
    pub(super) fn new(
        connection_guard: Arc<ConnectionGuard>,
        agent_port: Arc<AgentPort>,
        edge: Edge,
    ) -> AgentConnection {
        AgentConnection {
            agent_port,
            edge,
            connection_guard,
            http_agent: OnceCell::new(),
            keep_open: KeepOpen::default(),
            stream: OnceLock::new(),
            cut: Arc::default(),
        }
    }

    /// Answers its requests until it ends.
    pub(super) async fn serve<C: PeerStream>(&self, stream: C) -> Result<ServeOutcome<C>, Refusal> {
        let service = service_fn(|request: Request<Incoming>| {
            let response = self.answer(request);
            async move { Ok::<_, Infallible>(response.await) }
        });
        let served = tokio::select! {
            served = accept::serve_agent(stream, &self.edge, &self.keep_open, service) => served,
            () = self.cut.notified() => Ok(ServeOutcome::Other),
        };
        if let Err(refusal) = &served {
            accept::record_refusal(*refusal, &self.edge).await;
        }
        served
    }

    async fn answer(&self, request: Request<Incoming>) -> rpc::BoxedResponse {
        let AgentPort { address, tokens, dialects, .. } = &*self.agent_port;
        let head = RequestHead { method: request.method(), uri: request.uri(), headers: request.headers() };
        let admitted = match *address {
            Address::Port(port) => guard::admit(&head, port, tokens, dialects),
            Address::Socket => guard::admit_on_socket(&head, tokens, dialects),
        };
        let answered = match admitted {
            Ok((dialect, RequestKind::WebSocket)) => {
                Ok(upgrade(request, dialect, self.agent_port.window, &self.edge, &self.connection_guard)
                    .map(BodyExt::boxed))
            }
            Ok((dialect, RequestKind::Call(route))) => self.call(request, dialect, route).await,
            Ok((dialect, RequestKind::Stream)) => self.stream(request, dialect).await,
            Err(refusal) => Err(refusal),
        };
        match answered {
            Ok(answer) => answer,
            Err(refusal) => accept::refuse(refusal, &self.edge).await.map(BodyExt::boxed),
        }
    }

    async fn stream(
        &self,
        request: Request<Incoming>,
        dialect: &'static Dialect,
    ) -> Result<rpc::BoxedResponse, Refusal> {
        let AgentPort { sessions, window, .. } = &*self.agent_port;
        if request.method() == Method::GET {
            self.stream.get_or_init(|| StreamCount::new(&sessions.streams));
        }
        self.keep_open.set();
        let (window, edge, cut) = (*window, &self.edge, &self.cut);
        StreamRequest { sessions, window, dialect, edge, next_agent, cut }.answer(request).await
    }

    async fn call(
        &self,
        request: Request<Incoming>,
        dialect: &'static Dialect,
        route: &'static Route,
    ) -> Result<rpc::BoxedResponse, Refusal> {
        let called = rpc::program_name(request.headers());
        let text = match route.frame {
            Some(frame) => frame.to_owned(),
            None => rpc::body(request, &self.edge).await?,
        };
        self.keep_open.set();
        let open = || HttpAgent::open(next_agent(), self.agent_port.window, dialect, called, &self.edge);
        let answer = match self.http_agent.get_or_init(open).await {
            Some(http_agent) => http_agent.request(text, &self.edge).await,
            None => None,
        };
        Ok(rpc::response(answer))
    }
}

pub(crate) fn next_agent() -> AgentId {
    AgentId(AGENTS.fetch_add(2, Ordering::Relaxed))
}

fn upgrade(
    request: Request<Incoming>,
    dialect: &'static Dialect,
    window: WindowId,
    edge: &Edge,
    connection_guard: &Arc<ConnectionGuard>,
) -> accept::FullResponse {
    let offered = request.headers().get_all(header::SEC_WEBSOCKET_PROTOCOL).iter();
    let offered = offered.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
    let ours = match dialect.endpoint {
        Endpoint::WebSocket { subprotocol, .. } => subprotocol,
        _ => None,
    };
    let subprotocol = ours.filter(|wanted| offered.map(str::trim).any(|name| name == *wanted));
    let (agent_id, within) = (next_agent(), edge.clone());
    let mut response = accept::upgrade(request, edge, connection_guard, move |stream| {
        agent::converse(agent_id, window, dialect, stream, within)
    });
    if let Some(subprotocol) = subprotocol {
        response.headers_mut().insert(header::SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(subprotocol));
    }
    response
}
