//! What keys and news do, with the time in the test's hands.

mod asking;
mod held;
mod leaving;
mod time;
mod writing;

use std::collections::HashMap;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEventKind};
use linkspan_editor_api::{Decision, ReviewEnded, ReviewShow, Taken, Verdict};

use super::leave::TELLING;
use super::time::ENDED;
use super::*;
use crate::regions::Regions;
use crate::sample::{summary, three_hunks};

/// A person at a screen.
struct Desk {
    screen: Screen,
    now: Duration,
    commands: Vec<Command>,
    reviews: Vec<ReviewShow>,
}

impl Desk {
    /// A screen with these reviews, looked at for a while.
    fn with(reviews: Vec<ReviewShow>) -> Desk {
        let screen = Screen::new(120, 40, Wishes::default());
        let mut desk = Desk { screen, now: Duration::ZERO, commands: Vec::new(), reviews: Vec::new() };
        desk.list(reviews);
        desk.serve();
        desk.look();
        desk
    }

    fn input(&mut self, input: Input) {
        let commands = self.screen.handle(self.now, input);
        self.commands.extend(commands.into_iter().filter(|command| !matches!(command, Command::Paint(_))));
    }

    fn hub(&mut self, news: News) {
        self.input(Input::Hub(news));
        self.input(Input::Drawn);
    }

    fn list(&mut self, reviews: Vec<ReviewShow>) {
        let listed = reviews.iter().map(summary).collect();
        self.reviews = reviews;
        let folders = HashMap::from([("w1".to_owned(), vec!["/w".to_owned()])]);
        self.hub(News::Listed { reviews: listed, folders });
    }

    /// Answers what is fetched.
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
        self.hub(News::Got(Box::new(got)));
    }

    /// The person looks for longer than a moment.
    fn look(&mut self) {
        self.wait(steady::MOMENT);
    }

    fn wait(&mut self, time: Duration) {
        self.input(Input::Drawn);
        self.now += time;
        self.input(Input::Tick);
    }

    /// The person's editor gives this text, which began with what that revision was.
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

    /// The decisions that were sent, and nothing else that matters.
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
fn a_change_that_was_looked_at_is_accepted_as_it_was_seen() {
    let mut desk = Desk::with(vec![three_hunks("r1")]);
    desk.press("a");
    assert_eq!(desk.decided(), [("r1".into(), Some(1), Verdict::Accept)]);
}

#[test]
fn a_key_that_comes_too_early_decides_nothing() {
    for keys in ["a", "r", "R no\n", "yyys", "Ay", "Xy"] {
        let mut desk = Desk::with(vec![three_hunks("r1"), three_hunks("r2")]);
        desk.press("\t");
        desk.serve();
        desk.wait(steady::MOMENT - Duration::from_millis(1));
        desk.press(keys);
        assert_eq!(desk.decided(), [], "{keys}");
        assert!(desk.note().contains("only just appeared"), "{keys}: {}", desk.note());
    }
}

#[test]
fn a_newer_revision_begins_the_moment_anew() {
    let mut desk = Desk::with(vec![three_hunks("r1")]);
    desk.got(newer("r1"));
    desk.press("a");
    assert_eq!(desk.decided(), []);
    desk.look();
    desk.press("a");
    assert_eq!(desk.decided(), [("r1".into(), Some(2), Verdict::Accept)]);
}

#[test]
fn a_newer_revision_that_is_not_drawn_yet_can_not_be_decided() {
    let mut desk = Desk::with(vec![three_hunks("r1")]);
    let got =
        ReviewsGetResult { shown: newer("r1"), phase: "pending".into(), diff: String::new(), outcome: None };
    desk.input(Input::Hub(News::Got(Box::new(got))));
    desk.now += Duration::from_secs(9);
    desk.input(Input::Key(KeyEvent::new(KeyCode::Char('a'), KeyModifiers::NONE)));
    assert_eq!(desk.decided(), []);
}

