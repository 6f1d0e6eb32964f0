//! What keys and updates of the hub do, with a clock that the test controls.

mod expiry;
mod held_keys;
mod hub_write;
mod prompts;
mod quit;

use std::collections::HashMap;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEventKind};
use linkspan_editor_api::{AcceptedPart, Decision, ReviewEnded, ReviewShow, Verdict};

use super::expiry::ENDED;
use super::quit::QUIT_TIMEOUT;
use super::*;
use crate::regions::Regions;
use crate::sample::{summary, three_hunks};

/// A screen with simulated time, keys and hub.
struct ScreenHarness {
    screen: Screen,
    now: Duration,
    commands: Vec<Command>,
    reviews: Vec<ReviewShow>,
}

impl ScreenHarness {
    /// A screen with these reviews, visible long enough to decide.
    fn with(reviews: Vec<ReviewShow>) -> ScreenHarness {
        let screen = Screen::new(120, 40, ReviewerOptions::default());
        let mut harness =
            ScreenHarness { screen, now: Duration::ZERO, commands: Vec::new(), reviews: Vec::new() };
        harness.list(reviews);
        harness.serve();
        harness.look();
        harness
    }

    fn input(&mut self, input: Input) {
        let commands = self.screen.handle(self.now, input);
        self.commands.extend(commands.into_iter().filter(|command| !matches!(command, Command::Paint(_))));
    }

    fn hub(&mut self, news: HubUpdate) {
        self.input(Input::Hub(news));
        self.input(Input::Drawn);
    }

    fn list(&mut self, reviews: Vec<ReviewShow>) {
        let listed = reviews.iter().map(summary).collect();
        self.reviews = reviews;
        let folders = HashMap::from([("w1".to_owned(), vec!["/w".to_owned()])]);
        self.hub(HubUpdate::Listed { reviews: listed, folders });
    }

    /// Answers all fetches.
    fn serve(&mut self) {
        for command in std::mem::take(&mut self.commands) {
            match command {
                Command::Get(review) => {
                    if let Some(shown) = self.reviews.iter().find(|shown| shown.review == review) {
                        self.got(shown.clone());
                    }
                }
                Command::List => {}
                other => self.commands.push(other),
            }
        }
    }

    fn got(&mut self, shown: ReviewShow) {
        let got = ReviewsGetResult { shown, phase: "pending".into(), diff: String::new(), outcome: None };
        self.hub(HubUpdate::Got(Box::new(got)));
    }

    /// Waits longer than the misclick guard requires.
    fn look(&mut self) {
        self.wait(misclick_guard::SETTLE_TIME);
    }

    fn wait(&mut self, time: Duration) {
        self.input(Input::Drawn);
        self.now += time;
        self.input(Input::Tick);
    }

    /// The user's editor returns this text, edited from that revision.
    fn edits(&mut self, review: &str, revision: u32, text: &str) {
        self.input(Input::Edited { review: review.into(), revision, text: Ok(text.into()) });
        self.input(Input::Drawn);
    }

    fn press(&mut self, keys: &str) {
        for character in keys.chars() {
            let code = match character {
                '\n' => KeyCode::Enter,
                '\t' => KeyCode::Tab,
                '\u{1b}' => KeyCode::Esc,
                other => KeyCode::Char(other),
            };
            self.input(Input::Key(KeyEvent::new(code, KeyModifiers::NONE)));
            self.input(Input::Drawn);
        }
    }

    /// The decisions that were sent.
    fn decided(&mut self) -> Vec<(String, Option<u32>, Verdict)> {
        let sent = std::mem::take(&mut self.commands).into_iter().filter_map(|command| match command {
            Command::Decide(ReviewsDecide {
                review, revision, decision: Decision { verdict, .. }, ..
            }) => Some((review, revision, verdict)),
            _ => None,
        });
        sent.collect()
    }

    fn note(&self) -> &str {
        self.screen.note.as_ref().map_or("", |note| &note.text)
    }

