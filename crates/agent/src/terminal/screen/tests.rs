//! What a user sees and does, without a terminal.

use std::sync::Arc;

use linkspan_client::confirm::{ConfirmQuestion, TerminalAnswer};
use serde_json::json;

use super::*;
use crate::conversation::{Answer, Question, QuestionId, TurnEnd, TurnEvent};
use crate::host::double::status_of;
use crate::host::{ChangeQuestion, Occurred, ReviewPlace};
use crate::message::{CallArguments, ModelCall, ToolResult, Usage};
use crate::permissions::PermissionMode;

const A: AgentId = AgentId(1);
const B: AgentId = AgentId(2);

struct User {
    screen: ChatScreen,
    now: Duration,
}

fn status(agent: AgentId, name: &str) -> AgentSummary {
    status_of(agent, &AgentSettings { name: Some(name.into()), ..AgentSettings::default() })
}

fn user() -> User {
    let list = |_: &Path, prefix: &str| vec![format!("{prefix}ain.rs")];
    let mut screen = ChatScreen::new(status(A, "main"), vec!["earlier".into()], Box::new(list));
    screen.take_printed();
    User { screen, now: Duration::from_secs(10) }
}

fn words(lines: &[Line]) -> Vec<String> {
    lines.iter().map(|line| line.iter().map(|span| span.text.as_str()).collect()).collect()
}

impl User {
    fn handle(&mut self, input: ScreenInput) -> Vec<ScreenEffect> {
        self.screen.handle(self.now, input)
    }

    fn key(&mut self, key: KeyPress) -> Vec<ScreenEffect> {
        self.handle(ScreenInput::Key(key))
    }

    /// Types, and sends with a line feed.
    fn types(&mut self, text: &str) -> Vec<ScreenEffect> {
        let mut effects = Vec::new();
        for c in text.chars() {
            effects = self.key(if c == '\n' { KeyPress::Enter } else { KeyPress::Char(c) });
        }
        effects
    }

    fn event(&mut self, agent: AgentId, what: Occurred) -> Vec<ScreenEffect> {
        self.handle(ScreenInput::Event(HostEvent { agent: Some(agent), what }))
    }

    fn shown(&mut self, shown: TurnEvent) {
        self.event(A, Occurred::Shown(shown));
    }

    fn printed(&mut self) -> Vec<String> {
        words(&self.screen.take_printed())
    }

    fn live(&self) -> Vec<String> {
        words(&self.screen.live(self.now).rows)
    }

    fn waits(&mut self, seconds: u64) {
        self.now += Duration::from_secs(seconds);
    }
}

fn call(name: &str) -> ModelCall {
    let arguments = CallArguments::Json(json!({ "command": "cargo test" }));
    ModelCall { id: "c1".into(), name: name.into(), arguments, opaque: None }
}

fn result(text: &str, is_error: bool) -> ToolResult {
    ToolResult { call_id: "c1".into(), name: "run".into(), text: text.into(), is_error, cancelled: false }
}

fn permission() -> Occurred {
    let ask =
        Question::Permission { call: call("run_command"), why: "trusted mode asks before commands".into() };
    Occurred::Ask { question: QuestionId(7), ask }
}

fn change() -> Occurred {
    let folder = tempfile::tempdir().unwrap();
    let arguments = json!({ "path": "new.txt", "content": "hello\n" });
    let question = ConfirmQuestion::of_call("write_file", &arguments, folder.path()).unwrap();
    Occurred::AskChange(ChangeQuestion {
        change: ChangeId(5),
        call_id: "c1".into(),
        question: Arc::new(question),
    })
}

#[test]
fn a_prompt_is_sent_echoed_and_remembered() {
    let mut user = user();
    let effects = user.types("hello\n");
    assert!(
        matches!(&effects[..], [ScreenEffect::Remember(text), ScreenEffect::Send(HostCommand::Prompt { text: sent, .. })]
        if text == "hello" && sent == "hello")
    );
    assert_eq!(user.printed(), ["› hello"]);
    assert!(user.types("  \n").is_empty(), "an empty prompt was sent");
    user.types("two\\\nlines");
    let effects = user.key(KeyPress::Enter);
    assert!(
        matches!(effects.last(), Some(ScreenEffect::Send(HostCommand::Prompt { text, .. })) if text == "two\nlines")
    );
    assert_eq!(user.printed(), ["› two", "  lines"]);
    // The last input has two lines.
    for _ in 0..4 {
        user.key(KeyPress::Up);
    }
    assert!(user.live()[0].contains("earlier"), "{:?}", user.live());
}

