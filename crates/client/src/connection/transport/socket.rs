//! One interface for two kinds of sockets: texts and pings are queued, flushed and received without blocking.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use linkspan_editor_api::{Decoder, encode};
use tungstenite::{Error, Message, WebSocket};

use super::heartbeat::Heartbeat;
use super::{Listener, MAX_MESSAGE, SocketLink};
use crate::control::READ_BYTES;
use crate::dial::TimedStream;

/// A peer with more unread bytes than this is considered gone.
const MAX_UNSENT: usize = 4 * MAX_MESSAGE;

/// After this many texts the other direction gets its turn.
const TEXTS_PER_TURN: usize = 64;

/// A socket that is past its handshake.
#[derive(Debug)]
pub(in crate::connection) enum Socket {
    /// Content-Length frames; the peer has its own heartbeat.
    Framed { stream: UnixStream, decoder: Decoder },
    /// WebSocket text frames.
    Web(Box<WebSocket<TimedStream>>),
}

/// Bytes for a framed peer that are not written yet. A WebSocket has its own buffer.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    chunks: VecDeque<Vec<u8>>,
    /// Bytes of all chunks.
    bytes: usize,
    /// Bytes of the first one that are written.
    written: usize,
}

/// The state after receiving.
pub(super) enum Turn {
    /// The socket has no more for now.
    Idle,
    /// There may be more right away.
    More,
    Over,
}

impl Socket {
    /// Prepares the socket for a thread that waits elsewhere, with the allowed message size.
    pub(super) fn prepare(&mut self) -> io::Result<()> {
        match self {
            Socket::Framed { stream, .. } => stream.set_nonblocking(true),
            Socket::Web(web) => {
                web.set_config(|config| {
                    config.max_message_size = Some(MAX_MESSAGE);
                    config.max_frame_size = Some(MAX_MESSAGE);
                    config.max_write_buffer_size = MAX_UNSENT;
                });
                web.get_mut().set_deadline(None);
                web.get_ref().tcp().set_nonblocking(true)
            }
        }
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        match self {
            Socket::Framed { stream, .. } => stream.as_fd(),
            Socket::Web(web) => web.get_ref().tcp().as_fd(),
        }
    }

    pub(super) fn shut_down(&mut self) {
        if let Socket::Web(web) = self {
            // The answer to the peer's goodbye.
            let _ = web.flush();
        }
        let _ = match self {
            Socket::Framed { stream, .. } => stream.shutdown(std::net::Shutdown::Both),
            Socket::Web(web) => web.get_ref().tcp().shutdown(std::net::Shutdown::Both),
        };
    }

    /// One frame for each text: some servers disconnect clients that send fragments.
    pub(super) fn queue_text(&mut self, text: Vec<u8>, outgoing: &mut Outgoing) -> io::Result<()> {
        match self {
            Socket::Framed { .. } => outgoing.push(encode(&text)),
            Socket::Web(web) => {
                let text = String::from_utf8(text)
                    .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
                queued(web.write(Message::text(text)))
            }
        }
    }

    pub(super) fn queue_ping(&mut self, id: i64) -> io::Result<()> {
        match self {
            Socket::Framed { .. } => Ok(()),
            Socket::Web(web) => queued(web.write(Message::Ping(id.to_be_bytes().to_vec().into()))),
        }
    }

    pub(super) fn flush(&mut self, outgoing: &mut Outgoing) -> io::Result<()> {
        match self {
            Socket::Framed { stream, .. } => outgoing.write_to(stream),
            Socket::Web(web) => web.flush().map_err(io_error),
        }
    }

    pub(super) fn receive(
        &mut self,
        listener: &mut impl Listener,
        link: &SocketLink,
        mut heartbeat: Option<&mut Heartbeat>,
    ) -> Turn {
        for _ in 0..TEXTS_PER_TURN {
            let text = match self {
                Socket::Framed { stream, decoder } => next_frame(stream, decoder),
                Socket::Web(web) => next_message(web),
            };
            match text {
                Ok(Received::Text(text)) => listener.text(&text, link),
                Ok(Received::Pong(id)) => listener.pong(id),
                Ok(Received::Other) => {}
                Err(error) if would_block(&error) => return Turn::Idle,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => return Turn::Over,
            }
            if let Some(heartbeat) = &mut heartbeat {
                heartbeat.heard();
            }
        }
        Turn::More
    }
}

impl Outgoing {
    fn push(&mut self, chunk: Vec<u8>) -> io::Result<()> {
        self.bytes += chunk.len();
        self.chunks.push_back(chunk);
        if self.bytes > MAX_UNSENT { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    fn write_to(&mut self, stream: &mut UnixStream) -> io::Result<()> {
        while let Some(chunk) = self.chunks.front() {
            match stream.write(chunk.get(self.written..).unwrap_or_default()) {
                Ok(length) => self.written += length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            if self.written >= chunk.len() {
                self.bytes -= chunk.len();
                self.chunks.pop_front();
                self.written = 0;
            }
        }
        Ok(())
    }
}

enum Received {
    Text(Vec<u8>),
    Pong(i64),
    /// A ping, which is answered automatically, or a frame that is not used here.
    Other,
}

fn next_frame(stream: &mut UnixStream, decoder: &mut Decoder) -> io::Result<Received> {
    let invalid = |error| io::Error::new(io::ErrorKind::InvalidData, error);
    let mut buffer = [0; READ_BYTES];
    loop {
        if let Some(frame) = decoder.next().map_err(invalid)? {
            return Ok(Received::Text(frame));
        }
        match stream.read(&mut buffer)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            length => decoder.push(buffer.get(..length).unwrap_or_default()),
        }
    }
}

fn next_message(web: &mut WebSocket<TimedStream>) -> io::Result<Received> {
    Ok(match web.read().map_err(io_error)? {
        Message::Text(text) => Received::Text(text.as_bytes().to_vec()),
        // Some servers send their JSON like this; anything else is rejected where it is parsed.
        Message::Binary(bytes) => Received::Text(bytes.to_vec()),
        Message::Pong(payload) => match <[u8; 8]>::try_from(payload.as_ref()) {
            Ok(id) => Received::Pong(i64::from_be_bytes(id)),
            Err(_) => Received::Other,
        },
        Message::Ping(_) | Message::Frame(_) => Received::Other,
        // The answer goes out with the next flush, but there is nothing more to receive.
        Message::Close(_) => return Err(io::ErrorKind::ConnectionAborted.into()),
    })
}

/// A frame that the socket does not accept yet waits inside the WebSocket.
fn queued(result: Result<(), Error>) -> io::Result<()> {
    match result.map_err(io_error) {
        Err(error) if would_block(&error) => Ok(()),
        other => other,
    }
}

fn io_error(error: Error) -> io::Error {
    match error {
        Error::Io(error) => error,
        other => io::Error::other(other),
    }
}

pub(super) fn would_block(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock
}
