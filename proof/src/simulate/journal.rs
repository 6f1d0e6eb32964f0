//! The journal of a simulated hub: what was handed in is durable later, all at once, or fails together. A hub that
//! starts again reads it through the real journal, which is given on a disk of memory what was durable.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::mpsc;

use linkspan_hub::core::Event;
use linkspan_hub::journal::{Entry, Journal, Recorded, Remembered, RememberedWindow};
use linkspan_review::{Review, ReviewId, Step};

pub(super) enum Job {
    Review(Box<Entry>),
    Window(Box<RememberedWindow>),
}

pub(super) struct Books {
    waiting: VecDeque<Job>,
    /// Durable, and not yet in the real journal.
    durable: Vec<Job>,
    proposed_at: BTreeMap<ReviewId, u64>,
    decided_at: BTreeMap<ReviewId, u64>,
    real: Option<(Journal, mpsc::Receiver<Recorded>)>,
    path: PathBuf,
    _place: tempfile::TempDir,
}

impl Books {
    pub(super) fn new() -> Books {
        let memory = std::path::Path::new("/dev/shm");
        let place = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        let place = place.expect("a place for the journal");
        Books {
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

    /// What waits is durable now, or is not; gives what the hub is to hear, and each review as it was recorded.
    pub(super) fn sync(&mut self, now: u64, fails: bool) -> (Vec<Event>, Vec<(Review, Step)>) {
        let result = || if fails { Err("no space left on device".to_owned()) } else { Ok(()) };
        let (mut events, mut recorded) = (Vec::new(), Vec::new());
        for job in std::mem::take(&mut self.waiting) {
            match &job {
                Job::Review(entry) => {
                    let (review, step) = (entry.review.id, entry.step);
                    events.push(Event::Recorded { review, step, result: result() });
                    if !fails {
                        recorded.push((entry.review.clone(), step));
                        let times =
                            if step == Step::Decided { &mut self.decided_at } else { &mut self.proposed_at };
                        if matches!(step, Step::Decided | Step::Proposed) {
                            times.insert(review, now);
                        }
                    }
                }
                Job::Window(window) => {
                    events.push(Event::WindowRemembered { window: window.id, result: result() });
                }
            }
            if !fails {
                self.durable.push(job);
            }
        }
        (events, recorded)
    }

    /// The hub was killed: what waited is lost.
    pub(super) fn lose(&mut self) {
        self.waiting.clear();
    }

    /// What a hub that starts now finds, in the words of the real journal.
    pub(super) fn read_back(&mut self, now: u64) -> Remembered {
        let handed_in = self.durable.len();
        if let Some((journal, heard)) = &self.real {
            for job in self.durable.drain(..) {
                match job {
                    Job::Review(entry) => journal.record(*entry),
                    Job::Window(window) => journal.remember_window(*window),
                }
            }
            for recorded in heard.iter().take(handed_in) {
                match recorded {
                    Recorded::Review { result, .. } | Recorded::Window { result, .. } => {
                        result.expect("memory takes every record");
                    }
                    Recorded::History { .. } | Recorded::UndoBegun { .. } => {}
                }
            }
        }
        self.real = None;
        let (tell, heard) = mpsc::channel();
        let opened = Journal::open(&self.path, 30, move |recorded| drop(tell.send(recorded)));
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