#[test]
fn a_turn_streams_and_its_calls_are_one_line_each() {
    let mut user = user();
    user.shown(TurnEvent::Started);
    user.shown(TurnEvent::Text("# Plan\nI lo".into()));
    assert_eq!(user.printed(), ["Plan"]);
    assert_eq!(user.live()[0], "I lo");
    user.waits(3);
    assert_eq!(user.live()[1], "working 3 s · Esc cancels");
    user.shown(TurnEvent::Call(call("run_command")));
    assert_eq!(user.printed(), ["I lo"]);
    user.event(A, Occurred::Output { call_id: "c1".into(), text: "one\ntwo\u{1b}[2J\n".into() });
    user.waits(2);
    assert_eq!(user.live()[..2], ["● run_command cargo test  2 s", "  two\\u{1b}[2J"]);
    user.event(A, Occurred::Reviewing { call_id: "c1".into(), place: ReviewPlace::Editor });
    assert!(user.live()[0].ends_with("waits for you in the editor"));
    user.shown(TurnEvent::Result(result("one\ntwo", false)));
    assert_eq!(user.printed(), ["● run_command cargo test  2 lines"]);
    user.key(KeyPress::Ctrl('o'));
    assert_eq!(user.printed(), ["run_command cargo test", "  command: cargo test", "one", "two"]);
    user.key(KeyPress::Ctrl('o'));
    assert_eq!(user.printed(), ["there is no earlier tool call"]);
    user.shown(TurnEvent::Error("the key is wrong\nset X".into()));
    let usage = Usage { input: 1200, output: 34 };
    let end = TurnEvent::Ended { end: TurnEnd::Failed, text: String::new(), usage };
    let effects = user.event(A, Occurred::Shown(end));
    assert!(matches!(effects[..], [ScreenEffect::Ask(Request::Status)]));
    assert_eq!(user.printed(), ["the key is wrong", "set X", "(failed, 5 s, 1.2k tokens)", ""]);
    assert_eq!(user.live().len(), 2, "only the input and the status are left: {:?}", user.live());
}

#[test]
fn escape_and_control_c_cancel_the_turn() {
    let mut user = user();
    user.shown(TurnEvent::Started);
    for key in [KeyPress::Esc, KeyPress::Ctrl('c')] {
        assert!(matches!(user.key(key)[..], [ScreenEffect::Send(HostCommand::Cancel { agent: A })]));
    }
    let effects = user.types("more\n");
    assert!(matches!(effects.last(), Some(ScreenEffect::Send(HostCommand::Prompt { .. }))));
    assert!(user.printed().iter().any(|line| line.contains("next request")));
}

#[test]
fn control_c_clears_then_warns_then_ends() {
    let mut user = user();
    user.types("draft");
    assert!(user.key(KeyPress::Ctrl('c')).is_empty());
    assert_eq!(user.live()[0], "› ");
    assert!(user.key(KeyPress::Ctrl('c')).is_empty());
    user.waits(3);
    assert!(user.key(KeyPress::Ctrl('c')).is_empty(), "the first one was long ago");
    assert!(matches!(user.key(KeyPress::Ctrl('c'))[..], [ScreenEffect::Quit]));
    assert!(matches!(user.key(KeyPress::Ctrl('d'))[..], [ScreenEffect::Quit]));
}

