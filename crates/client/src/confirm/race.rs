//! Editor and terminal on one question. One thread waits for each, and this one hears them both: what the editor
//! decided before it was taken back counts, because it may be written already.

use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use super::terminal::{Answer, Terminal};
use super::{Cancelled, Confirmation, NoDecision, Place, Question, Reviewer, decided};
use crate::bridge::Contact;
use crate::connection::{Change, Decided};

/// A lost editor has so long to come back once the terminal has answered: the person may have decided there before.
const RETURN: Duration = Duration::from_secs(2);
/// And so long to tell a decision once it is back.
const LAST_WORD: Duration = Duration::from_millis(500);

enum Said {
    Editor(Decided),
    Contact(Contact),
    /// No decision will come from there.
    EditorGone(NoDecision),
    Terminal(Answer),
}

/// Asks in the editor, and in the terminal too: at once, or when the editor is lost.
pub(super) fn ask(
    question: &Question,
    both: bool,
    reviewer: &dyn Reviewer,
    change: &Change,
    terminal: &dyn Terminal,
) -> Confirmation {
    let pending = match reviewer.start(change) {
        Ok(pending) => pending,
        Err(error) => {
            let question = question.with_note(not_in_the_editor(&error.to_string()));
            return answered(&question, terminal.ask(&question, &Cancelled::never()));
        }
    };
    let not_here = Cancelled::new();
    let (say, heard) = mpsc::channel();
    thread::scope(|scope| {
        let to_us = say.clone();
        let editor = &pending;
        scope.spawn(move || {
            // Whoever listened may have heard enough.
            let tell = |contact| drop(to_us.send(Said::Contact(contact)));
            let end = editor.wait(&tell).map_or_else(Said::EditorGone, Said::Editor);
            let _ = to_us.send(end);
        });
        let ask_here = |question: Question| {
            let (to_us, not_here) = (say.clone(), &not_here);
            scope.spawn(move || {
                let _ = to_us.send(Said::Terminal(terminal.ask(&question, not_here)));
            });
        };
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
        pending.withdraw();
        not_here.cancel();
        drop(say);
        // Until both are done: the editor may have decided while it was taken back.
        let late = heard.into_iter().find_map(|said| match said {
            Said::Editor(decision) => Some(decision),
            _ => None,
        });
        match (first, late) {
            (First::Editor(decision), _) | (_, Some(decision)) => decided(question, decision),
            (First::Terminal { answer, .. }, None) => answered(question, answer),
        }
    })
}

enum First {
    Editor(Decided),
    Terminal { answer: Answer, editor_lost: bool },
}

/// Waits for whoever decides first, or until neither can.
fn first_word(heard: &Receiver<Said>, question: &Question, both: bool, ask_here: impl Fn(Question)) -> First {
    let mut asked_here = both;
    let (mut nobody_here, mut editor_gone, mut editor_lost) = (None, false, false);
    loop {
        if editor_gone && let Some(answer) = nobody_here.take() {
            return First::Terminal { answer, editor_lost: false };
        }
        let Ok(said) = heard.recv() else {
            // Not while we can speak to ourselves.
            let answer = Answer::Unavailable { why: "nobody could be asked".to_owned() };
            return First::Terminal { answer, editor_lost: false };
        };
        let why = match said {
            Said::Editor(decision) => return First::Editor(decision),
            Said::Terminal(answer @ Answer::Unavailable { .. }) => {
                nobody_here = Some(answer);
                continue;
            }
            Said::Terminal(answer) => return First::Terminal { answer, editor_lost },
            Said::Contact(contact) => {
                editor_lost = contact == Contact::Lost;
                if !editor_lost {
                    continue;
                }
                "the connection is lost; if it comes back, a decision made there still counts".to_owned()
            }
            Said::EditorGone(error) => {
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
fn last_word(heard: &Receiver<Said>) -> Option<Decided> {
    let mut until = Instant::now() + RETURN;
    loop {
        match heard.recv_timeout(until.saturating_duration_since(Instant::now())).ok()? {
            Said::Editor(decision) => return Some(decision),
            Said::EditorGone(_) => return None,
            Said::Contact(Contact::Back) => until = Instant::now() + LAST_WORD,
            Said::Contact(Contact::Lost) | Said::Terminal(_) => {}
        }
    }
}

fn not_in_the_editor(why: &str) -> String {
    format!("The editor cannot be asked: {why}")
}

/// What an answer in the terminal means for the agent.
pub(super) fn answered(question: &Question, answer: Answer) -> Confirmation {
    let by = Place::Terminal;
    match answer {
        Answer::Allow => {
            let proposed = question.change.as_ref().map(|change| &change.proposed);
            Confirmation::AllowOnce {
                text: proposed.map(|proposed| proposed.text().to_owned()),
                written: false,
                bytes: proposed.map(|proposed| proposed.bytes().to_vec()),
                by,
            }
        }
        Answer::Deny { reason } => Confirmation::Deny { reason, comments: Vec::new(), by },
        Answer::Cancelled => {
            Confirmation::Undecided { why: "the question was taken back before it was answered".to_owned() }
        }
        Answer::Unavailable { why } => Confirmation::Undecided { why },
    }
}
