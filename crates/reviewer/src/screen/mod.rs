//! All that the reviewer knows, and what each thing that happens does to it. Time and the hub's news are
//! inputs, what shall be done is the output: nothing here touches a terminal, a socket or a clock.

mod asks;
mod bulk;
mod decide;
mod leave;
mod look;
mod mouse;
mod news;
mod overlay;
mod search;
mod steady;
#[cfg(test)]
mod tests;
mod time;

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
pub(crate) use asks::ANSWERS;
pub(crate) use bulk::Bulk;
use leave::Leaving;
pub(crate) use overlay::{Confirm, Overlay, Purpose};
pub(crate) use search::matches;
use steady::Steady;

/// How long a word about what happened stays.
const MESSAGE: Duration = Duration::from_secs(8);

/// What happens.
#[derive(Debug)]
pub enum Input {
    /// A key was pressed.
    Key(KeyEvent),
    /// The mouse was used.
    Mouse(MouseEvent),
    /// Text was pasted; it is never taken for keys.
    Paste(String),
    /// The terminal has this size.
    Resize(u16, u16),
    /// What the state holds is on the screen now.
    Drawn,
    /// Time went by.
    Tick,
    /// Somebody wants the process to end.
    Leave,
    /// The hub says something.
    Hub(News),
    /// Lines have got their colours.
    Painted(PaintedChunk),
    /// The person's editor is closed: her text, or why there is none.
    Edited {
        /// Id of the review.
        review: String,
        /// What it was when the editor was opened.
        revision: u32,
        /// Its text, or what went wrong.
        text: Result<String, String>,
    },
}

/// What the hub says.
#[derive(Debug)]
pub enum News {
    /// What waits, and the folders of each window.
    Listed {
        /// The open reviews, oldest first.
        reviews: Vec<ReviewSummary>,
        /// By the id of the window.
        folders: HashMap<String, Vec<String>>,
    },
    /// All of one review.
    Got(Box<ReviewsGetResult>),
    /// A review cannot be had.
    NotGot {
        /// Id of the review.
        review: String,
        /// Why.
        message: String,
    },
    /// It is in another state than before and waits for a person, perhaps again.
    Changed {
        /// Id of the review.
        review: String,
    },
    /// It is over, or decided; not by us unless we know.
    Ended {
        /// Id of the review.
        review: String,
        /// How, in words that follow its name.
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
    /// Its agent was told to write what was accepted, and has not.
    NotOnDisk {
        /// Id of the review.
        review: String,
        /// Its file.
        path: String,
    },
    /// What became of our decision.
    Decided {
        /// Id of the review.
        review: String,
        /// The hub's answer, or why there is none.
        result: Result<ReviewDecidedResult, String>,
        /// How it ended, when it was decided already and that is known.
        outcome: Option<ReviewOutcome>,
    },
    /// What agents ask the person to allow, oldest first.
    Asks(Vec<AskSummary>),
    /// Those are others than before.
    AsksChanged,
    /// What became of our answer.
    Answered {
        /// What we said.
        answer: AsksAnswer,
        /// Whether it counts, or why that is not known.
        result: Result<bool, String>,
    },
    /// The hub is gone; we look for it.
    Lost(String),
    /// From now on nothing is missed; what happened before is in the list.
    Listening {
        /// The hub was away.
        again: bool,
    },
}

/// What shall be done.
#[derive(Debug)]
pub enum Command {
    /// Ask the hub what waits.
    List,
    /// Fetch all of one review.
    Get(String),
    /// Tell the hub what the person decided.
    Decide(ReviewsDecide),
    /// Tell the hub what the person said to an agent's question.
    Answer(AsksAnswer),
    /// Let the person edit a text in her editor.
    Edit {
        /// Id of the review.
        review: String,
        /// The revision that the person has seen.
        revision: u32,
        /// Path of the file, for its name.
        path: String,
        /// The text to begin with.
        text: String,
    },
    /// Give lines their colours.
    Paint(PaintRequest),
    /// Draw everything again.
    Redraw,
    /// Stop until the shell goes on with us.
    Suspend,
    /// Leave.
    Quit,
}

/// A word about what happened.
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

/// How a person wants it.
#[derive(Debug, Clone, Default)]
pub struct Wishes {
    /// Begin with this review.
    pub review: Option<String>,
    /// Leave when nothing waits any more.
    pub once: bool,
}

/// All that is on the screen and behind it.
#[derive(Debug)]
pub struct Screen {
    pub(crate) now: Duration,
    pub(crate) area: Rect,
    pub(crate) list: List,
    pub(crate) selected: Option<String>,
    pub(crate) folders: HashMap<String, Vec<String>>,
    pub(crate) overlay: Overlay,
    /// What agents ask, oldest first.
    pub(crate) asks: Vec<AskSummary>,
    /// Answers that the hub has not taken yet.
    answering: usize,
    /// Counts the overlays, so that two of a kind are told apart.
    overlay_count: u64,
    pub(crate) note: Option<Note>,
    /// Why there is no hub.
    pub(crate) lost: Option<String>,
    /// The first list has come.
    pub(crate) listed: bool,
    /// The view the person asked for, instead of what fits.
    view: Option<Mode>,
    pub(crate) list_hidden: bool,
    pub(crate) needle: String,
    steady: Option<Steady>,
    pressed: Option<KeyCode>,
    /// The key that decided last, and when.
    decided_with: Option<(KeyCode, Duration)>,
    asked_colours: HashSet<(String, u32, Side, usize)>,
    leaving: Option<Leaving>,
    wishes: Wishes,
    commands: Vec<Command>,
}

impl Screen {
    /// An empty screen of this size.
    pub fn new(width: u16, height: u16, wishes: Wishes) -> Screen {
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
            steady: None,
            pressed: None,
            decided_with: None,
            asked_colours: HashSet::new(),
            leaving: None,
            wishes,
            commands: Vec::new(),
        }
    }

