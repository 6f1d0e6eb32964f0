//! Decides which refusals get a line in the log: any web site can cause them without end. `linkspan status` counts
//! them all.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::core::contract::Refusal;

/// Lines for each kind of refusal in a [`PERIOD`].
const LINES_PER_PERIOD: u64 = 5;

const PERIOD: Duration = Duration::from_secs(3600);

#[derive(Debug, Default)]
pub(crate) struct RefusalLog {
    recent: HashMap<Refusal, RecentCount>,
}

#[derive(Debug)]
struct RecentCount {
    since: Instant,
    times: u64,
}

impl RefusalLog {
    /// The line to log for one more refusal; `None` when there were enough of its kind.
    pub(crate) fn line(&mut self, refusal: Refusal, now: Instant) -> Option<String> {
        let name = refusal.name();
        let recent = self.recent.entry(refusal).or_insert(RecentCount { since: now, times: 0 });
        let mut unlogged = 0;
        if now.duration_since(recent.since) >= PERIOD {
            unlogged = recent.times.saturating_sub(LINES_PER_PERIOD);
            *recent = RecentCount { since: now, times: 0 };
        }
        recent.times += 1;
        match recent.times {
            LINES_PER_PERIOD => {
                Some(format!("refused a connection: {name}; further ones within the hour are only counted"))
            }
            _ if recent.times > LINES_PER_PERIOD => None,
            _ if unlogged > 0 => {
                Some(format!("refused a connection: {name}; {unlogged} earlier ones were not logged"))
            }
            _ => Some(format!("refused a connection: {name}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_refusals_is_a_few_lines_and_hides_no_other_kind() {
        let mut refusals = RefusalLog::default();
        let begun = Instant::now();
        let flood = |refusals: &mut RefusalLog, at| {
            (0..1000).filter_map(|_| refusals.line(Refusal::OtherOrigin, at)).collect::<Vec<_>>()
        };
        assert_eq!(flood(&mut refusals, begun).len() as u64, LINES_PER_PERIOD);
        assert!(refusals.line(Refusal::WrongHost, begun).is_some());
        let later = flood(&mut refusals, begun + PERIOD);
        assert_eq!(later.len() as u64, LINES_PER_PERIOD);
        assert!(later[0].contains(&(1000 - LINES_PER_PERIOD).to_string()), "{later:?}");
    }
}
