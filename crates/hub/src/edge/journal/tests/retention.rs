//! Ids that are never issued twice, and a journal that stays small, private and readable.

use std::os::unix::fs::PermissionsExt;

use rusqlite::Connection;

use super::*;
use crate::edge::journal::{Inspection, inspect, maintenance};

const AGE: &str = "UPDATE reviews SET proposed_at = 1, decided_at = 1, ended_at = 1, delivered_at = 1;
                   UPDATE writes SET at = 1; UPDATE windows SET seen_at = 1";

/// One accepted change that was written and delivered, and a window.
fn with_a_change(path: &Path) {
    let mut fixture = JournalFixture::at(path);
    fixture.journal.remember_window(window(1));
    fixture.recorded.recv().unwrap();
    fixture.propose(Writer::Hub);
    fixture.decide(Verdict::Accept, true);
    fixture.apply(Event::Delivered { review: ReviewId(1) }, true);
}

#[test]
fn no_id_is_reused_after_everything_was_pruned() {
    let (_folder, path) = folder();
    with_a_change(&path);
    Connection::open(&path).unwrap().execute_batch(AGE).unwrap();
    let mut fixture = JournalFixture::at(&path);
    assert!(fixture.list(HistoryFilter::default()).is_empty(), "it is pruned");
    drop(fixture);
    let remembered = open(&path).1;
    assert_eq!((remembered.next_review, remembered.next_window), (2, 2));
    fixture = JournalFixture::at(&path);
    fixture.propose(Writer::Hub);
    let base_now = fixture.state.review(ReviewId(2)).unwrap().base.clone();
    let decision = Decision { verdict: Verdict::Accept, comments: Vec::new(), write_here: false };
    let (review, surface, revision) = (ReviewId(2), SurfaceId(1), Revision(0));
    fixture.apply(Event::Decided { review, surface, revision, digest: None, decision, base_now }, true);
    assert_eq!(fixture.change(ChangeSelector::Last).id, Some(ChangeId(2)), "c1 was another change");
}

#[test]
fn a_new_journal_continues_with_higher_ids_than_the_damaged_one() {
    let (folder, path) = folder();
    with_a_change(&path);
    std::fs::remove_file(&path).unwrap();
    let next = open(&path).1.next_review;
    assert!((2..=1000).contains(&next), "{next}");
    // Nothing is left of the earlier journal but that there was one.
    std::fs::remove_file(&path).unwrap();
    std::fs::remove_file(folder.path().join("ids.json")).unwrap();
    std::fs::write(folder.path().join("journal.damaged-1.db"), "").unwrap();
    assert!(open(&path).1.next_review > 1_000_000);
    // The first start of all.
    let (_other, fresh) = super::folder();
    assert_eq!(open(&fresh).1.next_review, 1);
}

#[test]
fn an_unreadable_ids_file_is_not_taken_for_a_missing_one() {
    let (folder, path) = folder();
    with_a_change(&path);
    std::fs::remove_file(&path).unwrap();
    std::fs::write(folder.path().join("ids.json"), "{\"review\":").unwrap();
    assert!(open(&path).1.next_review > 1_000_000);
}

#[test]
fn restarting_skips_no_id() {
    let (_folder, path) = folder();
    with_a_change(&path);
    for _ in 0..3 {
        assert_eq!(open(&path).1.next_review, 2);
    }
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn the_journal_and_its_other_files_are_made_private() {
    let (folder, path) = folder();
    with_a_change(&path);
    let beside = ["journal.db", "journal.db-wal", "journal.db-shm"].map(|name| folder.path().join(name));
    // A connection that stays open, so that there is a log.
    let (_journal, _, _recorded) = open(&path);
    for file in &beside {
        assert_eq!(mode(file), 0o600, "{}", file.display());
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o644)).unwrap();
    }
    let (_journal, _, _recorded) = open(&path);
    assert_eq!(beside.map(|file| mode(&file)), [0o600; 3]);
    assert_eq!(mode(&folder.path().join("ids.json")), 0o600);
}

