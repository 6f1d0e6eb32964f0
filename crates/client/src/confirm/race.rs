//! One question in the editor and in the terminal. One thread waits for each, and this one receives both answers. A
//! decision of the editor counts even if the change is being withdrawn, because it may be written already. An answer of
//! the terminal is handed to the editor's side if that can take it, so that there is one record and one writer.

use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use linkspan_review::unified;

use super::terminal::{TerminalAnswer, TerminalPrompt};
use super::{
    AllowDetails, Cancellation, ConfirmQuestion, Confirmation, DecidedBy, NoDecision, Reviewer, decided,
    to_write,
};
use crate::bridge::Contact;
use crate::connection::{AcceptedPart, Change, ChangeOutcome};

/// How long a lost editor has to come back once the terminal has answered: the user may have decided there before.
const RETURN: Duration = Duration::from_secs(2);
/// How long it has to send a decision once it is back.
const LAST_WORD: Duration = Duration::from_millis(500);

enum RaceEvent {
    Editor(ChangeOutcome),
    Contact(Contact),
    /// The editor sends no decision.
    EditorGone(NoDecision),
    Terminal(TerminalAnswer),
    /// The caller withdrew the question.
    Cancelled,
}

/// Asks in the editor, and in the terminal too: at once, or when the editor is lost.
pub(super) fn ask(
    question: &ConfirmQuestion,
    both: bool,
    reviewer: &dyn Reviewer,
    change: &Change,
    terminal: &dyn TerminalPrompt,
    cancelled: &Cancellation,
) -> Confirmation {
    let pending = match reviewer.start(change) {
        Ok(pending) => pending,
        Err(error) => {
            let question = question.with_note(not_in_the_editor(&error.to_string()));
            return answered(&question, terminal.ask(&question, cancelled));
        }
    };
    let not_here = Cancellation::new();
    let (say, heard) = mpsc::channel();
    thread::scope(|scope| {
        let to_us = say.clone();
        let editor = &pending;
        scope.spawn(move || {
            // The receiver may have stopped listening.
            let tell = |contact| drop(to_us.send(RaceEvent::Contact(contact)));
            let end = editor.wait(&tell).map_or_else(RaceEvent::EditorGone, RaceEvent::Editor);
            let _ = to_us.send(end);
        });
        let ask_here = |question: ConfirmQuestion| {
            let (to_us, not_here) = (say.clone(), &not_here);
            scope.spawn(move || {
                let _ = to_us.send(RaceEvent::Terminal(terminal.ask(&question, not_here)));
            });
        };
        if cancelled.can_be_cancelled() {
            let (to_us, not_here) = (say.clone(), &not_here);
            scope.spawn(move || {
                if cancelled.wait_for_either(not_here) {
                    let _ = to_us.send(RaceEvent::Cancelled);
                }
            });
        }
        if both {
            ask_here(question.clone());
        }
        let first = first_word(&heard, question, both, ask_here);
        let first = match first {
            First::Terminal { answer, editor_lost: true } => {
                last_word(&heard).map_or(First::Terminal { answer, editor_lost: true }, First::Editor)
            }
            first => first,
        };
        let handed = match &first {
            First::Terminal { answer, editor_lost: false } => answer.decision().is_some_and(|decision| {
                let base = question.change.as_ref().and_then(|change| change.proposed.base());
                pending.decide(base, &decision)
            }),
            First::Terminal { .. } | First::Editor(_) => false,
        };
        if !handed {
            pending.withdraw();
        }
        not_here.cancel();
        drop(say);
        // Until both are done: the editor may have decided while the change was withdrawn.
        let late = heard.into_iter().find_map(|said| match said {
            RaceEvent::Editor(decision) => Some(decision),
            _ => None,
        });
        match (first, late) {
            (First::Terminal { .. }, Some(decision)) if handed => {
                decided(question, decision, DecidedBy::Terminal)
            }
            (First::Editor(decision), _) | (_, Some(decision)) => {
                decided(question, decision, DecidedBy::Editor)
            }
            (First::Terminal { answer, .. }, None) => answered(question, answer),
        }
    })
}