    fn selected(&self) -> &str {
        self.screen.selected.as_deref().unwrap_or_default()
    }
}

fn newer(review: &str) -> ReviewShow {
    ReviewShow { revision: 2, ..three_hunks(review) }
}

fn reject() -> Verdict {
    Verdict::Reject { reason: None }
}

#[test]
fn a_visible_change_is_accepted_as_it_was_shown() {
    let mut harness = ScreenHarness::with(vec![three_hunks("r1")]);
    harness.press("a");
    assert_eq!(harness.decided(), [("r1".into(), Some(1), Verdict::Accept)]);
}

#[test]
fn a_key_that_comes_too_early_decides_nothing() {
    for keys in ["a", "r", "R no\n", "yyys", "Ay", "Xy"] {
        let mut harness = ScreenHarness::with(vec![three_hunks("r1"), three_hunks("r2")]);
        harness.press("\t");
        harness.serve();
        harness.wait(misclick_guard::SETTLE_TIME - Duration::from_millis(1));
        harness.press(keys);
        assert_eq!(harness.decided(), [], "{keys}");
        assert!(harness.note().contains("only just appeared"), "{keys}: {}", harness.note());
    }
}

#[test]
fn a_newer_revision_restarts_the_guard() {
    let mut harness = ScreenHarness::with(vec![three_hunks("r1")]);
    harness.got(newer("r1"));
    harness.press("a");
    assert_eq!(harness.decided(), []);
    harness.look();
    harness.press("a");
    assert_eq!(harness.decided(), [("r1".into(), Some(2), Verdict::Accept)]);
}

#[test]
fn a_newer_revision_that_is_not_drawn_yet_can_not_be_decided() {
    let mut harness = ScreenHarness::with(vec![three_hunks("r1")]);
    let got =
        ReviewsGetResult { shown: newer("r1"), phase: "pending".into(), diff: String::new(), outcome: None };
    harness.input(Input::Hub(HubUpdate::Got(Box::new(got))));
    harness.now += Duration::from_secs(9);
    harness.input(Input::Key(KeyEvent::new(KeyCode::Char('a'), KeyModifiers::NONE)));
    assert_eq!(harness.decided(), []);
}

#[test]
fn a_list_that_moves_restarts_the_guard_and_keeps_the_selection() {
    let other = |review: &str| ReviewShow { agent: "zed".into(), ..three_hunks(review) };
    let mut harness = ScreenHarness::with(vec![three_hunks("r1"), other("r2")]);
    harness.press("\t");
    harness.serve();
    harness.look();
    harness.list(vec![three_hunks("r1"), other("r2"), three_hunks("r3")]);
    assert_eq!(harness.selected(), "r2");
    harness.press("a");
    assert_eq!(harness.decided(), []);
    harness.look();
    harness.press("a");
    assert_eq!(harness.decided(), [("r2".into(), Some(1), Verdict::Accept)]);
}

#[test]
fn a_review_added_below_shows_a_quiet_note_and_does_not_block_keys() {
    let mut harness = ScreenHarness::with(vec![three_hunks("r1")]);
    harness.list(vec![three_hunks("r1"), three_hunks("r2")]);
    assert_eq!((harness.selected(), harness.note()), ("r1", "new: src/r2.rs"));
    harness.press("r");
    assert_eq!(harness.decided(), [("r1".into(), Some(1), reject())]);
}

#[test]
fn after_a_decision_the_next_review_is_shown_and_guarded_again() {
    let mut harness = ScreenHarness::with(vec![three_hunks("r1"), three_hunks("r2")]);
    harness.press("a");
    harness.decided();
    harness.hub(HubUpdate::Decided {
        review: "r1".into(),
        result: Ok(ReviewDecidedResult::Taken),
        outcome: None,
    });
    harness.serve();
    assert_eq!(
        (harness.selected(), harness.note()),
        ("r2", "accepted: src/r1.rs; claude-code was told to write it")
    );
    harness.press("a");
    assert_eq!(harness.decided(), []);
}