#[test]
fn a_list_that_moves_begins_the_moment_anew_and_keeps_the_selection() {
    let other = |review: &str| ReviewShow { agent: "zed".into(), ..three_hunks(review) };
    let mut desk = Desk::with(vec![three_hunks("r1"), other("r2")]);
    desk.press("\t");
    desk.serve();
    desk.look();
    desk.list(vec![three_hunks("r1"), other("r2"), three_hunks("r3")]);
    assert_eq!(desk.selected(), "r2");
    desk.press("a");
    assert_eq!(desk.decided(), []);
    desk.look();
    desk.press("a");
    assert_eq!(desk.decided(), [("r2".into(), Some(1), Verdict::Accept)]);
}

#[test]
fn what_comes_behind_says_so_quietly_and_holds_nobody_up() {
    let mut desk = Desk::with(vec![three_hunks("r1")]);
    desk.list(vec![three_hunks("r1"), three_hunks("r2")]);
    assert_eq!((desk.selected(), desk.note()), ("r1", "new: src/r2.rs"));
    desk.press("r");
    assert_eq!(desk.decided(), [("r1".into(), Some(1), reject())]);
}

#[test]
fn after_a_decision_the_next_one_is_shown_and_needs_its_own_look() {
    let mut desk = Desk::with(vec![three_hunks("r1"), three_hunks("r2")]);
    desk.press("a");
    desk.decided();
    desk.hub(News::Decided { review: "r1".into(), result: Ok(ReviewDecidedResult::Taken), outcome: None });
    desk.serve();
    assert_eq!(
        (desk.selected(), desk.note()),
        ("r2", "accepted: src/r1.rs; claude-code was told to write it")
    );
    desk.press("a");
    assert_eq!(desk.decided(), []);
}

#[test]
fn two_hunks_of_three_are_taken() {
    let mut desk = Desk::with(vec![three_hunks("r1")]);
    desk.press("yxy");
    desk.look();
    desk.press("s");
    let hunks = vec!["h10".to_owned(), "h30".to_owned()];
    assert_eq!(desk.decided(), [("r1".into(), Some(1), Verdict::AcceptHunks { hunks })]);
}

#[test]
fn unmarked_hunks_are_asked_about() {
    for (answer, count) in [("t", 3), ("l", 1)] {
        let mut desk = Desk::with(vec![three_hunks("r1")]);
        desk.press("ys");
        assert_eq!(desk.decided(), []);
        desk.look();
        desk.press(answer);
        let taken = match desk.decided().as_slice() {
            [(_, _, Verdict::Accept)] => 3,
            [(_, _, Verdict::AcceptHunks { hunks })] => hunks.len(),
            other => panic!("{other:?}"),
        };
        assert_eq!(taken, count);
    }
}

#[test]
fn leaving_every_hunk_out_is_a_rejection() {
    let mut desk = Desk::with(vec![three_hunks("r1")]);
    desk.press("xxxs");
    assert_eq!(desk.decided(), [("r1".into(), Some(1), reject())]);
}

#[test]
fn accepting_all_despite_marks_is_asked_about() {
    let mut desk = Desk::with(vec![three_hunks("r1")]);
    desk.press("xa");
    desk.look();
    desk.press("n");
    assert_eq!(desk.decided(), []);
    desk.look();
    desk.press("a");
    desk.look();
    desk.press("y");
    assert_eq!(desk.decided(), [("r1".into(), Some(1), Verdict::Accept)]);
}

#[test]
fn a_rejection_carries_its_reason_and_escape_carries_nothing() {
    let mut desk = Desk::with(vec![three_hunks("r1")]);
    desk.press("Rq\u{1b}");
    assert_eq!(desk.decided(), []);
    desk.press("R");
    desk.look();
    desk.press("too clever\n");
    let reason = Some("too clever".to_owned());
    assert_eq!(desk.decided(), [("r1".into(), Some(1), Verdict::Reject { reason })]);
}

#[test]
fn a_change_while_the_reason_is_typed_keeps_the_words_and_decides_nothing() {
    let mut desk = Desk::with(vec![three_hunks("r1")]);
    desk.press("R");
    desk.look();
    desk.press("no");
    desk.got(newer("r1"));
    desk.press("\n");
    assert_eq!(desk.decided(), []);
    desk.look();
    desk.press("\n");
    let reason = Some("no".to_owned());
    assert_eq!(desk.decided(), [("r1".into(), Some(2), Verdict::Reject { reason })]);
}

