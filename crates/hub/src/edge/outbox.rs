//! What waits to be sent on one connection. A peer that does not read must not cost memory without end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{Notify, mpsc};

/// A peer that takes nothing for this long has hung up without saying so.
pub(crate) const SEND_DEADLINE: Duration = Duration::from_secs(30);

#[derive(Debug, Clone)]
pub(crate) struct Outbox<T> {
    queue: mpsc::UnboundedSender<(T, usize)>,
    waiting: Arc<AtomicUsize>,
    limit: usize,
    full: Arc<AtomicBool>,
    cut_off: Arc<Notify>,
}

#[derive(Debug)]
pub(crate) struct Inbox<T> {
    queue: mpsc::UnboundedReceiver<(T, usize)>,
    waiting: Arc<AtomicUsize>,
    cut_off: Arc<Notify>,
}

/// `limit` bytes may wait beside one message of any size.
pub(crate) fn new<T>(limit: usize) -> (Outbox<T>, Inbox<T>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let waiting = Arc::new(AtomicUsize::new(0));
    let cut_off = Arc::<Notify>::default();
    let inbox = Inbox { queue: receiver, waiting: waiting.clone(), cut_off: cut_off.clone() };
    (Outbox { queue: sender, waiting, limit, full: Arc::default(), cut_off }, inbox)
}

impl<T> Outbox<T> {
    /// How many bytes the peer has not read yet.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Over the limit nothing more is sent, pings least of all: a peer that missed a message and answers a later
    /// ping would seem to have got it. The heartbeat finds it dead, and it asks again.
    pub(crate) fn send(&self, message: T, size: usize) {
        if self.full.load(Ordering::Relaxed) {
            return;
        }
        let before = self.waiting.fetch_add(size, Ordering::Relaxed);
        if before > self.limit {
            self.full.store(true, Ordering::Relaxed);
            tracing::warn!("a peer does not read: {before} bytes wait for it, and it gets no more");
            return;
        }
        let _ = self.queue.send((message, size));
    }

    /// The connection ends now, and what still waits is sent to nobody: a peer that has not read it for so long
    /// would only find out late that it is let go.
    pub(crate) fn cut_off(&self) {
        self.cut_off.notify_one();
    }
}

impl<T> Inbox<T> {
    /// Ends when the hub does not want to send the rest.
    pub(crate) fn cut_off(&self) -> impl Future<Output = ()> + use<T> {
        let cut_off = Arc::clone(&self.cut_off);
        async move { cut_off.notified().await }
    }

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
