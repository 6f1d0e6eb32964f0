//! Decides many reviews at once: all pending ones, or one change set. Bound to the revisions fetched before the user
//! confirmed, so that nothing newer slips in; reviews that arrive in the meantime are not part of it.

use linkspan_editor_api::{Decision, ReviewsDecide, Verdict};

use super::{Command, Confirm, Overlay, Screen, Tone};

#[derive(Debug)]
pub(crate) struct Bulk {
    pub(crate) accept: bool,
    pub(crate) reviews: Vec<String>,
    /// The reviews of the selected change set, if that is a subset.
    pub(crate) set_reviews: Option<Vec<String>>,
    /// The number of reviews with the user's marks or text, which need a decision of their own.
    pub(crate) kept_out: usize,
    /// The number of reviews that only the hub would write if accepted. Each needs a confirmation of its own.
    pub(crate) agent_gone: usize,
}

impl Screen {
    pub(super) fn confirm_bulk(&mut self, accept: bool) {
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
                (0, 0) => "no pending reviews",
                (0, _) => "the agents of the pending reviews no longer wait: accept them one by one",
                _ => "the pending reviews have your marks: decide them one by one",
            };
            return self.show_message(Tone::Quiet, text);
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

    /// Narrows it to the change set.
    pub(super) fn narrow_bulk(&mut self) {
        if let Overlay::Confirm(Confirm::Bulk(bulk)) = &mut self.overlay
            && let Some(set) = bulk.set_reviews.take()
        {
            bulk.reviews = set;
        }
    }

    /// The number of its reviews of which no revision has arrived yet: until then it can not be confirmed.
    pub(crate) fn loading(&self, bulk: &Bulk) -> usize {
        let entries = bulk.reviews.iter().filter_map(|review| self.list.get(review));
        entries.filter(|entry| entry.is_open() && entry.revision.is_none()).count()
    }

    pub(super) fn decide_bulk(&mut self) {
        let Overlay::Confirm(Confirm::Bulk(bulk)) = &self.overlay else { return };
        let (accept, reviews) = (bulk.accept, bulk.reviews.clone());
        if self.loading(bulk) > 0 {
            return self.show_message(Tone::Quiet, "not yet: some changes are still loading");
        }
        if !self.confirm_visible() {
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
