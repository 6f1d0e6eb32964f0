//! The journal of a simulated hub: what was handed in is durable later, all at once, or fails together. What is read
//! of it, by a hub that starts or a person who asks, is read through the real journal, which is given on a disk of
//! memory what was durable.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::mpsc;

use linkspan_hub::core::contract::{
    ChangeSelector, ChatItemsRead, ChatRecord, HistoryAnswer, HistoryQuery, RecordedChange, RememberedState,
    RememberedWindow, ReviewRecord,
};
use linkspan_hub::core::{Event, Ticket};
use linkspan_hub::journal::{Journal, JournalReply, Retention};
use linkspan_review::{ChangeId, Review, ReviewId, Step};

pub(super) enum Job {
    Review(Box<ReviewRecord>),
    Window(Box<RememberedWindow>),
    OnDisk(ReviewId),
    Chat(Box<ChatRecord>),
    ForgetChat(u64),
    ReadChat { ticket: Ticket, chat: u64, places: Range<u32>, most_bytes: usize },
    Ask(Ticket, HistoryQuery),
    BeginUndo(Ticket, Box<RecordedChange>),
    EndUndo { undo: ChangeId, done: bool, mode: Option<u32> },
}

/// What survives the hub from now on.
pub(super) enum Durable {
    Review(Box<Review>, Step),
    UndoBegun(Ticket, ChangeId, Box<RecordedChange>),
    UndoEnded(ChangeId),
}

impl fmt::Display for Durable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Durable::Review(review, step) => write!(f, "{} {step:?}", review.id),
            Durable::UndoBegun(_, id, change) => write!(f, "{id} begins to undo {}", change.review),
            Durable::UndoEnded(id) => write!(f, "{id} is over"),
        }
    }
}

pub(super) struct SimJournal {
    waiting: VecDeque<Job>,
    /// Durable, and not yet in the real journal.
    durable: Vec<Job>,
    proposed_at: BTreeMap<ReviewId, u64>,
    decided_at: BTreeMap<ReviewId, u64>,
    real: Option<(Journal, mpsc::Receiver<JournalReply>)>,
    path: PathBuf,
    _place: tempfile::TempDir,
}

impl SimJournal {
    pub(super) fn new() -> SimJournal {
        let memory = std::path::Path::new("/dev/shm");
        let place = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        let place = place.expect("a place for the journal");
        SimJournal {
            waiting: VecDeque::new(),
            durable: Vec::new(),
            proposed_at: BTreeMap::new(),
            decided_at: BTreeMap::new(),
            real: None,
            path: place.path().join("journal.db"),
            _place: place,
        }
    }

    /// Whether it is the first that waits.
    pub(super) fn hand_in(&mut self, job: Job) -> bool {
        self.waiting.push_back(job);
        self.waiting.len() == 1
    }

    /// What waits is durable now, or is not; returns the events for the hub, and what is kept.
    pub(super) fn sync(&mut self, now: u64, fails: bool) -> (Vec<Event>, Vec<Durable>) {
        let full = || "no space left on device".to_owned();
        let result = || if fails { Err(full()) } else { Ok(()) };
        let (mut events, mut kept) = (Vec::new(), Vec::new());
        for job in std::mem::take(&mut self.waiting) {
            match job {
                Job::Review(entry) => {
                    let (review, step) = (entry.review.id, entry.step);
                    events.push(Event::Recorded { review, step, result: result() });
                    if !fails {
                        kept.push(Durable::Review(Box::new(entry.review.clone()), step));
                        let times =
                            if step == Step::Decided { &mut self.decided_at } else { &mut self.proposed_at };
                        if matches!(step, Step::Decided | Step::Proposed) {
                            times.insert(review, now);
                        }
                        self.durable.push(Job::Review(entry));
                    }
                }
                Job::Window(window) => {
                    events.push(Event::WindowRemembered { window: window.id, result: result() });
                    if !fails {
                        self.durable.push(Job::Window(window));
                    }
                }
                Job::Ask(ticket, question) => {
                    let result = if fails { Err(full()) } else { self.answer(ticket, question) };
                    events.push(Event::HistoryRead { ticket, result });
                }
                Job::ReadChat { ticket, chat, places, most_bytes } => {
                    let result =
                        if fails { Err(full()) } else { self.read_chat(ticket, chat, places, most_bytes) };
                    events.push(Event::ChatRead { ticket, result });
                }
                Job::BeginUndo(ticket, change) => {
                    let result = if fails { Err(full()) } else { self.begin_undo(ticket, &change) };
                    if let Ok((_, id)) = result {
                        kept.push(Durable::UndoBegun(ticket, id, change));
                    }
                    events.push(Event::UndoBegun { ticket, result });
                }
                Job::EndUndo { undo, .. } if !fails => {
                    kept.push(Durable::UndoEnded(undo));
                    self.durable.push(job);
                }
                // Nobody hears of it: the next hub looks at the file.
                Job::EndUndo { .. } => {}
                // Nobody hears of it, either: only a hub that is killed then loses it.
                Job::OnDisk(_) if fails => {}
                Job::OnDisk(_) | Job::Chat(_) | Job::ForgetChat(_) => self.durable.push(job),
            }
        }
        (events, kept)
    }

