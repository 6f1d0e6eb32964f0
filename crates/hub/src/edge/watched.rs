//! A TCP connection that remembers whether it broke, and that is still there when nobody serves it any more. What serves
//! HTTP takes a reset between two requests for an end like any other; but it says that the peer never read what it was
//! sent.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

#[derive(Debug)]
pub(crate) struct Watched {
    /// None once it was handed on.
    stream: Option<TcpStream>,
    remains: Arc<Remains>,
}

/// What there is of a connection after it was served.
#[derive(Debug, Default)]
pub(crate) struct Remains {
    broken: AtomicBool,
    stream: Mutex<Option<TcpStream>>,
}

impl Remains {
    pub(crate) fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Relaxed)
    }

    /// None while it is served, and for one that goes on as something else.
    pub(crate) fn take(&self) -> Option<TcpStream> {
        self.stream.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Watched {
    pub(crate) fn new(stream: TcpStream) -> (Watched, Arc<Remains>) {
        let remains = Arc::<Remains>::default();
        (Watched { stream: Some(stream), remains: Arc::clone(&remains) }, remains)
    }

    /// For whoever goes on with it.
    pub(crate) fn into_stream(mut self) -> Option<TcpStream> {
        self.stream.take()
    }

    fn stream(&mut self) -> io::Result<Pin<&mut TcpStream>> {
        self.stream.as_mut().map(Pin::new).ok_or_else(|| io::ErrorKind::NotConnected.into())
    }

    fn note<T>(&self, result: io::Result<T>) -> Poll<io::Result<T>> {
        if result.is_err() {
            self.remains.broken.store(true, Ordering::Relaxed);
        }
        Poll::Ready(result)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        *self.remains.stream.lock().unwrap_or_else(PoisonError::into_inner) = self.stream.take();
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = ready!(self.stream()?.poll_read(context, buffer));
        self.note(read)
    }
}

impl AsyncWrite for Watched {
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
        // Sent to a peer that had left: the answer to that is an error that nobody has read yet.
        if !matches!(self.stream()?.take_error(), Ok(None)) {
            self.remains.broken.store(true, Ordering::Relaxed);
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
