//! What a restarted hub reads back.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};

use linkspan_review::{
    AgentId, Decision, Digest, Effect, Event, Format, Owner, Proposal, Review, ReviewId, Revision, State,
    Step, SurfaceId, Text, Verdict, WindowId, Writer,
};

use super::{Entry, Journal, Recorded, Remembered};

/// A review core whose records go to a real journal.
struct Desk {
    state: State,
    journal: Journal,
    recorded: Receiver<Recorded>,
}

fn open(path: &Path) -> (Journal, Remembered, Receiver<Recorded>) {
    let (sender, recorded) = channel();
    let (journal, remembered) = Journal::open(path, 30, move |entry| {
        let _ = sender.send(entry);
    })
    .unwrap();
    (journal, remembered, recorded)
}

/// What is there after a restart.
fn remembered(path: &Path) -> Vec<Review> {
    open(path).1.reviews
}

impl Desk {
    fn at(path: &Path) -> Desk {
        let (journal, remembered, recorded) = open(path);
        let (state, _) = State::restore(remembered.reviews, remembered.next_review);
        Desk { state, journal, recorded }
    }

    /// Records until nothing is left to record; a write succeeds at once where `writes` is set.
    fn apply(&mut self, event: Event, writes: bool) {
        for effect in self.state.apply(event) {
            match effect {
                Effect::Record { review, step } => {
                    let entry = Entry { review: self.state.review(review).unwrap().clone(), step, by: None };
                    self.journal.record(entry);
                    let Recorded::Review { review, step, result } = self.recorded.recv().unwrap() else {
                        panic!("no window was recorded");
                    };
                    result.unwrap();
                    self.apply(Event::Recorded { review, step }, writes);
                }
                Effect::Write { review, .. } if writes => self.apply(Event::Written { review }, writes),
                _ => {}
            }
        }
    }

    fn propose(&mut self, writer: Writer) {
        let base = Some(Text { format: Format::UTF8, text: "one\ntwo\n".into() });
        let proposal = Proposal {
            owner: Owner { agent: AgentId(1), key: "claude:x".into() },
            window: WindowId(1),
            set: None,
            path: PathBuf::from("/ws/a"),
            label: "tab".into(),
            writer,
            base,
            proposed: "one\n2\n".into(),
        };
        self.apply(Event::Proposed(proposal), false);
    }

    fn decide(&mut self, verdict: Verdict, writes: bool) {
        let base_now = self.state.review(ReviewId(1)).unwrap().base.clone();
        let decision = Decision { verdict, comments: Vec::new() };
        let (review, surface, revision) = (ReviewId(1), SurfaceId(1), Revision(0));
        self.apply(Event::Decided { review, surface, revision, decision, base_now }, writes);
    }
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    (folder, path)
}

#[test]
fn a_decision_nobody_has_heard_of_is_read_back_and_one_that_arrived_is_not() {
    for (writer, verdict) in [
        (Writer::Agent, Verdict::Accept),
        (Writer::Editor, Verdict::Accept),
        (Writer::Agent, Verdict::Reject { reason: Some("no".into()) }),
    ] {
        let (_folder, path) = folder();
        let mut desk = Desk::at(&path);
        desk.propose(writer);
        desk.decide(verdict.clone(), true);
        let found = remembered(&path);
        let kept = desk.state.review(ReviewId(1)).unwrap();
        assert_eq!(found.len(), 1);
        let (found, kept) = (found[0].outcome().unwrap(), kept.outcome().unwrap());
        assert_eq!((&found.ended, &found.comments), (&kept.ended, &kept.comments), "{writer:?} {verdict:?}");
        desk.apply(Event::Delivered { review: ReviewId(1) }, true);
        assert_eq!(remembered(&path), Vec::new());
    }
}

#[test]
fn an_accepted_change_that_was_not_written_is_written_by_the_next_hub() {
    let (_folder, path) = folder();
    let mut desk = Desk::at(&path);
    desk.propose(Writer::Editor);
    desk.decide(Verdict::Accept, false);
    let (_, effects) = State::restore(remembered(&path), 2);
    assert!(matches!(&effects[..], [Effect::Write { bytes, .. }] if bytes == b"one\n2\n"));
}

#[test]
fn who_writes_is_read_back_and_nobody_stays_nobody() {
    for writer in [Writer::Agent, Writer::Editor, Writer::Nobody] {
        let (_folder, path) = folder();
        let mut desk = Desk::at(&path);
        desk.propose(writer);
        desk.decide(Verdict::Accept, false);
        drop(desk);
        let (_, effects) = State::restore(remembered(&path), 2);
        assert_eq!(remembered(&path)[0].writer, writer);
        assert_eq!(
            effects.len(),
            usize::from(writer == Writer::Editor),
            "only an editor side still has to write"
        );
    }
}

#[test]
fn a_change_taken_back_is_not_read_back() {
    let (_folder, path) = folder();
    let mut desk = Desk::at(&path);
    desk.propose(Writer::Agent);
    assert_eq!(remembered(&path).len(), 1);
    desk.apply(Event::Withdrawn { review: ReviewId(1) }, false);
    assert_eq!(remembered(&path), Vec::new());
    assert_eq!(open(&path).1.next_review, 2, "its name is not given again");
}

#[test]
fn old_reviews_are_forgotten_with_their_texts_unless_a_write_is_still_owed() {
    for (writes, left) in [(true, 0), (false, 1)] {
        let (_folder, path) = folder();
        let mut desk = Desk::at(&path);
        desk.propose(Writer::Editor);
        desk.decide(Verdict::Accept, writes);
        let connection = rusqlite::Connection::open(&path).unwrap();
        let age = "UPDATE reviews SET proposed_at = 1, decided_at = 1, ended_at = ended_at * 0 + 1;
                   UPDATE writes SET at = 1";
        connection.execute_batch(age).unwrap();
        assert_eq!(remembered(&path).len(), left);
        let blobs: i64 = connection.query_row("SELECT count(*) FROM blobs", [], |row| row.get(0)).unwrap();
        assert_eq!(blobs > 0, left > 0);
    }
}

#[test]
fn bytes_that_are_not_what_their_digest_says_are_never_used() {
    let (_folder, path) = folder();
    let mut desk = Desk::at(&path);
    desk.propose(Writer::Editor);
    desk.decide(Verdict::Accept, false);
    let connection = rusqlite::Connection::open(&path).unwrap();
    let result = Digest::of(b"one\n2\n").as_bytes().to_vec();
    let damaged = connection.execute("UPDATE blobs SET bytes = x'00' WHERE digest = ?1", [result]).unwrap();
    assert_eq!(damaged, 1);
    assert_eq!(remembered(&path), Vec::new());
}

#[test]
fn each_step_is_answered_once_in_the_order_it_was_handed_in() {
    let (_folder, path) = folder();
    let mut desk = Desk::at(&path);
    desk.propose(Writer::Agent);
    let review = desk.state.review(ReviewId(1)).unwrap().clone();
    let steps = [Step::Edited, Step::Rebased, Step::Edited];
    for step in steps {
        desk.journal.record(Entry { review: review.clone(), step, by: None });
    }
    let answers: Vec<Step> = (0..3)
        .map(|_| match desk.recorded.recv().unwrap() {
            Recorded::Review { step, .. } => step,
            Recorded::Window { .. } => panic!("no window was recorded"),
        })
        .collect();
    assert_eq!(answers, steps);
    assert!(desk.recorded.try_recv().is_err());
}