#[test]
fn two_hunks_of_three_are_accepted() {
    let mut harness = ScreenHarness::with(vec![three_hunks("r1")]);
    harness.press("yxy");
    harness.look();
    harness.press("s");
    let hunks = vec!["h10".to_owned(), "h30".to_owned()];
    assert_eq!(harness.decided(), [("r1".into(), Some(1), Verdict::AcceptHunks { hunks })]);
}

#[test]
fn unmarked_hunks_are_asked_about() {
    for (answer, count) in [("t", 3), ("l", 1)] {
        let mut harness = ScreenHarness::with(vec![three_hunks("r1")]);
        harness.press("ys");
        assert_eq!(harness.decided(), []);
        harness.look();
        harness.press(answer);
        let taken = match harness.decided().as_slice() {
            [(_, _, Verdict::Accept)] => 3,
            [(_, _, Verdict::AcceptHunks { hunks })] => hunks.len(),
            other => panic!("{other:?}"),
        };
        assert_eq!(taken, count);
    }
}

#[test]
fn excluding_every_hunk_is_a_rejection() {
    let mut harness = ScreenHarness::with(vec![three_hunks("r1")]);
    harness.press("xxxs");
    assert_eq!(harness.decided(), [("r1".into(), Some(1), reject())]);
}

#[test]
fn accepting_all_despite_marks_is_asked_about() {
    let mut harness = ScreenHarness::with(vec![three_hunks("r1")]);
    harness.press("xa");
    harness.look();
    harness.press("n");
    assert_eq!(harness.decided(), []);
    harness.look();
    harness.press("a");
    harness.look();
    harness.press("y");
    assert_eq!(harness.decided(), [("r1".into(), Some(1), Verdict::Accept)]);
}

#[test]
fn a_rejection_carries_its_reason_and_escape_carries_nothing() {
    let mut harness = ScreenHarness::with(vec![three_hunks("r1")]);
    harness.press("Rq\u{1b}");
    assert_eq!(harness.decided(), []);
    harness.press("R");
    harness.look();
    harness.press("too clever\n");
    let reason = Some("too clever".to_owned());
    assert_eq!(harness.decided(), [("r1".into(), Some(1), Verdict::Reject { reason })]);
}

#[test]
fn a_change_while_the_reason_is_typed_keeps_the_text_and_decides_nothing() {
    let mut harness = ScreenHarness::with(vec![three_hunks("r1")]);
    harness.press("R");
    harness.look();
    harness.press("no");
    harness.got(newer("r1"));
    harness.press("\n");
    assert_eq!(harness.decided(), []);
    harness.look();
    harness.press("\n");
    let reason = Some("no".to_owned());
    assert_eq!(harness.decided(), [("r1".into(), Some(2), Verdict::Reject { reason })]);
}

#[test]
fn a_comment_is_sent_with_the_decision() {
    let mut harness = ScreenHarness::with(vec![three_hunks("r1")]);
    harness.press("/line 20 c\ncwhy?\n");
    harness.look();
    harness.press("a");
    let comments: Vec<_> = harness
        .commands
        .iter()
        .filter_map(|command| match command {
            Command::Decide(decide) => Some(decide.decision.comments.clone()),
            _ => None,
        })
        .flatten()
        .collect();
    assert_eq!(comments.iter().map(|c| (c.line, c.text.as_str())).collect::<Vec<_>>(), [(21, "why?")]);
}

#[test]
fn a_decision_made_elsewhere_shows_at_once_and_removes_nothing() {
    let mut harness = ScreenHarness::with(vec![three_hunks("r1"), three_hunks("r2")]);
    harness.hub(HubUpdate::Ended { review: "r1".into(), how: "accepted in VS Code".into() });
    harness.list(vec![three_hunks("r2")]);
    assert_eq!(harness.selected(), "r1");
    assert!(harness.note().contains("accepted in VS Code"), "{}", harness.note());
    harness.look();
    harness.press("r");
    assert_eq!(harness.decided(), []);
    harness.press("\t");
    harness.wait(ENDED);
    assert!(harness.screen.list.get("r1").is_none());
    assert_eq!(harness.selected(), "r2");
}

