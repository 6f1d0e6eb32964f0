//! What agents ask: seen when she wants to, answered when she has seen it.

use linkspan_editor_api::{AskOption, AskSummary, AsksAnswer, Deed};

use super::*;

fn ask(id: &str) -> AskSummary {
    AskSummary {
        ask: id.into(),
        window: "w1".into(),
        folders: vec!["/w".into()],
        agent: "agent".into(),
        dialect: "claude".into(),
        deed: Deed::Command,
        question: "Allow agent to run this command in a terminal?".into(),
        detail: Some("make".into()),
        options: vec![AskOption::AllowOnce, AskOption::AllowSession, AskOption::Deny],
        age_ms: 0,
    }
}

fn desk(asks: &[&str]) -> Desk {
    let mut desk = Desk::with(vec![three_hunks("r1")]);
    desk.hub(News::Asks(asks.iter().map(|id| ask(id)).collect()));
    desk.look();
    desk
}

fn said(desk: &mut Desk) -> Vec<AsksAnswer> {
    let sent = std::mem::take(&mut desk.commands).into_iter().filter_map(|command| match command {
        Command::Answer(answer) => Some(answer),
        _ => None,
    });
    sent.collect()
}

#[test]
fn a_question_takes_no_key_before_she_opened_and_saw_it() {
    let mut desk = desk(&["q1"]);
    assert!(matches!(desk.screen.overlay, Overlay::None));
    desk.press("!o");
    assert_eq!(said(&mut desk), []);
    assert!(desk.note().contains("only just appeared"), "{}", desk.note());
    desk.look();
    desk.press("o");
    assert_eq!(said(&mut desk), [AsksAnswer { ask: "q1".into(), option: AskOption::AllowOnce }]);
    desk.press("!");
    assert_eq!(desk.note(), "no agent asks for anything");
}

#[test]
fn what_a_question_does_not_offer_is_no_answer_and_esc_is_none() {
    let mut desk = desk(&["q1"]);
    desk.press("!");
    desk.look();
    desk.press("Ay\u{1b}");
    assert_eq!(said(&mut desk), []);
    assert!(matches!(desk.screen.overlay, Overlay::None) && desk.screen.asks.len() == 1);
}

#[test]
fn another_question_needs_another_look() {
    let mut desk = desk(&["q1", "q2"]);
    desk.press("!");
    desk.look();
    desk.press("\td");
    assert_eq!(said(&mut desk), []);
    desk.look();
    desk.press("d");
    assert_eq!(said(&mut desk), [AsksAnswer { ask: "q2".into(), option: AskOption::Deny }]);
}

#[test]
fn a_question_that_is_over_goes_and_leaving_waits_for_the_answer() {
    let mut desk = desk(&["q1", "q2"]);
    desk.press("!");
    desk.hub(News::Asks(vec![ask("q2")]));
    assert!(matches!(desk.screen.overlay, Overlay::None), "{:?}", desk.screen.overlay);
    desk.press("!");
    desk.look();
    desk.press("s");
    let sent = said(&mut desk).pop().unwrap();
    desk.press("q");
    assert!(!desk.commands.iter().any(|command| matches!(command, Command::Quit)));
    desk.hub(News::Answered { answer: sent, result: Ok(true) });
    assert!(desk.commands.iter().any(|command| matches!(command, Command::Quit)));
}
