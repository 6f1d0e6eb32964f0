//! The events that were sent on a session's stream, as many as are kept, so that a broken stream can resume where it
//! was. Knows no sockets.

use std::collections::VecDeque;

use linkspan_review::ReviewId;

/// Events that are kept: more than a stream ever has in transit.
const EVENTS: usize = 256;

/// Reviews that one event id names at most, the newest ones: the id comes back in a header.
const OUTCOMES: usize = 64;

/// How many of these may be ones that are known to have arrived. When the hub is killed, the journal may not have
/// recorded that yet, and the next hub would send them again.
const ARRIVED_OUTCOMES: usize = 16;

#[derive(Debug)]
pub(crate) struct ReplayBuffer {
    /// Part of every event id, so that ids of an earlier hub are not taken for ours.
    instance: String,
    kept: VecDeque<(u64, String)>,
    bytes: usize,
    limit: usize,
    newest: u64,
    /// The newest event that a stream has taken.
    taken: u64,
    /// The newest event that is known to have arrived: what a stream took may be lost with it.
    arrived: u64,
    /// Pings in transit, each with the newest event that its answer confirms.
    pings: VecDeque<(u64, u64)>,
    /// The next event carries the outcome of this review.
    next_outcome: Option<ReviewId>,
    /// Events that carry the outcome of a review: all that are not known to have arrived, and the newest that are.
    /// Every later id names these reviews: an agent that comes back with such an id has received them, even if this
    /// hub is gone by then.
    outcomes: VecDeque<(u64, ReviewId)>,
    /// Outcomes that the agent received from an earlier hub: they are not sent again.
    received_before: Vec<ReviewId>,
}

impl ReplayBuffer {
    /// `limit` bytes are kept, plus one event of any size.
    pub(crate) fn new(instance: String, limit: usize) -> ReplayBuffer {
        ReplayBuffer {
            instance,
            kept: VecDeque::new(),
            bytes: 0,
            limit,
            newest: 0,
            taken: 0,
            arrived: 0,
            pings: VecDeque::new(),
            next_outcome: None,
            outcomes: VecDeque::new(),
            received_before: Vec::new(),
        }
    }

