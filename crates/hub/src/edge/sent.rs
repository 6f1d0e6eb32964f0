//! What was sent on a session's stream, as much of it as is kept: a stream that broke goes on where it was. Knows no
//! socket.

use std::collections::VecDeque;

/// More than a stream ever has on the way.
const EVENTS: usize = 256;

#[derive(Debug)]
pub(super) struct Sent {
    /// In every id, so that those of an earlier hub are not taken for ours.
    life: String,
    kept: VecDeque<(u64, String)>,
    bytes: usize,
    limit: usize,
    newest: u64,
    /// The newest that a stream has taken.
    taken: u64,
    /// The newest that is known to have arrived; what a stream took may be lost with it.
    arrived: u64,
    /// Pings on the way, each with the newest event that its answer confirms.
    pings: VecDeque<(u64, u64)>,
}

impl Sent {
    /// `limit`: how many bytes are kept, beside one event of any size.
    pub(super) fn new(life: String, limit: usize) -> Sent {
        Sent {
            life,
            kept: VecDeque::new(),
            bytes: 0,
            limit,
            newest: 0,
            taken: 0,
            arrived: 0,
            pings: VecDeque::new(),
        }
    }

    /// False when something had to go that no stream has taken: its agent would never know.
    pub(super) fn push(&mut self, text: String) -> bool {
        self.newest += 1;
        self.bytes += text.len();
        self.kept.push_back((self.newest, text));
        let mut all = true;
        while self.kept.len() > EVENTS || (self.bytes > self.limit && self.kept.len() > 1) {
            let Some((number, text)) = self.kept.pop_front() else { break };
            self.bytes -= text.len();
            all &= number <= self.taken;
        }
        all
    }

    /// A ping of this number is the newest event.
    pub(super) fn pinged(&mut self, number: u64) {
        if self.pings.len() >= EVENTS {
            self.pings.pop_front();
        }
        self.pings.push_back((number, self.newest));
    }

    /// That ping was answered: all up to it has arrived.
    pub(super) fn confirmed(&mut self, number: u64) {
        while let Some((_, newest)) = self.pings.pop_front_if(|(ping, _)| *ping <= number) {
            self.arrived = self.arrived.max(newest);
        }
    }

    /// Where a stream begins: behind what it says it has got, else behind what is known to have arrived.
    pub(super) fn position(&self, last_event_id: Option<&str>) -> u64 {
        let Some(last) = last_event_id else { return self.arrived };
        let ours = last.rsplit_once('-').filter(|(life, _)| *life == self.life);
        let number = ours.and_then(|(_, number)| number.parse().ok());
        number.filter(|number| *number <= self.newest).unwrap_or(0)
    }

    /// The next event of a stream that has got all up to there.
    pub(super) fn after(&mut self, position: u64) -> Option<(u64, String)> {
        let (number, text) = self.kept.iter().find(|(number, _)| *number > position)?;
        self.taken = self.taken.max(*number);
        Some((*number, format!("event: message\nid: {}-{number}\ndata: {text}\n\n", self.life)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent() -> Sent {
        Sent::new("a1".to_owned(), 100)
    }

    /// What a stream gets, in order.
    fn stream(sent: &mut Sent, last: Option<&str>) -> Vec<String> {
        let mut position = sent.position(last);
        std::iter::from_fn(|| {
            let (number, text) = sent.after(position)?;
            position = number;
            Some(text)
        })
        .collect()
    }

    #[test]
    fn what_was_sent_is_heard_until_it_is_known_to_have_arrived() {
        let mut sent = sent();
        assert!(sent.push("1".into()) && sent.push("2".into()));
        let heard = stream(&mut sent, None);
        assert_eq!(heard[0], "event: message\nid: a1-1\ndata: 1\n\n");
        sent.pinged(1);
        sent.push("3".into());
        assert_eq!((heard.len(), stream(&mut sent, None).len()), (2, 3), "the first may have been lost");
        sent.confirmed(1);
        assert_eq!(stream(&mut sent, None), ["event: message\nid: a1-3\ndata: 3\n\n"]);
    }

    #[test]
    fn a_stream_goes_on_behind_what_it_has_got() {
        let mut sent = sent();
        for text in ["1", "2", "3"] {
            sent.push(text.into());
        }
        stream(&mut sent, None);
        assert_eq!(stream(&mut sent, Some("a1-2")).len(), 1);
        assert_eq!(stream(&mut sent, Some("a1-3")).len(), 0);
        for unknown in ["b2-3", "a1-99", "a1-x", "", "-"] {
            assert_eq!(stream(&mut sent, Some(unknown)).len(), 3, "{unknown}");
        }
    }

    #[test]
    fn only_what_no_stream_has_taken_is_missed() {
        let mut sent = sent();
        for _ in 0..EVENTS {
            assert!(sent.push(String::new()));
        }
        assert!(!sent.push(String::new()), "the first was heard by nobody");
        stream(&mut sent, None);
        assert!((0..EVENTS).all(|_| sent.push(String::new())));
        let mut sent = self::sent();
        assert!(sent.push("x".repeat(1_000)), "one of any size");
        assert!(!sent.push("x".repeat(1_000)));
    }
}
