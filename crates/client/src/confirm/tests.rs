//! Each rule as a sentence, with scripted editors and terminals; nothing waits forever.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::*;
use crate::bridge::Contact;
use crate::connection::DiffOutcome;

/// What happens in the editor.
enum Happens {
    Decided(ChangeOutcome),
    Contact(Contact),
    Gone,
    Withdrawn,
}

/// An editor that shows what it is given and does as it is told.
#[derive(Clone)]
struct ConfirmFixture {
    tell: Sender<Happens>,
    happens: Arc<Mutex<Receiver<Happens>>>,
    shown: Arc<Mutex<Vec<Change>>>,
    withdrawn: Arc<AtomicUsize>,
    refuses: bool,
}

impl ConfirmFixture {
    fn new() -> ConfirmFixture {
        let (tell, happens) = channel();
        let happens = Arc::new(Mutex::new(happens));
        ConfirmFixture { tell, happens, shown: Arc::default(), withdrawn: Arc::default(), refuses: false }
    }

    fn with(happens: impl IntoIterator<Item = Happens>) -> ConfirmFixture {
        let fixture = ConfirmFixture::new();
        happens.into_iter().for_each(|happens| fixture.tell(happens));
        fixture
    }

    fn tell(&self, happens: Happens) {
        self.tell.send(happens).unwrap();
    }

    fn was_asked(&self) -> bool {
        !self.shown.lock().unwrap().is_empty()
    }
}

impl Reviewer for ConfirmFixture {
    fn start(&self, change: &Change) -> Result<Box<dyn PendingReview>, NoDecision> {
        if self.refuses {
            return Err(NoDecision::Gone("no such window".to_owned()));
        }
        self.shown.lock().unwrap().push(change.clone());
        Ok(Box::new(self.clone()))
    }
}

impl PendingReview for ConfirmFixture {
    fn wait(&self, tell: &dyn Fn(Contact)) -> Result<ChangeOutcome, NoDecision> {
        loop {
            match self.happens.lock().unwrap().recv().unwrap() {
                Happens::Decided(decided) => return Ok(decided),
                Happens::Contact(contact) => tell(contact),
                Happens::Gone => return Err(NoDecision::Gone("it went away".to_owned())),
                Happens::Withdrawn => return Err(NoDecision::Withdrawn),
            }
        }
    }

    fn withdraw(&self) {
        self.withdrawn.fetch_add(1, Ordering::SeqCst);
        self.tell(Happens::Withdrawn);
    }
}

/// A terminal that answers when it is told to.
struct Keys {
    answers: Mutex<Receiver<TerminalAnswer>>,
    notes: Mutex<Vec<Option<String>>>,
    cancelled: AtomicUsize,
}

fn keys() -> (Sender<TerminalAnswer>, Arc<Keys>) {
    let (press, answers) = channel();
    let (notes, cancelled) = (Mutex::default(), AtomicUsize::new(0));
    (press, Arc::new(Keys { answers: Mutex::new(answers), notes, cancelled }))
}

impl TerminalPrompt for Keys {
    fn ask(&self, question: &ConfirmQuestion, cancelled: &Cancellation) -> TerminalAnswer {
        self.notes.lock().unwrap().push(question.note.clone());
        loop {
            if cancelled.is_cancelled() {
                self.cancelled.fetch_add(1, Ordering::SeqCst);
                return TerminalAnswer::Cancelled;
            }
            match self.answers.lock().unwrap().recv_timeout(Duration::from_millis(2)) {
                Ok(answer) => return answer,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => thread::sleep(Duration::from_millis(2)),
            }
        }
    }
}

const TRUSTED: fn() -> Rules = || Rules::new(PermissionMode::Trusted);
const BOTH: fn() -> Rules = || Rules { ask_both: true, ..TRUSTED() };

/// The folder is there as long as the file is needed: the question has read it.
fn question_in(file: &[u8], tool: &str, mut arguments: Value) -> ConfirmQuestion {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("f"), file).unwrap();
    arguments["path"] = json!("f");
    ConfirmQuestion::of_call(tool, &arguments, folder.path()).unwrap()
}

