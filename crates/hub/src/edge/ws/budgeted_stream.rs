//! The stream below a WebSocket. It follows the frames so that the bytes of unfinished messages count against a
//! shared budget. Whether frames are valid, and what is in them, is for the library above.
//!
//! Why this is not simpler: the promise (docs/security.md) is that all unfinished messages of all agents take at most
//! four times `limits.message_mib`, and `cargo xtask hostile` checks it. The library only limits each message, which
//! would be 256 connections times 64 MiB. Counting bytes without their frames does not do: pings between fragments
//! would look like progress, and nothing would tell where a message ends. That end is also needed because the library
//! keeps the largest buffer it ever needed for each connection, and offers no way to shrink it; `with_fresh_buffers`
//! swaps the socket's state between two messages, when it holds no bytes. The library does not expose the frame
//! headers that it reads, so the few lines that find a frame's length are here.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_util::{SinkExt, StreamExt};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf, Take};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_websockets::{ClientBuilder, Error, Limits, Message, ServerBuilder, WebSocketStream};

use crate::edge::http::rpc::BODY_DEADLINE;
use crate::edge::outbox::SEND_DEADLINE;
use crate::edge::ws::inflight_budget::{InflightBudget, Reservation, UNCOUNTED_BYTES};

/// The library keeps a message's buffer for the next message. Up to this size it may.
const RETAINED_BYTES: usize = 4 * UNCOUNTED_BYTES;

/// How much of a large message is read at once.
const READ_CHUNK: u64 = 1024 * 1024;

const MAX_HEADER_BYTES: usize = 14;
const FINAL: u8 = 0x80;
const CONTROL: u8 = 0x08;
const MASKED: u8 = 0x80;

#[derive(Debug)]
pub(crate) struct BudgetedStream<S> {
    stream: Take<S>,
    reservation: Reservation<Arc<InflightBudget>>,
    frame: Frame,
    /// Set when the message was given up: what arrives is discarded.
    gave_up: bool,
    /// When the message that is being received became large.
    since: Option<Instant>,
    end: SocketEnd,
}

/// Which end of the WebSocket we are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SocketEnd {
    Server,
    Client,
}

impl SocketEnd {
    fn wrap<S>(self, stream: BudgetedStream<S>, limits: Limits) -> WebSocketStream<BudgetedStream<S>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        match self {
            SocketEnd::Server => ServerBuilder::new().limits(limits).serve(stream),
            SocketEnd::Client => ClientBuilder::new().limits(limits).take_over(stream),
        }
    }
}

/// The position of the stream in a frame.
#[derive(Debug, Default)]
struct Frame {
    header: [u8; MAX_HEADER_BYTES],
    /// Bytes of the frame header that have arrived.
    known: usize,
    /// Bytes of the payload that have not arrived.
    left: u64,
    /// Inside a message of several frames.
    within: bool,
}

/// Why the rest of a message is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overload {
    BudgetExceeded,
    TooSlow,
}

impl Overload {
    /// The reason in the close frame, with code 1013.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Overload::BudgetExceeded => {
                "too many large messages are being sent to the hub at once; connect again and retry later"
            }
            Overload::TooSlow => {
                "a large message did not arrive in time; connect again and send it without pauses"
            }
        }
    }
}

pub(crate) fn serve<S>(
    stream: S,
    largest: usize,
    budget: &Arc<InflightBudget>,
) -> WebSocketStream<BudgetedStream<S>>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    open(stream, largest, budget, SocketEnd::Server)
}

/// A connection that we have made, after its handshake.
pub(crate) fn take_over<S>(
    stream: S,
    largest: usize,
    budget: &Arc<InflightBudget>,
) -> WebSocketStream<BudgetedStream<S>>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    open(stream, largest, budget, SocketEnd::Client)
}

fn open<S>(
    stream: S,
    largest: usize,
    budget: &Arc<InflightBudget>,
    end: SocketEnd,
) -> WebSocketStream<BudgetedStream<S>>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let stream = BudgetedStream {
        stream: stream.take(0),
        reservation: budget.reserve(),
        frame: Frame::default(),
        gave_up: false,
        since: None,
        end,
    };
    end.wrap(stream, Limits::default().max_payload_len(Some(largest)))
}