#[test]
fn a_comment_goes_along_with_the_decision() {
    let mut desk = Desk::with(vec![three_hunks("r1")]);
    desk.press("/line 20 c\ncwhy?\n");
    desk.look();
    desk.press("a");
    let comments: Vec<_> = desk
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
fn what_others_decide_shows_at_once_and_takes_nothing_away() {
    let mut desk = Desk::with(vec![three_hunks("r1"), three_hunks("r2")]);
    desk.hub(News::Ended { review: "r1".into(), how: "accepted in VS Code".into() });
    desk.list(vec![three_hunks("r2")]);
    assert_eq!(desk.selected(), "r1");
    assert!(desk.note().contains("accepted in VS Code"), "{}", desk.note());
    desk.look();
    desk.press("r");
    assert_eq!(desk.decided(), []);
    desk.press("\t");
    desk.wait(ENDED);
    assert!(desk.screen.list.get("r1").is_none());
    assert_eq!(desk.selected(), "r2");
}

#[test]
fn a_decision_that_came_second_says_who_was_first() {
    let mut desk = Desk::with(vec![three_hunks("r1")]);
    desk.press("a");
    let result = Ok(ReviewDecidedResult::AlreadyDecided { by: "VS Code".into() });
    desk.hub(News::Decided { review: "r1".into(), result, outcome: None });
    assert_eq!(desk.note(), "r1 was already decided in VS Code");
}

#[test]
fn a_decision_told_twice_is_said_to_be_what_it_became() {
    let accepted = |taken| ReviewEnded::Accepted { taken, person_diff: None };
    for (ended, note, goes_on) in [
        (accepted(Taken::All), "accepted in the terminal reviewer: src/r1.rs", true),
        (accepted(Taken::Some), "r1 was already accepted in part in the terminal reviewer", false),
        (ReviewEnded::Rejected { reason: None }, "r1 was already rejected in the terminal reviewer", false),
    ] {
        let mut desk = Desk::with(vec![three_hunks("r1")]);
        desk.press("a");
        let result = Ok(ReviewDecidedResult::AlreadyDecided { by: "the terminal reviewer".into() });
        let outcome = Some(ReviewOutcome { ended, comments: Vec::new(), delivered: false });
        desk.hub(News::Decided { review: "r1".into(), result, outcome });
        assert_eq!(desk.note(), note);
        assert_eq!(desk.screen.list.get("r1").is_none(), goes_on);
    }
}

#[test]
fn a_stale_decision_is_looked_at_again() {
    let mut desk = Desk::with(vec![three_hunks("r1")]);
    desk.press("a");
    desk.decided();
    let result = Ok(ReviewDecidedResult::Stale { revision: 2 });
    desk.hub(News::Decided { review: "r1".into(), result, outcome: None });
    assert!(matches!(desk.commands.as_slice(), [Command::Get(review)] if review == "r1"));
    assert!(desk.note().contains("look again"));
}

#[test]
fn many_at_once_are_confirmed_and_bound_to_what_was_fetched() {
    let set = |review: &str| ReviewShow { set: Some("s1".into()), ..three_hunks(review) };
    let mut desk = Desk::with(vec![set("r1"), set("r2"), three_hunks("r3")]);
    desk.press("A");
    desk.look();
    desk.press("y");
    assert_eq!(desk.decided(), [], "not all are fetched");
    desk.press("\u{1b}A");
    desk.got(three_hunks("r2"));
    desk.got(three_hunks("r3"));
    desk.list(vec![set("r1"), set("r2"), three_hunks("r3"), three_hunks("r4")]);
    desk.look();
    desk.press("s");
    desk.look();
    desk.press("y");
    let decided: Vec<String> = desk.decided().into_iter().map(|(review, ..)| review).collect();
    assert_eq!(decided, ["r1", "r2"]);
}

#[test]
fn marks_keep_a_change_out_of_many_at_once() {
    let mut desk = Desk::with(vec![three_hunks("r1"), three_hunks("r2")]);
    desk.press("xX");
    desk.serve();
    desk.look();
    desk.press("y");
    assert_eq!(desk.decided(), [("r2".into(), Some(1), reject())]);
}

#[test]
fn an_edited_text_is_accepted_only_after_a_word() {
    let mut desk = Desk::with(vec![three_hunks("r1")]);
    desk.press("e");
    assert!(
        matches!(desk.commands.as_slice(), [Command::Edit { text, .. }] if *text == three_hunks("r1").proposed)
    );
    desk.commands.clear();
    desk.edits("r1", 1, "mine\n");
    desk.press("y");
    assert_eq!(desk.decided(), []);
    desk.look();
    desk.press("y");
    let text = "mine\n".to_owned();
    assert_eq!(desk.decided(), [("r1".into(), Some(1), Verdict::AcceptEdited { text })]);
}

#[test]
fn an_editor_that_changes_nothing_decides_nothing() {
    let mut desk = Desk::with(vec![three_hunks("r1")]);
    desk.edits("r1", 1, &three_hunks("r1").proposed);
    desk.look();
    desk.press("y");
    assert_eq!(desk.decided(), []);
}

#[test]
fn a_text_edited_while_the_change_changed_is_kept() {
    let mut desk = Desk::with(vec![three_hunks("r1")]);
    desk.edits("r1", 1, "mine\n");
    desk.got(newer("r1"));
    desk.press("\u{1b}e");
    assert!(matches!(desk.commands.as_slice(), [Command::Edit { text, .. }] if text == "mine\n"));
}

#[test]
fn a_text_made_on_an_older_state_is_not_accepted_until_it_is_edited_again() {
    let mut desk = Desk::with(vec![three_hunks("r1")]);
    desk.edits("r1", 1, "mine\n");
    desk.look();
    desk.got(newer("r1"));
    assert!(matches!(desk.screen.overlay, Overlay::None), "the question is closed");
    desk.look();
    desk.press("y");
    desk.look();
    desk.press("a");
    desk.look();
    desk.press("y");
    assert_eq!(desk.decided(), []);
    desk.press("e");
    let begin = ("mine\n".to_owned(), 2);
    assert!(
        matches!(desk.commands.as_slice(), [Command::Edit { text, revision, .. }] if (text.clone(), *revision) == begin)
    );
    desk.commands.clear();
    desk.edits("r1", 2, "mine\n");
    desk.look();
    desk.press("y");
    assert_eq!(desk.decided(), [], "nothing was edited");
    desk.edits("r1", 2, "mine too\n");
    desk.look();
    desk.press("y");
    let text = "mine too\n".to_owned();
    assert_eq!(desk.decided(), [("r1".into(), Some(2), Verdict::AcceptEdited { text })]);
}

#[test]
fn a_text_edited_while_the_change_changed_belongs_to_what_it_began_with() {
    let mut desk = Desk::with(vec![three_hunks("r1")]);
    desk.got(newer("r1"));
    desk.edits("r1", 1, "mine\n");
    desk.look();
    desk.press("y");
    assert_eq!(desk.decided(), []);
}

#[test]
fn a_text_of_ones_own_is_not_thrown_away_by_accepting() {
    for key in ["a", "ys"] {
        let mut desk = Desk::with(vec![three_hunks("r1")]);
        desk.edits("r1", 1, "mine\n");
        desk.press("\u{1b}");
        desk.look();
        desk.press(key);
        assert_eq!(desk.decided(), []);
        assert!(matches!(desk.screen.overlay, Overlay::Confirm(Confirm::Draft)), "{key}");
        desk.look();
        desk.press("y");
        let text = "mine\n".to_owned();
        assert_eq!(desk.decided(), [("r1".into(), Some(1), Verdict::AcceptEdited { text })]);
    }
}

#[test]
fn pasted_text_is_never_taken_for_keys() {
    let mut desk = Desk::with(vec![three_hunks("r1")]);
    desk.input(Input::Paste("a".into()));
    assert_eq!(desk.decided(), []);
    desk.press("R");
    desk.look();
    desk.input(Input::Paste("not\nthis".into()));
    desk.press("\n");
    let reason = Some("not this".to_owned());
    assert_eq!(desk.decided(), [("r1".into(), Some(1), Verdict::Reject { reason })]);
}

#[test]
fn searching_finds_what_is_folded_and_goes_round() {
    let mut desk = Desk::with(vec![three_hunks("r1")]);
    let line = |desk: &Desk| desk.screen.document().unwrap().comment_line();
    desk.press("/line 21\n");
    assert_eq!(line(&desk), 22);
    desk.press("/line 1\n");
    let first = line(&desk);
    desk.press("nnn");
    assert_ne!(line(&desk), first);
    desk.press("NNN");
    assert_eq!(line(&desk), first);
    desk.press("/LINE 2\n");
    assert!(desk.note().contains("is not in this change"));
    desk.press("/line 38\n");
    assert_eq!(line(&desk), 39);
}

#[test]
fn the_mouse_chooses_files_and_hunks_and_decides_nothing() {
    let mut desk = Desk::with(vec![three_hunks("r1"), three_hunks("r2")]);
    let click = |desk: &mut Desk, column: u16, row: u16| {
        let kind = MouseEventKind::Down(MouseButton::Left);
        desk.input(Input::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE }));
        desk.input(Input::Drawn);
    };
    let list = Regions::of(&desk.screen).list;
    click(&mut desk, list.x + 2, list.y + 2);
    desk.serve();
    assert_eq!(desk.selected(), "r2");
    let diff = Regions::of(&desk.screen).diff;
    let head = desk
        .screen
        .document()
        .unwrap()
        .rows
        .iter()
        .position(|row| *row == crate::rows::Row::Hunk(1))
        .unwrap();
    let row = diff.y + u16::try_from(head - desk.screen.document().unwrap().top).unwrap();
    click(&mut desk, diff.x + 20, row);
    assert_eq!(desk.screen.document().unwrap().hunk(), Some(1));
    click(&mut desk, diff.x + 2, row);
    assert!(desk.screen.document().unwrap().mark_of(1).is_some());
    desk.look();
    for row in 0..40 {
        click(&mut desk, 60, row);
    }
    assert_eq!(desk.decided(), []);
}

