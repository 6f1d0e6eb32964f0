//! Requests to an engine on this machine, one at a time, and the events of its answers. What they mean is decided in the
//! core; the frames are those of the dialect `engine`. Talks only to processes of the user.

use std::future::pending;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::{Request, Response, header};
use hyper_util::rt::TokioIo;
use linkspan_editor_api::wire_names::header::PPXAI_TOKEN;
use linkspan_review::AgentId;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};

use crate::core::Event;
use crate::core::contract::EngineAddress;
use crate::edge::Edge;
use crate::edge::outbox::{self, Outbox};
use crate::edge::peer::peer_socket;
use crate::edge::ws::agent::ToAgent;

/// Bytes that may wait to be sent: a message and its attachments.
const UNSENT: usize = 16 * 1024 * 1024;

const CONNECT: Duration = Duration::from_secs(5);
/// How long an engine may take to accept a connection, and how often we look.
const ACCEPTED: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(2);
/// A model may think before its first word; an engine that is there answers earlier.
const HEAD: Duration = Duration::from_secs(60);
/// An answer that is not a stream.
const BODY: Duration = Duration::from_secs(10);
const LONGEST_BODY: usize = 1024 * 1024;

/// One event: at most the whole text of an answer, or what was put into a prompt.
const LONGEST_EVENT: usize = 8 * 1024 * 1024;

type EngineTask = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What is put into the outbox goes to the engine.
pub(crate) fn start(edge: &Edge, agent: AgentId, engine: EngineAddress) -> Outbox<ToAgent> {
    let (outbox, mut inbox) = outbox::new(UNSENT);
    let edge = edge.clone();
    tokio::spawn(async move {
        let mut running: Option<(u64, EngineTask)> = None;
        loop {
            let message = tokio::select! {
                message = inbox.recv() => message,
                () = async { match &mut running {
                    Some((_, task)) => task.await,
                    None => pending().await,
                } } => {
                    running = None;
                    continue;
                }
            };
            let text = match message {
                Some(ToAgent::Text(text)) => text,
                Some(ToAgent::Close { .. }) | None => return,
                Some(_) => continue,
            };
            let Ok(frame) = serde_json::from_str::<Value>(&text) else { continue };
            if let Some(cancelled) = frame.get("cancel") {
                // Dropped, it closes its connection, which the engine takes for the end of the turn.
                if running.take_if(|(id, _)| cancelled.as_u64() == Some(*id)).is_some() {
                    notify(&edge, agent, &json!({ "id": cancelled, "end": null })).await;
                }
            } else if let Some(id) = frame.get("id").and_then(Value::as_u64) {
                let task = converse(edge.clone(), agent, engine.clone(), id, frame);
                running = Some((id, Box::pin(task)));
            }
        }
    });
    outbox
}

async fn notify(edge: &Edge, agent: AgentId, frame: &Value) -> bool {
    edge.send_event(Event::AgentFrame { agent, text: frame.to_string(), exchange: None }).await
}

/// One request, to the end of its answer.
async fn converse(edge: Edge, agent: AgentId, engine: EngineAddress, id: u64, frame: Value) {
    let end = match request(&engine, &frame).await {
        Ok(response) if is_stream(&response) => {
            let status = response.status();
            match status.is_success() {
                true => stream(&edge, agent, id, response.into_body()).await,
                false => Err(format!("the engine answered {status}")),
            }
        }
        Ok(response) => match answer(id, response).await {
            Ok(frame) => {
                notify(&edge, agent, &frame).await;
                return;
            }
            Err(why) => Err(why),
        },
        Err(why) => Err(why),
    };
    notify(&edge, agent, &json!({ "id": id, "end": end.err() })).await;
}

async fn request(engine: &EngineAddress, frame: &Value) -> Result<Response<Incoming>, String> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, engine.port));
    let failed = |why: &dyn std::fmt::Display| format!("no engine answers at http://{address}: {why}");
    let connected = timeout(CONNECT, TcpStream::connect(address)).await;
    let stream = connected.map_err(|_| failed(&"it took too long"))?.map_err(|error| failed(&error))?;
    check_user(&stream, address).await?;
    let text = |name: &str| frame.get(name).and_then(Value::as_str).unwrap_or_default();
    let body = frame.get("body").filter(|body| !body.is_null()).map(Value::to_string).unwrap_or_default();
    let mut request = Request::builder()
        .method(text("method"))
        .uri(text("path"))
        .header(header::HOST, address.to_string())
        .header(header::CONTENT_TYPE, "application/json");
    if let Some(name) = &engine.token {
        let token = std::env::var(name).map_err(|_| {
            format!("the variable {name}, which has the token of the engine, is not set for the hub")
        })?;
        request = request.header(PPXAI_TOKEN, token);
    }
    let request = request.body(Full::new(Bytes::from(body))).map_err(|error| failed(&error))?;
    let (mut sender, connection) =
        http1::handshake(TokioIo::new(stream)).await.map_err(|error| failed(&error))?;
    // It ends with the body of the answer.
    tokio::spawn(connection);
    timeout(HEAD, sender.send_request(request))
        .await
        .map_err(|_| failed(&"it took too long"))?
        .map_err(|error| failed(&error))
}

/// Another user's process could listen there. The other end belongs to nobody until it is accepted.
async fn check_user(stream: &TcpStream, address: SocketAddr) -> Result<(), String> {
    let ours = stream.local_addr().map_err(|error| error.to_string())?;
    let until = Instant::now() + ACCEPTED;
    let peer = loop {
        match peer_socket(address, ours) {
            None if Instant::now() < until => sleep(LOOK).await,
            found => break found,
        }
    };
    match peer {
        Some(peer) if peer.uid == rustix::process::getuid().as_raw() => Ok(()),
        Some(_) => Err(format!("the engine at http://{address} belongs to another user; it is not used")),
        None => Err(format!("whose engine answers at http://{address} cannot be found out; it is not used")),
    }
}

fn is_stream(response: &Response<Incoming>) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.trim_start().starts_with("text/event-stream"))
}

async fn answer(id: u64, response: Response<Incoming>) -> Result<Value, String> {
    let status = response.status().as_u16();
    let body = timeout(BODY, Limited::new(response.into_body(), LONGEST_BODY).collect()).await;
    let body = body
        .map_err(|_| "the engine's answer took too long".to_owned())?
        .map_err(|error| format!("the engine's answer cannot be read: {error}"))?;
    let body: Value = serde_json::from_slice(&body.to_bytes()).unwrap_or_default();
    Ok(json!({ "id": id, "status": status, "body": body }))
}

/// Each event is one line `data: {…}`.
async fn stream(edge: &Edge, agent: AgentId, id: u64, mut body: Incoming) -> Result<(), String> {
    let mut line = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| format!("the engine's stream broke off: {error}"))?;
        let Ok(data) = frame.into_data() else { continue };
        for part in data.split_inclusive(|byte| *byte == b'\n') {
            line.extend_from_slice(part);
            if line.len() > LONGEST_EVENT {
                let most = LONGEST_EVENT / 1024 / 1024;
                return Err(format!("the engine sent an event of more than {most} MiB"));
            }
            if !line.ends_with(b"\n") {
                continue;
            }
            let event = line.strip_prefix(b"data:").and_then(|data| serde_json::from_slice(data).ok());
            line.clear();
            if let Some(event) = event {
                let event: Value = event;
                if !notify(edge, agent, &json!({ "id": id, "event": event })).await {
                    return Ok(());
                }
            }
        }
    }
    Ok(())
}