    /// The hub was killed: what waited is lost.
    pub(super) fn lose(&mut self) {
        self.waiting.clear();
    }

    /// Gives the real journal all that is durable.
    fn hand_over(&mut self) -> Option<&(Journal, mpsc::Receiver<JournalReply>)> {
        let (journal, heard) = self.real.as_ref()?;
        let mut answers = 0;
        for job in self.durable.drain(..) {
            match job {
                Job::Review(entry) => {
                    answers += 1;
                    journal.record(*entry);
                }
                Job::Window(window) => {
                    answers += 1;
                    journal.remember_window(*window);
                }
                Job::EndUndo { undo, done, mode } => journal.end_undo(undo, done, mode),
                Job::OnDisk(review) => journal.record_on_disk(review),
                Job::Chat(record) => journal.record_chat(*record),
                Job::ForgetChat(chat) => journal.forget_chat(chat),
                Job::Ask(..) | Job::BeginUndo(..) | Job::ReadChat { .. } => {}
            }
        }
        for recorded in heard.iter().take(answers) {
            match recorded {
                JournalReply::Review { result, .. } | JournalReply::Window { result, .. } => {
                    result.expect("memory takes every record");
                }
                JournalReply::History { .. }
                | JournalReply::UndoBegun { .. }
                | JournalReply::Chat { .. }
                | JournalReply::ChatsRemoved(_) => {}
            }
        }
        self.real.as_ref()
    }

    fn answer(&mut self, ticket: Ticket, question: HistoryQuery) -> Result<HistoryAnswer, String> {
        let closed = || "the journal is closed".to_owned();
        let (journal, heard) = self.hand_over().ok_or_else(closed)?;
        journal.ask(ticket, question);
        let Ok(JournalReply::History { mut result, .. }) = heard.recv() else { return Err(closed()) };
        // It knows the real clock only, which is another each time.
        if let Ok(HistoryAnswer::List(entries)) = &mut result {
            entries.iter_mut().for_each(|entry| (entry.proposed_at_ms, entry.ended_at_ms) = (0, 0));
            let number = |name: &str| name.get(1..).and_then(|number| number.parse::<u64>().ok());
            entries.sort_by_key(|entry| (number(&entry.review), entry.change.as_deref().and_then(number)));
        }
        result
    }

    fn read_chat(
        &mut self,
        ticket: Ticket,
        chat: u64,
        places: Range<u32>,
        most_bytes: usize,
    ) -> Result<ChatItemsRead, String> {
        let closed = || "the journal is closed".to_owned();
        let (journal, heard) = self.hand_over().ok_or_else(closed)?;
        journal.read_chat(ticket, chat, places, most_bytes);
        match heard.recv() {
            Ok(JournalReply::Chat { result, .. }) => result,
            _ => Err(closed()),
        }
    }

    fn begin_undo(
        &mut self,
        ticket: Ticket,
        change: &RecordedChange,
    ) -> Result<(ChangeId, ChangeId), String> {
        let closed = || "the journal is closed".to_owned();
        let (journal, heard) = self.hand_over().ok_or_else(closed)?;
        journal.begin_undo(ticket, change.clone());
        match heard.recv() {
            Ok(JournalReply::UndoBegun { result, .. }) => result,
            _ => Err(closed()),
        }
    }

    /// What a hub that starts now finds, in the words of the real journal.
    pub(super) fn read_back(&mut self, now: u64) -> RememberedState {
        // Its answer is behind all that was handed over before.
        drop(self.answer(Ticket(0), HistoryQuery::Change(ChangeSelector::Change(ChangeId(0)))));
        self.real = None;
        let (tell, heard) = mpsc::channel();
        let opened =
            Journal::open(&self.path, &Retention::default(), move |recorded| drop(tell.send(recorded)));
        let (journal, mut remembered) = opened.expect("the journal opens");
        self.real = Some((journal, heard));
        // The real journal knows the real clock only.
        for past in &mut remembered.past {
            let ago = |times: &BTreeMap<ReviewId, u64>| times.get(&past.review).map(|at| now - at);
            (past.proposed_ms, past.decided_ms) = (
                ago(&self.proposed_at).unwrap_or_default(),
                past.decided_ms.and_then(|_| ago(&self.decided_at)),
            );
        }
        remembered
    }
}
