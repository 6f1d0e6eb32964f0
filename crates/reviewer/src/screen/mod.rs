//! The reviewer's state and its transitions: `Screen::handle(now, input) -> commands`. Keys, time and updates of the hub
//! are inputs, commands are the output: nothing here touches a terminal, a socket or a clock.
//!
//! Invariants: a key decides only on content that has been visible, unchanged, for a moment (`misclick_guard`); updates
//! of the hub never move the selection, except to fill an empty screen or to advance after the user's own decision.

mod bulk;
mod decide;
mod expiry;
mod hub_updates;
mod misclick_guard;
mod mouse;
mod navigate;
mod overlay;
mod prompts;
mod quit;
mod search;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, MouseEvent};
use linkspan_editor_api::{
    AskSummary, AsksAnswer, ReviewDecidedResult, ReviewOutcome, ReviewSummary, ReviewsDecide,
    ReviewsGetResult,
};
use ratatui::layout::Rect;

use crate::document::{Document, Side};
use crate::keys::{self, Action};
use crate::list::{Entry, List};
use crate::paint::{PaintRequest, PaintedChunk};
use crate::rows::Mode;
pub(crate) use bulk::Bulk;
use misclick_guard::MisclickGuard;
pub(crate) use overlay::{Confirm, Overlay, Purpose};
pub(crate) use prompts::ANSWERS;
use quit::QuitState;
pub(crate) use search::matches;

/// How long a message stays.
const MESSAGE: Duration = Duration::from_secs(8);

/// Something that happened.
#[derive(Debug)]
pub enum Input {
    /// A key was pressed.
    Key(KeyEvent),
    /// The mouse was used.
    Mouse(MouseEvent),
    /// Text was pasted; it is never interpreted as keys.
    Paste(String),
    /// The terminal has this size.
    Resize(u16, u16),
    /// The current state is on the screen now.
    Drawn,
    /// Time passed.
    Tick,
    /// A signal asked the process to end.
    Quit,
    /// An update of the hub.
    Hub(HubUpdate),
    /// Lines were highlighted.
    Painted(PaintedChunk),
    /// The user's editor is closed: the text, or why there is none.
    Edited {
        /// Id of the review.
        review: String,
        /// The revision when the editor was opened.
        revision: u32,
        /// The text, or what went wrong.
        text: Result<String, String>,
    },
}

/// An event or a response of the hub.
#[derive(Debug)]
pub enum HubUpdate {
    /// The pending reviews, and the folders of each window.
    Listed {
        /// The open reviews, oldest first.
        reviews: Vec<ReviewSummary>,
        /// By the id of the window.
        folders: HashMap<String, Vec<String>>,
    },
    /// A complete review.
    Got(Box<ReviewsGetResult>),
    /// A review could not be fetched.
    NotGot {
        /// Id of the review.
        review: String,
        /// Why.
        message: String,
    },
    /// It changed and is pending, perhaps again.
    Changed {
        /// Id of the review.
        review: String,
    },
    /// It ended or was decided, perhaps by our own decision.
    Ended {
        /// Id of the review.
        review: String,
        /// How, as text that follows its name.
        how: String,
    },
    /// It was accepted and could not be carried out.
    Failed {
        /// Id of the review.
        review: String,
        /// Its file.
        path: String,
        /// Why.
        error: String,
    },
    /// Its agent should have written the accepted text and has not.
    NotOnDisk {
        /// Id of the review.
        review: String,
        /// Its file.
        path: String,
    },
    /// The result of our decision.
    Decided {
        /// Id of the review.
        review: String,
        /// The hub's response, or why there is none.
        result: Result<ReviewDecidedResult, String>,
        /// How it ended, if it was already decided and that is known.
        outcome: Option<ReviewOutcome>,
    },
    /// The open permission requests, oldest first.
    Asks(Vec<AskSummary>),
    /// The permission requests changed.
    AsksChanged,
    /// The result of our answer to a permission request.
    Answered {
        /// Our answer.
        answer: AsksAnswer,
        /// Whether it counted, or why that is unknown.
        result: Result<bool, String>,
    },
    /// The connection to the hub was lost; reconnecting.
    Lost(String),
    /// From now on no event is missed; earlier changes are in the list.
    Listening {
        /// The hub was away.
        again: bool,
    },
}