#[test]
fn a_decision_that_came_second_says_who_was_first() {
    let mut harness = ScreenHarness::with(vec![three_hunks("r1")]);
    harness.press("a");
    let result = Ok(ReviewDecidedResult::AlreadyDecided { by: "VS Code".into() });
    harness.hub(HubUpdate::Decided { review: "r1".into(), result, outcome: None });
    assert_eq!(harness.note(), "r1 was already decided in VS Code");
}

#[test]
fn a_decision_sent_twice_shows_its_actual_outcome() {
    let accepted = |taken| ReviewEnded::Accepted { taken, person_diff: None };
    for (ended, note, goes_on) in [
        (accepted(AcceptedPart::All), "accepted in the terminal reviewer: src/r1.rs", true),
        (accepted(AcceptedPart::Some), "r1 was already accepted in part in the terminal reviewer", false),
        (ReviewEnded::Rejected { reason: None }, "r1 was already rejected in the terminal reviewer", false),
    ] {
        let mut harness = ScreenHarness::with(vec![three_hunks("r1")]);
        harness.press("a");
        let result = Ok(ReviewDecidedResult::AlreadyDecided { by: "the terminal reviewer".into() });
        let outcome = Some(ReviewOutcome { ended, comments: Vec::new(), delivered: false });
        harness.hub(HubUpdate::Decided { review: "r1".into(), result, outcome });
        assert_eq!(harness.note(), note);
        assert_eq!(harness.screen.list.get("r1").is_none(), goes_on);
    }
}

#[test]
fn a_stale_decision_fetches_the_review_again() {
    let mut harness = ScreenHarness::with(vec![three_hunks("r1")]);
    harness.press("a");
    harness.decided();
    let result = Ok(ReviewDecidedResult::Stale { revision: 2 });
    harness.hub(HubUpdate::Decided { review: "r1".into(), result, outcome: None });
    assert!(matches!(harness.commands.as_slice(), [Command::Get(review)] if review == "r1"));
    assert!(harness.note().contains("review it again"));
}

#[test]
fn many_at_once_are_confirmed_and_bound_to_what_was_fetched() {
    let set = |review: &str| ReviewShow { set: Some("s1".into()), ..three_hunks(review) };
    let mut harness = ScreenHarness::with(vec![set("r1"), set("r2"), three_hunks("r3")]);
    harness.press("A");
    harness.look();
    harness.press("y");
    assert_eq!(harness.decided(), [], "not all are fetched");
    harness.press("\u{1b}A");
    harness.got(three_hunks("r2"));
    harness.got(three_hunks("r3"));
    harness.list(vec![set("r1"), set("r2"), three_hunks("r3"), three_hunks("r4")]);
    harness.look();
    harness.press("s");
    harness.look();
    harness.press("y");
    let decided: Vec<String> = harness.decided().into_iter().map(|(review, ..)| review).collect();
    assert_eq!(decided, ["r1", "r2"]);
}

#[test]
fn marks_keep_a_change_out_of_many_at_once() {
    let mut harness = ScreenHarness::with(vec![three_hunks("r1"), three_hunks("r2")]);
    harness.press("xX");
    harness.serve();
    harness.look();
    harness.press("y");
    assert_eq!(harness.decided(), [("r2".into(), Some(1), reject())]);
}

