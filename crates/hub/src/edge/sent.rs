//! What was sent on a session's stream, as much of it as is kept: a stream that broke goes on where it was. Knows no
//! socket.

use std::collections::VecDeque;

use linkspan_review::ReviewId;

/// More than a stream ever has on the way.
const EVENTS: usize = 256;

/// An id names at most so many reviews, the newest: it comes back in a header.
const OUTCOMES: usize = 64;

/// Of these, so many that are known to have arrived. The journal may not have that yet when the hub is killed, and the
/// next hub would tell them again.
const ARRIVED_OUTCOMES: usize = 16;

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
    /// The next event tells the outcome of this review.
    next_outcome: Option<ReviewId>,
    /// Events that tell the outcome of a review: all that are not known to have arrived, and the newest that are. Every
    /// later id names these reviews: an agent that comes back with such an id has received them, also if this hub is
    /// gone by then.
    outcomes: VecDeque<(u64, ReviewId)>,
    /// Outcomes that the agent received from an earlier hub: they are not sent again.
    received_before: Vec<ReviewId>,
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
            next_outcome: None,
            outcomes: VecDeque::new(),
            received_before: Vec::new(),
        }
    }

    /// False when something had to go that no stream has taken: its agent would never know.
    pub(super) fn push(&mut self, text: String) -> bool {
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

    pub(super) fn names_outcome(&mut self, review: ReviewId) {
        self.next_outcome = Some(review);
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
        let arrived = self.outcomes.iter().filter(|(number, _)| *number <= self.arrived).count();
        self.outcomes.drain(..arrived.saturating_sub(ARRIVED_OUTCOMES));
    }

    /// Where a stream begins: behind what it says it has got, else behind what is known to have arrived.
    pub(super) fn position(&mut self, last_event_id: Option<&str>) -> u64 {
        let Some(last) = last_event_id else { return self.arrived };
        self.received_before = received(last);
        let last = last.split_once('.').map_or(last, |(event, _)| event);
        let ours = last.rsplit_once('-').filter(|(life, _)| *life == self.life);
        let number = ours.and_then(|(_, number)| number.parse().ok());
        number.filter(|number| *number <= self.newest).unwrap_or(0)
    }

    /// The next event of a stream that has got all up to there.
    pub(super) fn after(&mut self, position: u64) -> Option<(u64, String)> {
        let (kept, outcomes, before) = (&self.kept, &self.outcomes, &self.received_before);
        let is_known =
            |number: u64| outcomes.iter().any(|(at, review)| *at == number && before.contains(review));
        let (number, text) = kept.iter().find(|(number, _)| *number > position && !is_known(*number))?;
        self.taken = self.taken.max(*number);
        let told = self.outcomes.iter().filter(|(at, _)| at <= number);
        let told: String = told.map(|(_, review)| format!(".{}", review.0)).collect();
        Some((*number, format!("event: message\nid: {}-{number}{told}\ndata: {text}\n\n", self.life)))
    }
}

/// The reviews whose outcome an agent has received that names this id, whichever hub gave it out.
pub(super) fn received(last_event_id: &str) -> Vec<ReviewId> {
    let told = last_event_id.split('.').skip(1).take(OUTCOMES);
    told.filter_map(|number| number.parse().ok()).map(ReviewId).collect()
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
    fn an_id_names_the_outcomes_that_whoever_has_it_received() {
        let mut sent = sent();
        sent.push("1".into());
        sent.names_outcome(ReviewId(7));
        sent.push("2".into());
        sent.push("3".into());
        let ids: Vec<String> = stream(&mut sent, None)
            .iter()
            .filter_map(|event| event.lines().nth(1)?.strip_prefix("id: ").map(str::to_owned))
            .collect();
        assert_eq!(ids, ["a1-1", "a1-2.7", "a1-3.7"]);
        assert_eq!(ids.iter().map(|id| received(id).len()).collect::<Vec<_>>(), [0, 1, 1]);
        assert_eq!(stream(&mut sent, Some("a1-2.7")).len(), 1, "it goes on behind it");
        sent.pinged(1);
        sent.confirmed(1);
        sent.push("4".into());
        let id = "a1-4.7";
        assert_eq!(
            stream(&mut sent, None),
            [format!("event: message\nid: {id}\ndata: 4\n\n")],
            "the journal may not know yet that it arrived"
        );
        for review in 100..200 {
            sent.names_outcome(ReviewId(review));
            sent.push("5".into());
            stream(&mut sent, None);
            sent.pinged(review);
            sent.confirmed(review);
        }
        sent.push("6".into());
        let newest = stream(&mut sent, None).concat();
        let id = newest.lines().nth(1).unwrap();
        assert_eq!(received(id).len(), ARRIVED_OUTCOMES, "{id}");
        assert_eq!(received(id).last(), Some(&ReviewId(199)));
        for odd in ["", ".", "a1-1.x", "a1-1.-1", "a1-1.99999999999999999999"] {
            assert!(received(odd).is_empty(), "{odd}");
        }
    }

    #[test]
    fn an_outcome_that_an_earlier_hub_told_is_not_told_again() {
        let mut sent = sent();
        for (review, text) in [(7, "old"), (8, "new")] {
            sent.names_outcome(ReviewId(review));
            sent.push(text.into());
        }
        let heard = stream(&mut sent, Some("0ther-12.7"));
        assert_eq!(heard, ["event: message\nid: a1-2.7.8\ndata: new\n\n"]);
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
