//! Real descriptors on both sides, as a terminal has them.

use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use serde_json::json;

use super::*;

fn question() -> ConfirmQuestion {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("f"), "one\ntwo\n").unwrap();
    let call = json!({ "path": "f", "content": "one\n\u{202e}2\u{1b}[2J\n" });
    ConfirmQuestion::of_call("write_file", &call, folder.path()).unwrap()
}

struct Person {
    console: Arc<Console>,
    types: UnixStream,
    sees: UnixStream,
}

fn person() -> Person {
    let (types, input) = UnixStream::pair().unwrap();
    let (sees, output) = UnixStream::pair().unwrap();
    sees.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    Person { console: Arc::new(Console::over(input.into(), output.into())), types, sees }
}

impl Person {
    fn is_asked(&self, cancelled: &Arc<Cancellation>) -> Receiver<TerminalAnswer> {
        self.is_asked_about(question(), cancelled)
    }

    fn is_asked_about(
        &self,
        question: ConfirmQuestion,
        cancelled: &Arc<Cancellation>,
    ) -> Receiver<TerminalAnswer> {
        let (say, heard) = channel();
        let (console, cancelled) = (Arc::clone(&self.console), Arc::clone(cancelled));
        thread::spawn(move || say.send(console.ask(&question, &cancelled)));
        heard
    }

    /// Everything up to the prompt.
    fn reads(&mut self) -> String {
        let mut seen = Vec::new();
        let mut byte = [0];
        while !seen.ends_with(b"reason: ") {
            assert_eq!(self.sees.read(&mut byte).unwrap(), 1);
            seen.extend(byte);
        }
        String::from_utf8(seen).unwrap()
    }
}

fn end(heard: &Receiver<TerminalAnswer>) -> TerminalAnswer {
    heard.recv_timeout(Duration::from_secs(10)).expect("it hangs")
}

#[test]
fn the_change_is_shown_with_what_hides_made_visible() {
    let mut person = person();
    let heard = person.is_asked(&Arc::new(Cancellation::new()));
    let seen = person.reads();
    assert!(seen.contains("write_file changes /"), "{seen}");
    assert!(seen.contains("@@ -1,2 +1,2 @@\n one\n-two\n+\\u{202e}2\\u{1b}[2J\n"), "{seen}");
    person.types.write_all(b"y\n").unwrap();
    assert_eq!(end(&heard), TerminalAnswer::Allow);
}

#[test]
fn only_a_clear_word_is_an_answer() {
    let mut person = person();
    let heard = person.is_asked(&Arc::new(Cancellation::new()));
    person.reads();
    for no_answer in ["\n", "maybe\n", "yes please\n"] {
        person.types.write_all(no_answer.as_bytes()).unwrap();
        person.reads();
    }
    person.types.write_all(b"n too long\n").unwrap();
    assert_eq!(end(&heard), TerminalAnswer::Deny { reason: Some("too long".to_owned()), comments: vec![] });
}

#[test]
fn what_was_typed_before_the_question_is_no_answer() {
    let mut person = person();
    person.types.write_all(b"y\n").unwrap();
    let heard = person.is_asked(&Arc::new(Cancellation::new()));
    person.reads();
    thread::sleep(Duration::from_millis(50));
    assert!(heard.try_recv().is_err());
    person.types.write_all(b"no\n").unwrap();
    assert_eq!(end(&heard), TerminalAnswer::Deny { reason: None, comments: vec![] });
}

#[test]
fn a_closed_terminal_is_neither_yes_nor_no() {
    let mut person = person();
    let heard = person.is_asked(&Arc::new(Cancellation::new()));
    person.reads();
    person.types.shutdown(std::net::Shutdown::Both).unwrap();
    assert!(matches!(end(&heard), TerminalAnswer::Unavailable { .. }));
}