#[test]
fn an_edited_text_is_accepted_only_after_a_confirmation() {
    let mut harness = ScreenHarness::with(vec![three_hunks("r1")]);
    harness.press("e");
    assert!(
        matches!(harness.commands.as_slice(), [Command::Edit { text, .. }] if *text == three_hunks("r1").proposed)
    );
    harness.commands.clear();
    harness.edits("r1", 1, "mine\n");
    harness.press("y");
    assert_eq!(harness.decided(), []);
    harness.look();
    harness.press("y");
    let text = "mine\n".to_owned();
    assert_eq!(harness.decided(), [("r1".into(), Some(1), Verdict::AcceptEdited { text })]);
}

#[test]
fn an_editor_that_changes_nothing_decides_nothing() {
    let mut harness = ScreenHarness::with(vec![three_hunks("r1")]);
    harness.edits("r1", 1, &three_hunks("r1").proposed);
    harness.look();
    harness.press("y");
    assert_eq!(harness.decided(), []);
}

#[test]
fn a_text_edited_while_the_change_changed_is_kept() {
    let mut harness = ScreenHarness::with(vec![three_hunks("r1")]);
    harness.edits("r1", 1, "mine\n");
    harness.got(newer("r1"));
    harness.press("\u{1b}e");
    assert!(matches!(harness.commands.as_slice(), [Command::Edit { text, .. }] if text == "mine\n"));
}

#[test]
fn a_text_made_from_an_older_revision_is_not_accepted_until_it_is_edited_again() {
    let mut harness = ScreenHarness::with(vec![three_hunks("r1")]);
    harness.edits("r1", 1, "mine\n");
    harness.look();
    harness.got(newer("r1"));
    assert!(matches!(harness.screen.overlay, Overlay::None), "the question is closed");
    harness.look();
    harness.press("y");
    harness.look();
    harness.press("a");
    harness.look();
    harness.press("y");
    assert_eq!(harness.decided(), []);
    harness.press("e");
    let begin = ("mine\n".to_owned(), 2);
    assert!(
        matches!(harness.commands.as_slice(), [Command::Edit { text, revision, .. }] if (text.clone(), *revision) == begin)
    );
    harness.commands.clear();
    harness.edits("r1", 2, "mine\n");
    harness.look();
    harness.press("y");
    assert_eq!(harness.decided(), [], "nothing was edited");
    harness.edits("r1", 2, "mine too\n");
    harness.look();
    harness.press("y");
    let text = "mine too\n".to_owned();
    assert_eq!(harness.decided(), [("r1".into(), Some(2), Verdict::AcceptEdited { text })]);
}

#[test]
fn a_text_edited_while_the_change_changed_belongs_to_the_older_revision() {
    let mut harness = ScreenHarness::with(vec![three_hunks("r1")]);
    harness.got(newer("r1"));
    harness.edits("r1", 1, "mine\n");
    harness.look();
    harness.press("y");
    assert_eq!(harness.decided(), []);
}

#[test]
fn accepting_does_not_discard_the_users_own_text() {
    for key in ["a", "ys"] {
        let mut harness = ScreenHarness::with(vec![three_hunks("r1")]);
        harness.edits("r1", 1, "mine\n");
        harness.press("\u{1b}");
        harness.look();
        harness.press(key);
        assert_eq!(harness.decided(), []);
        assert!(matches!(harness.screen.overlay, Overlay::Confirm(Confirm::Draft)), "{key}");
        harness.look();
        harness.press("y");
        let text = "mine\n".to_owned();
        assert_eq!(harness.decided(), [("r1".into(), Some(1), Verdict::AcceptEdited { text })]);
    }
}

#[test]
fn pasted_text_is_never_interpreted_as_keys() {
    let mut harness = ScreenHarness::with(vec![three_hunks("r1")]);
    harness.input(Input::Paste("a".into()));
    assert_eq!(harness.decided(), []);
    harness.press("R");
    harness.look();
    harness.input(Input::Paste("not\nthis".into()));
    harness.press("\n");
    let reason = Some("not this".to_owned());
    assert_eq!(harness.decided(), [("r1".into(), Some(1), Verdict::Reject { reason })]);
}

