//! Deciding many at once: all that wait, or one change set. Bound to the revisions that were fetched before the
//! question was answered, so that nothing newer slips in; what comes meanwhile is not part of it.

use linkspan_editor_api::{Decision, ReviewsDecide, Verdict};

use super::{Command, Confirm, Overlay, Screen, Tone};

#[derive(Debug)]
pub(crate) struct Bulk {
    pub(crate) accept: bool,
    pub(crate) reviews: Vec<String>,
    /// The reviews of the change set that is looked at, when that is a choice.
    pub(crate) set_reviews: Option<Vec<String>>,
    /// Those with marks or a text of the person's own, which are hers to finish one by one.
    pub(crate) kept_out: usize,
    /// Those that only the hub would write if they were accepted. They are asked about one by one.
    pub(crate) agent_gone: usize,
}

impl Screen {
    pub(super) fn ask_bulk(&mut self, accept: bool) {
        let open = || self.list.entries.iter().filter(|entry| entry.is_open());
        let unfinished = |entry: &&crate::list::Entry| {
            let document = entry.document.as_deref();
            document.is_some_and(|document| !document.marks.is_empty() || document.draft.is_some())
        };
        let kept_out = open().filter(unfinished).count();
        let finished = || open().filter(|entry| !unfinished(entry));
        let left_out = |entry: &&crate::list::Entry| accept && entry.needs_writing();
        let agent_gone = finished().filter(left_out).count();
        let all: Vec<&crate::list::Entry> = finished().filter(|entry| !left_out(entry)).collect();
        let reviews: Vec<String> = all.iter().map(|entry| entry.id().to_owned()).collect();
        let set_reviews = self.current().filter(|current| current.summary.set.is_some()).map(|current| {
            let with = all.iter().filter(|entry| entry.is_with(&current.summary));
            with.map(|entry| entry.id().to_owned()).collect::<Vec<_>>()
        });
        let set_reviews = set_reviews.filter(|set| !set.is_empty() && set.len() < reviews.len());
        if reviews.is_empty() {
            let text = match (kept_out, agent_gone) {
                (0, 0) => "nothing waits",
                (0, _) => "the agent of what waits no longer waits: accept one by one",
                _ => "what waits has your marks: finish it one by one",
            };
            return self.say(Tone::Quiet, text);
        }
        for review in &reviews {
            if let Some(entry) = self.list.get_mut(review)
                && entry.revision.is_none()
                && !entry.fetching
            {
                entry.fetching = true;
                self.commands.push(Command::Get(review.clone()));
            }
        }
        self.show(Overlay::Confirm(Confirm::Bulk(Bulk {
            accept,
            reviews,
            set_reviews,
            kept_out,
            agent_gone,
        })));
    }

    /// Only the change set.
    pub(super) fn narrow_bulk(&mut self) {
        if let Overlay::Confirm(Confirm::Bulk(bulk)) = &mut self.overlay
            && let Some(set) = bulk.set_reviews.take()
        {
            bulk.reviews = set;
        }
    }

    pub(super) fn decide_bulk(&mut self) {
        let Overlay::Confirm(Confirm::Bulk(bulk)) = &self.overlay else { return };
        let (accept, reviews) = (bulk.accept, bulk.reviews.clone());
        let loading = |review: &String| {
            self.list.get(review).is_some_and(|entry| entry.is_open() && entry.revision.is_none())
        };
        if reviews.iter().any(loading) {
            return self.say(Tone::Quiet, "not yet: some are still on their way");
        }
        if !self.was_seen() {
            return;
        }
        self.overlay = Overlay::None;
        for review in reviews {
            let Some(entry) = self.list.get_mut(&review).filter(|entry| entry.is_open()) else { continue };
            let verdict = if accept { Verdict::Accept } else { Verdict::Reject { reason: None } };
            let comments = entry.document.as_deref().map(|document| document.comments.clone());
            let decision = Decision { verdict, comments: comments.unwrap_or_default(), write_here: false };
            let (revision, digest) = (entry.revision, entry.digest.clone());
            entry.sent = Some(decision.verdict.clone());
            self.commands.push(Command::Decide(ReviewsDecide { review, revision, digest, decision }));
        }
    }
}
