//! What lies over the diff: the help page, a line to type, a question. Keys go there first.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use linkspan_editor_api::{AskSummary, Verdict};

use super::{Bulk, Screen, Tone};
use crate::input_line::{InputLine, Typed};

#[derive(Debug)]
pub(crate) enum Overlay {
    None,
    Help {
        top: usize,
    },
    Type {
        purpose: Purpose,
        line: InputLine,
    },
    Confirm(Confirm),
    /// What an agent asks, from this row of its text on.
    Ask {
        asked: Box<AskSummary>,
        top: usize,
    },
}

/// What a typed line is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Purpose {
    Reason,
    Comment { line_number: u32 },
    Search,
}

/// A question that a decision depends on.
#[derive(Debug)]
pub(crate) enum Confirm {
    /// Marks are submitted, but some hunks have none.
    Unmarked {
        count: usize,
    },
    /// All of it is accepted, although some hunks are marked to be left out.
    DespiteMarks {
        left: usize,
    },
    /// The text from the editor.
    Draft,
    /// The agent that should write the file no longer waits.
    WriteHere {
        verdict: Verdict,
    },
    Bulk(Bulk),
}

impl Screen {
    /// `true` when the key was for what lies over the diff.
    pub(super) fn overlay_key(&mut self, key: &KeyEvent) -> bool {
        let cancel = key.code == KeyCode::Esc
            || (key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL));
        match &mut self.overlay {
            Overlay::None => return false,
            Overlay::Type { purpose, line } => match line.key(key) {
                Typed::Text => {}
                Typed::GivenUp => self.overlay = Overlay::None,
                Typed::Done => {
                    let (purpose, text) = (purpose.clone(), line.text());
                    self.typed(&purpose, &text);
                }
            },
            Overlay::Help { top } => match key.code {
                KeyCode::Down | KeyCode::Char('j') | KeyCode::PageDown => *top = (*top + 1).min(100),
                KeyCode::Up | KeyCode::Char('k') | KeyCode::PageUp => *top = top.saturating_sub(1),
                _ => self.overlay = Overlay::None,
            },
            Overlay::Ask { .. } => self.ask_key(key, cancel),
            Overlay::Confirm(_) if cancel => self.close_question(),
            // Such a key means something else, which is not asked here.
            Overlay::Confirm(_) if key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) => {}
            Overlay::Confirm(confirm) => {
                let KeyCode::Char(answer) = key.code else { return true };
                let question = match confirm {
                    Confirm::Unmarked { .. } => match answer {
                        't' => Some(Answer::Unmarked { take: true }),
                        'l' => Some(Answer::Unmarked { take: false }),
                        _ => None,
                    },
                    Confirm::DespiteMarks { .. } => (answer == 'y').then_some(Answer::Whole),
                    Confirm::Draft => match answer {
                        'y' => Some(Answer::Draft),
                        'e' => Some(Answer::EditAgain),
                        'd' => Some(Answer::DropDraft),
                        _ => None,
                    },
                    Confirm::WriteHere { .. } => (answer == 'y').then_some(Answer::WriteHere),
                    Confirm::Bulk(bulk) => match answer {
                        'y' => Some(Answer::Bulk),
                        's' if bulk.set_reviews.is_some() => Some(Answer::BulkNarrow),
                        _ => None,
                    },
                };
                match question {
                    Some(answer) => self.answered(answer),
                    None if matches!(answer, 'n' | 'q') => self.close_question(),
                    None => {}
                }
            }
        }
        true
    }

    fn answered(&mut self, answer: Answer) {
        match answer {
            Answer::Unmarked { take } => self.submit_marks(take),
            Answer::Whole => self.accept_whole(),
            Answer::Draft => self.accept_draft(),
            Answer::EditAgain => {
                self.overlay = Overlay::None;
                self.edit();
            }
            Answer::DropDraft => {
                self.overlay = Overlay::None;
                if let Some(document) = self.document_mut() {
                    document.draft = None;
                }
                self.say(Tone::Quiet, "your text is dropped; nothing is decided");
            }
            Answer::WriteHere => self.write_here(),
            Answer::Bulk => self.decide_bulk(),
            Answer::BulkNarrow => self.narrow_bulk(),
        }
    }

    fn close_question(&mut self) {
        let kept = matches!(self.overlay, Overlay::Confirm(Confirm::Draft));
        self.overlay = Overlay::None;
        let text = if kept {
            "nothing is decided; your text is kept, e goes on with it"
        } else {
            "nothing is decided"
        };
        self.say(Tone::Quiet, text);
    }

    pub(super) fn paste(&mut self, text: &str) {
        match &mut self.overlay {
            Overlay::Type { line, .. } => line.paste(text),
            _ => self.say(Tone::Quiet, "pasted text is not taken for keys"),
        }
    }

    fn typed(&mut self, purpose: &Purpose, text: &str) {
        match purpose {
            Purpose::Reason => self.reject_because(text),
            Purpose::Comment { line_number } => {
                self.overlay = Overlay::None;
                if let Some(document) = self.document_mut() {
                    document.comment(*line_number, text);
                }
                self.fit();
                if !text.trim().is_empty() {
                    self.say(Tone::Quiet, "the comment goes along with your decision");
                }
            }
            Purpose::Search => {
                self.overlay = Overlay::None;
                self.needle = text.to_owned();
                self.find_next(true, true);
            }
        }
    }
}

/// What a person answered.
#[derive(Debug, Clone, Copy)]
enum Answer {
    Unmarked { take: bool },
    Whole,
    Draft,
    EditAgain,
    DropDraft,
    WriteHere,
    Bulk,
    BulkNarrow,
}
