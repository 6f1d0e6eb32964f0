//! What waits to be sent on one connection. A peer that does not read must not cost memory without end.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::mpsc;

#[derive(Debug, Clone)]
pub(crate) struct Outbox<T> {
    queue: mpsc::UnboundedSender<(T, usize)>,
    waiting: Arc<AtomicUsize>,
    limit: usize,
}

#[derive(Debug)]
pub(crate) struct Inbox<T> {
    queue: mpsc::UnboundedReceiver<(T, usize)>,
    waiting: Arc<AtomicUsize>,
}

/// `limit` bytes may wait beside one message of any size.
pub(crate) fn new<T>(limit: usize) -> (Outbox<T>, Inbox<T>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let waiting = Arc::new(AtomicUsize::new(0));
    (Outbox { queue: sender, waiting: waiting.clone(), limit }, Inbox { queue: receiver, waiting })
}

impl<T> Outbox<T> {
    /// Over the limit the message is dropped: the peer does not read, and the heartbeat will find it dead.
    pub(crate) fn send(&self, message: T, size: usize) {
        if self.waiting.load(Ordering::Relaxed) > self.limit {
            if !self.full.swap(true, Ordering::Relaxed) {
                tracing::warn!("a peer does not read what was sent to it: it gets no more");
            }
        }
        if self.full.load(Ordering::Relaxed) {
            return;
        }
        self.waiting.fetch_add(size, Ordering::Relaxed);
        let _ = self.queue.send((message, size));
    }
}

impl<T> Inbox<T> {
    /// `None` once the hub has let go of the connection and everything was handed out.
    pub(crate) async fn recv(&mut self) -> Option<T> {
        let (message, size) = self.queue.recv().await?;
        self.waiting.fetch_sub(size, Ordering::Relaxed);
        Some(message)
    }

    pub(crate) fn try_recv(&mut self) -> Option<T> {
        let (message, size) = self.queue.try_recv().ok()?;
        self.waiting.fetch_sub(size, Ordering::Relaxed);
        Some(message)
    }
}