/// Reviews of texts that have nothing in common, each of about `bytes` bytes, one a minute.
fn many(path: &Path, count: u64, bytes: usize) {
    let mut fixture = JournalFixture::at(path);
    for n in 1..=count {
        let text: String = (0..bytes / 16).map(|line| format!("{n:05} {line:08}\n")).collect();
        fixture.propose_on(Text { format: Format::UTF8, text: text.into() }, Writer::Hub);
        let base_now = fixture.state.review(ReviewId(n)).unwrap().base.clone();
        let decision = Decision { verdict: Verdict::Accept, comments: Vec::new(), write_here: false };
        let (review, surface, revision) = (ReviewId(n), SurfaceId(1), Revision(0));
        fixture.apply(Event::Decided { review, surface, revision, digest: None, decision, base_now }, true);
        if n > 1 {
            fixture.apply(Event::Delivered { review }, true);
        }
    }
    let connection = Connection::open(path).unwrap();
    let now = crate::edge::journal::now_ms();
    let at = "(?1 - (100 - id) * 60000)";
    connection
        .execute(&format!("UPDATE reviews SET decided_at = {at}, ended_at = {at}, delivered_at = delivered_at * 0 + {at}"), [now])
        .unwrap();
    connection.execute("UPDATE writes SET at = ?1 - (100 - review) * 60000", [now]).unwrap();
}