#[test]
fn a_question_that_is_taken_back_is_left_at_once() {
    let mut person = person();
    let first = Arc::new(Cancellation::new());
    let heard = person.is_asked(&first);
    person.reads();
    // Half an answer, and a second question that waits for its turn.
    person.types.write_all(b"ye").unwrap();
    let second = Arc::new(Cancellation::new());
    let waits = person.is_asked(&second);
    second.cancel();
    assert_eq!(end(&waits), TerminalAnswer::Cancelled);
    first.cancel();
    assert_eq!(end(&heard), TerminalAnswer::Cancelled);
}

#[test]
fn a_question_that_nobody_takes_back_can_be_answered() {
    let mut person = person();
    let heard = person.is_asked(&Arc::new(Cancellation::never()));
    person.reads();
    person.types.write_all(b"Y\n").unwrap();
    assert_eq!(end(&heard), TerminalAnswer::Allow);
}

#[test]
fn a_crlf_file_is_shown_without_its_ends_and_a_change_of_ends_with_them() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("f"), "one\r\ntwo\r\n").unwrap();
    let edit = json!({ "path": "f", "old_string": "two", "new_string": "2" });
    let seen = render(&ConfirmQuestion::of_call("edit_file", &edit, folder.path()).unwrap());
    assert!(seen.ends_with(" one\n-two\n+2\n"), "{seen}");
    let ends = json!({ "path": "f", "pattern": "\\r\\n", "replacement": "\\n" });
    let seen = render(&ConfirmQuestion::of_call("regex_replace", &ends, folder.path()).unwrap());
    assert!(seen.contains("-one\\r\n") && seen.contains("+one\n"), "{seen}");
}

#[test]
fn another_tool_is_shown_by_its_arguments() {
    let call = json!({ "program": "rm\u{7}" });
    let seen = render(&ConfirmQuestion::of_call("exec", &call, Path::new("/")).unwrap());
    assert_eq!(seen, "\nexec:\n{\n  \"program\": \"rm\\u0007\"\n}\n");
}

#[test]
fn a_change_that_is_not_shown_to_its_end_needs_more_than_a_yes() {
    let folder = tempfile::tempdir().unwrap();
    let call = json!({ "path": "f", "content": "line\n".repeat(MOST_LINES + 1) });
    let question = ConfirmQuestion::of_call("write_file", &call, folder.path()).unwrap();
    let mut person = person();
    let heard = person.is_asked_about(question, &Arc::new(Cancellation::new()));
    assert!(person.reads().contains("not shown"));
    person.types.write_all(b"yes\n").unwrap();
    assert!(person.reads().contains(UNSEEN));
    person.types.write_all(b"allow unseen\n").unwrap();
    assert_eq!(end(&heard), TerminalAnswer::Allow);
}

#[test]
fn comments_on_lines_go_with_the_answer() {
    for (answer, is_no) in [("n why\n", true), ("y\n", false)] {
        let (mut person, cancelled) = (person(), Arc::new(Cancellation::never()));
        let heard = person.is_asked(&cancelled);
        assert!(person.reads().contains("[c] LINE COMMENT"));
        for (comment, noted) in [
            ("c 2 what is this?\n", "(line 2: what is this?)"),
            ("c 1 gone\n", "(line 1: gone)"),
            ("c 1\n", "(no comment on line 1)"),
            ("c 99 nowhere\n", ""),
            ("c x\n", ""),
        ] {
            person.types.write_all(comment.as_bytes()).unwrap();
            assert!(person.reads().starts_with(noted), "{comment}");
        }
        person.types.write_all(answer.as_bytes()).unwrap();
        let (reason, comments) = match heard.recv().unwrap() {
            TerminalAnswer::Deny { reason, comments } => (reason, comments),
            TerminalAnswer::AllowText { taken: AcceptedPart::All, comments, text, .. } => {
                assert!(text.starts_with("one\n"));
                (None, comments)
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(reason, is_no.then(|| "why".to_owned()));
        assert_eq!(comments, [Comment { line: 2, text: "what is this?".to_owned() }]);
    }
}
