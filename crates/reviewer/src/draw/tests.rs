//! The drawn screen at common terminal sizes.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use linkspan_editor_api::{
    AskOption, AskSummary, PermissionKind, Position, Range, Receives, ReviewShow, ReviewWords,
    ReviewsGetResult,
};
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::{Terminal, style::Color};

use super::*;
use crate::palette::{Depth, Ground};
use crate::sample::{hunk, numbered, shown, summary, three_hunks};
use crate::screen::{HubUpdate, Input, ReviewerOptions};

fn screen(width: u16, height: u16, reviews: &[ReviewShow]) -> Screen {
    let mut screen = listed(width, height, reviews);
    for shown in reviews {
        got(&mut screen, shown);
    }
    screen
}

/// A screen with these reviews in its list, none of which has been fetched.
fn listed(width: u16, height: u16, reviews: &[ReviewShow]) -> Screen {
    let mut screen = Screen::new(width, height, ReviewerOptions::default());
    let folders = HashMap::from([("w1".to_owned(), vec!["/w".to_owned()])]);
    let listed = reviews.iter().map(summary).collect();
    screen.handle(Duration::ZERO, Input::Hub(HubUpdate::Listed { reviews: listed, folders }));
    screen
}

fn got(screen: &mut Screen, shown: &ReviewShow) {
    let got = ReviewsGetResult {
        shown: shown.clone(),
        phase: "pending".into(),
        diff: String::new(),
        outcome: None,
    };
    screen.handle(Duration::ZERO, Input::Hub(HubUpdate::Got(Box::new(got))));
}

fn press(screen: &mut Screen, keys: &str) {
    for key in keys.chars() {
        let code = if key == '\n' { KeyCode::Enter } else { KeyCode::Char(key) };
        screen.handle(Duration::ZERO, Input::Key(KeyEvent::new(code, KeyModifiers::NONE)));
    }
}

fn drawn(screen: &Screen, depth: Depth) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(screen.area.width, screen.area.height)).unwrap();
    let palette = Palette::new(depth, Ground::Dark);
    terminal.draw(|frame| draw(screen, &palette, frame)).unwrap();
    terminal.backend().buffer().clone()
}

fn lines(buffer: &Buffer) -> Vec<String> {
    let width = usize::from(buffer.area.width);
    buffer.content.chunks(width).map(|row| row.iter().map(|cell| cell.symbol()).collect()).collect()
}

fn text(screen: &Screen) -> String {
    lines(&drawn(screen, Depth::True)).join("\n")
}