#[test]
fn a_journal_that_is_too_large_drops_its_oldest_texts_and_releases_the_space() {
    let (_folder, path) = folder();
    many(&path, 30, 1024 * 1024);
    let before = std::fs::metadata(&path).unwrap().len();
    assert!(before > 25 * 1024 * 1024, "{before}");
    let keeping = Retention { mib: 16, ..Retention::default() };
    let (sender, recorded) = channel();
    let (journal, remembered) =
        Journal::open(&path, &keeping, move |entry| drop(sender.send(entry))).unwrap();
    assert_eq!(remembered.reviews.len(), 1, "the oldest was not delivered: its texts are needed");
    let (state, _) = State::restore(remembered.reviews, remembered.next_review);
    let fixture = JournalFixture { state, journal, recorded, origin: None };
    let listed =
        match fixture.ask(HistoryQuery::List(HistoryFilter { limit: 99, ..HistoryFilter::default() })) {
            HistoryAnswer::List(listed) => listed,
            other => panic!("{other:?}"),
        };
    assert_eq!(listed.len(), 30, "what was decided stays in the history");
    let undoable: Vec<bool> = listed.iter().rev().map(|entry| entry.undoable).collect();
    assert_eq!((undoable[1], undoable[29]), (false, true), "the oldest texts went first: {undoable:?}");
    assert!(undoable.iter().filter(|undoable| **undoable).count() > 10, "{undoable:?}");
    assert!(matches!(
        fixture.ask(HistoryQuery::Change(ChangeSelector::Review(ReviewId(2)))),
        HistoryAnswer::TextsGone { .. }
    ));
    assert!(matches!(fixture.ask(HistoryQuery::Texts(ReviewId(2))), HistoryAnswer::TextsGone { .. }));
    assert!(matches!(
        fixture.ask(HistoryQuery::Change(ChangeSelector::Review(ReviewId(30)))),
        HistoryAnswer::Change(_)
    ));
    let until = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while std::fs::metadata(&path).unwrap().len() > 18 * 1024 * 1024 {
        assert!(std::time::Instant::now() < until, "the file does not get smaller");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn an_inspection_that_takes_too_long_stops() {
    let (_folder, path) = folder();
    many(&path, 8, 1024 * 1024);
    let mut connection = Connection::open(&path).unwrap();
    assert_eq!(
        maintenance::check_damage(&mut connection, std::time::Duration::from_secs(60)).unwrap().as_deref(),
        Some("ok")
    );
    assert_eq!(maintenance::check_damage(&mut connection, std::time::Duration::ZERO).unwrap(), None);
}

/// A review that is shown next to the text of another file.
fn with_a_left_side(path: &Path) -> JournalFixture {
    let mut fixture = JournalFixture::at(path);
    let owner = Owner { agent: AgentId(1), key: "nexus3:x".into() };
    fixture.apply(
        Event::Proposed(Proposal {
            owner,
            window: WindowId(1),
            set: None,
            path: "/ws/new".into(),
            label: "tab".into(),
            writer: Writer::Hub,
            base: Some(Text::utf8("held\n")),
            left: Some("left\nsame\n".into()),
            proposed: "right\nsame\n".into(),
            asked: None,
        }),
        false,
    );
    fixture
}

#[test]
fn the_left_text_of_another_file_is_kept_as_long_as_its_review() {
    let (_folder, path) = folder();
    drop(with_a_left_side(&path));
    // The second start comes after a clean-up of texts that nothing refers to.
    for _ in 0..2 {
        let found = remembered(&path);
        assert_eq!((found[0].base_text(), found[0].file_text()), ("left\nsame\n", "held\n"));
    }
    let mut fixture = JournalFixture::at(&path);
    fixture.decide(Verdict::Accept, true);
    let change = fixture.change(ChangeSelector::Last);
    assert_eq!(
        change.before.as_deref(),
        Some(b"held\n".as_slice()),
        "an undo gives the file its own text back"
    );
    let entry = fixture.list(HistoryFilter::default()).remove(0);
    assert_eq!((entry.added, entry.removed), (Some(2), Some(1)), "counted as the file changed");
    fixture.apply(Event::Delivered { review: ReviewId(1) }, true);
    drop(fixture);
    Connection::open(&path).unwrap().execute_batch(AGE).unwrap();
    drop(open(&path));
    let count = "SELECT count(*) FROM blobs";
    let blobs: i64 = Connection::open(&path).unwrap().query_row(count, [], |row| row.get(0)).unwrap();
    assert_eq!(blobs, 0);
}

#[test]
fn journals_of_all_versions_are_opened_and_newer_ones_left_alone() {
    let versions = [
        (1, include_str!("../schema_1.sql")),
        (2, include_str!("../schema_2.sql")),
        (4, include_str!("../schema_4.sql")),
    ];
    for (version, tables) in versions {
        let (_folder, path) = folder();
        let old = Connection::open(&path).unwrap();
        old.execute_batch(tables).unwrap();
        old.execute_batch(
            "INSERT INTO windows VALUES (7, 'Vim', '[]', '[]', '', 1, 't', '[]', 99999999999999)",
        )
        .unwrap();
        drop(old);
        let (journal, remembered, recorded) = open(&path);
        assert_eq!((remembered.windows.len(), remembered.next_window), (1, 8), "version {version}");
        drop((journal, recorded));
        let found: i64 = Connection::open(&path)
            .and_then(|db| db.pragma_query_value(None, "user_version", |row| row.get(0)))
            .unwrap();
        assert_eq!(found, crate::edge::journal::schema::VERSION);
        with_a_change(&path);
        drop(with_a_left_side(&path));
        assert_eq!(super::remembered(&path)[0].base_text(), "left\nsame\n", "version {version}");
    }
    let (_folder, path) = folder();
    drop(open(&path));
    Connection::open(&path).unwrap().execute_batch("PRAGMA user_version = 99").unwrap();
    let before = std::fs::read(&path).unwrap();
    let opened = Journal::open(&path, &Retention::default(), |_| {});
    assert!(matches!(opened, Err(crate::edge::journal::JournalError::Newer { found: 99, .. })));
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert!(matches!(inspect(&path), Inspection::Newer { found: 99, .. }));
}

#[test]
fn inspecting_a_journal_changes_nothing() {
    let (folder, path) = folder();
    assert_eq!(inspect(&path), Inspection::None);
    assert!(!path.exists());
    with_a_change(&path);
    let names = || -> BTreeSet<_> {
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    };
    let until = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while names().iter().any(|name| name.to_string_lossy().ends_with("-wal")) {
        assert!(std::time::Instant::now() < until, "the journal is not closed");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let before = (names(), std::fs::read(&path).unwrap());
    assert!(matches!(inspect(&path), Inspection::Sound { whole: true, .. }));
    assert_eq!((names(), std::fs::read(&path).unwrap()), before);
    // While a hub has it.
    let (_journal, _, _recorded) = open(&path);
    assert!(matches!(inspect(&path), Inspection::Sound { .. }));
    std::fs::write(&path, vec![0xA5; 20_000]).unwrap();
    assert!(matches!(inspect(&path), Inspection::Damaged(_)));
}