/// Something to do.
#[derive(Debug)]
pub enum Command {
    /// Request the list of pending reviews.
    List,
    /// Fetch a complete review.
    Get(String),
    /// Send a decision.
    Decide(ReviewsDecide),
    /// Send an answer to a permission request.
    Answer(AsksAnswer),
    /// Open a text in the user's editor.
    Edit {
        /// Id of the review.
        review: String,
        /// The revision that the user has seen.
        revision: u32,
        /// Path of the file, for its name.
        path: String,
        /// The initial text.
        text: String,
    },
    /// Highlight lines.
    Paint(PaintRequest),
    /// Draw everything again.
    Redraw,
    /// Stop until the shell resumes the process.
    Suspend,
    /// End the process.
    Quit,
}

/// A message in the bottom line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) text: String,
    pub(crate) tone: Tone,
    until: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Good,
    Quiet,
    Warning,
}

/// The command's options.
#[derive(Debug, Clone, Default)]
pub struct ReviewerOptions {
    /// Begin with this review.
    pub review: Option<String>,
    /// Quit when nothing is pending.
    pub once: bool,
}

/// The complete state.
#[derive(Debug)]
pub struct Screen {
    pub(crate) now: Duration,
    pub(crate) area: Rect,
    pub(crate) list: List,
    pub(crate) selected: Option<String>,
    pub(crate) folders: HashMap<String, Vec<String>>,
    pub(crate) overlay: Overlay,
    /// Open permission requests, oldest first.
    pub(crate) asks: Vec<AskSummary>,
    /// Answers to permission requests that the hub has not confirmed yet.
    answering: usize,
    /// Counts the overlays, to distinguish two of the same kind.
    overlay_count: u64,
    pub(crate) note: Option<Note>,
    /// Why the hub is not connected.
    pub(crate) lost: Option<String>,
    /// The first list has arrived.
    pub(crate) listed: bool,
    /// The layout chosen by the user instead of the one that fits.
    view: Option<Mode>,
    pub(crate) list_hidden: bool,
    pub(crate) needle: String,
    misclick_guard: Option<MisclickGuard>,
    pressed: Option<KeyCode>,
    /// The key that decided last, and when.
    decided_with: Option<(KeyCode, Duration)>,
    asked_colours: HashSet<(String, u32, Side, usize)>,
    quitting: Option<QuitState>,
    options: ReviewerOptions,
    commands: Vec<Command>,
}

impl Screen {
    /// An empty screen of this size.
    pub fn new(width: u16, height: u16, options: ReviewerOptions) -> Screen {
        Screen {
            now: Duration::ZERO,
            area: Rect::new(0, 0, width, height),
            list: List::default(),
            selected: None,
            folders: HashMap::new(),
            overlay: Overlay::None,
            asks: Vec::new(),
            answering: 0,
            overlay_count: 0,
            note: None,
            lost: None,
            listed: false,
            view: None,
            list_hidden: false,
            needle: String::new(),
            misclick_guard: None,
            pressed: None,
            decided_with: None,
            asked_colours: HashSet::new(),
            quitting: None,
            options,
            commands: Vec::new(),
        }
    }