    /// Takes in what happened at this time; gives what shall be done about it.
    pub fn handle(&mut self, now: Duration, input: Input) -> Vec<Command> {
        self.now = now;
        match input {
            Input::Key(key) if key.kind != KeyEventKind::Release => {
                // Whoever goes on has read it.
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
                let is_answer = matches!(news, News::Decided { .. } | News::Answered { .. });
                self.news(news);
                if is_answer {
                    self.heard_while_leaving();
                }
            }
            Input::Leave => self.leave(),
            Input::Painted(chunk) => self.painted(chunk),
            Input::Edited { review, revision, text } => self.edited(&review, revision, text),
        }
        self.go_on_leaving();
        std::mem::take(&mut self.commands)
    }

    fn key(&mut self, key: &KeyEvent) {
        if self.leaving.is_some() {
            if keys::action(key) == Some(Action::Quit) {
                self.leave_by_key();
            }
            return;
        }
        if self.overlay_key(key) {
            return;
        }
        let Some(action) = keys::action(key) else { return };
        match action {
            Action::Quit => self.leave_by_key(),
            Action::Suspend => self.commands.push(Command::Suspend),
            Action::Redraw => self.commands.push(Command::Redraw),
            Action::Questions => self.show_question(0),
            Action::Help => self.show(Overlay::Help { top: 0 }),
            Action::NextFile => self.step_file(1),
            Action::PreviousFile => self.step_file(-1),
            Action::ToggleList => {
                self.list_hidden = !self.list_hidden;
                self.fit();
            }
            Action::AcceptAll => self.ask_bulk(true),
            Action::RejectAll => self.ask_bulk(false),
            Action::Accept
            | Action::Reject
            | Action::RejectWithReason
            | Action::Submit
            | Action::Take
            | Action::Leave
            | Action::Toggle
            | Action::Edit
            | Action::Comment => self.deciding_key(action),
            _ => self.looking_key(action),
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
            None => self
                .say(Tone::Quiet, if step > 0 { "this is the last file" } else { "this is the first file" }),
        }
    }

    fn say(&mut self, tone: Tone, text: impl Into<String>) {
        self.note = Some(Note { text: text.into(), tone, until: self.now + MESSAGE });
    }

    fn show(&mut self, overlay: Overlay) {
        self.overlay_count += 1;
        self.overlay = overlay;
    }

    /// A name for people: the path as seen from its workspace folder.
    pub(crate) fn name_of(&self, summary: &ReviewSummary) -> String {
        crate::wording::relative(&summary.path, self.folders.get(&summary.window).into_iter().flatten())
    }
}
