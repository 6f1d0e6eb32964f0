//! Session files on a real disk.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use super::*;
use crate::conversation::{AgentConversation, Record, Settings, TurnEnd};
use crate::message::ChatMessage;

fn store() -> (tempfile::TempDir, SessionStore) {
    let folder = tempfile::tempdir().unwrap();
    let store = SessionStore::new(folder.path().join("agent/sessions"));
    (folder, store)
}

fn said(text: &str) -> Record {
    Record::Message { message: ChatMessage::User { text: text.to_owned(), attachments: Vec::new() } }
}

#[test]
fn what_was_appended_is_read_back_and_only_the_user_may_read_it() {
    let (_folder, store) = store();
    let mut session = store.create(Path::new("/w"), "openai/x");
    assert!(!session.path().exists());
    session.append(&said("one")).unwrap();
    session.set_model("openai/y").unwrap();
    session.append(&Record::Ended { end: TurnEnd::Done }).unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&session.path()), mode(session.path().parent().unwrap())), (0o600, 0o700));
    let name = session.name().to_owned();
    drop(session);
    let loaded = store.open(&name).unwrap();
    assert_eq!(loaded.records, [said("one"), Record::Ended { end: TurnEnd::Done }]);
    assert_eq!((loaded.model.as_str(), loaded.was_torn), ("openai/y", false));
}

#[test]
fn two_agents_cannot_use_one_session() {
    let (_folder, store) = store();
    let mut session = store.create(Path::new("/w"), "m");
    session.append(&said("one")).unwrap();
    let name = session.name().to_owned();
    let error = store.open(&name).unwrap_err();
    assert!(matches!(error, SessionError::Locked(_)), "{error}");
    drop(session);
    assert!(store.open(&name).is_ok());
}

#[test]
fn a_torn_last_line_is_dropped_and_the_next_record_follows_the_last_whole_one() {
    let (_folder, store) = store();
    let mut session = store.create(Path::new("/w"), "m");
    session.append(&said("one")).unwrap();
    let (name, path) = (session.name().to_owned(), session.path());
    drop(session);
    let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(b"{\"record\":\"mess").unwrap();
    let mut loaded = store.open(&name).unwrap();
    assert!(loaded.was_torn);
    assert_eq!(loaded.records, [said("one")]);
    loaded.session.append(&said("two")).unwrap();
    drop(loaded);
    let loaded = store.open(&name).unwrap();
    assert_eq!((loaded.records, loaded.was_torn), (vec![said("one"), said("two")], false));
}

#[test]
fn a_damaged_middle_is_reported_with_its_line() {
    let (_folder, store) = store();
    let mut session = store.create(Path::new("/w"), "m");
    session.append(&said("one")).unwrap();
    let (name, path) = (session.name().to_owned(), session.path());
    drop(session);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{text}{{\"record\":\"nonsense\"}}\n{{}}\n")).unwrap();
    let error = store.open(&name).unwrap_err().to_string();
    assert!(error.contains("damaged at line 3: unknown variant `nonsense`"), "{error}");
    std::fs::write(&path, "{}\n").unwrap();
    assert!(store.open(&name).unwrap_err().to_string().contains("line 1"));
    std::fs::write(&path, text.replace("\"version\":1", "\"version\":9")).unwrap();
    assert!(store.open(&name).unwrap_err().to_string().contains("newer linkspan-agent"));
}

#[test]
fn sessions_are_listed_with_the_last_used_first_and_can_be_renamed() {
    let (_folder, store) = store();
    assert_eq!(store.list().unwrap(), []);
    let mut first = store.create(Path::new("/one"), "m");
    first.append(&said("x")).unwrap();
    first.rename("first").unwrap();
    std::thread::sleep(Duration::from_millis(20));
    let mut second = store.create(Path::new("/two"), "m");
    second.append(&said("x")).unwrap();
    second.append(&said("y")).unwrap();
    assert!(matches!(second.rename("first"), Err(SessionError::Taken(_))));
    assert!(matches!(second.rename("../x"), Err(SessionError::Name(_))));
    second.rename("second").unwrap();
    let list = store.list().unwrap();
    let shown: Vec<_> =
        list.iter().map(|found| (found.name.as_str(), found.messages, found.cwd.as_path())).collect();
    assert_eq!(shown, [("second", 2, Path::new("/two")), ("first", 1, Path::new("/one"))]);
    assert!(matches!(store.open("third"), Err(SessionError::Missing(_))));
}

#[test]
fn what_could_not_be_written_is_written_with_the_next_record() {
    let (_folder, store) = store();
    let mut session = store.create(Path::new("/w"), "m");
    session.append(&said("one")).unwrap();
    let name = session.name().to_owned();
    let file = session.swap_file(std::fs::File::open("/dev/full").ok());
    let full = std::fs::OpenOptions::new().append(true).open("/dev/full").unwrap();
    session.swap_file(Some(full));
    let error = session.append(&said("two")).unwrap_err().to_string();
    assert!(error.starts_with("cannot write the session file"), "{error}");
    session.swap_file(file);
    session.append(&said("three")).unwrap();
    drop(session);
    assert_eq!(store.open(&name).unwrap().records, [said("one"), said("two"), said("three")]);
}

#[test]
fn a_session_whose_file_could_not_be_locked_is_created_by_the_next_record() {
    let (_folder, store) = store();
    let mut session = store.create(Path::new("/w"), "m");
    let name = session.name().to_owned();
    let refused = session.create(|_, name, _| Err(SessionError::Locked(name.to_owned())));
    assert!(matches!(refused, Err(SessionError::Locked(_))), "{refused:?}");
    session.append(&said("one")).unwrap();
    drop(session);
    assert_eq!(store.open(&name).unwrap().records, [said("one")]);
}

#[test]
fn ten_thousand_messages_are_opened_quickly() {
    let (_folder, store) = store();
    let mut session = store.create(Path::new("/w"), "m");
    session.append(&said("x")).unwrap();
    let (name, path) = (session.name().to_owned(), session.path());
    drop(session);
    let mut file = std::io::BufWriter::new(std::fs::OpenOptions::new().append(true).open(path).unwrap());
    for index in 0..10_000 {
        let record = said(&format!("message {index} {}", "word ".repeat(40)));
        serde_json::to_writer(&mut file, &record).unwrap();
        file.write_all(b"\n").unwrap();
    }
    drop(file);
    let start = Instant::now();
    let loaded = store.open(&name).unwrap();
    let conversation = AgentConversation::restore(Settings::default(), loaded.records);
    assert_eq!(conversation.messages().len(), 10_001);
    // 200 ms with optimisations; this is neither optimised nor alone on the machine.
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}