#[test]
fn a_narrow_screen_has_the_list_above_one_column() {
    let text = text(&screen(80, 24, &[three_hunks("r1"), three_hunks("r2")]));
    for part in
        ["2 pending reviews", "claude-code · 2 files", "src/r1.rs", "+3 −3", "1m", "hunk 1 of 3", "a accept"]
    {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    let removed = text.lines().position(|line| line.contains("− line 10")).unwrap();
    assert!(text.lines().nth(removed + 1).unwrap().contains("11 + line 10 changed"), "{text}");
    assert!(text.contains("⋯ 7 unchanged lines"), "{text}");
}

#[test]
fn a_wide_screen_has_the_list_beside_both_sides() {
    let text = text(&screen(200, 50, &[three_hunks("r1")]));
    let changed = text.lines().find(|line| line.contains("line 10 changed")).unwrap();
    let (before, after) = changed.split_at(changed.find("line 10 changed").unwrap());
    assert!(before.contains("11 − line 10 ") && after.starts_with("line 10 changed"), "{changed}");
    assert!(text.lines().any(|line| line.contains("src/r1.rs") && line.contains("│")), "{text}");
}

#[test]
fn the_view_can_be_chosen() {
    let mut screen = screen(200, 50, &[three_hunks("r1")]);
    press(&mut screen, "v");
    let unified = text(&screen);
    assert!(
        !unified.lines().any(|line| line.contains("− line 10") && line.contains("+ line 10")),
        "{unified}"
    );
}

#[test]
fn words_that_differ_are_highlighted_with_and_without_colours() {
    let mut one = hunk("ha", (0, 1), (0, 1));
    let range = |from, to| Range {
        start: Position { line: 0, character: from },
        end: Position { line: 0, character: to },
    };
    one.words = vec![ReviewWords { before: range(4, 5), after: range(4, 7) }];
    let screen = screen(80, 24, &[shown("r1", "let a;\n", "let abc;\n", vec![one])]);
    for depth in [Depth::None, Depth::Sixteen, Depth::Indexed, Depth::True] {
        let buffer = drawn(&screen, depth);
        let row = lines(&buffer).iter().position(|line| line.contains("+ let abc;")).unwrap();
        let column = lines(&buffer)[row].chars().position(|character| character == '+').unwrap() + 2;
        let style = |offset: usize| {
            buffer[(u16::try_from(column + offset).unwrap(), u16::try_from(row).unwrap())].style()
        };
        assert_ne!(style(0), style(4), "{depth:?}");
        assert_eq!(style(4), style(6), "{depth:?}");
        let coloured = buffer.content.iter().any(|cell| cell.fg != Color::Reset || cell.bg != Color::Reset);
        assert_eq!(coloured, depth != Depth::None);
    }
}

#[test]
fn hidden_characters_are_visible_everywhere() {
    let mut sly = shown("r1", "a\n", "a\u{202e}b\u{200b}\n", vec![hunk("ha", (0, 1), (0, 1))]);
    sly.path = "/w/src/\u{202e}sr.exe".into();
    sly.agent = "cla\u{1b}[2Jude".into();
    let text = text(&screen(80, 24, &[sly]));
    for part in [r"a\u{202e}b\u{200b}", r"src/\u{202e}sr.exe", r"cla\u{1b}[2Jude"] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
}

#[test]
fn every_key_is_on_the_help_page() {
    for (width, height, pages) in [(80, 24, 40), (200, 50, 1)] {
        let mut screen = screen(width, height, &[three_hunks("r1")]);
        press(&mut screen, "?");
        let mut seen = String::new();
        for _ in 0..pages {
            seen += &text(&screen);
            press(&mut screen, "j");
        }
        for binding in crate::keys::PARTS.iter().flat_map(|(_, bindings)| *bindings) {
            assert!(seen.contains(binding.help), "{} at {width}", binding.help);
        }
    }
}

#[test]
fn marks_comments_and_matches_are_visible() {
    let mut screen = screen(80, 30, &[three_hunks("r1")]);
    press(&mut screen, "yx");
    press(&mut screen, "/line 10 c\ncwhat for?\n[");
    let text = text(&screen);
    for part in ["[✓] hunk 1 of 3", "include", "[✗] hunk 2 of 3", "exclude", "✎ what for?"] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
}

#[test]
fn a_conflict_and_a_missing_newline_are_shown() {
    let mut conflict = shown("r1", "a\n", "b", vec![hunk("ha", (0, 1), (0, 1))]);
    conflict.conflicts = vec![linkspan_editor_api::ReviewConflict {
        before_start: 0,
        before_count: 1,
        after_start: 0,
        after_count: 1,
    }];
    let text = text(&screen(120, 24, &[conflict]));
    assert!(text.contains("conflict: the file changed here in the meantime"), "{text}");
    assert!(text.contains("no newline at end of file"), "{text}");
}

#[test]
fn no_size_is_too_small() {
    for (width, height) in [(0, 0), (1, 1), (3, 2), (10, 5), (30, 3), (500, 4), (20, 100)] {
        let mut screen = screen(width, height, &[unheard()]);
        for keys in ["", "?", "q", "R", "\n", "A"] {
            press(&mut screen, keys);
            drawn(&screen, Depth::True);
        }
    }
}

#[test]
fn a_huge_file_is_drawn_quickly() {
    let after = numbered(100_000, &[50_000]);
    let long = "x".repeat(1_000_000);
    let after = format!("{long}\n{after}");
    let hunks = vec![hunk("ha", (0, 0), (0, 1)), hunk("hb", (50_000, 1), (50_001, 1))];
    let mut screen = screen(200, 50, &[shown("r1", &numbered(100_000, &[]), &after, hunks)]);
    press(&mut screen, "z");
    let began = Instant::now();
    for key in ["j", "]", "G", "g", "l"] {
        press(&mut screen, key);
        drawn(&screen, Depth::True);
    }
    // The limit is for unoptimised code on a busy machine; a tenth of it would not be noticeable.
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
}

fn asked(question: &str, detail: &str) -> AskSummary {
    AskSummary {
        ask: "q1".into(),
        window: "w1".into(),
        folders: vec!["/w".into()],
        agent: "agent".into(),
        dialect: "claude".into(),
        deed: PermissionKind::Command,
        question: question.into(),
        detail: Some(detail.into()),
        options: vec![AskOption::AllowOnce, AskOption::AllowSession, AskOption::AllowAlways, AskOption::Deny],
        age_ms: 0,
    }
}

#[test]
fn a_long_prompt_hides_neither_its_text_nor_its_answers() {
    for (width, height) in [(80, 24), (40, 16), (200, 50)] {
        let mut screen = screen(width, height, &[]);
        let question = format!("Allow it in {}?", "/a/long/folder".repeat(300));
        screen.handle(Duration::ZERO, Input::Hub(HubUpdate::Asks(vec![asked(&question, "rm -r THE-END")])));
        press(&mut screen, "!");
        let first = text(&screen);
        for part in ["rows 1 to", "once", "this session", "always", "deny", "later"] {
            assert!(first.contains(part), "{part} at {width}:\n{first}");
        }
        press(&mut screen, &"j".repeat(200));
        let last = text(&screen);
        assert!(last.contains("rm -r THE-END") && last.contains("deny"), "{last}");
        press(&mut screen, "k");
        assert_ne!(text(&screen), last, "it does not go further than what there is");
    }
}

#[test]
fn a_screen_too_small_for_a_prompt_says_so() {
    let mut screen = screen(60, 6, &[]);
    screen.handle(Duration::ZERO, Input::Hub(HubUpdate::Asks(vec![asked("Allow it?", "make")])));
    press(&mut screen, "!");
    assert!(text(&screen).contains("too small for the request"), "{}", text(&screen));
}

#[test]
fn an_agent_that_no_longer_waits_is_shown_and_confirmed() {
    let gone = ReviewShow { owner_gone: true, ..three_hunks("r1") };
    let mut screen = screen(100, 30, &[gone]);
    assert!(text(&screen).contains("agent gone"), "{}", text(&screen));
    press(&mut screen, "a");
    let asked = text(&screen);
    assert!(asked.contains("claude-code no longer waits. Let Linkspan write the file?"), "{asked}");
    assert!(asked.contains("write the file"), "{asked}");
}

#[test]
fn many_at_once_are_offered_for_a_decision_when_all_have_loaded() {
    let reviews = [three_hunks("r1"), three_hunks("r2"), three_hunks("r3")];
    for (key, answer) in [("A", "accept all of these"), ("X", "reject all of these")] {
        let mut screen = listed(80, 24, &reviews);
        got(&mut screen, &reviews[0]);
        press(&mut screen, key);
        for loading in ["loading 2 of 3 changes…", "loading 1 of 3 changes…"] {
            let text = text(&screen);
            assert!(text.contains(loading) && !text.contains(answer), "{loading} in\n{text}");
            let next = if loading.contains('2') { &reviews[1] } else { &reviews[2] };
            got(&mut screen, next);
        }
        let text = text(&screen);
        assert!(text.contains(answer) && !text.contains("loading"), "{text}");
    }
}

/// A review of an agent that receives only yes or no.
fn unheard() -> ReviewShow {
    let receives_notes =
        linkspan_editor_api::labels::receives_notes("Claude Code", Receives::NOTHING, None, Some("claude"));
    ReviewShow { receives: Some(Receives::NOTHING), receives_notes, ..three_hunks("r1") }
}

#[test]
fn what_the_agent_will_not_receive_is_said_before_the_user_types() {
    for (width, height) in [(80, 24), (200, 50)] {
        let mut screen = screen(width, height, &[unheard()]);
        let first = text(&screen);
        assert!(first.contains("Claude Code receives only yes or no"), "{first}");
        assert!(first.contains("hunk 1 of 3"), "{first}");
        press(&mut screen, "c");
        assert!(text(&screen).contains("Claude Code will not receive your comments."), "{}", text(&screen));
        press(&mut screen, "why\n");
        assert!(!text(&screen).contains("will be sent"), "{}", text(&screen));
        press(&mut screen, "R");
        assert!(text(&screen).contains("Claude Code will not receive your reason."), "{}", text(&screen));
    }
}

#[test]
fn a_change_of_a_chat_says_why_it_was_proposed() {
    let origin = linkspan_editor_api::ReviewOrigin {
        chat: "t3".into(),
        turn: 2,
        item: 7,
        prompt: Some("make it\n\u{1b}[2Jloud".into()),
        words: None,
    };
    let review = ReviewShow { origin: Some(origin), ..unheard() };
    for (width, height) in [(80, 24), (200, 50)] {
        let screen = screen(width, height, std::slice::from_ref(&review));
        let text = text(&screen);
        assert!(text.contains("from turn t3/2 of a chat: “make it \\u{1b}[2Jloud”"), "{text}");
        assert!(text.contains("Claude Code receives only yes or no"), "{text}");
    }
}

#[test]
fn a_choice_of_hunks_that_the_agent_will_not_receive_is_said_while_it_is_made() {
    let note = "Claude Code will not receive your choice of hunks.";
    let mut screen = screen(100, 30, &[unheard()]);
    press(&mut screen, "y");
    assert!(!text(&screen).contains(note), "nothing is left out yet: {}", text(&screen));
    press(&mut screen, "x");
    let foot = lines(&drawn(&screen, Depth::True)).pop().unwrap();
    assert!(foot.contains(note) && foot.contains("submit marks"), "{foot}");
    press(&mut screen, "s");
    let asked = text(&screen);
    assert!(asked.contains("1 of 3 hunks have no mark.") && asked.contains(note), "{asked}");
}

#[test]
fn nothing_is_said_about_an_agent_that_receives_everything_or_is_not_known() {
    for receives in [None, Some(Receives::EVERYTHING)] {
        let mut screen = screen(100, 30, &[ReviewShow { receives, ..three_hunks("r1") }]);
        press(&mut screen, "xc");
        assert!(!text(&screen).contains("receive"), "{}", text(&screen));
    }
}
