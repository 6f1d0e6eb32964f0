//! Permission prompts: shown when the user opens them, answered only after they were visible for a moment.

use linkspan_editor_api::{AskOption, AskSummary, AsksAnswer, PermissionKind};

use super::*;

fn ask(id: &str) -> AskSummary {
    AskSummary {
        ask: id.into(),
        window: "w1".into(),
        folders: vec!["/w".into()],
        agent: "agent".into(),
        dialect: "claude".into(),
        deed: PermissionKind::Command,
        question: "Allow agent to run this command in a terminal?".into(),
        detail: Some("make".into()),
        options: vec![AskOption::AllowOnce, AskOption::AllowSession, AskOption::Deny],
        age_ms: 0,
    }
}

fn harness(asks: &[&str]) -> ScreenHarness {
    let mut harness = ScreenHarness::with(vec![three_hunks("r1")]);
    harness.hub(HubUpdate::Asks(asks.iter().map(|id| ask(id)).collect()));
    harness.look();
    harness
}

fn said(harness: &mut ScreenHarness) -> Vec<AsksAnswer> {
    let sent = std::mem::take(&mut harness.commands).into_iter().filter_map(|command| match command {
        Command::Answer(answer) => Some(answer),
        _ => None,
    });
    sent.collect()
}

#[test]
fn a_prompt_takes_no_key_before_it_was_opened_and_visible() {
    let mut harness = harness(&["q1"]);
    assert!(matches!(harness.screen.overlay, Overlay::None));
    harness.press("!o");
    assert_eq!(said(&mut harness), []);
    assert!(harness.note().contains("only just appeared"), "{}", harness.note());
    harness.look();
    harness.press("o");
    assert_eq!(said(&mut harness), [AsksAnswer { ask: "q1".into(), option: AskOption::AllowOnce }]);
    harness.press("!");
    assert_eq!(harness.note(), "no permission requests");
}

#[test]
fn an_option_that_is_not_offered_and_escape_answer_nothing() {
    let mut harness = harness(&["q1"]);
    harness.press("!");
    harness.look();
    harness.press("Ay\u{1b}");
    assert_eq!(said(&mut harness), []);
    assert!(matches!(harness.screen.overlay, Overlay::None) && harness.screen.asks.len() == 1);
}

#[test]
fn the_next_prompt_is_guarded_again() {
    let mut harness = harness(&["q1", "q2"]);
    harness.press("!");
    harness.look();
    harness.press("\td");
    assert_eq!(said(&mut harness), []);
    harness.look();
    harness.press("d");
    assert_eq!(said(&mut harness), [AsksAnswer { ask: "q2".into(), option: AskOption::Deny }]);
}

#[test]
fn a_closed_prompt_disappears_and_quitting_waits_for_the_answer() {
    let mut harness = harness(&["q1", "q2"]);
    harness.press("!");
    harness.hub(HubUpdate::Asks(vec![ask("q2")]));
    assert!(matches!(harness.screen.overlay, Overlay::None), "{:?}", harness.screen.overlay);
    harness.press("!");
    harness.look();
    harness.press("s");
    let sent = said(&mut harness).pop().unwrap();
    harness.press("q");
    assert!(!harness.commands.iter().any(|command| matches!(command, Command::Quit)));
    harness.hub(HubUpdate::Answered { answer: sent, result: Ok(true) });
    assert!(harness.commands.iter().any(|command| matches!(command, Command::Quit)));
}
