//! Messages that wait to be sent on one connection. A peer that does not read must not cost memory without limit.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{Notify, mpsc};

/// A peer that takes nothing for this long is gone.
pub(crate) const SEND_DEADLINE: Duration = Duration::from_secs(30);

#[derive(Debug, Clone)]
pub(crate) struct Outbox<T> {
    queue: mpsc::UnboundedSender<Queued<T>>,
    waiting: Arc<UnreadBytes>,
    limit: usize,
    full: Arc<AtomicBool>,
    cut_off: Arc<Notify>,
}

#[derive(Debug)]
pub(crate) struct Inbox<T> {
    queue: mpsc::UnboundedReceiver<Queued<T>>,
    waiting: Arc<UnreadBytes>,
    cut_off: Arc<Notify>,
}

#[derive(Debug)]
struct Queued<T> {
    message: T,
    size: usize,
    is_notification: bool,
}

/// What the peer has not read yet.
#[derive(Debug, Default)]
struct UnreadBytes {
    all: AtomicUsize,
    /// Notifications only, not answers to its requests.
    notifications: AtomicUsize,
}

/// `limit` bytes may wait, plus one message of any size.
pub(crate) fn new<T>(limit: usize) -> (Outbox<T>, Inbox<T>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let waiting = Arc::<UnreadBytes>::default();
    let cut_off = Arc::<Notify>::default();
    let inbox = Inbox { queue: receiver, waiting: waiting.clone(), cut_off: cut_off.clone() };
    (Outbox { queue: sender, waiting, limit, full: Arc::default(), cut_off }, inbox)
}

impl<T> Outbox<T> {
    /// How many bytes of notifications the peer has not read yet. A large answer on a slow line does not count: the
    /// peer requested it.
    pub(crate) fn unread_notifications(&self) -> usize {
        self.waiting.notifications.load(Ordering::Relaxed)
    }

    pub(crate) fn send_notification(&self, message: T, size: usize) {
        self.put(Queued { message, size, is_notification: true });
    }

    /// Over the limit nothing more is sent, pings least of all: a peer that missed a message and answers a later ping
    /// would seem to have received it. It is cut off if its connection watches for that, or else found dead by the
    /// heartbeat, and connects again.
    pub(crate) fn send(&self, message: T, size: usize) {
        self.put(Queued { message, size, is_notification: false });
    }

    fn put(&self, waiting: Queued<T>) {
        if self.full.load(Ordering::Relaxed) {
            return;
        }
        let before = self.waiting.all.fetch_add(waiting.size, Ordering::Relaxed);
        if before > self.limit {
            self.full.store(true, Ordering::Relaxed);
            tracing::warn!("a peer does not read: {before} bytes wait for it; sending no more");
            self.cut_off();
            return;
        }
        if waiting.is_notification {
            self.waiting.notifications.fetch_add(waiting.size, Ordering::Relaxed);
        }
        let _ = self.queue.send(waiting);
    }

    /// Ends the connection now, without sending what still waits: a peer that has not read for so long would only
    /// notice late that it was disconnected.
    pub(crate) fn cut_off(&self) {
        self.cut_off.notify_one();
    }
}

impl<T> Inbox<T> {
    /// Resolves when the rest must not be sent.
    pub(crate) fn cut_off(&self) -> impl Future<Output = ()> + use<T> {
        let cut_off = Arc::clone(&self.cut_off);
        async move { cut_off.notified().await }
    }

    /// `None` once the hub has dropped the outbox and everything was taken.
    pub(crate) async fn recv(&mut self) -> Option<T> {
        let waiting = self.queue.recv().await?;
        Some(self.dequeued(waiting))
    }

    pub(crate) fn try_recv(&mut self) -> Option<T> {
        let waiting = self.queue.try_recv().ok()?;
        Some(self.dequeued(waiting))
    }

    fn dequeued(&self, Queued { message, size, is_notification }: Queued<T>) -> T {
        self.waiting.all.fetch_sub(size, Ordering::Relaxed);
        if is_notification {
            self.waiting.notifications.fetch_sub(size, Ordering::Relaxed);
        }
        message
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn only_notifications_count_as_unread_and_only_until_they_are_taken() {
        let (outbox, mut inbox) = new(usize::MAX);
        outbox.send("the answer to a request", 10_000_000);
        assert_eq!(outbox.unread_notifications(), 0);
        outbox.send_notification("notifications", 5);
        assert_eq!(outbox.unread_notifications(), 5);
        assert!(inbox.try_recv().is_some());
        assert_eq!(outbox.unread_notifications(), 5);
        assert_eq!(inbox.try_recv(), Some("notifications"));
        assert_eq!(outbox.unread_notifications(), 0);
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
