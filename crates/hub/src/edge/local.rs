//! The hub's own socket: framed JSON-RPC with editors and commands of the same user.

use linkspan_editor_api::{Decoder, Limits};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};

use super::outbox::{self, Inbox};
use super::{Edge, Happening};
use crate::core::{Event, LocalId};

pub(super) async fn accept(listener: UnixListener, edge: Edge) {
    let mut last = 0;
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Out of descriptors, most likely: others may close some soon.
                tracing::error!("cannot accept on the hub's socket: {error}");
                tokio::time::sleep(std::time::Duration::from_millis(100)).await;
                continue;
            }
        };
        let ours = rustix::process::getuid().as_raw();
        if stream.peer_cred().map_or(true, |peer| peer.uid() != ours) {
            tracing::warn!("another user tried the hub's socket");
            continue;
        }
        last += 1;
        let local = LocalId(last);
        // A person's own version of the largest file must fit, escaped as JSON.
        let message_bytes = edge.limits.message_mib.max(4 * edge.limits.file_mib) * 1024 * 1024;
        let (outbox, inbox) = outbox::new(2 * message_bytes);
        if edge.inbox.send(Happening::NewLocal(local, outbox)).await.is_err()
            || !edge.tell(Event::LocalOpened { local }).await
        {
            return;
        }
        tokio::spawn(serve(local, stream, inbox, edge.clone(), message_bytes));
    }
}

/// Ends when either side has had enough.
async fn serve(local: LocalId, stream: UnixStream, inbox: Inbox<Vec<u8>>, edge: Edge, message_bytes: usize) {
    let (reading, writing) = stream.into_split();
    tokio::select! {
        () = read(local, reading, &edge, message_bytes) => {}
        () = write(writing, inbox) => {}
    }
    edge.tell(Event::LocalClosed { local }).await;
}

async fn read(local: LocalId, mut stream: OwnedReadHalf, edge: &Edge, message_bytes: usize) {
    let mut decoder = Decoder::new(Limits { body: message_bytes, ..Limits::default() });
    let mut chunk = vec![0; 16 * 1024];
    while let Ok(count @ 1..) = stream.read(&mut chunk).await {
        decoder.push(chunk.get(..count).unwrap_or_default());
        loop {
            match decoder.next() {
                Ok(Some(body)) => {
                    if !edge.tell(Event::LocalMessage { local, body }).await {
                        return;
                    }
                }
                Ok(None) => break,
                Err(error) => {
                    tracing::warn!("a connection on the hub's socket is closed: {error}");
                    return;
                }
            }
        }
    }
}

async fn write(mut stream: OwnedWriteHalf, mut inbox: Inbox<Vec<u8>>) {
    while let Some(body) = inbox.recv().await {
        let framed = linkspan_editor_api::encode(&body);
        if stream.write_all(&framed).await.is_err() {
            return;
        }
    }
}
