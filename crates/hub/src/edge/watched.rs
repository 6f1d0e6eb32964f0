//! A TCP connection that remembers whether it broke. What serves HTTP takes a reset between two requests for an end
//! like any other; but it says that the peer never read what it was sent.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

#[derive(Debug)]
pub(crate) struct Watched {
    pub(crate) stream: TcpStream,
    broken: Arc<AtomicBool>,
}

impl Watched {
    /// With a flag that outlives it.
    pub(crate) fn new(stream: TcpStream) -> (Watched, Arc<AtomicBool>) {
        let broken = Arc::new(AtomicBool::new(false));
        (Watched { stream, broken: Arc::clone(&broken) }, broken)
    }

    fn note<T>(&self, result: io::Result<T>) -> Poll<io::Result<T>> {
        if result.is_err() {
            self.broken.store(true, Ordering::Relaxed);
        }
        Poll::Ready(result)
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = ready!(Pin::new(&mut self.stream).poll_read(context, buffer));
        self.note(read)
    }
}

impl AsyncWrite for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write(context, bytes));
        self.note(written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = ready!(Pin::new(&mut self.stream).poll_flush(context));
        self.note(flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // Sent to a peer that had left: the answer to that is an error that nobody has read yet.
        if !matches!(self.stream.take_error(), Ok(None)) {
            self.broken.store(true, Ordering::Relaxed);
        }
        let shut = ready!(Pin::new(&mut self.stream).poll_shutdown(context));
        self.note(shut)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write_vectored(context, bytes));
        self.note(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