#[test]
fn a_question_takes_the_keys_and_gives_them_back() {
    let mut user = user();
    user.types("half a prom");
    user.event(A, permission());
    let shown = user.printed();
    assert_eq!(shown, ["run_command cargo test", "  command: cargo test"]);
    assert!(user.live().iter().any(|row| row.starts_with("May it run?")), "{:?}", user.live());
    // Typed before the user can have seen it.
    assert!(user.types("y").is_empty());
    user.waits(1);
    user.handle(ScreenInput::Paste("y".into()));
    let effects = user.types("y");
    let [ScreenEffect::Send(HostCommand::Answer { question: QuestionId(7), answer: Answer::Once, .. })] =
        &effects[..]
    else {
        panic!("{effects:?}")
    };
    assert_eq!(user.live()[0], "› half a prom");
    assert!(user.printed().is_empty());
    // The host closes what was answered.
    user.event(A, Occurred::QuestionClosed { question: QuestionId(7) });
    assert!(user.printed().is_empty());
}

#[test]
fn a_question_that_is_answered_elsewhere_goes_away() {
    let mut user = user();
    user.event(A, permission());
    user.event(A, change());
    user.printed();
    user.event(A, Occurred::QuestionClosed { question: QuestionId(7) });
    let shown = user.printed();
    assert!(shown[0].starts_with("(the question is closed"), "{shown:?}");
    assert!(shown.contains(&"+hello".to_owned()), "the next one is shown: {shown:?}");
    user.waits(1);
    assert!(matches!(
        &user.types("y")[..],
        [ScreenEffect::Send(HostCommand::AnswerChange { answer: TerminalAnswer::Allow, .. })]
    ));
}

#[test]
fn a_change_can_be_edited() {
    let mut user = user();
    user.event(A, change());
    user.waits(1);
    let effects = user.types("e");
    assert!(
        matches!(&effects[..], [ScreenEffect::Edit { change: ChangeId(5), name, text }] if name == "new.txt" && text == "hello\n")
    );
    user.printed();
    user.handle(ScreenInput::Edited { change: ChangeId(5), text: Err("the editor failed".into()) });
    assert_eq!(user.printed(), ["the editor failed"]);
    user.handle(ScreenInput::Edited { change: ChangeId(5), text: Ok("mine\n".into()) });
    assert!(user.printed().contains(&"+mine".to_owned()));
    user.waits(1);
    let effects = user.types("y");
    let [
        ScreenEffect::Send(HostCommand::AnswerChange {
            answer: TerminalAnswer::AllowText { text, .. }, ..
        }),
    ] = &effects[..]
    else {
        panic!("{effects:?}")
    };
    assert_eq!(text, "mine\n");
    user.handle(ScreenInput::Edited { change: ChangeId(5), text: Ok("late".into()) });
    assert!(user.printed()[0].contains("no longer pending"));
}

#[test]
fn escape_in_front_of_a_question_cancels_the_turn() {
    let mut user = user();
    user.shown(TurnEvent::Started);
    user.event(A, permission());
    user.waits(1);
    assert!(matches!(user.key(KeyPress::Esc)[..], [ScreenEffect::Send(HostCommand::Cancel { agent: A })]));
    // While a reason is typed, it only goes back.
    user.types("nbecause");
    assert!(user.live().iter().any(|row| row.contains("because")), "{:?}", user.live());
    assert!(matches!(
        user.key(KeyPress::Ctrl('c'))[..],
        [ScreenEffect::Send(HostCommand::Cancel { agent: A })]
    ));
    assert!(user.key(KeyPress::Esc).is_empty());
    let effects = user.types("nbecause\n");
    let [ScreenEffect::Send(HostCommand::Answer { answer: Answer::No { reason: Some(reason) }, .. })] =
        &effects[..]
    else {
        panic!("{effects:?}")
    };
    assert_eq!(reason, "because");
}

#[test]
fn a_command_can_be_written_while_a_question_is_open() {
    let mut user = user();
    user.event(A, permission());
    user.printed();
    user.types("/status");
    assert!(user.live().contains(&"› /status".to_owned()), "{:?}", user.live());
    assert!(user.key(KeyPress::Esc).is_empty());
    assert!(user.live().iter().any(|row| row.starts_with("May it run?")), "{:?}", user.live());
    user.types("/nothing of the kind\n");
    assert!(user.printed()[1].starts_with("there is no command /nothing"));
    user.types("/yes/no\n");
    assert!(user.printed()[1].contains("answer the question first"));
    let effects = user.types("/agents new helper\n");
    assert!(matches!(&effects[..], [ScreenEffect::Ask(Request::Start { .. })]), "{effects:?}");
    assert_eq!(user.printed(), ["› /agents new helper"]);
    user.waits(1);
    assert!(matches!(user.types("y")[..], [ScreenEffect::Send(HostCommand::Answer { .. })]));
}