/// The next message, as the library returns it.
pub(crate) async fn next<S>(
    socket: &mut WebSocketStream<BudgetedStream<S>>,
) -> Result<Option<Result<Message, Error>>, Overload>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut deadline = None;
    poll_fn(|context| {
        let Poll::Ready(received) = socket.poll_next_unpin(context) else {
            let budgeted = socket.get_mut();
            if budgeted.gave_up {
                return Poll::Ready(Err(Overload::BudgetExceeded));
            }
            let Some(until) = budgeted.until() else { return Poll::Pending };
            ready!(deadline.get_or_insert_with(|| Box::pin(sleep_until(until))).as_mut().poll(context));
            budgeted.gave_up = true;
            return Poll::Ready(Err(Overload::TooSlow));
        };
        Poll::Ready(Ok(received))
    })
    .await
}

/// Whether the library's buffers are too large after this message.
pub(crate) fn needs_fresh_buffers(message: &Message) -> bool {
    message.as_payload().len() > RETAINED_BYTES
}

/// The same socket with small buffers. No bytes are lost: of a large message, nothing beyond its end is read.
pub(crate) async fn with_fresh_buffers<S>(
    mut socket: WebSocketStream<BudgetedStream<S>>,
) -> WebSocketStream<BudgetedStream<S>>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    if !socket.get_ref().frame.is_between_messages() {
        return socket;
    }
    // The answer to a ping may be queued.
    match timeout(SEND_DEADLINE, socket.flush()).await {
        Ok(Ok(())) => {
            let (end, limits) = (socket.get_ref().end, *socket.limits());
            end.wrap(socket.into_inner(), limits)
        }
        _ => socket,
    }
}

impl<S: AsyncRead> BudgetedStream<S> {
    pub(crate) fn stream(&self) -> &S {
        self.stream.get_ref()
    }

    /// When to give up on the rest of a large message: until then, it takes budget from others.
    fn until(&mut self) -> Option<Instant> {
        if !self.reservation.is_counted() {
            self.since = None;
            return None;
        }
        Some(*self.since.get_or_insert_with(Instant::now) + BODY_DEADLINE)
    }

    /// How much to read at once. Of a large message only up to the end of the frame, so that the end of the message
    /// is known.
    fn next_piece(&self) -> u64 {
        match self.reservation.is_counted() {
            false => UNCOUNTED_BYTES as u64,
            true if self.frame.left > 0 => READ_CHUNK.min(self.frame.left),
            true => self.frame.missing_header_bytes() as u64,
        }
    }

