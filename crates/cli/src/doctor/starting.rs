//! Editors that are just starting: their process is there, but they do not answer yet. They are given a moment.

use std::thread;
use std::time::{Duration, Instant};

use linkspan_client::discover::{Discovery, Reason, Verdict};
use linkspan_client::{Candidate, Surroundings, discover};
use rustix::process::{Pid, test_kill_process};

/// As long as an editor with many extensions takes to answer.
const MOMENT: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(200);

/// What is there, once an editor can be used or none is just starting.
pub(super) fn discovered(surroundings: &Surroundings) -> Discovery {
    let until = Instant::now() + MOMENT;
    loop {
        let discovery = discover(surroundings);
        let waits = discovery.best().is_none() && discovery.candidates.iter().any(is_starting);
        if !waits || Instant::now() >= until {
            return discovery;
        }
        thread::sleep(PAUSE);
    }
}

fn is_starting(candidate: &Candidate) -> bool {
    let silent = matches!(
        candidate.verdict,
        Verdict::Not(Reason::EditorAway | Reason::NoAnswer | Reason::NothingListens)
    );
    let pid = candidate.pid.and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
    silent && candidate.matched.is_some() && pid.is_some_and(|pid| test_kill_process(pid).is_ok())
}