fn question() -> ConfirmQuestion {
    question_in(b"old\n", "write_file", json!({ "content": "new\n" }))
}

fn accepted(text: &str, written: bool) -> Happens {
    let text = Some(text.to_owned());
    Happens::Decided(ChangeOutcome { text, written, ..ChangeOutcome::bare(DiffOutcome::FileSaved) })
}

fn rejected() -> Happens {
    Happens::Decided(ChangeOutcome {
        reason: Some("not like this".to_owned()),
        comments: vec![Comment { line: 3, text: "why?".to_owned() }],
        ..ChangeOutcome::bare(DiffOutcome::DiffRejected)
    })
}

/// Asks on another thread, and does not wait without end.
fn start(
    question: ConfirmQuestion,
    rules: Rules,
    fixture: Option<&ConfirmFixture>,
    keys: &Arc<Keys>,
) -> Receiver<Confirmation> {
    let (say, heard) = channel();
    let (fixture, keys) = (fixture.cloned(), Arc::clone(keys));
    thread::spawn(move || {
        let reviewer = fixture.as_ref().map(|fixture| fixture as &dyn Reviewer);
        say.send(confirm(&question, &rules, reviewer, &*keys)).unwrap();
    });
    heard
}

fn end(heard: &Receiver<Confirmation>) -> Confirmation {
    heard.recv_timeout(Duration::from_secs(20)).expect("it hangs")
}

fn by(confirmation: &Confirmation) -> Option<DecidedBy> {
    match confirmation {
        Confirmation::AllowOnce { by, .. } | Confirmation::Deny { by, .. } => Some(*by),
        _ => None,
    }
}

fn eventually(what: &str, mut look: impl FnMut() -> bool) {
    for _ in 0..5000 {
        if look() {
            return;
        }
        thread::sleep(Duration::from_millis(1));
    }
    panic!("not within five seconds: {what}");
}

#[test]
fn a_yolo_or_sandboxed_agent_is_not_asked() {
    for mode in [PermissionMode::Yolo, PermissionMode::Sandboxed] {
        let (fixture, (_press, keys)) = (ConfirmFixture::new(), keys());
        assert_eq!(end(&start(question(), Rules::new(mode), Some(&fixture), &keys)), Confirmation::NotAsked);
        assert!(!fixture.was_asked() && keys.notes.lock().unwrap().is_empty());
    }
}

#[test]
fn each_of_the_six_tools_goes_to_the_editor_and_no_other() {
    let calls = [
        ("write_file", json!({ "content": "new\n" })),
        ("edit_file", json!({ "old_string": "old", "new_string": "new" })),
        ("edit_lines", json!({ "start_line": 1, "new_content": "new" })),
        ("append_file", json!({ "content": "new\n" })),
        ("regex_replace", json!({ "pattern": "o.d", "replacement": "new" })),
        ("patch", json!({ "diff": "@@ -1 +1 @@\n-old\n+new\n" })),
    ];
    for (tool, arguments) in calls {
        let (fixture, (_press, keys)) = (ConfirmFixture::with([accepted("new\n", true)]), keys());
        let confirmation =
            end(&start(question_in(b"old\n", tool, arguments), TRUSTED(), Some(&fixture), &keys));
        let text = Some("new\n".to_owned());
        let expect = Confirmation::AllowOnce {
            text,
            written: true,
            bytes: None,
            details: AllowDetails::default(),
            by: DecidedBy::Editor,
        };
        assert_eq!(confirmation, expect, "{tool}");
        assert!(fixture.shown.lock().unwrap()[0].new_text.ends_with("new\n"), "{tool}");
        assert!(keys.notes.lock().unwrap().is_empty(), "{tool}");
    }
    let (fixture, (press, keys)) = (ConfirmFixture::new(), keys());
    press.send(TerminalAnswer::Allow).unwrap();
    let other = ConfirmQuestion::of_call("exec", &json!({ "program": "rm" }), Path::new("/")).unwrap();
    let expect = Confirmation::AllowOnce {
        text: None,
        written: false,
        bytes: None,
        details: AllowDetails::default(),
        by: DecidedBy::Terminal,
    };
    assert_eq!(end(&start(other, TRUSTED(), Some(&fixture), &keys)), expect);
    assert!(!fixture.was_asked());
}

