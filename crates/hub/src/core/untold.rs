//! Changes that ended while the agent that waits for them was away for too long. It never asks again, so it is told
//! when it is back that no decision will come. Kept in memory only: the next hub does not know of them.

use std::collections::VecDeque;

/// Sessions that may come back, and what each may have waited for; the oldest go first.
const SESSIONS: usize = 256;
const CHANGES: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Untold(VecDeque<Session>);

#[derive(Debug)]
struct Session {
    key: String,
    names: VecDeque<String>,
    /// Told before this ping, whose answer shows that it has arrived.
    told: Option<u64>,
}

impl Untold {
    pub(super) fn remember(&mut self, key: &str, name: String) {
        if !self.0.iter().any(|session| session.key == key) {
            if self.0.len() >= SESSIONS {
                self.0.pop_front();
            }
            self.0.push_back(Session { key: key.to_owned(), names: VecDeque::new(), told: None });
        }
        let Some(session) = self.of(key) else { return };
        if session.names.len() >= CHANGES {
            session.names.pop_front();
        }
        session.names.push_back(name);
    }

    /// What the agent is to be told before this ping.
    pub(super) fn told(&mut self, key: &str, ping: u64) -> Vec<String> {
        let Some(session) = self.of(key) else { return Vec::new() };
        session.told = Some(ping);
        session.names.iter().cloned().collect()
    }

    pub(super) fn arrived(&mut self, key: &str, ping: u64) {
        self.0.retain(|session| session.key != key || session.told.is_none_or(|told| ping < told));
    }

    /// It asks for a change of this name again: what was of the same name before means nothing to it.
    pub(super) fn asked_again(&mut self, key: &str, name: &str) {
        if let Some(session) = self.of(key) {
            session.names.retain(|known| known != name);
        }
    }

    fn of(&mut self, key: &str) -> Option<&mut Session> {
        self.0.iter_mut().find(|session| session.key == key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_much_is_kept_as_agents_may_wait_for_and_the_oldest_goes() {
        let mut untold = Untold::default();
        for change in 0..=CHANGES {
            untold.remember("first", change.to_string());
        }
        let names = untold.told("first", 1);
        assert_eq!((names.len(), names[0].as_str()), (CHANGES, "1"));
        for session in 0..SESSIONS {
            untold.remember(&session.to_string(), "a".to_owned());
        }
        assert!(untold.told("first", 2).is_empty());
        assert_eq!(untold.told("0", 1), ["a"]);
    }

    #[test]
    fn what_has_not_arrived_is_told_again() {
        let mut untold = Untold::default();
        untold.remember("k", "a".to_owned());
        untold.arrived("k", 9);
        assert_eq!(untold.told("k", 3), ["a"], "it was not told before");
        untold.arrived("k", 2);
        assert_eq!(untold.told("k", 4), ["a"]);
        untold.arrived("k", 4);
        assert!(untold.told("k", 5).is_empty());
    }
}
