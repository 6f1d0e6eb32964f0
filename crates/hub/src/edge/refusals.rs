//! Which refusals are worth a line in the log: any web site can cause them without end. Every one is counted elsewhere.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::guard::Refusal;

/// Lines for each kind in a [`WHILE`].
const LINES: u64 = 5;

const WHILE: Duration = Duration::from_secs(3600);

#[derive(Debug, Default)]
pub(super) struct Refusals {
    of_late: HashMap<Refusal, OfLate>,
}

#[derive(Debug)]
struct OfLate {
    since: Instant,
    times: u64,
}

impl Refusals {
    /// What to log of one more; none when enough was said.
    pub(super) fn line(&mut self, refusal: Refusal, now: Instant) -> Option<String> {
        let name = refusal.name();
        let of_late = self.of_late.entry(refusal).or_insert(OfLate { since: now, times: 0 });
        let mut unsaid = 0;
        if now.duration_since(of_late.since) >= WHILE {
            unsaid = of_late.times.saturating_sub(LINES);
            *of_late = OfLate { since: now, times: 0 };
        }
        of_late.times += 1;
        match of_late.times {
            LINES => {
                Some(format!("refused a connection: {name}; more of these within the hour are only counted"))
            }
            _ if of_late.times > LINES => None,
            _ if unsaid > 0 => {
                Some(format!("refused a connection: {name}; {unsaid} more before, not logged"))
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
        let mut refusals = Refusals::default();
        let begun = Instant::now();
        let flood = |refusals: &mut Refusals, at| {
            (0..1000).filter_map(|_| refusals.line(Refusal::OtherOrigin, at)).collect::<Vec<_>>()
        };
        assert_eq!(flood(&mut refusals, begun).len() as u64, LINES);
        assert!(refusals.line(Refusal::WrongHost, begun).is_some());
        let later = flood(&mut refusals, begun + WHILE);
        assert_eq!(later.len() as u64, LINES);
        assert!(later[0].contains(&(1000 - LINES).to_string()), "{later:?}");
    }
}
