//! Waits for editors that are just starting: their process exists, but they do not answer yet.

use std::thread;
use std::time::{Duration, Instant};

use linkspan_client::discover::{CandidateVerdict, Discovery, Reason};
use linkspan_client::{Candidate, Surroundings, discover};
use rustix::process::{Pid, test_kill_process};

/// How long an editor with many extensions takes to answer.
const START_DEADLINE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(200);

/// The editors, once one can be used or none is starting.
pub(super) fn discovered(surroundings: &Surroundings) -> Discovery {
    let until = Instant::now() + START_DEADLINE;
    loop {
        let discovery = discover(surroundings);
        let starting = discovery.best().is_none() && discovery.candidates.iter().any(is_starting);
        if !starting || Instant::now() >= until {
            return discovery;
        }
        thread::sleep(PAUSE);
    }
}

fn is_starting(candidate: &Candidate) -> bool {
    let silent = matches!(
        candidate.verdict,
        CandidateVerdict::Not(Reason::EditorAway | Reason::NoAnswer | Reason::NothingListens)
    );
    let pid = candidate.pid.and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
    silent && candidate.matched.is_some() && pid.is_some_and(|pid| test_kill_process(pid).is_ok())
}
