//! The stream below a WebSocket, which follows the frames that come: what has come of an unfinished message takes room
//! that all share. What is in the frames, and whether they are allowed, is for the library above.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_util::{SinkExt, StreamExt};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf, Take};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_websockets::{Error, Limits, Message, ServerBuilder, WebSocketStream};

use super::calls::BODY_DEADLINE;
use super::outbox::SEND_DEADLINE;
use super::room::{FREE, Room, Share};

/// The library keeps the room that a message took for the next one. It may do so up to here.
const KEPT: usize = 4 * FREE;

/// What is read at once of a large message.
const PIECE: u64 = 1024 * 1024;

const LONGEST_HEAD: usize = 14;
const FINAL: u8 = 0x80;
const CONTROL: u8 = 0x08;
const MASKED: u8 = 0x80;

#[derive(Debug)]
pub(crate) struct Metered<S> {
    stream: Take<S>,
    share: Share<Arc<Room>>,
    frame: Frame,
    /// Nothing more is taken.
    no_room: bool,
    /// When the message that takes room had become large.
    since: Option<Instant>,
}

/// Where in a frame the stream is.
#[derive(Debug, Default)]
struct Frame {
    head: [u8; LONGEST_HEAD],
    /// Bytes of the head that have come.
    known: usize,
    /// Bytes of the payload that have not come.
    left: u64,
    /// A message has begun.
    within: bool,
}

/// Why no more of a message is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unheard {
    NoRoom,
    TooSlow,
}

impl Unheard {
    /// With code 1013.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Unheard::NoRoom => {
                "too many large messages are on their way to the hub at once; connect again, and send it later"
            }
            Unheard::TooSlow => "a large message did not arrive in time; connect again, and send it at once",
        }
    }
}

pub(crate) fn serve<S>(stream: S, largest: usize, room: &Arc<Room>) -> WebSocketStream<Metered<S>>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let stream = Metered {
        stream: stream.take(0),
        share: room.share(),
        frame: Frame::default(),
        no_room: false,
        since: None,
    };
    let limits = Limits::default().max_payload_len(Some(largest));
    ServerBuilder::new().limits(limits).serve(stream)
}

/// The next message, as the library gives it.
pub(crate) async fn next<S>(
    socket: &mut WebSocketStream<Metered<S>>,
) -> Result<Option<Result<Message, Error>>, Unheard>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut patience = None;
    poll_fn(|context| {
        let Poll::Ready(came) = socket.poll_next_unpin(context) else {
            let metered = socket.get_mut();
            if metered.no_room {
                return Poll::Ready(Err(Unheard::NoRoom));
            }
            let Some(until) = metered.until() else { return Poll::Pending };
            ready!(patience.get_or_insert_with(|| Box::pin(sleep_until(until))).as_mut().poll(context));
            metered.no_room = true;
            return Poll::Ready(Err(Unheard::TooSlow));
        };
        Poll::Ready(Ok(came))
    })
    .await
}

/// Whether the socket is to be renewed after that message.
pub(crate) fn was_large(message: &Message) -> bool {
    message.as_payload().len() > KEPT
}

/// The same socket, which keeps no room. All that was read of it has been taken: of a large message nothing is read
/// beyond its end.
pub(crate) async fn renewed<S>(mut socket: WebSocketStream<Metered<S>>) -> WebSocketStream<Metered<S>>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    if !socket.get_ref().frame.is_between_messages() {
        return socket;
    }
    // An answer to a ping may be in its queue.
    match timeout(SEND_DEADLINE, socket.flush()).await {
        Ok(Ok(())) => ServerBuilder::new().limits(*socket.limits()).serve(socket.into_inner()),
        _ => socket,
    }
}

impl<S: AsyncRead> Metered<S> {
    pub(crate) fn stream(&self) -> &S {
        self.stream.get_ref()
    }

    /// Until when the rest of a large message is waited for: meanwhile it keeps room from others.
    fn until(&mut self) -> Option<Instant> {
        if !self.share.is_counted() {
            self.since = None;
            return None;
        }
        Some(*self.since.get_or_insert_with(Instant::now) + BODY_DEADLINE)
    }