#[test]
fn an_agent_in_the_background_waits_visibly_and_takes_no_keys() {
    let mut user = user();
    user.handle(ScreenInput::Reply(Reply::Status(vec![status(A, "main"), status(B, "helper")])));
    user.event(B, Occurred::Shown(TurnEvent::Text("from afar\n".into())));
    assert!(user.printed().is_empty());
    user.event(B, permission());
    assert_eq!(user.printed(), ["helper asks: run_command cargo test (/agents switch helper)"]);
    user.waits(1);
    user.types("y");
    assert_eq!(user.live()[0], "› y");
    assert!(user.live()[1].starts_with("main · 1 question (helper)"), "{:?}", user.live());
    user.key(KeyPress::Ctrl('c'));
    user.types("/agents switch helper\n");
    let shown = user.printed();
    assert_eq!(shown[1..3], ["── agent helper ──", "from afar"]);
    assert!(shown.contains(&"  command: cargo test".to_owned()), "{shown:?}");
    user.waits(1);
    assert!(matches!(user.types("y")[..], [ScreenEffect::Send(HostCommand::Answer { agent: B, .. })]));
    user.event(B, Occurred::Closed);
    assert!(user.printed().iter().any(|line| line.contains("agent main")));
    assert!(matches!(user.event(A, Occurred::Closed)[..], [ScreenEffect::Quit]));
}

#[test]
fn an_agent_that_the_host_started_is_asked_about() {
    let mut user = user();
    let effects = user.event(B, permission());
    assert!(matches!(effects[..], [ScreenEffect::Ask(Request::Status)]));
    assert!(user.printed()[0].contains("asks: run_command cargo test"));
    user.handle(ScreenInput::Reply(Reply::Status(vec![status(A, "main"), status(B, "helper")])));
    user.types("/agents\n");
    assert!(user.printed().iter().any(|line| line.contains("helper") && line.contains("1 waiting")));
}

#[test]
fn the_editor_comes_and_goes() {
    let mut user = user();
    user.screen.editor_hint = false;
    user.handle(ScreenInput::Tick);
    assert!(user.printed()[0].starts_with("No editor connected"));
    let event = |what| ScreenInput::Event(HostEvent { agent: None, what });
    user.handle(event(Occurred::EditorConnected { name: "VS Code".into() }));
    assert_eq!(user.printed(), ["IDE connected: VS Code"]);
    assert!(user.live()[1].contains("VS Code"));
    user.handle(event(Occurred::EditorLost));
    user.handle(event(Occurred::EditorLost));
    assert_eq!(user.printed().len(), 1);
    assert!(matches!(user.types("/ide\n")[..], [_, ScreenEffect::Ask(Request::EditorStatus)]));
    let usage = "use /ide [connect [NAME|URL] | disconnect | status | undo | history]";
    assert_eq!(user.printed()[1..], [usage]);
    assert!(matches!(user.types("/ide status\n")[..], [_, ScreenEffect::Ask(Request::EditorStatus)]));
    assert!(matches!(&user.types("/ide connect nvim\n")[..],
        [ScreenEffect::Remember(_), ScreenEffect::Ask(Request::ConnectEditor { which: Some(name) })] if name == "nvim"));
    assert!(matches!(user.types("/ide undo\n")[..], [_, ScreenEffect::Ask(Request::Undo { .. })]));
    assert!(matches!(
        user.types("/ide disconnect\n")[..],
        [_, ScreenEffect::Send(HostCommand::DisconnectEditor)]
    ));
}