#[test]
fn quitting_decides_nothing_and_once_ends_when_nothing_waits() {
    let mut desk = Desk::with(vec![three_hunks("r1")]);
    desk.press("q");
    assert!(matches!(desk.commands.as_slice(), [Command::Quit]));

    let mut desk = Desk::with(vec![three_hunks("r1")]);
    desk.screen.wishes.once = true;
    desk.look();
    assert!(desk.commands.is_empty());
    desk.press("a");
    desk.commands.clear();
    desk.hub(News::Decided { review: "r1".into(), result: Ok(ReviewDecidedResult::Taken), outcome: None });
    desk.look();
    assert!(matches!(desk.commands.as_slice(), [Command::Quit]));
}

#[test]
fn a_lost_hub_is_said_and_everything_is_asked_for_again() {
    let mut desk = Desk::with(vec![three_hunks("r1")]);
    desk.press("x");
    desk.hub(News::Lost("the hub closed the connection".into()));
    assert!(desk.screen.lost.is_some());
    desk.hub(News::Listening { again: true });
    assert!(matches!(desk.commands.as_slice(), [Command::List, Command::Get(review)] if review == "r1"));
    desk.got(three_hunks("r1"));
    assert_eq!(desk.screen.document().unwrap().marks.len(), 1, "marks survive");
    assert!(desk.screen.lost.is_none());
}

#[test]
fn the_first_screen_is_the_wished_one() {
    let screen = Screen::new(80, 24, Wishes { review: Some("r2".into()), once: false });
    let mut desk = Desk { screen, now: Duration::ZERO, commands: Vec::new(), reviews: Vec::new() };
    desk.list(vec![three_hunks("r1"), three_hunks("r2")]);
    assert_eq!(desk.selected(), "r2");
}
