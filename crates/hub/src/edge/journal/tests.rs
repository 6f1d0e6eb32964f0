//! What a restarted hub reads back.

mod lost_records;
mod past_texts;
mod retention;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};

use linkspan_editor_api as api;
use linkspan_review::{
    AgentId, ChangeId, Decision, Digest, Effect, Event, Format, Owner, Proposal, Review, ReviewId, Revision,
    State, Step, SurfaceId, Text, Verdict, WindowId, Writer,
};

use super::{Journal, JournalReply, Retention};
use crate::core::Ticket;
use crate::core::contract::{
    ChangeSelector, HistoryAnswer, HistoryFilter, HistoryQuery, RecordedChange, RememberedState,
    RememberedWindow, ReviewRecord,
};

/// A review state whose records go to a real journal.
struct JournalFixture {
    state: State,
    journal: Journal,
    recorded: Receiver<JournalReply>,
    /// Where what is proposed comes from.
    origin: Option<Box<api::ReviewOrigin>>,
}

fn open(path: &Path) -> (Journal, RememberedState, Receiver<JournalReply>) {
    let (sender, recorded) = channel();
    let (journal, remembered) = Journal::open(path, &Retention::default(), move |entry| {
        let _ = sender.send(entry);
    })
    .unwrap();
    (journal, remembered, recorded)
}

/// What is there after a restart.
fn remembered(path: &Path) -> Vec<Review> {
    open(path).1.reviews
}

impl JournalFixture {
    fn at(path: &Path) -> JournalFixture {
        let (journal, remembered, recorded) = open(path);
        let (state, _) = State::restore(remembered.reviews, remembered.next_review);
        JournalFixture { state, journal, recorded, origin: None }
    }

