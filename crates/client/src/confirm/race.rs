//! Editor and terminal on one question. One thread waits for each, and this one hears them both: what the editor
//! decided before it was taken back counts, because it may be written already.

use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::terminal::{Answer, Terminal};
use super::{Cancelled, Confirmation, PendingReview, Place, Question, Reviewer, decided};
use crate::connection::{CallError, Change, Decided};

/// Between two attempts to reach a lost editor.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(3);
/// How long a lost editor is looked for when nobody else can be asked.
const PATIENCE: Duration = Duration::from_secs(30);
/// For a decision that was made before the connection was lost to be told, once it is back.
const LAST_WORD: Duration = Duration::from_millis(500);

enum Said {
    Editor(Decided),
    /// The connection is lost; the change may still be on the screen.
    EditorLost(CallError),
    /// The connection and the change are back.
    EditorBack,
    /// No decision will come from there.
    EditorGone(CallError),
    Terminal(Answer),
}

/// Asks in the editor, and in the terminal too or once the editor is lost.
pub(super) fn ask(
    question: &Question,
    both: bool,
    reviewer: &dyn Reviewer,
    change: &Change,
    terminal: &dyn Terminal,
) -> Confirmation {
    let pending = match reviewer.start(change) {
        Ok(pending) => Arc::from(pending),
        Err(error) => {
            let question = question.with_note(not_in_the_editor(&error));
            return answered(&question, terminal.ask(&question, &Cancelled::never()));
        }
    };
    let editor = Editor { reviewer, change, shown: Mutex::new(Some(pending)), over: Cancelled::new() };
    let not_here = Cancelled::new();
    let (say, heard) = mpsc::channel();
    thread::scope(|scope| {
        let to_us = say.clone();
        scope.spawn(|| editor.follow(to_us));
        let ask_here = |question: Question| {
            let to_us = say.clone();
            let not_here = &not_here;
            scope.spawn(move || {
                // Nobody may be listening any more.
                let _ = to_us.send(Said::Terminal(terminal.ask(&question, not_here)));
            });
        };
        if both {
            ask_here(question.clone());
        }
        let first = first_word(&heard, question, both, ask_here);
        editor.take_back();
        not_here.cancel();
        drop(say);
        // Until both are done: the editor may have decided while it was taken back.
        let late = heard.into_iter().find_map(|said| match said {
            Said::Editor(decision) => Some(decision),
            _ => None,
        });
        match (first, late) {
            (First::Editor(decision), _) | (_, Some(decision)) => decided(question, decision),
            (First::Terminal(answer), None) => answered(question, answer),
        }
    })
}

enum First {
    Editor(Decided),
    Terminal(Answer),
}

/// Waits for whoever decides first. Where the terminal cannot ask either, a lost editor has some time to come back.
fn first_word(heard: &Receiver<Said>, question: &Question, both: bool, ask_here: impl Fn(Question)) -> First {
    let mut asked_here = both;
    let (mut nobody_here, mut gone, mut lost_since) = (None, false, None);
    loop {
        let left = match (&nobody_here, lost_since) {
            (Some(_), _) if gone => Duration::ZERO,
            (Some(_), Some(since)) => PATIENCE.saturating_sub(Instant::elapsed(&since)),
            _ => Duration::MAX,
        };
        let lost = match heard.recv_timeout(left) {
            Ok(Said::Editor(decision)) => return First::Editor(decision),
            Ok(Said::Terminal(answer @ Answer::Unavailable { .. })) => {
                nobody_here = Some(answer);
                continue;
            }
            Ok(Said::Terminal(answer)) => return First::Terminal(answer),
            Ok(Said::EditorBack) => {
                lost_since = None;
                continue;
            }
            Ok(Said::EditorLost(error)) => error,
            Ok(Said::EditorGone(error)) => {
                gone = true;
                error
            }
            Err(_) => {
                let why = "neither the editor nor the terminal could ask".to_owned();
                return First::Terminal(nobody_here.unwrap_or(Answer::Unavailable { why }));
            }
        };
        lost_since.get_or_insert_with(Instant::now);
        if !asked_here {
            asked_here = true;
            ask_here(question.with_note(not_in_the_editor(&lost)));
        }
    }
}

/// The change in the editor, over losses of the connection.
struct Editor<'a> {
    reviewer: &'a dyn Reviewer,
    change: &'a Change,
    shown: Mutex<Option<Arc<dyn PendingReview>>>,
    over: Cancelled,
}

impl Editor<'_> {
    /// Waits for the decision until it comes or the change is taken back.
    fn follow(&self, say: Sender<Said>) {
        while let Some(pending) = self.shown() {
            match pending.wait() {
                Ok(decision) => {
                    let _ = say.send(Said::Editor(decision));
                    return;
                }
                Err(CallError::Withdrawn) if self.over.is_cancelled() => return,
                Err(error) if is_loss(&error) => {
                    self.show(None);
                    let _ = say.send(Said::EditorLost(error));
                    if !self.ask_again(&say) {
                        return;
                    }
                }
                Err(error) => {
                    let _ = say.send(Said::EditorGone(error));
                    return;
                }
            }
        }
    }

    /// Whether the change is on the screen again. When it is taken back meanwhile, looks once more for a decision
    /// that was made before.
    fn ask_again(&self, say: &Sender<Said>) -> bool {
        let mut pause = FIRST_PAUSE;
        loop {
            let over = self.over.wait_timeout(pause);
            match self.reviewer.again(self.change) {
                Err(error) => {
                    let _ = say.send(Said::EditorGone(error));
                    return false;
                }
                Ok(Some(pending)) if over || self.over.is_cancelled() => {
                    if let Some(Ok(decision)) = pending.wait_timeout(LAST_WORD) {
                        let _ = say.send(Said::Editor(decision));
                    } else {
                        pending.withdraw();
                    }
                    return false;
                }
                Ok(Some(pending)) => {
                    self.show(Some(Arc::from(pending)));
                    let _ = say.send(Said::EditorBack);
                    // Who took it back just now may have missed this one.
                    if self.over.is_cancelled() {
                        self.take_back();
                    }
                    return true;
                }
                Ok(None) if over => return false,
                Ok(None) => pause = LONGEST_PAUSE.min(pause.saturating_mul(2)),
            }
        }
    }

    fn take_back(&self) {
        self.over.cancel();
        if let Some(pending) = self.shown() {
            pending.withdraw();
        }
    }

    fn shown(&self) -> Option<Arc<dyn PendingReview>> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn show(&self, pending: Option<Arc<dyn PendingReview>>) {
        *self.shown.lock().unwrap_or_else(PoisonError::into_inner) = pending;
    }
}

/// The connection is gone, and with it the question, but not the change on the person's screen.
fn is_loss(error: &CallError) -> bool {
    matches!(error, CallError::Closed | CallError::Timeout { .. })
}

fn not_in_the_editor(error: &CallError) -> String {
    format!("The editor cannot be asked: {error}")
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