enum First {
    Editor(ChangeOutcome),
    Terminal { answer: TerminalAnswer, editor_lost: bool },
}

/// Waits for the first decision, or until none is possible.
fn first_word(
    heard: &Receiver<RaceEvent>,
    question: &ConfirmQuestion,
    both: bool,
    ask_here: impl Fn(ConfirmQuestion),
) -> First {
    let mut asked_here = both;
    let (mut nobody_here, mut editor_gone, mut editor_lost) = (None, false, false);
    loop {
        if editor_gone && let Some(answer) = nobody_here.take() {
            return First::Terminal { answer, editor_lost: false };
        }
        let Ok(said) = heard.recv() else {
            // Cannot happen while we hold a sender.
            let answer = TerminalAnswer::Unavailable { why: "the user could not be asked".to_owned() };
            return First::Terminal { answer, editor_lost: false };
        };
        let why = match said {
            RaceEvent::Editor(decision) => return First::Editor(decision),
            RaceEvent::Cancelled => {
                return First::Terminal { answer: TerminalAnswer::Cancelled, editor_lost: false };
            }
            RaceEvent::Terminal(answer @ TerminalAnswer::Unavailable { .. }) => {
                nobody_here = Some(answer);
                continue;
            }
            RaceEvent::Terminal(answer) => return First::Terminal { answer, editor_lost },
            RaceEvent::Contact(contact) => {
                editor_lost = contact == Contact::Lost;
                if !editor_lost {
                    continue;
                }
                "the connection was lost; if it comes back, a decision made there still counts".to_owned()
            }
            RaceEvent::EditorGone(error) => {
                (editor_gone, editor_lost) = (true, false);
                error.to_string()
            }
        };
        if !asked_here {
            asked_here = true;
            ask_here(question.with_note(not_in_the_editor(&why)));
        }
    }
}

/// A decision that was made in the editor before the connection was lost.
fn last_word(heard: &Receiver<RaceEvent>) -> Option<ChangeOutcome> {
    let mut until = Instant::now() + RETURN;
    loop {
        match heard.recv_timeout(until.saturating_duration_since(Instant::now())).ok()? {
            RaceEvent::Editor(decision) => return Some(decision),
            RaceEvent::EditorGone(_) | RaceEvent::Cancelled => return None,
            RaceEvent::Contact(Contact::Back) => until = Instant::now() + LAST_WORD,
            RaceEvent::Contact(Contact::Lost) | RaceEvent::Terminal(_) => {}
        }
    }
}

fn not_in_the_editor(why: &str) -> String {
    format!("The editor could not be asked: {why}")
}

/// The result for the agent of an answer in the terminal.
pub(super) fn answered(question: &ConfirmQuestion, answer: TerminalAnswer) -> Confirmation {
    let by = DecidedBy::Terminal;
    match answer {
        TerminalAnswer::Allow => {
            let proposed = question.change.as_ref().map(|change| &change.proposed);
            Confirmation::AllowOnce {
                text: proposed.map(|proposed| proposed.text().to_owned()),
                written: false,
                bytes: proposed.map(|proposed| proposed.bytes().to_vec()),
                details: AllowDetails::default(),
                by,
            }
        }
        TerminalAnswer::AllowText { text, taken, hunks, comments } => match &question.change {
            Some(change) => {
                let person_diff = (taken == AcceptedPart::Edited)
                    .then(|| unified(change.proposed.text(), &text, "proposed", "accepted", 3));
                let details = AllowDetails { taken: Some(taken), hunks, person_diff, comments };
                to_write(change, text, details, by)
            }
            None => Confirmation::Undecided { why: "the question was not about a file".to_owned() },
        },
        TerminalAnswer::Deny { reason, comments } => Confirmation::Deny { reason, comments, by },
        TerminalAnswer::Cancelled => {
            Confirmation::Undecided { why: "the question was withdrawn before it was answered".to_owned() }
        }
        TerminalAnswer::Unavailable { why } => Confirmation::Undecided { why },
    }
}
