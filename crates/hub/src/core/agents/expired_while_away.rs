//! Changes that expired while their agent was away for too long. It never asks again, so it receives a failure when it is
//! back. Kept in memory only: the next hub does not know of them.

use std::collections::VecDeque;

/// Sessions that may come back, and the changes of each; the oldest are dropped first.
const SESSIONS: usize = 256;
const CHANGES: usize = 64;

#[derive(Debug, Default)]
pub(super) struct ExpiredWhileAway(VecDeque<Absentee>);

#[derive(Debug)]
struct Absentee {
    key: String,
    names: VecDeque<String>,
    /// The failures were sent before this ping, whose pong shows that they have arrived.
    told: Option<u64>,
}

impl ExpiredWhileAway {
    pub(super) fn remember(&mut self, key: &str, name: String) {
        if !self.0.iter().any(|session| session.key == key) {
            if self.0.len() >= SESSIONS {
                self.0.pop_front();
            }
            self.0.push_back(Absentee { key: key.to_owned(), names: VecDeque::new(), told: None });
        }
        let Some(session) = self.session_mut(key) else { return };
        if session.names.len() >= CHANGES {
            session.names.pop_front();
        }
        session.names.push_back(name);
    }

    /// The changes that the agent is notified about before this ping.
    pub(super) fn report(&mut self, key: &str, ping: u64) -> Vec<String> {
        let Some(session) = self.session_mut(key) else { return Vec::new() };
        session.told = Some(ping);
        session.names.iter().cloned().collect()
    }

    pub(super) fn confirm(&mut self, key: &str, ping: u64) {
        self.0.retain(|session| session.key != key || session.told.is_none_or(|told| ping < told));
    }

    /// It asks for a change of this name again, so the older one no longer matters to it.
    pub(super) fn forget(&mut self, key: &str, name: &str) {
        if let Some(session) = self.session_mut(key) {
            session.names.retain(|known| known != name);
        }
    }

    fn session_mut(&mut self, key: &str) -> Option<&mut Absentee> {
        self.0.iter_mut().find(|session| session.key == key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_much_is_kept_as_agents_may_wait_for_and_the_oldest_goes() {
        let mut expired = ExpiredWhileAway::default();
        for change in 0..=CHANGES {
            expired.remember("first", change.to_string());
        }
        let names = expired.report("first", 1);
        assert_eq!((names.len(), names[0].as_str()), (CHANGES, "1"));
        for session in 0..SESSIONS {
            expired.remember(&session.to_string(), "a".to_owned());
        }
        assert!(expired.report("first", 2).is_empty());
        assert_eq!(expired.report("0", 1), ["a"]);
    }

    #[test]
    fn what_has_not_arrived_is_told_again() {
        let mut expired = ExpiredWhileAway::default();
        expired.remember("k", "a".to_owned());
        expired.confirm("k", 9);
        assert_eq!(expired.report("k", 3), ["a"], "it was not told before");
        expired.confirm("k", 2);
        assert_eq!(expired.report("k", 4), ["a"]);
        expired.confirm("k", 4);
        assert!(expired.report("k", 5).is_empty());
    }
}