#[test]
fn without_an_editor_or_with_its_diffs_switched_off_the_terminal_asks() {
    let off = |config| Rules { config, ..TRUSTED() };
    let no_diffs = BridgeConfig { use_ide_diffs: false, ..BridgeConfig::default() };
    let disabled = BridgeConfig { enabled: false, ..BridgeConfig::default() };
    for (rules, fixture) in [
        (TRUSTED(), None),
        (off(no_diffs), Some(ConfirmFixture::new())),
        (off(disabled), Some(ConfirmFixture::new())),
    ] {
        let (press, keys) = keys();
        press.send(TerminalAnswer::Deny { reason: Some("no".to_owned()), comments: vec![] }).unwrap();
        let confirmation = end(&start(question(), rules, fixture.as_ref(), &keys));
        let reason = Some("no".to_owned());
        assert_eq!(confirmation, Confirmation::Deny { reason, comments: vec![], by: DecidedBy::Terminal });
        assert!(!fixture.is_some_and(|fixture| fixture.was_asked()));
    }
}

#[test]
fn an_editor_that_refuses_is_named_in_the_terminal() {
    let (press, keys) = keys();
    press.send(TerminalAnswer::Allow).unwrap();
    let fixture = ConfirmFixture { refuses: true, ..ConfirmFixture::new() };
    let confirmation = end(&start(question(), TRUSTED(), Some(&fixture), &keys));
    let (text, bytes) = (Some("new\n".to_owned()), Some(b"new\n".to_vec()));
    assert_eq!(
        confirmation,
        Confirmation::AllowOnce {
            text,
            written: false,
            bytes,
            details: AllowDetails::default(),
            by: DecidedBy::Terminal
        }
    );
    assert!(keys.notes.lock().unwrap()[0].as_ref().unwrap().contains("no such window"));
}

#[test]
fn a_rejection_in_the_editor_comes_with_its_words() {
    let (fixture, (_press, keys)) = (ConfirmFixture::with([rejected()]), keys());
    let Confirmation::Deny { reason, comments, by } =
        end(&start(question(), TRUSTED(), Some(&fixture), &keys))
    else {
        panic!("not denied")
    };
    assert_eq!((reason.as_deref(), comments.len(), by), (Some("not like this"), 1, DecidedBy::Editor));
}

#[test]
fn what_is_not_written_comes_as_bytes_in_the_files_own_terms() {
    let utf16: Vec<u8> =
        [0xFF, 0xFE].into_iter().chain("a\r\n".encode_utf16().flat_map(u16::to_le_bytes)).collect();
    let (fixture, (_press, keys)) = (ConfirmFixture::with([accepted("b\nc\n", false)]), keys());
    let question = question_in(&utf16, "write_file", json!({ "content": "b\n" }));
    let Confirmation::AllowOnce { written: false, bytes: Some(bytes), .. } =
        end(&start(question, TRUSTED(), Some(&fixture), &keys))
    else {
        panic!("not allowed")
    };
    let expect: Vec<u8> =
        [0xFF, 0xFE].into_iter().chain("b\r\nc\r\n".encode_utf16().flat_map(u16::to_le_bytes)).collect();
    assert_eq!(bytes, expect);
}

#[test]
fn a_file_that_holds_it_already_is_not_asked_about() {
    let (fixture, (_press, keys)) = (ConfirmFixture::new(), keys());
    let same = question_in(b"old\r\n", "write_file", json!({ "content": "old\n" }));
    assert_eq!(end(&start(same, TRUSTED(), Some(&fixture), &keys)), Confirmation::Unchanged);
    assert!(!fixture.was_asked());
}

