//! Trying many things, several at once, each to its end whatever becomes of the others.

use std::any::Any;
use std::cell::RefCell;
use std::fmt::{self, Display, Formatter};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// A panic in `run` says that a promise is broken.
pub(crate) struct Trial {
    pub(crate) name: String,
    pub(crate) run: Box<dyn Fn() -> Result<(), NotTried> + Send + Sync>,
}

/// Why this machine does not let it be tried: nothing was shown, neither well nor badly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NotTried(pub(crate) String);

#[derive(Debug)]
pub(crate) struct Tried {
    pub(crate) name: String,
    pub(crate) took: Duration,
    pub(crate) verdict: Verdict,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    Held,
    NotTried(String),
    /// What was not as promised.
    Broken(String),
}

impl Verdict {
    /// In the cell of a table: what broke is told below it, at length.
    pub(crate) fn in_a_table(&self) -> String {
        match self {
            Verdict::Held => "held".into(),
            Verdict::NotTried(why) => format!("**not tried**: {why}"),
            Verdict::Broken(_) => "**broken**".into(),
        }
    }
}

impl Display for Verdict {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Held => write!(to, "held"),
            Verdict::NotTried(why) => write!(to, "not tried: {why}"),
            Verdict::Broken(why) => write!(to, "BROKEN: {why}"),
        }
    }
}

thread_local! {
    static PANICKED_AT: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Once, at the start: a trial that fails is told in the report, with its place, and not in between.
pub(crate) fn remember_where_a_trial_panics() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        PANICKED_AT.with_borrow_mut(|at| *at = place);
    }));
}

/// In the order given; what came of each, in that order too.
pub(crate) fn try_all(trials: &[Trial], at_once: usize) -> Vec<Tried> {
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
                    let verdict = match catch_unwind(AssertUnwindSafe(|| (trial.run)())) {
                        Ok(Ok(())) => Verdict::Held,
                        Ok(Err(NotTried(why))) => Verdict::NotTried(why),
                        Err(why) => Verdict::Broken(said(&*why)),
                    };
                    let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                    eprintln!("[{done}/{}] {}: {verdict}", trials.len(), trial.name);
                    let one = Tried { name: trial.name.clone(), took: begun.elapsed(), verdict };
                    tried.lock().unwrap().push((number, one));
                }
            });
        }
    });
    let mut tried = tried.into_inner().unwrap();
    tried.sort_by_key(|(number, _)| *number);
    tried.into_iter().map(|(_, tried)| tried).collect()
}

fn said(why: &(dyn Any + Send)) -> String {
    let text = why.downcast_ref::<String>().map(String::as_str).or(why.downcast_ref::<&str>().copied());
    let place = PANICKED_AT.take();
    format!("{} ({place})", text.unwrap_or("a panic without a word"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_breaks_is_named_and_stops_no_other() {
        let trial = |name: &str, good: bool| Trial {
            name: name.to_owned(),
            run: Box::new(move || {
                assert!(good, "the file is gone");
                Ok(())
            }),
        };
        let tried = try_all(&[trial("a", true), trial("b", false), trial("c", true)], 2);
        let held: Vec<_> =
            tried.iter().map(|one| (one.name.as_str(), one.verdict == Verdict::Held)).collect();
        assert_eq!(held, [("a", true), ("b", false), ("c", true)]);
        assert!(tried[1].verdict.to_string().starts_with("BROKEN: the file is gone"));
    }

    #[test]
    fn what_cannot_be_tried_here_is_neither_held_nor_broken_and_says_why() {
        let run = || Err(NotTried("nobody may mount here".into()));
        let tried = try_all(&[Trial { name: "a".into(), run: Box::new(run) }], 1);
        assert_eq!(tried[0].verdict.to_string(), "not tried: nobody may mount here");
        assert_eq!(tried[0].verdict.in_a_table(), "**not tried**: nobody may mount here");
    }
}