#[test]
fn each_command_does_something() {
    let mut user = user();
    for command in &crate::terminal::SLASH_COMMANDS {
        for arguments in ["", " trusted", " new x --mode yolo --cwd sub", " -a"] {
            let effects = user.types(&format!("{}{arguments}\n", command.name));
            let did = effects.iter().any(|effect| !matches!(effect, ScreenEffect::Remember(_)));
            assert!(did || user.printed().len() > 1, "{}{arguments} did nothing", command.name);
        }
    }
    assert!(matches!(
        user.types("/mode yolo\n")[..],
        [_, ScreenEffect::Send(HostCommand::SetMode { mode: PermissionMode::Yolo, .. }), _]
    ));
    user.types("/frob\n");
    assert!(user.printed().last().unwrap().contains("/help"));
    let effects = user.types("/agents new x --mode yolo --cwd sub\n");
    let [_, ScreenEffect::Ask(Request::Start { settings, instead_of: None })] = &effects[..] else {
        panic!("{effects:?}")
    };
    assert_eq!(
        (settings.mode, settings.cwd.as_deref()),
        (Some(PermissionMode::Yolo), Some(Path::new("/w/sub")))
    );
}

#[test]
fn a_loaded_session_takes_the_place_of_the_agent() {
    let mut user = user();
    assert!(matches!(&user.types("/load old\n")[..],
        [_, ScreenEffect::Ask(Request::Start { instead_of: Some(A), settings })] if settings.resume.as_deref() == Some("old")));
    let started =
        Reply::Started { agent: B, status: vec![status(A, "main"), status(B, "b")], instead_of: Some(A) };
    let effects = user.handle(ScreenInput::Reply(started));
    assert!(matches!(
        effects[..],
        [
            ScreenEffect::Ask(Request::Recent { agent: B }),
            ScreenEffect::Send(HostCommand::Close { agent: A })
        ]
    ));
    user.event(A, Occurred::Closed);
    let effects = user.types("hello\n");
    assert!(matches!(effects.last(), Some(ScreenEffect::Send(HostCommand::Prompt { agent: B, .. }))));
}

#[test]
fn tab_completes_and_lists() {
    let mut user = user();
    user.types("/mod");
    user.key(KeyPress::Tab);
    assert_eq!(user.live()[..2], ["› /mode", "/mode  /model"]);
    user.types("l");
    user.key(KeyPress::Tab);
    assert_eq!(user.live()[0], "› /model ");
    user.key(KeyPress::Ctrl('u'));
    user.types("see @src/m");
    user.key(KeyPress::Tab);
    assert_eq!(user.live()[0], "› see @src/main.rs ");
}

#[test]
fn nothing_is_wider_or_higher_than_the_screen() {
    let mut user = user();
    user.shown(TurnEvent::Started);
    user.shown(TurnEvent::Text("a long line of words ".repeat(30)));
    user.shown(TurnEvent::Call(call(&"x".repeat(300))));
    user.types(&"漢字 and words ".repeat(40));
    user.event(A, change());
    for (columns, rows) in [(80, 24), (30, 10), (12, 5), (4, 2), (1, 1), (0, 0), (200, 50)] {
        user.handle(ScreenInput::Resize { columns, rows });
        let live = user.screen.live(user.now);
        for row in &live.rows {
            assert!(super::super::text::line_width(row) <= columns.max(4), "{columns}: {row:?}");
        }
        assert!(live.rows.len() <= rows.saturating_sub(1).max(1), "{columns}×{rows}: {}", live.rows.len());
        if let Some((row, column)) = live.cursor {
            assert!(row < live.rows.len() && column <= columns.max(4), "{columns}×{rows}: {row} {column}");
        }
        let redrawn = user.screen.take_redraw(user.now);
        assert!(redrawn.is_none_or(|lines| lines.len() <= rows), "{columns}×{rows}");
    }
}

#[test]
fn a_narrow_status_line_keeps_what_matters() {
    let mut user = user();
    user.handle(ScreenInput::Resize { columns: 24, rows: 10 });
    assert_eq!(user.live().last().unwrap(), "trusted · script/demo");
    user.event(A, permission());
    assert_eq!(user.live().last().unwrap(), "1 question · trusted");
}

