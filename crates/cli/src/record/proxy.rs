//! Passes connections on to an editor's server and writes down what is said. Whoever connects is looked at as the
//! server itself would: behind us it cannot tell any more who they are.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use linkspan_client::http::LoopbackUrl;
use linkspan_hub::peer;

use super::ear::{Ear, Heard};
use super::http1::{Head, Side, Unanswered};
use super::transcript::Transcript;

/// More than any agent opens.
const MOST: usize = 64;
const REFUSAL: &[u8] = b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

pub(crate) struct Proxy {
    pub(crate) to: LoopbackUrl,
    pub(crate) target: SocketAddr,
    pub(crate) transcript: Transcript,
    /// Connections under way.
    pub(crate) open: AtomicUsize,
}

/// Serves for ever.
pub(crate) fn serve(listener: &TcpListener, proxy: &Arc<Proxy>) {
    for stream in listener.incoming() {
        // Out of sockets for a moment, or the peer was faster.
        let Ok(stream) = stream else { continue };
        let Some(place) = Place::take(proxy) else { continue };
        if is_our_user(&stream) {
            let _ = spawn(move || pass_on(stream, &place.0));
        }
    }
}

fn spawn(work: impl FnOnce() + Send + 'static) -> io::Result<thread::JoinHandle<()>> {
    thread::Builder::new().name("linkspan-record".into()).spawn(work)
}

/// One of the connections that may be open; free again once this is dropped, whatever became of the connection.
struct Place(Arc<Proxy>);

impl Place {
    fn take(proxy: &Arc<Proxy>) -> Option<Place> {
        let place = Place(Arc::clone(proxy));
        (proxy.open.fetch_add(1, Ordering::SeqCst) < MOST).then_some(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::SeqCst);
    }
}

fn is_our_user(stream: &TcpStream) -> bool {
    let (Ok(peer), Ok(ours)) = (stream.peer_addr(), stream.local_addr()) else { return false };
    peer::other_end(peer, ours).is_some_and(|end| end.uid == rustix::process::getuid().as_raw())
}

fn pass_on(agent: TcpStream, proxy: &Arc<Proxy>) {
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
        let answers = Ear::new(Side::Response, unanswered.clone());
        // Without it nothing may be said either: the agent would wait for ever.
        if let Ok(back) = spawn(move || carry(from_editor, to_agent, answers, Side::Response, conn, &theirs))
        {
            carry(agent, editor, Ear::new(Side::Request, unanswered), Side::Request, conn, proxy);
            let _ = back.join();
        }
    }
    proxy.transcript.event(conn, "closed");
}

/// Until one end is over.
fn carry(mut from: TcpStream, mut to: TcpStream, mut ear: Ear, side: Side, conn: u64, proxy: &Proxy) {
    let mut bytes = vec![0; 64 * 1024];
    loop {
        let length = match from.read(&mut bytes) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        let arrived = bytes.get(..length).unwrap_or_default();
        if pass(ear.hear(arrived), &mut to, &from, side, conn, proxy).is_none() {
            let _ = from.shutdown(Shutdown::Both);
            break;
        }
    }
    let _ = pass(ear.end(), &mut to, &from, side, conn, proxy);
    let eof = serde_json::Map::from_iter([("ev".to_owned(), serde_json::json!("eof"))]);
    proxy.transcript.line(conn, side, eof);
    let _ = to.shutdown(Shutdown::Write);
}

/// None when it cannot go on. What the peer gets is written down first: a transcript must not lack what was answered.
fn pass(
    heard: Vec<Heard>,
    to: &mut TcpStream,
    mut from: &TcpStream,
    side: Side,
    conn: u64,
    proxy: &Proxy,
) -> Option<()> {
    let mut passed = Vec::new();
    for heard in heard {
        match heard {
            Heard::Line(fields) => proxy.transcript.line(conn, side, fields),
            Heard::Pass(bytes) => passed.extend(bytes),
            Heard::Head(head) => {
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

/// A page in a browser that was led here by a name of its own names that.
fn names_us(head: &Head, agent: &TcpStream) -> bool {
    let Ok(ours) = agent.local_addr() else { return false };
    let names = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", ours.port()));
    head.header("host").is_some_and(|host| names.iter().any(|name| name.eq_ignore_ascii_case(host)))
}

/// The server wants to be called by its own name, and what is compressed could not be written down.
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
    use crate::record::secrets::Secrets;

    #[test]
    fn a_connection_that_comes_to_grief_leaves_its_place() {
        let to = LoopbackUrl::of_port(9);
        let proxy = Arc::new(Proxy {
            target: ([127, 0, 0, 1], 9).into(),
            to,
            transcript: Transcript::new(Box::new(io::sink()), Secrets::default()),
            open: AtomicUsize::new(0),
        });
        let places: Vec<Place> = std::iter::from_fn(|| Place::take(&proxy)).collect();
        assert_eq!((places.len(), proxy.open.load(Ordering::SeqCst)), (MOST, MOST));
        for place in places {
            let _ = thread::spawn(move || {
                let _place = place;
                std::panic::resume_unwind(Box::new("without a word"));
            })
            .join();
        }
        assert_eq!(proxy.open.load(Ordering::SeqCst), 0);
    }
}
