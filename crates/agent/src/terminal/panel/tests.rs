//! Keys in, an answer out, without a terminal.

use serde_json::json;

use linkspan_client::connection::Comment;

use super::*;

const LATER: Duration = Duration::from_secs(9);

fn change(base: &str, proposed: &str) -> Panel {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("f"), base).unwrap();
    let call = json!({ "path": "f", "content": proposed });
    let question = ConfirmQuestion::of_call("write_file", &call, folder.path()).unwrap();
    let asked = ChangeQuestion { change: ChangeId(3), call_id: "c1".into(), question: Arc::new(question) };
    let mut panel = Panel::of_change(asked);
    panel.show(Duration::ZERO);
    panel
}

fn types(panel: &mut Panel, keys: &str) -> PanelAct {
    let mut act = PanelAct::Nothing;
    for key in keys.chars() {
        act = panel.handle(LATER, &if key == '\n' { KeyPress::Enter } else { KeyPress::Char(key) });
    }
    act
}

fn words(lines: &[Line]) -> Vec<String> {
    lines.iter().map(|line| line.iter().map(|span| span.text.as_str()).collect()).collect()
}

const OLD: &str = "a\nb\nc\nd\ne\n";
const NEW: &str = "A\nb\nC\nd\nE\n";

#[test]
fn a_change_is_accepted_or_rejected_with_a_reason() {
    assert_eq!(types(&mut change(OLD, NEW), "y"), PanelAct::Decide(ChangeId(3), TerminalAnswer::Allow));
    let reason = Some("too loud".to_owned());
    let denied = PanelAct::Decide(ChangeId(3), TerminalAnswer::Deny { reason, comments: vec![] });
    assert_eq!(types(&mut change(OLD, NEW), "ntoo loud\n"), denied);
    let denied = PanelAct::Decide(ChangeId(3), TerminalAnswer::Deny { reason: None, comments: vec![] });
    assert_eq!(types(&mut change(OLD, NEW), "n\n"), denied);
}

#[test]
fn hunks_are_taken_one_by_one() {
    let taken = |keys, expected: &str, which: [bool; 3]| {
        let act = types(&mut change(OLD, NEW), keys);
        let PanelAct::Decide(_, TerminalAnswer::AllowText { text, taken, hunks, comments }) = act else {
            panic!("{keys}: {act:?}")
        };
        assert_eq!((text.as_str(), taken, comments.len()), (expected, AcceptedPart::Some, 0), "{keys}");
        assert_eq!(hunks.iter().map(|hunk| hunk.taken).collect::<Vec<_>>(), which, "{keys}");
        assert_eq!(hunks[1].before_start, 2);
    };
    taken("hyny", "A\nb\nc\nd\nE\n", [true, false, true]);
    taken("hna", "a\nb\nC\nd\nE\n", [false, true, true]);
    taken("hyd", "A\nb\nc\nd\ne\n", [true, false, false]);
    assert_eq!(types(&mut change(OLD, NEW), "ha"), PanelAct::Decide(ChangeId(3), TerminalAnswer::Allow));
    // No hunk at all is a rejection, and the model may be told why.
    let denied = PanelAct::Decide(ChangeId(3), TerminalAnswer::Deny { reason: None, comments: vec![] });
    assert_eq!(types(&mut change(OLD, NEW), "hd\n"), denied);
    let mut one = change("a\n", "b\n");
    assert_eq!(types(&mut one, "h"), PanelAct::Nothing);
    assert_eq!(types(&mut one, "y"), PanelAct::Decide(ChangeId(3), TerminalAnswer::Allow));
}

#[test]
fn an_edited_text_is_shown_and_asked_about_again() {
    let mut panel = change(OLD, NEW);
    let PanelAct::Edit { text, name, .. } = types(&mut panel, "e") else { panic!("no edit") };
    assert_eq!((text.as_str(), name.as_str()), (NEW, "f"));
    let shown = words(&panel.edited(LATER, "mine\n".into()));
    assert!(shown.contains(&"+mine".to_owned()), "{shown:?}");
    assert_eq!(types(&mut panel, "y"), PanelAct::Nothing, "it was not on the screen long enough");
    let later = LATER + SETTLE;
    let taken = AcceptedPart::Edited;
    let answer = TerminalAnswer::AllowText { text: "mine\n".into(), taken, hunks: vec![], comments: vec![] };
    assert_eq!(panel.handle(later, &KeyPress::Char('y')), PanelAct::Decide(ChangeId(3), answer));
}

#[test]
fn a_key_that_was_on_its_way_answers_nothing() {
    let mut panel = change(OLD, NEW);
    assert_eq!(panel.handle(Duration::from_millis(499), &KeyPress::Char('y')), PanelAct::Nothing);
    assert_eq!(panel.handle(Duration::from_millis(501), &KeyPress::Char('x')), PanelAct::Nothing);
    assert_eq!(panel.handle(Duration::from_millis(501), &KeyPress::Ctrl('c')), PanelAct::Ignored);
    assert_ne!(panel.handle(Duration::from_millis(501), &KeyPress::Char('y')), PanelAct::Nothing);
}