    /// Handles an input at this time; returns what to do.
    pub fn handle(&mut self, now: Duration, input: Input) -> Vec<Command> {
        self.now = now;
        match input {
            Input::Key(key) if key.kind != KeyEventKind::Release => {
                // A key press means that the message has been read.
                self.note = None;
                self.pressed = Some(key.code);
                self.key(&key);
            }
            Input::Key(_) => {}
            Input::Mouse(mouse) => self.mouse(&mouse),
            Input::Paste(text) => self.paste(&text),
            Input::Resize(width, height) => {
                self.area = Rect::new(0, 0, width, height);
                self.fit();
            }
            Input::Drawn => self.drawn(),
            Input::Tick => self.tick(),
            Input::Hub(news) => {
                let is_answer = matches!(news, HubUpdate::Decided { .. } | HubUpdate::Answered { .. });
                self.apply_update(news);
                if is_answer {
                    self.note_answer_while_quitting();
                }
            }
            Input::Quit => self.quit(),
            Input::Painted(chunk) => self.painted(chunk),
            Input::Edited { review, revision, text } => self.edited(&review, revision, text),
        }
        self.continue_quitting();
        std::mem::take(&mut self.commands)
    }

    fn key(&mut self, key: &KeyEvent) {
        if self.quitting.is_some() {
            if keys::action(key) == Some(Action::Quit) {
                self.quit_by_key();
            }
            return;
        }
        if self.overlay_key(key) {
            return;
        }
        let Some(action) = keys::action(key) else { return };
        match action {
            Action::Quit => self.quit_by_key(),
            Action::Suspend => self.commands.push(Command::Suspend),
            Action::Redraw => self.commands.push(Command::Redraw),
            Action::ShowPrompts => self.show_prompt(0),
            Action::Help => self.show(Overlay::Help { top: 0 }),
            Action::NextFile => self.step_file(1),
            Action::PreviousFile => self.step_file(-1),
            Action::ToggleList => {
                self.list_hidden = !self.list_hidden;
                self.fit();
            }
            Action::AcceptAll => self.confirm_bulk(true),
            Action::RejectAll => self.confirm_bulk(false),
            Action::Accept
            | Action::Reject
            | Action::RejectWithReason
            | Action::Submit
            | Action::IncludeHunk
            | Action::ExcludeHunk
            | Action::Toggle
            | Action::Edit
            | Action::Comment => self.decision_key(action),
            _ => self.navigation_key(action),
        }
    }

    pub(crate) fn current(&self) -> Option<&Entry> {
        self.list.get(self.selected.as_ref()?)
    }

    fn current_mut(&mut self) -> Option<&mut Entry> {
        self.list.get_mut(self.selected.as_ref()?)
    }

    pub(crate) fn document(&self) -> Option<&Document> {
        self.current()?.document.as_deref()
    }

    fn document_mut(&mut self) -> Option<&mut Document> {
        self.current_mut()?.document.as_deref_mut()
    }

    fn select(&mut self, review: &str) {
        self.selected = Some(review.to_owned());
        if let Some(entry) = self.list.get_mut(review) {
            entry.new = false;
            if entry.document.is_none() && !entry.fetching {
                entry.fetching = true;
                self.commands.push(Command::Get(review.to_owned()));
            }
        }
        self.fit();
    }

    fn step_file(&mut self, step: isize) {
        let place = self.selected.as_ref().and_then(|selected| self.list.place(selected));
        let next = match place {
            Some(place) => place.checked_add_signed(step),
            None => Some(0),
        };
        match next.and_then(|place| self.list.entries.get(place)).map(|entry| entry.id().to_owned()) {
            Some(review) => self.select(&review),
            None => self.show_message(
                Tone::Quiet,
                if step > 0 { "this is the last file" } else { "this is the first file" },
            ),
        }
    }

    fn show_message(&mut self, tone: Tone, text: impl Into<String>) {
        self.note = Some(Note { text: text.into(), tone, until: self.now + MESSAGE });
    }

    fn show(&mut self, overlay: Overlay) {
        self.overlay_count += 1;
        self.overlay = overlay;
    }

    /// The display name: the path relative to its workspace folder.
    pub(crate) fn name_of(&self, summary: &ReviewSummary) -> String {
        crate::labels::relative(&summary.path, self.folders.get(&summary.window).into_iter().flatten())
    }
}