#[test]
fn a_change_that_no_editor_can_show_is_asked_in_the_terminal() {
    let (fixture, (press, keys)) = (ConfirmFixture::new(), keys());
    press.send(TerminalAnswer::Allow).unwrap();
    let endings = json!({ "pattern": "\\r\\n", "replacement": "\\n" });
    let question = question_in(b"a\r\nb\r\n", "regex_replace", endings);
    let confirmation = end(&start(question, TRUSTED(), Some(&fixture), &keys));
    assert!(matches!(confirmation, Confirmation::AllowOnce { bytes: Some(bytes), .. } if bytes == b"a\nb\n"));
    assert!(!fixture.was_asked());
}

#[test]
fn when_both_ask_the_editor_may_be_first() {
    let (fixture, (_press, keys)) = (ConfirmFixture::new(), keys());
    let heard = start(question(), BOTH(), Some(&fixture), &keys);
    eventually("the terminal asks", || !keys.notes.lock().unwrap().is_empty());
    fixture.tell(rejected());
    assert_eq!(by(&end(&heard)), Some(DecidedBy::Editor));
    assert_eq!(keys.cancelled.load(Ordering::SeqCst), 1);
}

#[test]
fn when_both_ask_the_terminal_may_be_first() {
    let (fixture, (press, keys)) = (ConfirmFixture::new(), keys());
    let heard = start(question(), BOTH(), Some(&fixture), &keys);
    eventually("the editor asks", || fixture.was_asked());
    press.send(TerminalAnswer::Allow).unwrap();
    assert_eq!(by(&end(&heard)), Some(DecidedBy::Terminal));
    assert_eq!(fixture.withdrawn.load(Ordering::SeqCst), 1);
}