    /// False if an event was discarded that no stream has taken: its agent would never see it.
    pub(crate) fn push(&mut self, text: String) -> bool {
        self.newest += 1;
        if let Some(review) = self.next_outcome.take() {
            self.outcomes.push_back((self.newest, review));
        }
        if self.outcomes.len() > OUTCOMES {
            self.outcomes.pop_front();
        }
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

    pub(crate) fn mark_next_outcome(&mut self, review: ReviewId) {
        self.next_outcome = Some(review);
    }

    /// A ping with this number is the newest event.
    pub(crate) fn record_ping(&mut self, number: u64) {
        if self.pings.len() >= EVENTS {
            self.pings.pop_front();
        }
        self.pings.push_back((number, self.newest));
    }

    /// That ping was answered: everything up to it has arrived.
    pub(crate) fn confirm(&mut self, number: u64) {
        while let Some((_, newest)) = self.pings.pop_front_if(|(ping, _)| *ping <= number) {
            self.arrived = self.arrived.max(newest);
        }
        let arrived = self.outcomes.iter().filter(|(number, _)| *number <= self.arrived).count();
        self.outcomes.drain(..arrived.saturating_sub(ARRIVED_OUTCOMES));
    }

    /// Where a stream starts: behind the event that the agent received last, or else behind what is known to have
    /// arrived.
    pub(crate) fn start_position(&mut self, last_event_id: Option<&str>) -> u64 {
        let Some(last) = last_event_id else { return self.arrived };
        self.received_before = outcomes_in(last);
        let last = last.split_once('.').map_or(last, |(event, _)| event);
        let ours = last.rsplit_once('-').filter(|(instance, _)| *instance == self.instance);
        let number = ours.and_then(|(_, number)| number.parse().ok());
        number.filter(|number| *number <= self.newest).unwrap_or(0)
    }

    /// The next event of a stream that has received everything up to `position`.
    pub(crate) fn next_after(&mut self, position: u64) -> Option<(u64, String)> {
        let (kept, outcomes, before) = (&self.kept, &self.outcomes, &self.received_before);
        let is_known =
            |number: u64| outcomes.iter().any(|(at, review)| *at == number && before.contains(review));
        let (number, text) = kept.iter().find(|(number, _)| *number > position && !is_known(*number))?;
        self.taken = self.taken.max(*number);
        let outcomes = self.outcomes.iter().filter(|(at, _)| at <= number);
        let outcomes: String = outcomes.map(|(_, review)| format!(".{}", review.0)).collect();
        Some((*number, format!("event: message\nid: {}-{number}{outcomes}\ndata: {text}\n\n", self.instance)))
    }
}

/// The reviews whose outcome an agent with this event id has received, whichever hub issued the id.
pub(crate) fn outcomes_in(last_event_id: &str) -> Vec<ReviewId> {
    let outcomes = last_event_id.split('.').skip(1).take(OUTCOMES);
    outcomes.filter_map(|number| number.parse().ok()).map(ReviewId).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent() -> ReplayBuffer {
        ReplayBuffer::new("a1".to_owned(), 100)
    }

    /// The events that a stream gets, in order.
    fn stream(sent: &mut ReplayBuffer, last: Option<&str>) -> Vec<String> {
        let mut position = sent.start_position(last);
        std::iter::from_fn(|| {
            let (number, text) = sent.next_after(position)?;
            position = number;
            Some(text)
        })
        .collect()
    }

    #[test]
    fn an_event_is_sent_again_until_it_is_known_to_have_arrived() {
        let mut sent = sent();
        assert!(sent.push("1".into()) && sent.push("2".into()));
        let received_events = stream(&mut sent, None);
        assert_eq!(received_events[0], "event: message\nid: a1-1\ndata: 1\n\n");
        sent.record_ping(1);
        sent.push("3".into());
        assert_eq!(
            (received_events.len(), stream(&mut sent, None).len()),
            (2, 3),
            "the first may have been lost"
        );
        sent.confirm(1);
        assert_eq!(stream(&mut sent, None), ["event: message\nid: a1-3\ndata: 3\n\n"]);
    }

    #[test]
    fn a_stream_resumes_after_the_last_event_it_received() {
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
    fn an_id_names_the_outcomes_that_its_owner_received() {
        let mut sent = sent();
        sent.push("1".into());
        sent.mark_next_outcome(ReviewId(7));
        sent.push("2".into());
        sent.push("3".into());
        let ids: Vec<String> = stream(&mut sent, None)
            .iter()
            .filter_map(|event| event.lines().nth(1)?.strip_prefix("id: ").map(str::to_owned))
            .collect();
        assert_eq!(ids, ["a1-1", "a1-2.7", "a1-3.7"]);
        assert_eq!(ids.iter().map(|id| outcomes_in(id).len()).collect::<Vec<_>>(), [0, 1, 1]);
        assert_eq!(stream(&mut sent, Some("a1-2.7")).len(), 1, "it resumes behind it");
        sent.record_ping(1);
        sent.confirm(1);
        sent.push("4".into());
        let id = "a1-4.7";
        assert_eq!(
            stream(&mut sent, None),
            [format!("event: message\nid: {id}\ndata: 4\n\n")],
            "the journal may not know yet that it arrived"
        );
        for review in 100..200 {
            sent.mark_next_outcome(ReviewId(review));
            sent.push("5".into());
            stream(&mut sent, None);
            sent.record_ping(review);
            sent.confirm(review);
        }
        sent.push("6".into());
        let newest = stream(&mut sent, None).concat();
        let id = newest.lines().nth(1).unwrap();
        assert_eq!(outcomes_in(id).len(), ARRIVED_OUTCOMES, "{id}");
        assert_eq!(outcomes_in(id).last(), Some(&ReviewId(199)));
        for odd in ["", ".", "a1-1.x", "a1-1.-1", "a1-1.99999999999999999999"] {
            assert!(outcomes_in(odd).is_empty(), "{odd}");
        }
    }

    #[test]
    fn an_outcome_that_an_earlier_hub_delivered_is_not_sent_again() {
        let mut sent = sent();
        for (review, text) in [(7, "old"), (8, "new")] {
            sent.mark_next_outcome(ReviewId(review));
            sent.push(text.into());
        }
        let received_events = stream(&mut sent, Some("0ther-12.7"));
        assert_eq!(received_events, ["event: message\nid: a1-2.7.8\ndata: new\n\n"]);
    }

    #[test]
    fn only_events_that_no_stream_has_taken_are_missed() {
        let mut sent = sent();
        for _ in 0..EVENTS {
            assert!(sent.push(String::new()));
        }
        assert!(!sent.push(String::new()), "no stream has taken the first");
        stream(&mut sent, None);
        assert!((0..EVENTS).all(|_| sent.push(String::new())));
        let mut sent = self::sent();
        assert!(sent.push("x".repeat(1_000)), "one of any size");
        assert!(!sent.push("x".repeat(1_000)));
    }
}