    /// Records until nothing is left to record; a write succeeds at once where `writes` is set.
    fn apply(&mut self, event: Event, writes: bool) {
        for effect in self.state.apply(event) {
            match effect {
                Effect::Record { review, step } => {
                    let entry = ReviewRecord {
                        review: self.state.review(review).unwrap().clone(),
                        step,
                        by: None,
                        size: None,
                        origin: self.origin.clone(),
                    };
                    self.journal.record(entry);
                    let JournalReply::Review { review, step, result } = self.recorded.recv().unwrap() else {
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
        self.propose_on(Text { format: Format::UTF8, text: "one\ntwo\n".into() }, writer);
    }

    fn propose_on(&mut self, base: Text, writer: Writer) {
        self.propose_text(base, writer, "one\n2\n");
    }

    fn propose_text(&mut self, base: Text, writer: Writer, proposed: &str) {
        let base = Some(base);
        let proposal = Proposal {
            owner: Owner { agent: AgentId(1), key: "claude:x".into() },
            window: WindowId(1),
            set: None,
            path: PathBuf::from("/ws/a"),
            label: "tab".into(),
            writer,
            base,
            left: None,
            proposed: proposed.into(),
            asked: None,
        };
        self.apply(Event::Proposed(proposal), false);
    }

    fn decide(&mut self, verdict: Verdict, writes: bool) {
        let base_now = self.state.review(ReviewId(1)).unwrap().base.clone();
        let decision = Decision { verdict, comments: Vec::new(), write_here: false };
        let (review, surface, revision) = (ReviewId(1), SurfaceId(1), Revision(0));
        self.apply(Event::Decided { review, surface, revision, digest: None, decision, base_now }, writes);
        if writes && self.state.review(review).is_some_and(|review| review.writer == Writer::Agent) {
            self.journal.record_on_disk(review);
        }
    }
}

impl JournalFixture {
    fn ask(&self, question: HistoryQuery) -> HistoryAnswer {
        self.journal.ask(Ticket(1), question);
        match self.recorded.recv().unwrap() {
            JournalReply::History { result, .. } => result.unwrap(),
            other => panic!("no answer: {other:?}"),
        }
    }

    fn list(&self, filter: HistoryFilter) -> Vec<api::HistoryEntry> {
        match self.ask(HistoryQuery::List(HistoryFilter { limit: 9, ..filter })) {
            HistoryAnswer::List(entries) => entries,
            other => panic!("no list: {other:?}"),
        }
    }

    fn change(&self, name: ChangeSelector) -> RecordedChange {
        match self.ask(HistoryQuery::Change(name)) {
            HistoryAnswer::Change(change) => *change,
            other => panic!("no change: {other:?}"),
        }
    }

    /// Undoes a change as far as the journal is concerned; returns the undo's id.
    fn undo(&self, name: ChangeSelector, done: bool) -> ChangeId {
        self.journal.begin_undo(Ticket(1), self.change(name));
        let JournalReply::UndoBegun { result, .. } = self.recorded.recv().unwrap() else {
            panic!("not begun")
        };
        let (_, undo) = result.unwrap();
        self.journal.end_undo(undo, done, Some(0o750));
        self.list(HistoryFilter::default());
        undo
    }
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    (folder, path)
}

#[test]
fn an_undelivered_decision_is_read_back_and_a_delivered_one_is_not() {
    for (writer, verdict) in [
        (Writer::Agent, Verdict::Accept),
        (Writer::Hub, Verdict::Accept),
        (Writer::Agent, Verdict::Reject { reason: Some("no".into()) }),
    ] {
        let (_folder, path) = folder();
        let mut fixture = JournalFixture::at(&path);
        fixture.propose(writer);
        fixture.decide(verdict.clone(), true);
        let found = remembered(&path);
        let kept = fixture.state.review(ReviewId(1)).unwrap();
        assert_eq!(found.len(), 1);
        let (found, kept) = (found[0].outcome().unwrap(), kept.outcome().unwrap());
        assert_eq!((&found.ended, &found.comments), (&kept.ended, &kept.comments), "{writer:?} {verdict:?}");
        fixture.apply(Event::Delivered { review: ReviewId(1) }, true);
        assert_eq!(remembered(&path), Vec::new());
    }
}

#[test]
fn a_journal_opens_in_which_an_accepted_change_was_withdrawn_after_a_record_that_failed() {
    let (_folder, path) = folder();
    let mut fixture = JournalFixture::at(&path);
    fixture.propose(Writer::Agent);
    fixture.decide(Verdict::Accept, false);
    let review = ReviewId(1);
    // The user is asked again, which the journal does not learn.
    let base_now = Some(Text { format: Format::UTF8, text: "one\nzwei\n".into() });
    fixture.state.apply(Event::WriteHere { review, base_now });
    fixture.state.apply(Event::RecordFailed { review, step: Step::Rebased, error: "full".into() });
    fixture.apply(Event::Withdrawn { review }, false);
    assert!(open(&path).1.unseen.is_empty(), "nobody is to write it");
}

#[test]
fn an_accepted_change_that_was_not_written_is_written_by_the_next_hub() {
    let (_folder, path) = folder();
    let mut fixture = JournalFixture::at(&path);
    fixture.propose(Writer::Hub);
    fixture.decide(Verdict::Accept, false);
    let (_, effects) = State::restore(remembered(&path), 2);
    assert!(matches!(&effects[..], [Effect::Write { bytes, .. }] if **bytes == *b"one\n2\n"));
}

#[test]
fn what_an_agent_is_to_write_is_looked_for_until_it_was_seen() {
    for writer in [Writer::Agent, Writer::AgentAsProposed] {
        let (_folder, path) = folder();
        let mut fixture = JournalFixture::at(&path);
        fixture.propose(writer);
        fixture.decide(Verdict::Accept, false);
        let unseen = open(&path).1.unseen;
        let found = unseen.first().expect("it was not seen");
        assert_eq!((found.review, found.writer), (ReviewId(1), writer));
        assert_eq!(found.accepted.as_slice(), b"one\n2\n");
        assert_eq!(fixture.list(HistoryFilter::default())[0].on_disk, Some(false));
        fixture.journal.record_on_disk(ReviewId(1));
        assert_eq!(fixture.list(HistoryFilter::default())[0].on_disk, Some(true));
        assert!(open(&path).1.unseen.is_empty());
    }
}

#[test]
fn the_writer_is_read_back_and_nobody_stays_nobody() {
    for writer in [Writer::Agent, Writer::Hub, Writer::Nobody] {
        let (_folder, path) = folder();
        let mut fixture = JournalFixture::at(&path);
        fixture.propose(writer);
        fixture.decide(Verdict::Accept, false);
        drop(fixture);
        let (_, effects) = State::restore(remembered(&path), 2);
        assert_eq!(remembered(&path)[0].writer, writer);
        assert_eq!(
            effects.len(),
            usize::from(writer == Writer::Hub),
            "only an editor side still has to write"
        );
    }
}

#[test]
fn a_withdrawn_change_is_not_read_back() {
    let (_folder, path) = folder();
    let mut fixture = JournalFixture::at(&path);
    fixture.propose(Writer::Agent);
    assert_eq!(remembered(&path).len(), 1);
    fixture.apply(Event::Withdrawn { review: ReviewId(1) }, false);
    assert_eq!(remembered(&path), Vec::new());
    assert_eq!(open(&path).1.next_review, 2, "its id is not reused");
}

#[test]
fn old_reviews_are_removed_with_their_texts_unless_a_write_is_still_pending() {
    for (writes, left) in [(true, 0), (false, 1)] {
        let (_folder, path) = folder();
        let mut fixture = JournalFixture::at(&path);
        fixture.propose(Writer::Hub);
        fixture.decide(Verdict::Accept, writes);
        let connection = rusqlite::Connection::open(&path).unwrap();
        let age = "UPDATE reviews SET proposed_at = 1, decided_at = 1, ended_at = ended_at * 0 + 1;
                   UPDATE writes SET at = 1";
        connection.execute_batch(age).unwrap();
        assert_eq!(remembered(&path).len(), left);
        let blobs: i64 = connection.query_row("SELECT count(*) FROM blobs", [], |row| row.get(0)).unwrap();
        assert_eq!(blobs > 0, left > 0);
    }
}

fn window(id: u64) -> RememberedWindow {
    RememberedWindow {
        id: WindowId(id),
        editor: "JournalFixture".into(),
        folders: Vec::new(),
        real_folders: Vec::new(),
        key: String::new(),
        port: 1,
        token: String::new(),
        discovery: Vec::new(),
    }
}

#[test]
fn a_window_with_reviews_is_kept_and_its_id_is_not_reused() {
    let (_folder, path) = folder();
    let mut fixture = JournalFixture::at(&path);
    for id in [1, 2] {
        fixture.journal.remember_window(window(id));
        fixture.recorded.recv().unwrap();
    }
    fixture.propose(Writer::Agent);
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch("UPDATE windows SET seen_at = 1").unwrap();
    let left: Vec<WindowId> = open(&path).1.windows.iter().map(|window| window.id).collect();
    assert_eq!(left, [WindowId(1)]);
    connection.execute_batch("UPDATE reviews SET window = 7").unwrap();
    assert_eq!(open(&path).1.next_window, 8);
}

#[test]
fn a_window_in_use_is_not_pruned_however_long_ago_it_was_opened() {
    let (_folder, path) = folder();
    let fixture = JournalFixture::at(&path);
    fixture.journal.remember_window(window(1));
    fixture.recorded.recv().unwrap();
    let mut connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch("UPDATE windows SET seen_at = 1").unwrap();
    super::schema::prune(&mut connection, 30, &BTreeSet::from([WindowId(1)]), &BTreeSet::new()).unwrap();
    assert_eq!(open(&path).1.windows.len(), 1);
}

#[test]
fn bytes_that_do_not_match_their_digest_are_never_used() {
    let (_folder, path) = folder();
    let mut fixture = JournalFixture::at(&path);
    fixture.propose(Writer::Hub);
    fixture.decide(Verdict::Accept, false);
    let connection = rusqlite::Connection::open(&path).unwrap();
    let result = Digest::of(b"one\n2\n").as_bytes().to_vec();
    let damaged = connection.execute("UPDATE blobs SET bytes = x'00' WHERE digest = ?1", [result]).unwrap();
    assert_eq!(damaged, 1);
    assert_eq!(remembered(&path), Vec::new());
}

#[test]
fn each_record_is_answered_once_in_order() {
    let (_folder, path) = folder();
    let mut fixture = JournalFixture::at(&path);
    fixture.propose(Writer::Agent);
    let review = fixture.state.review(ReviewId(1)).unwrap().clone();
    let steps = [Step::Edited, Step::Rebased, Step::Edited];
    for step in steps {
        fixture.journal.record(ReviewRecord {
            review: review.clone(),
            step,
            by: None,
            size: None,
            origin: None,
        });
    }
    let answers: Vec<Step> = (0..3)
        .map(|_| match fixture.recorded.recv().unwrap() {
            JournalReply::Review { step, .. } => step,
            other => panic!("not the record of a step: {other:?}"),
        })
        .collect();
    assert_eq!(answers, steps);
    assert!(fixture.recorded.try_recv().is_err());
}

#[test]
fn a_decision_does_not_wait_for_readers_of_the_history() {
    let (_folder, path) = folder();
    let mut fixture = JournalFixture::at(&path);
    fixture.propose(Writer::Agent);
    let review = fixture.state.review(ReviewId(1)).unwrap().clone();
    let (log_error, recorded) = channel();
    let (go, gone) = channel::<()>();
    // Blocked at the first, so that the others wait together.
    let (journal, _) = Journal::open(&path, &Retention::default(), move |entry| {
        let _ = log_error.send(entry);
        let _ = gone.recv();
    })
    .unwrap();
    let edited =
        || ReviewRecord { review: review.clone(), step: Step::Edited, by: None, size: None, origin: None };
    let ask = |ticket| journal.ask(Ticket(ticket), HistoryQuery::List(HistoryFilter::default()));
    journal.record(edited());
    recorded.recv().unwrap();
    ask(1);
    ask(2);
    journal.record(edited());
    drop(go);
    let order: Vec<u64> = (0..3)
        .map(|_| match recorded.recv().unwrap() {
            JournalReply::History { ticket, .. } => ticket.0,
            _ => 0,
        })
        .collect();
    assert_eq!(order, [0, 1, 2]);
}

#[test]
fn the_size_of_a_change_is_that_of_what_the_editor_made_of_it() {
    let (_folder, path) = folder();
    let mut fixture = JournalFixture::at(&path);
    fixture.propose(Writer::Hub);
    fixture.decide(Verdict::Accept, false);
    let text = "one\n2\n// tidy\n".to_owned();
    fixture.apply(Event::SavedAs { review: ReviewId(1), text }, false);
    let entry = &fixture.list(HistoryFilter::default())[0];
    assert_eq!((entry.added, entry.removed), (Some(2), Some(1)));
}

#[test]
fn an_accepted_change_can_be_undone_whoever_wrote_it() {
    for writer in [Writer::Agent, Writer::Hub] {
        let (_folder, path) = folder();
        let mut fixture = JournalFixture::at(&path);
        fixture.propose(writer);
        assert!(fixture.list(HistoryFilter::default()).is_empty(), "nothing is decided");
        fixture.decide(Verdict::Accept, true);
        let entry = &fixture.list(HistoryFilter::default())[0];
        assert_eq!(
            (entry.undoable, entry.undone, entry.added, entry.removed),
            (true, false, Some(1), Some(1))
        );
        assert_eq!(entry.change.is_some(), writer == Writer::Hub);
        let change = fixture.change(ChangeSelector::Last);
        assert_eq!(
            (change.before.as_deref(), change.after.as_deref()),
            (Some(&b"one\ntwo\n"[..]), Some(&b"one\n2\n"[..]))
        );
        assert_eq!(change, fixture.change(ChangeSelector::Review(ReviewId(1))));
        assert_eq!(change.writer, writer);
        let undo = fixture.undo(ChangeSelector::Last, true);
        assert_eq!(fixture.change(ChangeSelector::Review(ReviewId(1))).writer, writer);
        assert_eq!(fixture.change(ChangeSelector::Change(undo)).writer, Writer::Hub);
    }
}

#[test]
fn whether_an_agent_sends_the_mark_is_read_back() {
    for (base, marked) in [("one\r\ntwo\r\n", true), ("one\r\n", false), ("one\n", true), ("one\n", false)] {
        let (_folder, path) = folder();
        let mut fixture = JournalFixture::at(&path);
        let base = Text { format: Format::from_name("UTF-8 with BOM").unwrap(), text: base.into() };
        fixture.propose_text(base, Writer::Agent, if marked { "\u{feff}one\n2\n" } else { "one\n2\n" });
        let now = fixture.state.review(ReviewId(1)).unwrap();
        let [then] = &remembered(&path)[..] else { panic!("not one review") };
        assert_eq!((then.marked, then.convention), (marked, now.convention));
    }
}

#[test]
fn a_file_with_unknown_bytes_is_not_taken_for_one_that_did_not_exist() {
    for writer in [Writer::Agent, Writer::Hub] {
        let (_folder, path) = folder();
        let mut fixture = JournalFixture::at(&path);
        // As unsaved text may be: more than the file's encoding can say.
        let format = Format::from_name("windows-1252").unwrap();
        fixture.propose_on(Text { format, text: "one\nя\n".into() }, writer);
        fixture.decide(Verdict::Accept, true);
        let writes: i64 = rusqlite::Connection::open(&path)
            .and_then(|db| db.query_row("SELECT count(*) FROM writes", [], |row| row.get(0)))
            .unwrap();
        assert_eq!(writes, 0);
        fixture.journal.ask(Ticket(1), HistoryQuery::Change(ChangeSelector::Review(ReviewId(1))));
        let JournalReply::History { result, .. } = fixture.recorded.recv().unwrap() else {
            panic!("no answer")
        };
        assert!(!matches!(result, Ok(HistoryAnswer::Change(_))), "{writer:?}: {result:?}");
    }
}

#[test]
fn an_undo_is_undone_by_its_own_id_and_so_on() {
    let (_folder, path) = folder();
    let mut fixture = JournalFixture::at(&path);
    fixture.propose(Writer::Agent);
    fixture.decide(Verdict::Accept, true);
    let undo = fixture.undo(ChangeSelector::Last, true);
    let undone = fixture.change(ChangeSelector::Review(ReviewId(1)));
    assert_eq!(undone.undone_by, Some(undo));
    assert!(
        matches!(fixture.ask(HistoryQuery::Change(ChangeSelector::Last)), HistoryAnswer::Unknown),
        "an undo is not what is undone last"
    );
    let redo = fixture.undo(ChangeSelector::Change(undo), true);
    assert_eq!(fixture.change(ChangeSelector::Change(undo)).undone_by, Some(redo));
    let again = fixture.change(ChangeSelector::Last);
    assert_eq!((again.id, again.undone_by), (undone.id, None));
    assert_eq!((undone.mode, fixture.change(ChangeSelector::Change(undo)).mode), (None, Some(0o750)));
    let changes: Vec<_> =
        fixture.list(HistoryFilter::default()).into_iter().map(|e| (e.change, e.undoes, e.undone)).collect();
    let name = |id: ChangeId| Some(id.to_string());
    let first = undone.id.unwrap();
    assert_eq!(
        changes,
        [(name(redo), name(undo), false), (name(undo), name(first), true), (name(first), None, false)]
    );
}

#[test]
fn a_failed_undo_leaves_no_trace_and_one_that_was_only_begun_is_found_again() {
    let (_folder, path) = folder();
    let mut fixture = JournalFixture::at(&path);
    fixture.propose(Writer::Hub);
    fixture.decide(Verdict::Accept, true);
    fixture.undo(ChangeSelector::Last, false);
    assert_eq!(fixture.list(HistoryFilter { undoable: true, ..HistoryFilter::default() }).len(), 1);
    assert_eq!(open(&path).1.undos, []);
    fixture.journal.begin_undo(Ticket(1), fixture.change(ChangeSelector::Last));
    fixture.recorded.recv().unwrap();
    assert_eq!(fixture.list(HistoryFilter::default()).len(), 1, "it is not done");
    let begun = open(&path).1.undos;
    assert_eq!(begun.iter().map(|undo| undo.after).collect::<Vec<_>>(), [Some(Digest::of(b"one\ntwo\n"))]);
}

#[test]
fn the_history_is_listed_by_folder_and_window_and_a_rejected_change_cannot_be_undone() {
    let (_folder, path) = folder();
    let mut fixture = JournalFixture::at(&path);
    fixture.propose(Writer::Agent);
    fixture.decide(Verdict::Reject { reason: Some("no".into()) }, true);
    let run_with_deadline = |path: &str| {
        fixture.list(HistoryFilter { path: Some(path.into()), ..HistoryFilter::default() }).len()
    };
    assert_eq!(
        ["/ws/a", "/ws", "/ws/", "/", "/w", "/ws/a/b", "/ws/ab"].map(run_with_deadline),
        [1, 1, 1, 1, 0, 0, 0]
    );
    let window =
        |id| fixture.list(HistoryFilter { window: Some(WindowId(id)), ..HistoryFilter::default() }).len();
    assert_eq!([window(1), window(2)], [1, 0]);
    assert_eq!(fixture.list(HistoryFilter { undoable: true, ..HistoryFilter::default() }), []);
    let found = fixture.ask(HistoryQuery::Change(ChangeSelector::Review(ReviewId(1))));
    assert!(matches!(found, HistoryAnswer::NothingWritten { verdict, .. } if verdict == "rejected"));
}

#[test]
fn a_recently_undone_change_is_kept_with_its_review_and_its_bytes() {
    let (_folder, path) = folder();
    let mut fixture = JournalFixture::at(&path);
    fixture.propose(Writer::Hub);
    fixture.decide(Verdict::Accept, true);
    fixture.apply(Event::Delivered { review: ReviewId(1) }, true);
    let undo = fixture.undo(ChangeSelector::Last, true);
    let connection = rusqlite::Connection::open(&path).unwrap();
    let age = "UPDATE reviews SET decided_at = 1, ended_at = 1, delivered_at = 1; UPDATE writes SET at = 1";
    connection.execute_batch(&format!("{age} WHERE undoes IS NULL")).unwrap();
    let later = JournalFixture::at(&path);
    assert_eq!(later.change(ChangeSelector::Change(undo)).before.as_deref(), Some(&b"one\n2\n"[..]));
    assert_eq!(later.list(HistoryFilter::default()).len(), 2);
    connection.execute_batch(age).unwrap();
    assert_eq!(JournalFixture::at(&path).list(HistoryFilter::default()), []);
    let left: i64 = connection
        .query_row("SELECT (SELECT count(*) FROM writes) + (SELECT count(*) FROM blobs)", [], |row| {
            row.get(0)
        })
        .unwrap();
    assert_eq!(left, 0);
}

#[test]
fn the_history_of_a_conversation_and_of_a_turn_names_where_each_change_comes_from() {
    let (_folder, path) = folder();
    let mut fixture = JournalFixture::at(&path);
    let origin = api::ReviewOrigin {
        chat: "t3".into(),
        turn: 2,
        item: 7,
        prompt: Some("go".into()),
        words: Some("I will".into()),
    };
    fixture.origin = Some(Box::new(origin.clone()));
    fixture.propose(Writer::Hub);
    assert_eq!(open(&path).1.past[0].origin.as_deref(), Some(&origin), "also while it is pending");
    fixture.decide(Verdict::Reject { reason: None }, true);
    let listed = |chat, turn| fixture.list(HistoryFilter { chat, turn, ..HistoryFilter::default() });
    assert_eq!(listed(Some(3), None)[0].origin, Some(origin));
    let counts = [(None, None), (Some(3), Some(2)), (Some(3), Some(1)), (Some(2), None)];
    assert_eq!(counts.map(|(chat, turn)| listed(chat, turn).len()), [1, 1, 0, 0]);
}

#[test]
fn a_journal_of_version_1_is_migrated_with_everything_in_it() {
    let (_folder, path) = folder();
    let old = rusqlite::Connection::open(&path).unwrap();
    old.execute_batch(include_str!("schema_1.sql")).unwrap();
    let digest = |bytes: &[u8]| Digest::of(bytes).as_bytes().to_vec();
    let now = super::now_ms();
    for bytes in [&b"one\n"[..], b"two\n"] {
        old.execute("INSERT INTO blobs VALUES (?1, ?2)", rusqlite::params![digest(bytes), bytes]).unwrap();
    }
    let (one, two) = (digest(b"one\n"), digest(b"two\n"));
    let row = "INSERT INTO reviews VALUES (?1, NULL, 1, CAST('/ws/a' AS BLOB), 'tab', ?2, 'claude:x', 'as-is', ?3, 'UTF-8',
      ?3, ?4, NULL, '[]', 0, 'settled', 'accepted', NULL, NULL, 'all', NULL, 0, ?4, ?4, ?4, '[]', 'Neovim', ?5, ?5, ?5, ?5)";
    for (id, writer) in [(1, "editor"), (2, "agent")] {
        old.execute(row, rusqlite::params![id, writer, one, two, now]).unwrap();
    }
    old.execute(
        "INSERT INTO writes VALUES (1, 1, CAST('/ws/a' AS BLOB), ?1, ?2, ?3)",
        rusqlite::params![one, two, now],
    )
    .unwrap();
    drop(old);
    let fixture = JournalFixture::at(&path);
    let listed = fixture.list(HistoryFilter { undoable: true, ..HistoryFilter::default() });
    assert_eq!(listed.len(), 2);
    assert!(
        listed.iter().all(|entry| entry.added.is_none() && entry.decided_by.as_deref() == Some("Neovim"))
    );
    for id in [1, 2] {
        let change = fixture.change(ChangeSelector::Review(ReviewId(id)));
        assert_eq!((change.before.unwrap(), change.after.unwrap()), (b"one\n".to_vec(), b"two\n".to_vec()));
        fixture.undo(ChangeSelector::Review(ReviewId(id)), true);
    }
    assert_eq!(
        JournalFixture::at(&path).list(HistoryFilter { undoable: true, ..HistoryFilter::default() }),
        []
    );
}