#[test]
fn searching_finds_folded_lines_and_wraps_around() {
    let mut harness = ScreenHarness::with(vec![three_hunks("r1")]);
    let line = |harness: &ScreenHarness| harness.screen.document().unwrap().comment_line();
    harness.press("/line 21\n");
    assert_eq!(line(&harness), 22);
    harness.press("/line 1\n");
    let first = line(&harness);
    harness.press("nnn");
    assert_ne!(line(&harness), first);
    harness.press("NNN");
    assert_eq!(line(&harness), first);
    harness.press("/LINE 2\n");
    assert!(harness.note().contains("no match for"));
    harness.press("/line 38\n");
    assert_eq!(line(&harness), 39);
}

#[test]
fn the_mouse_chooses_files_and_hunks_and_decides_nothing() {
    let mut harness = ScreenHarness::with(vec![three_hunks("r1"), three_hunks("r2")]);
    let click = |harness: &mut ScreenHarness, column: u16, row: u16| {
        let kind = MouseEventKind::Down(MouseButton::Left);
        harness.input(Input::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE }));
        harness.input(Input::Drawn);
    };
    let list = Regions::of(&harness.screen).list;
    click(&mut harness, list.x + 2, list.y + 2);
    harness.serve();
    assert_eq!(harness.selected(), "r2");
    let diff = Regions::of(&harness.screen).diff;
    let head = harness
        .screen
        .document()
        .unwrap()
        .rows
        .iter()
        .position(|row| *row == crate::rows::Row::Hunk(1))
        .unwrap();
    let row = diff.y + u16::try_from(head - harness.screen.document().unwrap().top).unwrap();
    click(&mut harness, diff.x + 20, row);
    assert_eq!(harness.screen.document().unwrap().hunk(), Some(1));
    click(&mut harness, diff.x + 2, row);
    assert!(harness.screen.document().unwrap().mark_of(1).is_some());
    harness.look();
    for row in 0..40 {
        click(&mut harness, 60, row);
    }
    assert_eq!(harness.decided(), []);
}

#[test]
fn quitting_decides_nothing_and_once_quits_when_nothing_is_pending() {
    let mut harness = ScreenHarness::with(vec![three_hunks("r1")]);
    harness.press("q");
    assert!(matches!(harness.commands.as_slice(), [Command::Quit]));

    let mut harness = ScreenHarness::with(vec![three_hunks("r1")]);
    harness.screen.options.once = true;
    harness.look();
    assert!(harness.commands.is_empty());
    harness.press("a");
    harness.commands.clear();
    harness.hub(HubUpdate::Decided {
        review: "r1".into(),
        result: Ok(ReviewDecidedResult::Taken),
        outcome: None,
    });
    harness.look();
    assert!(matches!(harness.commands.as_slice(), [Command::Quit]));
}

#[test]
fn a_lost_hub_is_shown_and_everything_is_requested_again() {
    let mut harness = ScreenHarness::with(vec![three_hunks("r1")]);
    harness.press("x");
    harness.hub(HubUpdate::Lost("the hub closed the connection".into()));
    assert!(harness.screen.lost.is_some());
    harness.hub(HubUpdate::Listening { again: true });
    assert!(matches!(harness.commands.as_slice(), [Command::List, Command::Get(review)] if review == "r1"));
    harness.got(three_hunks("r1"));
    assert_eq!(harness.screen.document().unwrap().marks.len(), 1, "marks survive");
    assert!(harness.screen.lost.is_none());
}

#[test]
fn the_requested_review_is_shown_first() {
    let screen = Screen::new(80, 24, ReviewerOptions { review: Some("r2".into()), once: false });
    let mut harness =
        ScreenHarness { screen, now: Duration::ZERO, commands: Vec::new(), reviews: Vec::new() };
    harness.list(vec![three_hunks("r1"), three_hunks("r2")]);
    assert_eq!(harness.selected(), "r2");
}
