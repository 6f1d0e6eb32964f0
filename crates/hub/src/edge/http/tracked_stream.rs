//! A socket that records whether it failed, and hands itself back after it was served. hyper treats a reset between
//! two requests like a normal end; for us it means that the peer never read the last response (see `delivery_probe`).

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};

/// One end of a connection with a peer on this machine.
pub(crate) trait PeerStream: AsyncRead + AsyncWrite + Unpin + Send + 'static {
    /// Responses are small, and the peer waits for each.
    fn send_at_once(&self);

    /// The error that the socket has not reported yet.
    fn pending_error(&self) -> io::Result<Option<io::Error>>;
}

impl PeerStream for TcpStream {
    fn send_at_once(&self) {
        let _ = self.set_nodelay(true);
    }

    fn pending_error(&self) -> io::Result<Option<io::Error>> {
        self.take_error()
    }
}

impl PeerStream for UnixStream {
    fn send_at_once(&self) {}

    fn pending_error(&self) -> io::Result<Option<io::Error>> {
        self.take_error()
    }
}

#[derive(Debug)]
pub(crate) struct TrackedStream<S> {
    /// None once it was handed over.
    stream: Option<S>,
    outcome: Arc<StreamOutcome<S>>,
}

/// The state of a connection after it was served.
#[derive(Debug)]
pub(crate) struct StreamOutcome<S> {
    broken: AtomicBool,
    stream: Mutex<Option<S>>,
}

impl<S> StreamOutcome<S> {
    pub(crate) fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Relaxed)
    }

    /// None while it is being served, and if it was upgraded.
    pub(crate) fn take(&self) -> Option<S> {
        self.stream.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl<S: PeerStream> TrackedStream<S> {
    pub(crate) fn new(stream: S) -> (TrackedStream<S>, Arc<StreamOutcome<S>>) {
        let outcome = Arc::new(StreamOutcome { broken: AtomicBool::new(false), stream: Mutex::new(None) });
        (TrackedStream { stream: Some(stream), outcome: Arc::clone(&outcome) }, outcome)
    }

    /// For an upgraded connection.
    pub(crate) fn into_stream(mut self) -> Option<S> {
        self.stream.take()
    }

    fn stream(&mut self) -> io::Result<Pin<&mut S>> {
        self.stream.as_mut().map(Pin::new).ok_or_else(|| io::ErrorKind::NotConnected.into())
    }

    fn note<T>(&self, result: io::Result<T>) -> Poll<io::Result<T>> {
        if result.is_err() {
            self.outcome.broken.store(true, Ordering::Relaxed);
        }
        Poll::Ready(result)
    }
}

impl<S> Drop for TrackedStream<S> {
    fn drop(&mut self) {
        *self.outcome.stream.lock().unwrap_or_else(PoisonError::into_inner) = self.stream.take();
    }
}

impl<S: PeerStream> AsyncRead for TrackedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = ready!(self.stream()?.poll_read(context, buffer));
        self.note(read)
    }
}

impl<S: PeerStream> AsyncWrite for TrackedStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(self.stream()?.poll_write(context, bytes));
        self.note(written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = ready!(self.stream()?.poll_flush(context));
        self.note(flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // We sent to a peer that had closed: the reset that it answered with is a pending socket error.
        if !matches!(self.stream()?.pending_error(), Ok(None)) {
            self.outcome.broken.store(true, Ordering::Relaxed);
        }
        let shut = ready!(self.stream()?.poll_shutdown(context));
        self.note(shut)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(self.stream()?.poll_write_vectored(context, bytes));
        self.note(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.as_ref().is_some_and(AsyncWrite::is_write_vectored)
    }
}
