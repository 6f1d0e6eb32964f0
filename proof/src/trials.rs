//! Trying many things, several at once, each to its end whatever becomes of the others.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// A panic in `run` says that a promise is broken.
pub(crate) struct Trial {
    pub(crate) name: String,
    pub(crate) run: Box<dyn Fn() + Send + Sync>,
}

#[derive(Debug)]
pub(crate) struct Tried {
    pub(crate) name: String,
    pub(crate) took: Duration,
    /// What was not as promised.
    pub(crate) broken: Option<String>,
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
                    let broken =
                        catch_unwind(AssertUnwindSafe(|| (trial.run)())).err().map(|why| said(&*why));
                    let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                    let verdict = broken.as_ref().map_or("ok".to_owned(), |why| format!("BROKEN: {why}"));
                    eprintln!("[{done}/{}] {} {verdict}", trials.len(), trial.name);
                    let one = Tried { name: trial.name.clone(), took: begun.elapsed(), broken };
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
            run: Box::new(move || assert!(good, "the file is gone")),
        };
        let tried = try_all(&[trial("a", true), trial("b", false), trial("c", true)], 2);
        let verdicts: Vec<_> = tried.iter().map(|one| (one.name.as_str(), one.broken.is_some())).collect();
        assert_eq!(verdicts, [("a", false), ("b", true), ("c", false)]);
        assert!(tried[1].broken.as_ref().is_some_and(|why| why.starts_with("the file is gone")));
    }
}
