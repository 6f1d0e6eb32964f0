//! One TCP port per window: lets the guard look at each request, and hands over what it lets in.

use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request};
use linkspan_dialect::{Dialect, Door, Route};
use linkspan_review::{AgentId, WindowId};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, OnceCell, watch};
use tokio::task::AbortHandle;
use tokio::time::timeout;

use super::calls::{self, Caller};
use super::entry::{self, Ended, Inside, Stays};
use super::stream::{Place, Sessions};
use super::{Edge, FAREWELL, Happening, agent};
use crate::core::{Event, Listen};
use crate::guard::{self, Head, Refusal, Tokens, Way};
use crate::token::Token;

/// Connections over all windows and lives of ports, so that no two agents share a number. Odd ones: the core mints
/// even ones for agents that join on the hub's own socket.
static AGENTS: AtomicU64 = AtomicU64::new(1);

struct Entrance {
    window: WindowId,
    tokens: Tokens,
    port: u16,
    dialects: Vec<&'static Dialect>,
    sessions: Arc<Sessions>,
}

/// A window's port, as long as it is open.
pub(crate) struct Port {
    accepting: AbortHandle,
    streams: watch::Receiver<usize>,
}

impl Port {
    /// Streams that are ending get to send what was said last; all else ends at once.
    pub(super) async fn close(mut self) {
        let _ = timeout(FAREWELL, self.streams.wait_for(|streams| *streams == 0)).await;
        self.accepting.abort();
    }
}

/// Opens the window's old port if it can be had, else any. The old token is only valid on the old port.
pub(super) async fn open(edge: &Edge, listen: Listen) -> std::io::Result<(u16, Token)> {
    let Listen { window, before, connections, dialects, set_token } = listen;
    let again = match before {
        Some((port, token)) => {
            TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.ok().map(|listener| (listener, token))
        }
        None => None,
    };
    let (listener, token) = match again {
        Some(again) => again,
        // Whoever took the old port may have been sent the old token.
        None => (TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?, Token::mint()?),
    };
    let port = listener.local_addr()?.port();
    let tokens = Tokens { window: token.clone(), set: set_token };
    let sessions = Sessions::new(&token);
    let streams = sessions.streams.subscribe();
    let entrance = Entrance { window, tokens, port, dialects, sessions };
    let port_open = Port { accepting: accept(edge, listener, connections, entrance), streams };
    let _ = edge.inbox.send(Happening::NewPort(window, port_open)).await;
    Ok((port, token))
}

/// A socket that is there already, for this window.
pub(super) fn again(
    edge: &Edge,
    socket: &std::net::TcpListener,
    listen: Listen,
) -> std::io::Result<AbortHandle> {
    let Listen { window, before, connections, dialects, set_token } = listen;
    let socket = socket.try_clone()?;
    socket.set_nonblocking(true)?;
    let (listener, port) = (TcpListener::from_std(socket)?, before.as_ref().map_or(0, |(port, _)| *port));
    let window_token = before.map_or_else(Token::mint, |(_, token)| Ok(token))?;
    let sessions = Sessions::new(&window_token);
    let tokens = Tokens { window: window_token, set: set_token };
    Ok(accept(edge, listener, connections, Entrance { window, tokens, port, dialects, sessions }))
}

fn accept(edge: &Edge, listener: TcpListener, connections: usize, entrance: Entrance) -> AbortHandle {
    let (entrance, within) = (Arc::new(entrance), edge.clone());
    let task = tokio::spawn(entry::accept(listener, connections, edge.clone(), move |stream, inside| {
        enter(stream, inside, Arc::clone(&entrance), within.clone())
    }));
    task.abort_handle()
}

async fn enter(stream: TcpStream, inside: Arc<Inside>, entrance: Arc<Entrance>, edge: Edge) {
    let connection = Connection {
        entrance,
        edge,
        inside,
        caller: OnceCell::new(),
        stays: Stays::default(),
        stream: OnceLock::new(),
        cut: Arc::default(),
    };
    let service = service_fn(|request: Request<Incoming>| {
        let response = connection.answer(request);
        async move { Ok::<_, Infallible>(response.await) }
    });
    let served = tokio::select! {
        served = entry::serve_agent(stream, &connection.edge, &connection.stays, service) => served,
        () = connection.cut.notified() => Ok(Ended::Otherwise),
    };
    if let Err(refusal) = served {
        entry::count(refusal, &connection.edge).await;
    }
    if let Some(Some(caller)) = connection.caller.get() {
        caller.let_go();
        if let Ok(Ended::InOrder(left)) = served
            && caller.awaits_word()
            && left.was_read().await
        {
            caller.has_all(&connection.edge).await;
        }
        connection.edge.tell(Event::AgentClosed { agent: caller.agent, said_goodbye: false }).await;
    }
}