    /// How much is read at once: of a large message to the end of a frame and no further, so that its end is known.
    fn next_piece(&self) -> u64 {
        match self.share.is_counted() {
            false => FREE as u64,
            true if self.frame.left > 0 => PIECE.min(self.frame.left),
            true => self.frame.missing_of_head() as u64,
        }
    }

    /// False: there is no room for it.
    fn count(&mut self, mut bytes: &[u8]) -> bool {
        while !bytes.is_empty() || self.frame.is_over() {
            let payload = self.frame.take(&mut bytes);
            if !self.frame.is_control() && !self.share.grow(payload) {
                return false;
            }
            if self.frame.is_over() && self.frame.end() {
                self.share.finished();
                self.since = None;
            }
        }
        true
    }
}

impl Frame {
    fn is_between_messages(&self) -> bool {
        self.known == 0 && !self.within
    }

    fn is_control(&self) -> bool {
        self.first() & CONTROL != 0
    }

    fn first(&self) -> u8 {
        self.head[0]
    }

    /// Bytes until more is known of the head, or all.
    fn missing_of_head(&self) -> usize {
        self.head_length().saturating_sub(self.known)
    }

    fn head_length(&self) -> usize {
        if self.known < 2 {
            return 2;
        }
        let long = match self.head[1] & !MASKED {
            126 => 2,
            127 => 8,
            _ => 0,
        };
        let mask = if self.head[1] & MASKED != 0 { 4 } else { 0 };
        2 + long + mask
    }

    fn is_over(&self) -> bool {
        self.known > 0 && self.missing_of_head() == 0 && self.left == 0
    }