    /// False if the budget is used up.
    fn count(&mut self, mut bytes: &[u8]) -> bool {
        while !bytes.is_empty() || self.frame.is_over() {
            let payload = self.frame.take(&mut bytes);
            if !self.frame.is_control() && !self.reservation.grow(payload) {
                return false;
            }
            if self.frame.is_over() && self.frame.end() {
                self.reservation.release();
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
        self.header[0]
    }

    /// Bytes until more of the header is known, or all of it.
    fn missing_header_bytes(&self) -> usize {
        self.header_length().saturating_sub(self.known)
    }

    fn header_length(&self) -> usize {
        if self.known < 2 {
            return 2;
        }
        let long = match self.header[1] & !MASKED {
            126 => 2,
            127 => 8,
            _ => 0,
        };
        let mask = if self.header[1] & MASKED != 0 { 4 } else { 0 };
        2 + long + mask
    }

    fn is_over(&self) -> bool {
        self.known > 0 && self.missing_header_bytes() == 0 && self.left == 0
    }

    /// Consumes some of these bytes; returns how many of them are payload.
    fn take(&mut self, bytes: &mut &[u8]) -> usize {
        let missing = self.missing_header_bytes();
        if missing == 0 {
            let length = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len());
            *bytes = bytes.get(length..).unwrap_or_default();
            self.left -= length as u64;
            return length;
        }
        let length = missing.min(bytes.len());
        let (header, rest) = bytes.split_at(length);
        self.header.iter_mut().skip(self.known).zip(header).for_each(|(known, byte)| *known = *byte);
        self.known += length;
        *bytes = rest;
        if self.missing_header_bytes() == 0 {
            self.left = self.payload_length();
        }
        0
    }

    fn payload_length(&self) -> u64 {
        let big_endian = |length: usize| {
            self.header.iter().skip(2).take(length).fold(0, |number, byte| number << 8 | u64::from(*byte))
        };
        match self.header[1] & !MASKED {
            126 => big_endian(2),
            127 => big_endian(8),
            short => u64::from(short),
        }
    }

    /// Whether a message ends with this frame.
    fn end(&mut self) -> bool {
        let (is_final, is_control) = (self.first() & FINAL != 0, self.is_control());
        *self = Frame { within: if is_control { self.within } else { !is_final }, ..Frame::default() };
        is_final && !is_control
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for BudgetedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.gave_up {
            let before = buffer.filled().len();
            let piece = self.next_piece();
            self.stream.set_limit(piece);
            ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
            if self.count(buffer.filled().get(before..).unwrap_or_default()) {
                return Poll::Ready(Ok(()));
            }
            self.gave_up = true;
            buffer.set_filled(before);
        }
        // Closing a socket that has unread bytes resets it, and our reason is lost.
        let mut discarded = [0; 4096];
        loop {
            let mut piece = ReadBuf::new(&mut discarded);
            ready!(Pin::new(self.stream.get_mut()).poll_read(context, &mut piece))?;
            if piece.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for BudgetedStream<S> {
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

    /// Masked with zeros, so that the bytes sent are the bytes received.
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
    fn messages_of_any_size_arrive_complete_and_in_order() {
        let sizes = [
            0,
            1,
            125,
            126,
            70_000,
            RETAINED_BYTES,
            RETAINED_BYTES + 1,
            3,
            65_535,
            65_536,
            1_500_000,
            0,
            7,
            900_000,
        ];
        let text = |size: usize| "x".repeat(size);
        let mut sent = Vec::new();
        for size in sizes {
            sent.extend(frame(FINAL | TEXT, text(size).as_bytes()));
        }
        // In fragments, with pings in between.
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
            let budget = InflightBudget::new(2_000_000);
            let mut socket = serve(ours, 2_000_000, &budget);
            let writing = tokio::spawn(async move {
                peer.write_all(&sent).await.unwrap();
                peer
            });
            let mut received = Vec::new();
            while received.len() < expected.len() {
                let message = next(&mut socket).await.unwrap().unwrap().unwrap();
                received.extend(message.as_text().map(str::len));
                if needs_fresh_buffers(&message) {
                    socket = with_fresh_buffers(socket).await;
                }
            }
            assert_eq!(received, expected);
            assert!(
                !socket.get_ref().reservation.is_counted() && socket.get_ref().frame.is_between_messages()
            );
            drop(writing.await.unwrap());
        });
    }

    #[test]
    fn the_rest_of_a_large_message_is_not_awaited_forever() {
        run(async {
            let (mut peer, ours) = duplex(1 << 20);
            let mut socket = serve(ours, 1 << 30, &InflightBudget::new(1 << 20));
            peer.write_all(&frame(TEXT, &[b'x'; 200_000])).await.unwrap();
            assert!(timeout(Duration::from_millis(50), next(&mut socket)).await.is_err(), "it may yet come");
            let budgeted = socket.get_mut();
            budgeted.since = budgeted.since.and_then(|since| since.checked_sub(BODY_DEADLINE));
            assert_eq!(next(&mut socket).await.unwrap_err(), Overload::TooSlow);
        });
    }

    #[test]
    fn pings_and_small_messages_do_not_release_the_budget_of_an_unfinished_one() {
        run(async {
            let (mut peer, ours) = duplex(1 << 20);
            let budget = InflightBudget::new(UNCOUNTED_BYTES);
            let mut socket = serve(ours, 1 << 30, &budget);
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
            assert!(budget.reserve().grow(UNCOUNTED_BYTES + 4 * UNCOUNTED_BYTES), "all of it was released");
        });
    }
}
