//! What waits to be sent on one connection. A peer that does not read must not cost memory without end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{Notify, mpsc};

/// A peer that takes nothing for this long has hung up without saying so.
pub(crate) const SEND_DEADLINE: Duration = Duration::from_secs(30);

#[derive(Debug, Clone)]
pub(crate) struct Outbox<T> {
    queue: mpsc::UnboundedSender<Waiting<T>>,
    waiting: Arc<Bytes>,
    limit: usize,
    full: Arc<AtomicBool>,
    cut_off: Arc<Notify>,
}

#[derive(Debug)]
pub(crate) struct Inbox<T> {
    queue: mpsc::UnboundedReceiver<Waiting<T>>,
    waiting: Arc<Bytes>,
    cut_off: Arc<Notify>,
}

#[derive(Debug)]
struct Waiting<T> {
    message: T,
    size: usize,
    is_news: bool,
}

/// What the peer has not read yet.
#[derive(Debug, Default)]
struct Bytes {
    all: AtomicUsize,
    /// Of what it was told without asking each time.
    news: AtomicUsize,
}

/// `limit` bytes may wait beside one message of any size.
pub(crate) fn new<T>(limit: usize) -> (Outbox<T>, Inbox<T>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let waiting = Arc::<Bytes>::default();
    let cut_off = Arc::<Notify>::default();
    let inbox = Inbox { queue: receiver, waiting: waiting.clone(), cut_off: cut_off.clone() };
    (Outbox { queue: sender, waiting, limit, full: Arc::default(), cut_off }, inbox)
}

impl<T> Outbox<T> {
    /// How many bytes of news the peer has not read yet. A large answer on a slow line does not count: it was asked for.
    pub(crate) fn unread_news(&self) -> usize {
        self.waiting.news.load(Ordering::Relaxed)
    }

    pub(crate) fn send_news(&self, message: T, size: usize) {
        self.put(Waiting { message, size, is_news: true });
    }

    /// Over the limit nothing more is sent, pings least of all: a peer that missed a message and answers a later
    /// ping would seem to have got it. It is cut off where its connection listens for that, else the heartbeat finds
    /// it dead; and it asks again.
    pub(crate) fn send(&self, message: T, size: usize) {
        self.put(Waiting { message, size, is_news: false });
    }

    fn put(&self, waiting: Waiting<T>) {
        if self.full.load(Ordering::Relaxed) {
            return;
        }
        let before = self.waiting.all.fetch_add(waiting.size, Ordering::Relaxed);
        if before > self.limit {
            self.full.store(true, Ordering::Relaxed);
            tracing::warn!("a peer does not read: {before} bytes wait for it, and it gets no more");
            self.cut_off();
            return;
        }
        if waiting.is_news {
            self.waiting.news.fetch_add(waiting.size, Ordering::Relaxed);
        }
        let _ = self.queue.send(waiting);
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
        let waiting = self.queue.recv().await?;
        Some(self.taken(waiting))
    }

    pub(crate) fn try_recv(&mut self) -> Option<T> {
        let waiting = self.queue.try_recv().ok()?;
        Some(self.taken(waiting))
    }

    fn taken(&self, Waiting { message, size, is_news }: Waiting<T>) -> T {
        self.waiting.all.fetch_sub(size, Ordering::Relaxed);
        if is_news {
            self.waiting.news.fetch_sub(size, Ordering::Relaxed);
        }
        message
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn only_news_counts_as_unread_news_and_only_until_it_is_taken() {
        let (outbox, mut inbox) = new(usize::MAX);
        outbox.send("an answer that was asked for", 10_000_000);
        assert_eq!(outbox.unread_news(), 0);
        outbox.send_news("news", 5);
        assert_eq!(outbox.unread_news(), 5);
        assert!(inbox.try_recv().is_some());
        assert_eq!(outbox.unread_news(), 5);
        assert_eq!(inbox.try_recv(), Some("news"));
        assert_eq!(outbox.unread_news(), 0);
    }

    #[test]
    fn a_peer_that_would_miss_a_message_is_cut_off_and_not_before() {
        let (outbox, inbox) = new(10);
        let is_cut_off = || inbox.cut_off().now_or_never().is_some();
        outbox.send("fills it", 10);
        outbox.send("one message of any size", 100);
        assert!(!is_cut_off());
        outbox.send("one too many", 1);
        assert!(is_cut_off());
    }
}
