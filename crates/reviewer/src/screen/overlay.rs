//! Overlays over the diff: the help page, a text field, a confirmation, a permission prompt. Keys go there first.

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
    /// A permission prompt, scrolled to this row of its text.
    Ask {
        asked: Box<AskSummary>,
        top: usize,
    },
}

/// The purpose of a text field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Purpose {
    Reason,
    Comment { line_number: u32 },
    Search,
}

/// A confirmation before a decision.
#[derive(Debug)]
pub(crate) enum Confirm {
    /// Marks are submitted, but some hunks have none.
    Unmarked {
        count: usize,
    },
    /// The whole change is accepted although some hunks are marked as excluded.
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
    /// Whether the key was for an overlay.
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
            Overlay::Ask { .. } => self.prompt_key(key, cancel),
            Overlay::Confirm(_) if cancel => self.cancel_confirm(),
            // Keys with Ctrl or Alt do not answer a confirmation.
            Overlay::Confirm(_) if key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) => {}
            Overlay::Confirm(confirm) => {
                let KeyCode::Char(answer) = key.code else { return true };
                let question = match confirm {
                    Confirm::Unmarked { .. } => match answer {
                        't' => Some(ConfirmAnswer::Unmarked { take: true }),
                        'l' => Some(ConfirmAnswer::Unmarked { take: false }),
                        _ => None,
                    },
                    Confirm::DespiteMarks { .. } => (answer == 'y').then_some(ConfirmAnswer::Whole),
                    Confirm::Draft => match answer {
                        'y' => Some(ConfirmAnswer::Draft),
                        'e' => Some(ConfirmAnswer::EditAgain),
                        'd' => Some(ConfirmAnswer::DropDraft),
                        _ => None,
                    },
                    Confirm::WriteHere { .. } => (answer == 'y').then_some(ConfirmAnswer::WriteHere),
                    Confirm::Bulk(bulk) => match answer {
                        'y' => Some(ConfirmAnswer::Bulk),
                        's' if bulk.set_reviews.is_some() => Some(ConfirmAnswer::BulkNarrow),
                        _ => None,
                    },
                };
                match question {
                    Some(answer) => self.answered(answer),
                    None if matches!(answer, 'n' | 'q') => self.cancel_confirm(),
                    None => {}
                }
            }
        }
        true
    }

    fn answered(&mut self, answer: ConfirmAnswer) {
        match answer {
            ConfirmAnswer::Unmarked { take } => self.submit_marks(take),
            ConfirmAnswer::Whole => self.accept_whole(),
            ConfirmAnswer::Draft => self.accept_draft(),
            ConfirmAnswer::EditAgain => {
                self.overlay = Overlay::None;
                self.edit();
            }
            ConfirmAnswer::DropDraft => {
                self.overlay = Overlay::None;
                if let Some(document) = self.document_mut() {
                    document.draft = None;
                }
                self.show_message(Tone::Quiet, "your text is discarded; nothing was submitted");
            }
            ConfirmAnswer::WriteHere => self.write_here(),
            ConfirmAnswer::Bulk => self.decide_bulk(),
            ConfirmAnswer::BulkNarrow => self.narrow_bulk(),
        }
    }

    fn cancel_confirm(&mut self) {
        let kept = matches!(self.overlay, Overlay::Confirm(Confirm::Draft));
        self.overlay = Overlay::None;
        let text = if kept {
            "nothing was submitted; your text is kept, press e to keep editing"
        } else {
            "nothing was submitted"
        };
        self.show_message(Tone::Quiet, text);
    }

    pub(super) fn paste(&mut self, text: &str) {
        match &mut self.overlay {
            Overlay::Type { line, .. } => line.paste(text),
            _ => self.show_message(Tone::Quiet, "pasted text is not interpreted as keys"),
        }
    }

    fn typed(&mut self, purpose: &Purpose, text: &str) {
        match purpose {
            Purpose::Reason => self.reject_because(text),
            Purpose::Comment { line_number } => {
                self.overlay = Overlay::None;
                let Some(document) = self.document_mut() else { return };
                document.comment(*line_number, text);
                let note = document.notes().and_then(|notes| notes.comments.clone());
                self.fit();
                if !text.trim().is_empty() {
                    let sent = "the comment will be sent with your decision".to_owned();
                    self.show_message(Tone::Quiet, note.unwrap_or(sent));
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

/// The answer to a confirmation.
#[derive(Debug, Clone, Copy)]
enum ConfirmAnswer {
    Unmarked { take: bool },
    Whole,
    Draft,
    EditAgain,
    DropDraft,
    WriteHere,
    Bulk,
    BulkNarrow,
}
