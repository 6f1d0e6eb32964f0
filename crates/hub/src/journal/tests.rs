//! What a restarted hub reads back.

mod keeping;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};

use linkspan_editor_api as api;
use linkspan_review::{
    AgentId, ChangeId, Decision, Digest, Effect, Event, Format, Owner, Proposal, Review, ReviewId, Revision,
    State, Step, SurfaceId, Text, Verdict, WindowId, Writer,
};

use super::{
    Change, Entry, Filter, Found, Journal, Keeping, Name, Question, Recorded, Remembered, RememberedWindow,
};
use crate::core::Ticket;

/// A review core whose records go to a real journal.
struct Desk {
    state: State,
    journal: Journal,
    recorded: Receiver<Recorded>,
}

fn open(path: &Path) -> (Journal, Remembered, Receiver<Recorded>) {
    let (sender, recorded) = channel();
    let (journal, remembered) = Journal::open(path, &Keeping::default(), move |entry| {
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
                    let entry = Entry {
                        review: self.state.review(review).unwrap().clone(),
                        step,
                        by: None,
                        size: None,
                    };
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

impl Desk {
    fn ask(&self, question: Question) -> Found {
        self.journal.ask(Ticket(1), question);
        match self.recorded.recv().unwrap() {
            Recorded::History { result, .. } => result.unwrap(),
            other => panic!("no answer: {other:?}"),
        }
    }

    fn list(&self, filter: Filter) -> Vec<api::HistoryEntry> {
        match self.ask(Question::List(Filter { limit: 9, ..filter })) {
            Found::List(entries) => entries,
            other => panic!("no list: {other:?}"),
        }
    }

    fn change(&self, name: Name) -> Change {
        match self.ask(Question::Change(name)) {
            Found::Change(change) => *change,
            other => panic!("no change: {other:?}"),
        }
    }

    /// Takes a change back as far as the journal is concerned; gives the undo's name.
    fn undo(&self, name: Name, done: bool) -> ChangeId {
        self.journal.begin_undo(Ticket(1), self.change(name));
        let Recorded::UndoBegun { result, .. } = self.recorded.recv().unwrap() else { panic!("not begun") };
        let (_, undo) = result.unwrap();
        self.journal.end_undo(undo, done, Some(0o750));
        self.list(Filter::default());
        undo
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
    assert!(matches!(&effects[..], [Effect::Write { bytes, .. }] if **bytes == *b"one\n2\n"));
}

#[test]
fn what_an_agent_was_told_to_write_is_looked_for_until_it_was_seen() {
    for writer in [Writer::Agent, Writer::AgentAsProposed] {
        let (_folder, path) = folder();
        let mut desk = Desk::at(&path);
        desk.propose(writer);
        desk.decide(Verdict::Accept, false);
        let unseen = open(&path).1.unseen;
        let found = unseen.first().expect("it was not seen");
        assert_eq!((found.review, found.writer), (ReviewId(1), writer));
        assert_eq!(found.accepted.as_slice(), b"one\n2\n");
        assert_eq!(desk.list(Filter::default())[0].on_disk, Some(false));
        desk.journal.record_on_disk(ReviewId(1));
        assert_eq!(desk.list(Filter::default())[0].on_disk, Some(true));
        assert!(open(&path).1.unseen.is_empty());
    }
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

fn window(id: u64) -> RememberedWindow {
    RememberedWindow {
        id: WindowId(id),
        editor: "Desk".into(),
        folders: Vec::new(),
        real_folders: Vec::new(),
        key: String::new(),
        port: 1,
        token: String::new(),
        discovery: Vec::new(),
    }
}

#[test]
fn a_window_that_reviews_name_is_kept_and_its_name_not_given_again() {
    let (_folder, path) = folder();
    let mut desk = Desk::at(&path);
    for id in [1, 2] {
        desk.journal.remember_window(window(id));
        desk.recorded.recv().unwrap();
    }
    desk.propose(Writer::Agent);
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch("UPDATE windows SET seen_at = 1").unwrap();
    let left: Vec<WindowId> = open(&path).1.windows.iter().map(|window| window.id).collect();
    assert_eq!(left, [WindowId(1)]);
    connection.execute_batch("UPDATE reviews SET window = 7").unwrap();
    assert_eq!(open(&path).1.next_window, 8);
}

#[test]
fn a_window_of_this_life_is_not_pruned_however_long_ago_it_was_opened() {
    let (_folder, path) = folder();
    let desk = Desk::at(&path);
    desk.journal.remember_window(window(1));
    desk.recorded.recv().unwrap();
    let mut connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch("UPDATE windows SET seen_at = 1").unwrap();
    super::schema::prune(&mut connection, 30, &BTreeSet::from([WindowId(1)])).unwrap();
    assert_eq!(open(&path).1.windows.len(), 1);
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
        desk.journal.record(Entry { review: review.clone(), step, by: None, size: None });
    }
    let answers: Vec<Step> = (0..3)
        .map(|_| match desk.recorded.recv().unwrap() {
            Recorded::Review { step, .. } => step,
            other => panic!("not the record of a step: {other:?}"),
        })
        .collect();
    assert_eq!(answers, steps);
    assert!(desk.recorded.try_recv().is_err());
}

#[test]
fn a_decision_does_not_wait_for_those_who_read_the_past() {
    let (_folder, path) = folder();
    let mut desk = Desk::at(&path);
    desk.propose(Writer::Agent);
    let review = desk.state.review(ReviewId(1)).unwrap().clone();
    let (told, recorded) = channel();
    let (go, gone) = channel::<()>();
    // Held at the first, so that the others wait together.
    let (journal, _) = Journal::open(&path, &Keeping::default(), move |entry| {
        let _ = told.send(entry);
        let _ = gone.recv();
    })
    .unwrap();
    let edited = || Entry { review: review.clone(), step: Step::Edited, by: None, size: None };
    let ask = |ticket| journal.ask(Ticket(ticket), Question::List(Filter::default()));
    journal.record(edited());
    recorded.recv().unwrap();
    ask(1);
    ask(2);
    journal.record(edited());
    drop(go);
    let order: Vec<u64> = (0..3)
        .map(|_| match recorded.recv().unwrap() {
            Recorded::History { ticket, .. } => ticket.0,
            _ => 0,
        })
        .collect();
    assert_eq!(order, [0, 1, 2]);
}

#[test]
fn the_size_of_a_change_is_that_of_what_the_editor_made_of_it() {
    let (_folder, path) = folder();
    let mut desk = Desk::at(&path);
    desk.propose(Writer::Editor);
    desk.decide(Verdict::Accept, false);
    let text = "one\n2\n// tidy\n".to_owned();
    desk.apply(Event::SavedAs { review: ReviewId(1), text }, false);
    let entry = &desk.list(Filter::default())[0];
    assert_eq!((entry.added, entry.removed), (Some(2), Some(1)));
}

#[test]
fn an_accepted_change_can_be_taken_back_whoever_wrote_it() {
    for writer in [Writer::Agent, Writer::Editor] {
        let (_folder, path) = folder();
        let mut desk = Desk::at(&path);
        desk.propose(writer);
        assert!(desk.list(Filter::default()).is_empty(), "nothing is decided");
        desk.decide(Verdict::Accept, true);
        let entry = &desk.list(Filter::default())[0];
        assert_eq!(
            (entry.undoable, entry.undone, entry.added, entry.removed),
            (true, false, Some(1), Some(1))
        );
        assert_eq!(entry.change.is_some(), writer == Writer::Editor);
        let change = desk.change(Name::Last);
        assert_eq!(
            (change.before.as_deref(), change.after.as_deref()),
            (Some(&b"one\ntwo\n"[..]), Some(&b"one\n2\n"[..]))
        );
        assert_eq!(change, desk.change(Name::Review(ReviewId(1))));
        assert_eq!(change.writer, writer);
        let undo = desk.undo(Name::Last, true);
        assert_eq!(desk.change(Name::Review(ReviewId(1))).writer, writer);
        assert_eq!(desk.change(Name::Change(undo)).writer, Writer::Editor);
    }
}

#[test]
fn whether_an_agent_sends_the_mark_is_read_back() {
    for (base, marked) in [("one\r\ntwo\r\n", true), ("one\r\n", false), ("one\n", true), ("one\n", false)] {
        let (_folder, path) = folder();
        let mut desk = Desk::at(&path);
        let base = Text { format: Format::from_name("UTF-8 with BOM").unwrap(), text: base.into() };
        desk.propose_text(base, Writer::Agent, if marked { "\u{feff}one\n2\n" } else { "one\n2\n" });
        let now = desk.state.review(ReviewId(1)).unwrap();
        let [then] = &remembered(&path)[..] else { panic!("not one review") };
        assert_eq!((then.marked, then.convention), (marked, now.convention));
    }
}

#[test]
fn a_file_whose_bytes_before_are_not_known_is_not_taken_for_one_that_was_not_there() {
    for writer in [Writer::Agent, Writer::Editor] {
        let (_folder, path) = folder();
        let mut desk = Desk::at(&path);
        // As unsaved text may be: more than the file's encoding can say.
        let format = Format::from_name("windows-1252").unwrap();
        desk.propose_on(Text { format, text: "one\nя\n".into() }, writer);
        desk.decide(Verdict::Accept, true);
        let writes: i64 = rusqlite::Connection::open(&path)
            .and_then(|db| db.query_row("SELECT count(*) FROM writes", [], |row| row.get(0)))
            .unwrap();
        assert_eq!(writes, 0);
        desk.journal.ask(Ticket(1), Question::Change(Name::Review(ReviewId(1))));
        let Recorded::History { result, .. } = desk.recorded.recv().unwrap() else { panic!("no answer") };
        assert!(!matches!(result, Ok(Found::Change(_))), "{writer:?}: {result:?}");
    }
}

#[test]
fn an_undo_is_undone_by_its_own_name_and_so_on() {
    let (_folder, path) = folder();
    let mut desk = Desk::at(&path);
    desk.propose(Writer::Agent);
    desk.decide(Verdict::Accept, true);
    let undo = desk.undo(Name::Last, true);
    let undone = desk.change(Name::Review(ReviewId(1)));
    assert_eq!(undone.undone_by, Some(undo));
    assert!(
        matches!(desk.ask(Question::Change(Name::Last)), Found::Unknown),
        "an undo is not what is undone last"
    );
    let redo = desk.undo(Name::Change(undo), true);
    assert_eq!(desk.change(Name::Change(undo)).undone_by, Some(redo));
    let again = desk.change(Name::Last);
    assert_eq!((again.id, again.undone_by), (undone.id, None));
    assert_eq!((undone.mode, desk.change(Name::Change(undo)).mode), (None, Some(0o750)));
    let changes: Vec<_> =
        desk.list(Filter::default()).into_iter().map(|e| (e.change, e.undoes, e.undone)).collect();
    let name = |id: ChangeId| Some(id.to_string());
    let first = undone.id.unwrap();
    assert_eq!(
        changes,
        [(name(redo), name(undo), false), (name(undo), name(first), true), (name(first), None, false)]
    );
}

#[test]
fn an_undo_that_came_to_nothing_leaves_no_trace_and_one_that_was_only_begun_is_found_again() {
    let (_folder, path) = folder();
    let mut desk = Desk::at(&path);
    desk.propose(Writer::Editor);
    desk.decide(Verdict::Accept, true);
    desk.undo(Name::Last, false);
    assert_eq!(desk.list(Filter { undoable: true, ..Filter::default() }).len(), 1);
    assert_eq!(open(&path).1.undos, []);
    desk.journal.begin_undo(Ticket(1), desk.change(Name::Last));
    desk.recorded.recv().unwrap();
    assert_eq!(desk.list(Filter::default()).len(), 1, "it is not done");
    let begun = open(&path).1.undos;
    assert_eq!(begun.iter().map(|undo| undo.after).collect::<Vec<_>>(), [Some(Digest::of(b"one\ntwo\n"))]);
}

#[test]
fn the_past_is_listed_by_folder_and_window_and_what_was_rejected_cannot_be_undone() {
    let (_folder, path) = folder();
    let mut desk = Desk::at(&path);
    desk.propose(Writer::Agent);
    desk.decide(Verdict::Reject { reason: Some("no".into()) }, true);
    let within = |path: &str| desk.list(Filter { path: Some(path.into()), ..Filter::default() }).len();
    assert_eq!(["/ws/a", "/ws", "/ws/", "/", "/w", "/ws/a/b", "/ws/ab"].map(within), [1, 1, 1, 1, 0, 0, 0]);
    let window = |id| desk.list(Filter { window: Some(WindowId(id)), ..Filter::default() }).len();
    assert_eq!([window(1), window(2)], [1, 0]);
    assert_eq!(desk.list(Filter { undoable: true, ..Filter::default() }), []);
    let found = desk.ask(Question::Change(Name::Review(ReviewId(1))));
    assert!(matches!(found, Found::NothingWritten { verdict, .. } if verdict == "rejected"));
}

#[test]
fn what_was_undone_lately_is_kept_with_its_review_and_its_bytes() {
    let (_folder, path) = folder();
    let mut desk = Desk::at(&path);
    desk.propose(Writer::Editor);
    desk.decide(Verdict::Accept, true);
    desk.apply(Event::Delivered { review: ReviewId(1) }, true);
    let undo = desk.undo(Name::Last, true);
    let connection = rusqlite::Connection::open(&path).unwrap();
    let age = "UPDATE reviews SET decided_at = 1, ended_at = 1, delivered_at = 1; UPDATE writes SET at = 1";
    connection.execute_batch(&format!("{age} WHERE undoes IS NULL")).unwrap();
    let later = Desk::at(&path);
    assert_eq!(later.change(Name::Change(undo)).before.as_deref(), Some(&b"one\n2\n"[..]));
    assert_eq!(later.list(Filter::default()).len(), 2);
    connection.execute_batch(age).unwrap();
    assert_eq!(Desk::at(&path).list(Filter::default()), []);
    let left: i64 = connection
        .query_row("SELECT (SELECT count(*) FROM writes) + (SELECT count(*) FROM blobs)", [], |row| {
            row.get(0)
        })
        .unwrap();
    assert_eq!(left, 0);
}

#[test]
fn a_journal_of_version_1_is_taken_over_with_everything_in_it() {
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
    let desk = Desk::at(&path);
    let listed = desk.list(Filter { undoable: true, ..Filter::default() });
    assert_eq!(listed.len(), 2);
    assert!(
        listed.iter().all(|entry| entry.added.is_none() && entry.decided_by.as_deref() == Some("Neovim"))
    );
    for id in [1, 2] {
        let change = desk.change(Name::Review(ReviewId(id)));
        assert_eq!((change.before.unwrap(), change.after.unwrap()), (b"one\n".to_vec(), b"two\n".to_vec()));
        desk.undo(Name::Review(ReviewId(id)), true);
    }
    assert_eq!(Desk::at(&path).list(Filter { undoable: true, ..Filter::default() }), []);
}