/// One TCP connection to a window's port.
struct Connection {
    entrance: Arc<Entrance>,
    edge: Edge,
    inside: Arc<Inside>,
    /// The agent that it is, where requests come one by one; none when the hub is leaving.
    caller: OnceCell<Option<Arc<Caller>>>,
    stays: Stays,
    /// A stream is being served on it.
    stream: OnceLock<Streaming>,
    cut: Arc<Notify>,
}

/// Counts a stream until its connection has ended.
struct Streaming(watch::Sender<usize>);

impl Streaming {
    fn new(streams: &watch::Sender<usize>) -> Streaming {
        streams.send_modify(|streams| *streams += 1);
        Streaming(streams.clone())
    }
}

impl Drop for Streaming {
    fn drop(&mut self) {
        self.0.send_modify(|streams| *streams -= 1);
    }
}

impl Connection {
    async fn answer(&self, request: Request<Incoming>) -> calls::Answer {
        let Entrance { port, tokens, dialects, .. } = &*self.entrance;
        let head = Head { method: request.method(), uri: request.uri(), headers: request.headers() };
        let answered = match guard::admit(&head, *port, tokens, dialects) {
            Ok((dialect, Way::WebSocket)) => {
                Ok(upgrade(request, dialect, self.entrance.window, &self.edge, &self.inside)
                    .map(BodyExt::boxed))
            }
            Ok((dialect, Way::Call(route))) => self.call(request, dialect, route).await,
            Ok((dialect, Way::Stream)) => self.stream(request, dialect).await,
            Err(refusal) => Err(refusal),
        };
        match answered {
            Ok(answer) => answer,
            Err(refusal) => entry::refuse(refusal, &self.edge).await.map(BodyExt::boxed),
        }
    }

    async fn stream(
        &self,
        request: Request<Incoming>,
        dialect: &'static Dialect,
    ) -> Result<calls::Answer, Refusal> {
        let Entrance { sessions, window, .. } = &*self.entrance;
        if request.method() == Method::GET {
            self.stream.get_or_init(|| Streaming::new(&sessions.streams));
        }
        self.stays.stay();
        let (window, edge, cut) = (*window, &self.edge, &self.cut);
        Place { sessions, window, dialect, edge, next_agent, cut }.answer(request).await
    }

    async fn call(
        &self,
        request: Request<Incoming>,
        dialect: &'static Dialect,
        route: &'static Route,
    ) -> Result<calls::Answer, Refusal> {
        let called = calls::called(request.headers());
        let text = match route.frame {
            Some(frame) => frame.to_owned(),
            None => calls::body(request, &self.edge).await?,
        };
        self.stays.stay();
        let open = || Caller::open(next_agent(), self.entrance.window, dialect, called, &self.edge);
        let answer = match self.caller.get_or_init(open).await {
            Some(caller) => caller.ask(text, &self.edge).await,
            None => None,
        };
        Ok(calls::response(answer))
    }
}

fn next_agent() -> AgentId {
    AgentId(AGENTS.fetch_add(2, Ordering::Relaxed))
}

fn upgrade(
    request: Request<Incoming>,
    dialect: &'static Dialect,
    window: WindowId,
    edge: &Edge,
    inside: &Arc<Inside>,
) -> entry::Answer {
    let offered = request.headers().get_all(header::SEC_WEBSOCKET_PROTOCOL).iter();
    let offered = offered.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
    let ours = match dialect.door {
        Door::WebSocket { subprotocol, .. } => subprotocol,
        _ => None,
    };
    let subprotocol = ours.filter(|wanted| offered.map(str::trim).any(|name| name == *wanted));
    let (agent_id, within) = (next_agent(), edge.clone());
    let mut response = entry::upgrade(request, edge, inside, move |stream| {
        agent::converse(agent_id, window, dialect, stream, within)
    });
    if let Some(subprotocol) = subprotocol {
        response.headers_mut().insert(header::SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(subprotocol));
    }
    response
}
