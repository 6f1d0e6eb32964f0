//! Runs many trials, several at once, each to its end whatever happens to the others.

use std::any::Any;
use std::cell::RefCell;
use std::fmt::{self, Display, Formatter};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// A panic in `run` means that a promise is broken.
pub(crate) struct Trial {
    pub(crate) name: String,
    pub(crate) run: Box<dyn Fn() -> Result<(), Skipped> + Send + Sync>,
}

/// Why a trial cannot run on this machine: it shows nothing, good or bad.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Skipped(pub(crate) String);

#[derive(Debug)]
pub(crate) struct TrialReport {
    pub(crate) name: String,
    pub(crate) took: Duration,
    pub(crate) outcome: TrialOutcome,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TrialOutcome {
    Held,
    Skipped(String),
    /// What was not as promised.
    Broken(String),
}

impl TrialOutcome {
    /// For the cell of a table: what broke is described below the table.
    pub(crate) fn table_cell(&self) -> String {
        match self {
            TrialOutcome::Held => "held".into(),
            TrialOutcome::Skipped(why) => format!("**skipped**: {why}"),
            TrialOutcome::Broken(_) => "**broken**".into(),
        }
    }
}

impl Display for TrialOutcome {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        match self {
            TrialOutcome::Held => write!(to, "held"),
            TrialOutcome::Skipped(why) => write!(to, "skipped: {why}"),
            TrialOutcome::Broken(why) => write!(to, "BROKEN: {why}"),
        }
    }
}

thread_local! {
    static PANIC_LOCATION: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Call once, at the start: the report names the place where a trial panicked, and nothing is printed in between.
pub(crate) fn record_panic_locations() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        PANIC_LOCATION.with_borrow_mut(|at| *at = place);
    }));
}

/// Runs them in the given order; the reports are in that order too.
pub(crate) fn run_all(trials: &[Trial], at_once: usize) -> Vec<TrialReport> {
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let tried = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                while let Some((number, trial)) = {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    trials.get(number).map(|trial| (number, trial))
                } {
                    let begun = Instant::now();
                    let outcome = match catch_unwind(AssertUnwindSafe(|| (trial.run)())) {
                        Ok(Ok(())) => TrialOutcome::Held,
                        Ok(Err(Skipped(why))) => TrialOutcome::Skipped(why),
                        Err(why) => TrialOutcome::Broken(panic_message(&*why)),
                    };
                    let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                    eprintln!("[{done}/{}] {}: {outcome}", trials.len(), trial.name);
                    let one = TrialReport { name: trial.name.clone(), took: begun.elapsed(), outcome };
                    tried.lock().unwrap().push((number, one));
                }
            });
        }
    });
    let mut tried = tried.into_inner().unwrap();
    tried.sort_by_key(|(number, _)| *number);
    tried.into_iter().map(|(_, tried)| tried).collect()
}

fn panic_message(why: &(dyn Any + Send)) -> String {
    let text = why.downcast_ref::<String>().map(String::as_str).or(why.downcast_ref::<&str>().copied());
    let place = PANIC_LOCATION.take();
    format!("{} ({place})", text.unwrap_or("a panic without a message"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_trial_is_named_and_stops_no_other() {
        let trial = |name: &str, good: bool| Trial {
            name: name.to_owned(),
            run: Box::new(move || {
                assert!(good, "the file is gone");
                Ok(())
            }),
        };
        let tried = run_all(&[trial("a", true), trial("b", false), trial("c", true)], 2);
        let held: Vec<_> =
            tried.iter().map(|one| (one.name.as_str(), one.outcome == TrialOutcome::Held)).collect();
        assert_eq!(held, [("a", true), ("b", false), ("c", true)]);
        assert!(tried[1].outcome.to_string().starts_with("BROKEN: the file is gone"));
    }

    #[test]
    fn a_skipped_trial_is_neither_held_nor_broken_and_says_why() {
        let run = || Err(Skipped("mounting is not permitted".into()));
        let tried = run_all(&[Trial { name: "a".into(), run: Box::new(run) }], 1);
        assert_eq!(tried[0].outcome.to_string(), "skipped: mounting is not permitted");
        assert_eq!(tried[0].outcome.table_cell(), "**skipped**: mounting is not permitted");
    }
}
