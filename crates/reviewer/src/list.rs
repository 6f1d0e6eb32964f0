//! The reviews in list order: by agent and change set. Existing entries never change their order; a new one goes to
//! the end of its group.

use std::time::Duration;

use linkspan_editor_api::{ReviewSummary, Verdict};

use crate::document::Document;

/// One review in the list.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) summary: ReviewSummary,
    /// When the summary was received: its age counts from there.
    pub(crate) listed_at: Duration,
    /// The newest fetched revision, even if its text was not kept.
    pub(crate) revision: Option<u32>,
    /// The digest of that revision.
    pub(crate) digest: Option<String>,
    pub(crate) document: Option<Box<Document>>,
    /// It is being fetched.
    pub(crate) fetching: bool,
    /// Our decision, while it is being sent.
    pub(crate) sent: Option<Verdict>,
    /// How it ended, if not by our decision, and since when that is known.
    pub(crate) ended: Option<(String, Duration)>,
    /// It arrived while the reviewer was running and has not been selected yet.
    pub(crate) new: bool,
}

impl Entry {
    fn new(summary: ReviewSummary, now: Duration) -> Entry {
        Entry {
            summary,
            listed_at: now,
            revision: None,
            digest: None,
            document: None,
            fetching: false,
            sent: None,
            ended: None,
            new: false,
        }
    }

    pub(crate) fn id(&self) -> &str {
        &self.summary.review
    }

    pub(crate) fn age_ms(&self, now: Duration) -> u64 {
        let since = u64::try_from(now.saturating_sub(self.listed_at).as_millis()).unwrap_or(u64::MAX);
        self.summary.age_ms.saturating_add(since)
    }

    /// It is pending.
    pub(crate) fn is_open(&self) -> bool {
        self.ended.is_none() && self.sent.is_none() && is_waiting(&self.summary)
    }

    /// Its agent should write the file but no longer waits for the answer: only the hub would write it.
    pub(crate) fn needs_writing(&self) -> bool {
        self.summary.owner_gone && self.summary.agent_writes
    }

    /// Whether both are in one group: one change set, or one agent's single proposals.
    pub(crate) fn is_with(&self, other: &ReviewSummary) -> bool {
        let ours = &self.summary;
        (&ours.agent, &ours.dialect, &ours.window, &ours.set)
            == (&other.agent, &other.dialect, &other.window, &other.set)
    }
}

/// Neither being recorded nor being settled.
fn is_waiting(summary: &ReviewSummary) -> bool {
    matches!(summary.phase.as_str(), "pending" | "conflict")
}

#[derive(Debug, Default)]
pub(crate) struct List {
    pub(crate) entries: Vec<Entry>,
}

impl List {
    pub(crate) fn get(&self, review: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.id() == review)
    }

    pub(crate) fn get_mut(&mut self, review: &str) -> Option<&mut Entry> {
        self.entries.iter_mut().find(|entry| entry.id() == review)
    }

    pub(crate) fn place(&self, review: &str) -> Option<usize> {
        self.entries.iter().position(|entry| entry.id() == review)
    }

    /// Applies the hub's current list; returns the ids of new reviews.
    pub(crate) fn update(&mut self, listed: &[ReviewSummary], now: Duration) -> Vec<String> {
        let mut new = Vec::new();
        for summary in listed {
            if let Some(entry) = self.get_mut(&summary.review) {
                entry.summary = summary.clone();
                entry.listed_at = now;
            } else if is_waiting(summary) {
                let last = self.entries.iter().rposition(|entry| entry.is_with(summary));
                let at = last.map_or(self.entries.len(), |last| last + 1);
                self.entries.insert(at, Entry::new(summary.clone(), now));
                new.push(summary.review.clone());
            }
        }
        new
    }

    pub(crate) fn waiting(&self) -> usize {
        self.entries.iter().filter(|entry| entry.is_open()).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{summary, three_hunks};

    fn of(review: &str, agent: &str) -> ReviewSummary {
        ReviewSummary { agent: agent.into(), ..summary(&three_hunks(review)) }
    }

    #[test]
    fn what_is_new_goes_to_the_end_of_its_group_and_moves_nobody() {
        let mut list = List::default();
        list.update(&[of("r1", "a"), of("r2", "b")], Duration::ZERO);
        let new = list.update(&[of("r3", "a"), of("r2", "b"), of("r1", "a")], Duration::ZERO);
        assert_eq!(new, ["r3"]);
        let order: Vec<_> = list.entries.iter().map(Entry::id).collect();
        assert_eq!(order, ["r1", "r3", "r2"]);
    }

    #[test]
    fn what_is_not_recorded_yet_or_just_decided_is_not_listed() {
        let mut list = List::default();
        for phase in ["recording", "settling"] {
            let passing = ReviewSummary { phase: phase.into(), ..of("r1", "a") };
            assert!(list.update(&[passing], Duration::ZERO).is_empty());
        }
    }
}