#[test]
fn when_both_answer_at_once_one_of_them_decides_and_a_written_file_is_never_denied() {
    for round in 0..200 {
        let (fixture, (press, keys)) = (ConfirmFixture::new(), keys());
        let heard = start(question(), BOTH(), Some(&fixture), &keys);
        let editor = fixture.clone();
        let person = thread::spawn(move || editor.tell(accepted("new\n", true)));
        if round % 2 == 0 {
            thread::yield_now();
        }
        press.send(TerminalAnswer::Deny { reason: None, comments: vec![] }).unwrap();
        person.join().unwrap();
        match end(&heard) {
            Confirmation::AllowOnce { written: true, by: DecidedBy::Editor, .. } => {}
            Confirmation::Deny { by: DecidedBy::Terminal, .. } => {
                assert_eq!(fixture.withdrawn.load(Ordering::SeqCst), 1);
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_decision_made_before_the_change_was_taken_back_counts() {
    // The decision is on its way when the terminal answers: it is before the withdrawal in the editor's queue.
    struct Late(ConfirmFixture);
    impl Reviewer for Late {
        fn start(&self, change: &Change) -> Result<Box<dyn PendingReview>, NoDecision> {
            self.0.start(change)?;
            Ok(Box::new(Late(self.0.clone())))
        }
    }
    impl PendingReview for Late {
        fn wait(&self, tell: &dyn Fn(Contact)) -> Result<ChangeOutcome, NoDecision> {
            PendingReview::wait(&self.0, tell)
        }
        fn withdraw(&self) {
            self.0.tell(accepted("new\n", true));
            self.0.withdraw();
        }
    }
    let (press, keys) = keys();
    press.send(TerminalAnswer::Deny { reason: None, comments: vec![] }).unwrap();
    let confirmation = confirm(&question(), &BOTH(), Some(&Late(ConfirmFixture::new())), &*keys);
    assert!(matches!(confirmation, Confirmation::AllowOnce { written: true, by: DecidedBy::Editor, .. }));
}

#[test]
fn when_the_editor_is_lost_the_terminal_asks() {
    for lost in [Happens::Contact(Contact::Lost), Happens::Gone, Happens::Withdrawn] {
        let (fixture, (press, keys)) = (ConfirmFixture::with([lost]), keys());
        let heard = start(question(), TRUSTED(), Some(&fixture), &keys);
        eventually("the terminal asks", || !keys.notes.lock().unwrap().is_empty());
        assert!(keys.notes.lock().unwrap()[0].as_ref().unwrap().starts_with("The editor could not be asked"));
        press.send(TerminalAnswer::Allow).unwrap();
        assert_eq!(by(&end(&heard)), Some(DecidedBy::Terminal));
    }
}

#[test]
fn a_decision_that_is_heard_after_the_loss_wins_over_the_open_question() {
    let lost = [Happens::Contact(Contact::Lost)];
    let (fixture, (_press, keys)) = (ConfirmFixture::with(lost), keys());
    let heard = start(question(), TRUSTED(), Some(&fixture), &keys);
    eventually("the terminal asks", || !keys.notes.lock().unwrap().is_empty());
    fixture.tell(Happens::Contact(Contact::Back));
    fixture.tell(accepted("new\n", true));
    assert!(matches!(end(&heard), Confirmation::AllowOnce { written: true, by: DecidedBy::Editor, .. }));
    assert_eq!(keys.cancelled.load(Ordering::SeqCst), 1);
    assert_eq!(keys.notes.lock().unwrap().len(), 1, "asked once");
}

#[test]
fn a_decision_made_before_the_loss_wins_even_if_the_terminal_answered_meanwhile() {
    let (fixture, (press, keys)) = (ConfirmFixture::with([Happens::Contact(Contact::Lost)]), keys());
    let heard = start(question(), TRUSTED(), Some(&fixture), &keys);
    press.send(TerminalAnswer::Deny { reason: None, comments: vec![] }).unwrap();
    thread::sleep(Duration::from_millis(100));
    assert!(heard.try_recv().is_err(), "it waits a moment for the editor");
    fixture.tell(Happens::Contact(Contact::Back));
    fixture.tell(accepted("new\n", true));
    assert!(matches!(end(&heard), Confirmation::AllowOnce { written: true, by: DecidedBy::Editor, .. }));
}

#[test]
fn an_editor_that_does_not_come_back_does_not_hold_up_the_answer() {
    let (fixture, (press, keys)) = (ConfirmFixture::with([Happens::Contact(Contact::Lost)]), keys());
    let heard = start(question(), TRUSTED(), Some(&fixture), &keys);
    press.send(TerminalAnswer::Deny { reason: None, comments: vec![] }).unwrap();
    assert_eq!(by(&end(&heard)), Some(DecidedBy::Terminal));
    assert_eq!(fixture.withdrawn.load(Ordering::SeqCst), 1);
}

#[test]
fn where_nobody_can_be_asked_nothing_is_decided() {
    for fixture in [
        None,
        Some(ConfirmFixture::with([Happens::Gone])),
        Some(ConfirmFixture { refuses: true, ..ConfirmFixture::new() }),
    ] {
        let reviewer = fixture.as_ref().map(|fixture| fixture as &dyn Reviewer);
        for rules in [TRUSTED(), BOTH()] {
            if let Some(fixture) = &fixture {
                fixture.tell(Happens::Gone);
            }
            let confirmation = confirm(&question(), &rules, reviewer, &NoTerminal);
            assert!(matches!(confirmation, Confirmation::Undecided { .. }), "{confirmation:?}");
        }
    }
}

#[test]
fn a_terminal_that_can_not_ask_leaves_the_editor_its_time() {
    let fixture = ConfirmFixture::new();
    let person = fixture.clone();
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(50));
        person.tell(Happens::Contact(Contact::Lost));
        person.tell(Happens::Contact(Contact::Back));
        person.tell(rejected());
    });
    let confirmation = confirm(&question(), &BOTH(), Some(&fixture), &NoTerminal);
    assert_eq!(by(&confirmation), Some(DecidedBy::Editor));
}

#[test]
fn an_edit_that_can_not_be_made_is_an_error_for_the_model() {
    let folder = tempfile::tempdir().unwrap();
    let call = json!({ "path": "f", "old_string": "a", "new_string": "b" });
    let error = ConfirmQuestion::of_call("edit_file", &call, folder.path()).unwrap_err().to_string();
    assert!(error.contains("there is no such file"), "{error}");
    let directory = json!({ "path": ".", "content": "" });
    let error = ConfirmQuestion::of_call("write_file", &directory, folder.path()).unwrap_err().to_string();
    assert!(error.contains("not a regular file"), "{error}");
}

#[test]
fn a_text_that_the_editor_did_not_tell_is_not_made_up() {
    let untold =
        |written| Happens::Decided(ChangeOutcome { written, ..ChangeOutcome::bare(DiffOutcome::FileSaved) });
    let (fixture, (_press, keys)) = (ConfirmFixture::with([untold(true)]), keys());
    let expect = Confirmation::AllowOnce {
        text: None,
        written: true,
        bytes: None,
        details: AllowDetails::default(),
        by: DecidedBy::Editor,
    };
    assert_eq!(
        end(&start(question(), TRUSTED(), Some(&fixture), &keys)),
        expect,
        "the file holds it, whatever it is"
    );
    let fixture = ConfirmFixture::with([untold(false)]);
    let confirmation = end(&start(question(), TRUSTED(), Some(&fixture), &keys));
    assert!(matches!(confirmation, Confirmation::Undecided { .. }), "{confirmation:?}");
}

#[test]
fn a_question_that_the_caller_withdraws_leaves_both_places_undecided() {
    for (editor, both) in [(true, false), (true, true), (false, false)] {
        let (fixture, (_press, keys)) = (ConfirmFixture::new(), keys());
        let cancelled = Arc::new(Cancellation::new());
        let rules = Rules { ask_both: both, ..TRUSTED() };
        let (say, heard) = channel();
        let (asked, watched, stop) = (fixture.clone(), Arc::clone(&keys), Arc::clone(&cancelled));
        thread::spawn(move || {
            let reviewer = editor.then_some(&asked as &dyn Reviewer);
            say.send(confirm_unless(&question(), &rules, reviewer, &*watched, &stop)).unwrap();
        });
        eventually("it is asked", || fixture.was_asked() || !keys.notes.lock().unwrap().is_empty());
        cancelled.cancel();
        assert!(matches!(end(&heard), Confirmation::Undecided { .. }), "{editor} {both}");
        assert_eq!(fixture.withdrawn.load(Ordering::SeqCst), usize::from(editor));
    }
}

#[test]
fn a_decision_that_was_made_before_the_caller_withdrew_counts() {
    let (fixture, (_press, keys)) = (ConfirmFixture::with([accepted("new\n", true)]), keys());
    let cancelled = Cancellation::new();
    cancelled.cancel();
    let confirmation = confirm_unless(&question(), &TRUSTED(), Some(&fixture), &*keys, &cancelled);
    assert_eq!(by(&confirmation), Some(DecidedBy::Editor), "{confirmation:?}");
}

#[test]
fn a_text_from_the_terminal_is_written_in_the_form_of_the_file() {
    let (press, keys) = keys();
    let answer = |text: &str, taken| TerminalAnswer::AllowText {
        text: text.to_owned(),
        taken,
        hunks: vec![],
        comments: vec![],
    };
    press.send(answer("other\nlines\n", AcceptedPart::Edited)).unwrap();
    let question = question_in(b"\xef\xbb\xbfold\r\n", "write_file", json!({ "content": "new\n" }));
    let confirmation = end(&start(question, TRUSTED(), None, &keys));
    let Confirmation::AllowOnce { bytes: Some(bytes), details, by: DecidedBy::Terminal, .. } = confirmation
    else {
        panic!("{confirmation:?}")
    };
    assert_eq!(bytes, b"\xef\xbb\xbfother\r\nlines\r\n");
    assert_eq!(details.taken, Some(AcceptedPart::Edited));
    assert!(details.person_diff.unwrap().contains("+other"));
}

#[test]
fn the_editor_calls_the_change_by_its_label() {
    let (fixture, (_press, keys)) = (ConfirmFixture::with([accepted("new\n", true)]), keys());
    let question = ConfirmQuestion { label: Some("helper: f".to_owned()), ..question() };
    end(&start(question, TRUSTED(), Some(&fixture), &keys));
    assert_eq!(fixture.shown.lock().unwrap()[0].label, "helper: f");
}