#[test]
fn a_change_that_is_not_shown_to_its_end_needs_more_than_a_yes() {
    let mut panel = change("", &"line\n".repeat(MOST_LINES + 5));
    assert!(words(&panel.rows().0).concat().contains("unseen"));
    assert_eq!(types(&mut panel, "y"), PanelAct::Nothing);
    assert_eq!(types(&mut panel, "Y"), PanelAct::Decide(ChangeId(3), TerminalAnswer::Allow));
}

#[test]
fn a_command_is_shown_whole_and_can_be_allowed_for_the_session() {
    let arguments = CallArguments::Json(json!({ "command": "rm\u{1b} -r x" }));
    let call = ModelCall { id: "c".into(), name: "run_command".into(), arguments, opaque: None };
    let ask = Question::Permission { call: call.clone(), why: "trusted mode asks".into() };
    let mut panel = Panel::of_question(QuestionId(1), ask);
    let shown = words(&panel.show(Duration::ZERO));
    assert_eq!(shown[1], "  command: rm\\u{1b} -r x");
    assert_eq!(types(&mut panel, "s"), PanelAct::Answer(QuestionId(1), Answer::Session));
    let mut again = Panel::of_question(QuestionId(1), Question::Repeated { call, times: 3 });
    again.show(Duration::ZERO);
    assert_eq!(types(&mut again, "s"), PanelAct::Nothing);
    assert_eq!(types(&mut again, "y"), PanelAct::Answer(QuestionId(1), Answer::Once));
}

#[test]
fn a_command_that_is_not_shown_to_its_end_needs_more_than_a_yes() {
    let command = format!("{}rm -r x", "echo\n".repeat(MOST_LINES));
    let arguments = CallArguments::Json(json!({ "command": command }));
    let call = ModelCall { id: "c".into(), name: "run_command".into(), arguments, opaque: None };
    let ask = Question::Permission { call: call.clone(), why: "trusted mode asks".into() };
    for question in [ask, Question::Repeated { call, times: 3 }] {
        let mut panel = Panel::of_question(QuestionId(1), question);
        let shown = words(&panel.show(Duration::ZERO));
        assert!(shown.last().unwrap().contains("not shown"), "{shown:?}");
        assert!(words(&panel.rows().0).concat().contains("unseen"));
        for key in ["y", "s"] {
            assert_eq!(types(&mut panel, key), PanelAct::Nothing);
        }
        assert_eq!(types(&mut panel, "Y"), PanelAct::Answer(QuestionId(1), Answer::Once));
    }
}

#[test]
fn what_hides_in_a_change_is_seen() {
    let shown = words(&change("a\r\nb\n", "a\nb\u{202e}\n").subject_lines());
    assert!(shown.contains(&" a\\r".to_owned()) && shown.contains(&"+b\\u{202e}".to_owned()), "{shown:?}");
    let shown = words(&change("a\r\nb\r\n", "a\r\nc\r\n").subject_lines());
    assert!(shown.contains(&"-b".to_owned()) && shown.contains(&"+c".to_owned()), "{shown:?}");
}

impl Panel {
    fn subject_lines(&self) -> Vec<Line> {
        match &self.subject {
            Subject::Change(change) => change.shown(),
            Subject::Call { .. } => Vec::new(),
        }
    }
}

#[test]
fn comments_on_lines_go_with_every_answer() {
    let comment = |line, text: &str| Comment { line, text: text.to_owned() };
    let sent = |keys: &str| match types(&mut change(OLD, NEW), keys) {
        PanelAct::Decide(
            _,
            TerminalAnswer::AllowText { comments, .. } | TerminalAnswer::Deny { comments, .. },
        ) => comments,
        act => panic!("{keys}: {act:?}"),
    };
    // The first line that changed is offered first.
    assert_eq!(sent("c\nwhy?\ny"), [comment(1, "why?")]);
    assert_eq!(sent("c3\nand this?\nc\nwhy?\nnno\n"), [comment(1, "why?"), comment(3, "and this?")]);
    assert_eq!(sent("c5\nlast\nhynn"), [comment(5, "last")]);
    assert_eq!(sent("c\nwhy?\nc3\nhm\nc1xcjj\n!\ny"), [comment(3, "hm!")]);

    let mut panel = change(OLD, NEW);
    types(&mut panel, "c3\nloud\n");
    let rows = words(&panel.rows().0);
    assert_eq!(rows[..2], ["     3 C", "       ↳ loud"], "{rows:?}");
    assert!(rows[2].ends_with("[h]unks  [e]dit  [c]omment  [n]o"), "{rows:?}");
    types(&mut panel, "c3");
    let rows = words(&panel.rows().0);
    assert!(
        rows.contains(&">    3 C".to_owned()) && rows.last().unwrap().contains("[x] removes it"),
        "{rows:?}"
    );
    assert_eq!(panel.handle(LATER, &KeyPress::Esc), PanelAct::Nothing);
    panel.edited(LATER, format!("new\n{NEW}"));
    let later = LATER + SETTLE;
    let act = panel.handle(later, &KeyPress::Char('y'));
    let PanelAct::Decide(_, TerminalAnswer::AllowText { comments, taken, .. }) = act else {
        panic!("{act:?}")
    };
    assert_eq!((comments, taken), (vec![comment(4, "loud")], AcceptedPart::Edited));
}
