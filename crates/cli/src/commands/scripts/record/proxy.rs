//! Forwards connections to an editor's server and records the messages. Checks the peer as the server would: behind the
//! proxy, the server can no longer see who connects.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use linkspan_client::http::LoopbackUrl;
use linkspan_hub::peer;

use super::decoder::{Decoded, Decoder};
use super::http1::{Head, Side, Unanswered};
use super::transcript::Transcript;

/// More than any agent opens.
const MAX_CONNECTIONS: usize = 64;
const REFUSAL: &[u8] = b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

pub(crate) struct Proxy {
    pub(crate) to: LoopbackUrl,
    pub(crate) target: SocketAddr,
    pub(crate) transcript: Transcript,
    /// Open connections.
    pub(crate) open: AtomicUsize,
}

/// Never returns.
pub(crate) fn serve(listener: &TcpListener, proxy: &Arc<Proxy>) {
    for stream in listener.incoming() {
        // No free file descriptor at the moment, or the peer has closed it already.
        let Ok(stream) = stream else { continue };
        let Some(slot) = ConnectionSlot::take(proxy) else { continue };
        if is_our_user(&stream) {
            let _ = spawn(move || forward(stream, &slot.0));
        }
    }
}

fn spawn(work: impl FnOnce() + Send + 'static) -> io::Result<thread::JoinHandle<()>> {
    thread::Builder::new().name("linkspan-record".into()).spawn(work)
}

/// One of the allowed connections; free again when this is dropped, even after a panic.
struct ConnectionSlot(Arc<Proxy>);

impl ConnectionSlot {
    fn take(proxy: &Arc<Proxy>) -> Option<ConnectionSlot> {
        let slot = ConnectionSlot(Arc::clone(proxy));
        (proxy.open.fetch_add(1, Ordering::SeqCst) < MAX_CONNECTIONS).then_some(slot)
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::SeqCst);
    }
}

fn is_our_user(stream: &TcpStream) -> bool {
    let (Ok(peer), Ok(ours)) = (stream.peer_addr(), stream.local_addr()) else { return false };
    peer::peer_socket(peer, ours).is_some_and(|end| end.uid == rustix::process::getuid().as_raw())
}

fn forward(agent: TcpStream, proxy: &Arc<Proxy>) {
    let conn = proxy.transcript.open();
    let Ok(editor) = TcpStream::connect(proxy.target) else {
        proxy.transcript.event(conn, "nothing-listens");
        proxy.transcript.event(conn, "closed");
        return;
    };
    let _ = agent.set_nodelay(true).and_then(|()| editor.set_nodelay(true));
    if let (Ok(from_editor), Ok(to_agent)) = (editor.try_clone(), agent.try_clone()) {
        let theirs = Arc::clone(proxy);
        let unanswered = Unanswered::default();
        let answers = Decoder::new(Side::Response, unanswered.clone());
        // Without the thread for the answers, requests must not be sent: the agent would wait without end.
        if let Ok(back) = spawn(move || carry(from_editor, to_agent, answers, Side::Response, conn, &theirs))
        {
            carry(agent, editor, Decoder::new(Side::Request, unanswered), Side::Request, conn, proxy);
            let _ = back.join();
        }
    }
    proxy.transcript.event(conn, "closed");
}

/// Forwards one direction until it ends.
fn carry(mut from: TcpStream, mut to: TcpStream, mut decoder: Decoder, side: Side, conn: u64, proxy: &Proxy) {
    let mut bytes = vec![0; 64 * 1024];
    loop {
        let length = match from.read(&mut bytes) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        let arrived = bytes.get(..length).unwrap_or_default();
        if pass(decoder.push(arrived), &mut to, &from, side, conn, proxy).is_none() {
            let _ = from.shutdown(Shutdown::Both);
            break;
        }
    }
    let _ = pass(decoder.end(), &mut to, &from, side, conn, proxy);
    let eof = serde_json::Map::from_iter([("ev".to_owned(), serde_json::json!("eof"))]);
    proxy.transcript.line(conn, side, eof);
    let _ = to.shutdown(Shutdown::Write);
}

/// `None` if the connection must be closed. Records before it sends: a transcript must not lack what the peer received.
fn pass(
    decoded: Vec<Decoded>,
    to: &mut TcpStream,
    mut from: &TcpStream,
    side: Side,
    conn: u64,
    proxy: &Proxy,
) -> Option<()> {
    let mut passed = Vec::new();
    for one in decoded {
        match one {
            Decoded::Line(fields) => proxy.transcript.line(conn, side, fields),
            Decoded::Pass(bytes) => passed.extend(bytes),
            Decoded::Head(head) => {
                proxy.transcript.head(conn, side, &head);
                if side == Side::Request && !names_us(&head, from) {
                    let _ = from.write_all(REFUSAL);
                    return None;
                }
                passed.extend(for_the_target(head, side, &proxy.to).to_bytes());
            }
        }
    }
    to.write_all(&passed).ok()
}

/// Whether `Host` is our own address: a web page that resolves its own name to 127.0.0.1 sends that name instead.
fn names_us(head: &Head, agent: &TcpStream) -> bool {
    let Ok(ours) = agent.local_addr() else { return false };
    let names = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", ours.port()));
    head.header("host").is_some_and(|host| names.iter().any(|name| name.eq_ignore_ascii_case(host)))
}

/// With the server's own `Host`, and without compression, which the transcript could not show.
fn for_the_target(mut head: Head, side: Side, to: &LoopbackUrl) -> Head {
    if side == Side::Request {
        head.set("host", &to.authority());
        let compressing = ["accept-encoding", "sec-websocket-extensions"];
        head.retain(|name| !compressing.iter().any(|known| known.eq_ignore_ascii_case(name)));
    }
    head
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::scripts::record::secrets::Secrets;

    #[test]
    fn a_connection_that_panics_frees_its_slot() {
        let to = LoopbackUrl::of_port(9);
        let proxy = Arc::new(Proxy {
            target: ([127, 0, 0, 1], 9).into(),
            to,
            transcript: Transcript::new(Box::new(io::sink()), Secrets::default()),
            open: AtomicUsize::new(0),
        });
        let slots: Vec<ConnectionSlot> = std::iter::from_fn(|| ConnectionSlot::take(&proxy)).collect();
        assert_eq!((slots.len(), proxy.open.load(Ordering::SeqCst)), (MAX_CONNECTIONS, MAX_CONNECTIONS));
        for slot in slots {
            let _ = thread::spawn(move || {
                let _slot = slot;
                std::panic::resume_unwind(Box::new("without a message"));
            })
            .join();
        }
        assert_eq!(proxy.open.load(Ordering::SeqCst), 0);
    }
}