    /// Goes on by some of these bytes; gives how many of them are payload.
    fn take(&mut self, bytes: &mut &[u8]) -> usize {
        let missing = self.missing_of_head();
        if missing == 0 {
            let length = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len());
            *bytes = bytes.get(length..).unwrap_or_default();
            self.left -= length as u64;
            return length;
        }
        let length = missing.min(bytes.len());
        let (head, rest) = bytes.split_at(length);
        self.head.iter_mut().skip(self.known).zip(head).for_each(|(known, byte)| *known = *byte);
        self.known += length;
        *bytes = rest;
        if self.missing_of_head() == 0 {
            self.left = self.payload_length();
        }
        0
    }

    fn payload_length(&self) -> u64 {
        let big_endian = |length: usize| {
            self.head.iter().skip(2).take(length).fold(0, |number, byte| number << 8 | u64::from(*byte))
        };
        match self.head[1] & !MASKED {
            126 => big_endian(2),
            127 => big_endian(8),
            short => u64::from(short),
        }
    }

    /// Whether a message ends with it.
    fn end(&mut self) -> bool {
        let (is_final, is_control) = (self.first() & FINAL != 0, self.is_control());
        *self = Frame { within: if is_control { self.within } else { !is_final }, ..Frame::default() };
        is_final && !is_control
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Metered<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.no_room {
            let before = buffer.filled().len();
            let piece = self.next_piece();
            self.stream.set_limit(piece);
            ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
            if self.count(buffer.filled().get(before..).unwrap_or_default()) {
                return Poll::Ready(Ok(()));
            }
            self.no_room = true;
            buffer.set_filled(before);
        }
        // A socket closed over bytes that nobody took is reset, and our reason lost with it.
        let mut thrown_away = [0; 4096];
        loop {
            let mut piece = ReadBuf::new(&mut thrown_away);
            ready!(Pin::new(self.stream.get_mut()).poll_read(context, &mut piece))?;
            if piece.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Metered<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(self.stream.get_mut()).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(self.stream.get_mut()).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(self.stream.get_mut()).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(self.stream.get_mut()).poll_write_vectored(context, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.get_ref().is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::io::{AsyncWriteExt, duplex};

    use super::*;

    const TEXT: u8 = 1;
    const PING: u8 = 9;

    /// Masked with nothing, so that what is sent is what is read.
    fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
        let length = payload.len();
        let head = match (u8::try_from(length), u16::try_from(length)) {
            (Ok(short @ ..126), _) => vec![first, MASKED | short],
            (_, Ok(length)) => [&[first, MASKED | 126][..], &length.to_be_bytes()].concat(),
            _ => [&[first, MASKED | 127][..], &(length as u64).to_be_bytes()].concat(),
        };
        [&head[..], &[0; 4], payload].concat()
    }

    fn run(test: impl Future<Output = ()>) {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test);
    }

    #[test]
    fn messages_of_any_size_come_through_whole_and_in_order() {
        let sizes = [0, 1, 125, 126, 70_000, KEPT, KEPT + 1, 3, 65_535, 65_536, 1_500_000, 0, 7, 900_000];
        let text = |size: usize| "x".repeat(size);
        let mut sent = Vec::new();
        for size in sizes {
            sent.extend(frame(FINAL | TEXT, text(size).as_bytes()));
        }
        // In pieces, with pings in between.
        sent.extend(frame(TEXT, text(10).as_bytes()));
        for size in [0, 400_000, 1, 70_000] {
            sent.extend(frame(FINAL | PING, b"still there?"));
            sent.extend(frame(0, text(size).as_bytes()));
        }
        sent.extend(frame(FINAL, text(5).as_bytes()));
        sent.extend(frame(FINAL | TEXT, b"last"));
        let expected: Vec<usize> = sizes.into_iter().chain([470_016, 4]).collect();
        run(async {
            let (mut peer, ours) = duplex(200_000);
            let room = Room::new(2_000_000);
            let mut socket = serve(ours, 2_000_000, &room);
            let writing = tokio::spawn(async move {
                peer.write_all(&sent).await.unwrap();
                peer
            });
            let mut came = Vec::new();
            while came.len() < expected.len() {
                let message = next(&mut socket).await.unwrap().unwrap().unwrap();
                came.extend(message.as_text().map(str::len));
                if was_large(&message) {
                    socket = renewed(socket).await;
                }
            }
            assert_eq!(came, expected);
            assert!(!socket.get_ref().share.is_counted() && socket.get_ref().frame.is_between_messages());
            drop(writing.await.unwrap());
        });
    }

    #[test]
    fn the_rest_of_a_large_message_is_not_waited_for_without_end() {
        run(async {
            let (mut peer, ours) = duplex(1 << 20);
            let mut socket = serve(ours, 1 << 30, &Room::new(1 << 20));
            peer.write_all(&frame(TEXT, &[b'x'; 200_000])).await.unwrap();
            assert!(timeout(Duration::from_millis(50), next(&mut socket)).await.is_err(), "it may yet come");
            let metered = socket.get_mut();
            metered.since = metered.since.and_then(|since| since.checked_sub(BODY_DEADLINE));
            assert_eq!(next(&mut socket).await.unwrap_err(), Unheard::TooSlow);
        });
    }

    #[test]
    fn pings_and_small_messages_make_no_room_for_an_unfinished_one() {
        run(async {
            let (mut peer, ours) = duplex(1 << 20);
            let room = Room::new(FREE);
            let mut socket = serve(ours, 1 << 30, &room);
            let piece = frame(0, &[b'x'; 60_000]);
            let ping = frame(FINAL | PING, b"");
            peer.write_all(&frame(TEXT, b"x")).await.unwrap();
            let writing = tokio::spawn(async move {
                let mut pieces = 0;
                while pieces < 10 && peer.write_all(&[&piece[..], &ping].concat()).await.is_ok() {
                    pieces += 1;
                }
                peer
            });
            let refused = loop {
                match next(&mut socket).await {
                    Ok(Some(Ok(message))) => assert!(message.is_ping()),
                    Ok(other) => panic!("{other:?}"),
                    Err(_) => break socket,
                }
            };
            drop(refused);
            drop(writing.await.unwrap());
            assert!(room.share().grow(FREE + 4 * FREE), "all of it was given back");
        });
    }
}