#[test]
fn a_token_is_on_the_screen_at_once_even_in_a_long_session() {
    // The quickest of many: on a busy machine, most are interrupted.
    let quickest_token = |lines: usize| {
        let mut user = user();
        user.shown(TurnEvent::Started);
        user.shown(TurnEvent::Text("a line of an answer\n".repeat(lines)));
        user.printed();
        let tokens = (0..200).map(|_| {
            let start = std::time::Instant::now();
            user.shown(TurnEvent::Text("token ".into()));
            user.screen.take_printed();
            assert!(!user.screen.live(user.now).rows.is_empty());
            start.elapsed()
        });
        tokens.min().unwrap()
    };
    let (short, long) = (quickest_token(20), quickest_token(20_000));
    // With work that grows with the session it would be a thousand times as long.
    assert!(long < short * 20, "{long:?}, and in a short session {short:?}");
}

mod any_order {
    use proptest::prelude::*;

    use super::*;

    fn event(number: u8) -> Occurred {
        match number {
            0 => Occurred::Shown(TurnEvent::Started),
            1 => Occurred::Shown(TurnEvent::Text("some `text`\nand 漢字 ".into())),
            2 => Occurred::Shown(TurnEvent::Call(call("run_command"))),
            3 => Occurred::Shown(TurnEvent::Result(result("x\ny", false))),
            4 => permission(),
            5 => Occurred::QuestionClosed { question: QuestionId(7) },
            6 => change(),
            7 => Occurred::ChangeClosed { change: ChangeId(5) },
            8 => Occurred::Output { call_id: "c1".into(), text: "out\n".into() },
            9 => Occurred::Shown(TurnEvent::Thought("hm".into())),
            _ => Occurred::Shown(TurnEvent::Ended {
                end: TurnEnd::Done,
                text: String::new(),
                usage: Usage::default(),
            }),
        }
    }

    fn key(number: u8) -> KeyPress {
        let keys = [
            KeyPress::Enter,
            KeyPress::Tab,
            KeyPress::Esc,
            KeyPress::Up,
            KeyPress::Down,
            KeyPress::Backspace,
            KeyPress::NewLine,
            KeyPress::Ctrl('c'),
            KeyPress::Ctrl('o'),
        ];
        let letters = "ynshead/é";
        keys.get(usize::from(number))
            .copied()
            .unwrap_or_else(|| KeyPress::Char(letters.chars().nth(usize::from(number) % 9).unwrap()))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        /// Whatever happens, the screen holds what it shows, and each question is answered at most once.
        #[test]
        fn the_screen_stays_whole(steps in proptest::collection::vec((0u8..40, 1usize..60, 1usize..20), 1..60)) {
            let mut user = user();
            let mut open: usize = 0;
            for (step, columns, rows) in steps {
                user.now += Duration::from_millis(300);
                let agent = if columns % 5 == 0 { B } else { A };
                let effects = match step {
                    0..=10 => {
                        open += usize::from(matches!(step, 4 | 6));
                        user.event(agent, event(step))
                    }
                    11..=29 => user.key(key(step - 11)),
                    30 => user.handle(ScreenInput::Resize { columns, rows }),
                    31 => user.handle(ScreenInput::Paste("a\r\nb".into())),
                    32 => user.types("/agents switch agent-2\n"),
                    33 => user.handle(ScreenInput::Edited { change: ChangeId(5), text: Ok("mine\n".into()) }),
                    _ => user.handle(ScreenInput::Tick),
                };
                for effect in effects {
                    if let ScreenEffect::Send(HostCommand::Answer { .. } | HostCommand::AnswerChange { .. }) = effect {
                        prop_assert!(open > 0, "an answer without a question");
                        open -= 1;
                    }
                }
                let live = user.screen.live(user.now);
                let width = user.screen.columns.max(4);
                for row in live.rows.iter().chain(&user.screen.take_printed()) {
                    prop_assert!(crate::terminal::text::line_width(row) <= width);
                }
                prop_assert!(live.cursor.is_none_or(|(row, column)| row < live.rows.len() && column <= width));
            }
        }
    }
}
