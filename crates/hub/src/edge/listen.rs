//! One TCP port per window: lets the guard look at each request, and hands over what it lets in.

use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hyper::Request;
use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use hyper::service::service_fn;
use linkspan_dialect::Dialect;
use linkspan_review::{AgentId, WindowId};
use tokio::net::{TcpListener, TcpStream};

use super::entry::{self, Answer, Inside};
use super::{Edge, Happening, agent};
use crate::core::Listen;
use crate::guard::{self, Head};
use crate::token::Token;

/// Connections over all windows and lives of ports, so that no two agents share a number. Odd ones: the core mints
/// even ones for agents that join on the hub's own socket.
static AGENTS: AtomicU64 = AtomicU64::new(1);

struct Door {
    window: WindowId,
    token: Token,
    port: u16,
    dialects: Vec<&'static Dialect>,
}

/// Opens the window's old port if it can be had, else any. The old token is only valid on the old port.
pub(super) async fn open(edge: &Edge, listen: Listen) -> std::io::Result<(u16, Token)> {
    let Listen { window, before, connections, dialects } = listen;
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
    let door = Arc::new(Door { window, token: token.clone(), port, dialects });
    let within = edge.clone();
    let task = tokio::spawn(entry::accept(listener, connections, edge.clone(), move |stream, inside| {
        enter(stream, inside, Arc::clone(&door), within.clone())
    }));
    let _ = edge.inbox.send(Happening::NewPort(window, task.abort_handle())).await;
    Ok((port, token))
}

async fn enter(stream: TcpStream, inside: Arc<Inside>, door: Arc<Door>, edge: Edge) {
    let service = service_fn(|request: Request<Incoming>| {
        let response = answer(request, &door, &edge, &inside);
        async move { Ok::<_, Infallible>(response.await) }
    });
    if let Err(refusal) = entry::serve(stream, &edge, service).await {
        entry::count(refusal, &edge).await;
    }
}

async fn answer(request: Request<Incoming>, door: &Door, edge: &Edge, inside: &Arc<Inside>) -> Answer {
    let head = Head { method: request.method(), path: request.uri().path(), headers: request.headers() };
    match guard::admit(&head, door.port, &door.token, &door.dialects) {
        Ok(dialect) => upgrade(request, dialect, door.window, edge, inside),
        Err(refusal) => entry::refuse(refusal, edge).await,
    }
}

fn upgrade(
    request: Request<Incoming>,
    dialect: &'static Dialect,
    window: WindowId,
    edge: &Edge,
    inside: &Arc<Inside>,
) -> Answer {
    let offered = request.headers().get_all(header::SEC_WEBSOCKET_PROTOCOL).iter();
    let offered = offered.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
    let subprotocol = dialect.subprotocol.filter(|wanted| offered.map(str::trim).any(|name| name == *wanted));
    let agent_id = AgentId(AGENTS.fetch_add(2, Ordering::Relaxed));
    let within = edge.clone();
    let mut response = entry::upgrade(request, edge, inside, move |stream| {
        agent::converse(agent_id, window, dialect, stream, within)
    });
    if let Some(subprotocol) = subprotocol {
        response.headers_mut().insert(header::SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(subprotocol));
    }
    response
}
