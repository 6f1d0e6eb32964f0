//! Texts that need no second review: the user has just accepted them in a comparison, which writes nothing, so the agent
//! that asked may put them in the file, once.

use std::path::{Path, PathBuf};

use linkspan_editor_api::PermissionKind;
use linkspan_review as review;
use linkspan_review::{AgentId, Digest, ReviewId, Writer};

use crate::core::Core;
use crate::core::permissions::approval;
use crate::core::reviews::propose::ProposedChange;

/// Permits of all agents together; the oldest are dropped first.
const PERMITS: usize = 256;

/// Each with the time until which it counts.
#[derive(Debug, Default)]
pub(in crate::core) struct Permits(Vec<(u64, Permit)>);

#[derive(Debug, PartialEq, Eq)]
struct Permit {
    key: String,
    path: PathBuf,
    before: Digest,
    after: Digest,
}

impl Permits {
    fn grant(&mut self, until_ms: u64, permit: Permit) {
        self.forget(&permit.key, Some(&permit.path));
        if self.0.len() >= PERMITS {
            self.0.remove(0);
        }
        self.0.push((until_ms, permit));
    }

    /// Uses the permit up. Returns whether there was one that still counts.
    fn take(&mut self, now_ms: u64, permit: &Permit) -> bool {
        let taken = self.0.extract_if(.., |(_, known)| known == permit).last();
        taken.is_some_and(|(until_ms, _)| now_ms <= until_ms)
    }

    /// Drops the permits of an agent, for one file or all.
    pub(in crate::core) fn forget(&mut self, key: &str, path: Option<&Path>) {
        self.0.retain(|(_, known)| known.key != key || path.is_some_and(|path| known.path != path));
    }

    pub(in crate::core) fn forget_all(&mut self) {
        self.0.clear();
    }
}

/// Whether this very text was accepted before, or this agent may edit without a review.
pub(super) fn is_allowed(core: &mut Core, agent: AgentId, change: &ProposedChange) -> bool {
    let Some(asker) = core.agents.get(&agent) else { return false };
    let (key, allowed) = (asker.key(), approval::grant_for(core, asker, PermissionKind::Edit).is_some());
    let before = change.base.as_ref().map_or("", |base| &base.text);
    let permit = permit(key, &change.path, before, &change.proposed);
    core.reviews.permits.take(core.out.now_ms, &permit) || allowed
}

/// A comparison was accepted: the agent that asked for it may put the text in the file.
pub(super) fn grant_permit(core: &mut Core, id: ReviewId) {
    let review = core.reviews.state.review(id);
    let Some(review) = review.filter(|review| review.writer == Writer::Nobody) else {
        return;
    };
    let Some(outcome) = review.outcome() else { return };
    match &outcome.ended {
        review::ReviewEnd::Accepted(accepted) => {
            let key = review.owner_key.clone();
            let permit = permit(key, &review.path, review.base_text(), &accepted.text);
            core.reviews.permits.grant(core.out.now_ms + core.out.config.agent_grace_seconds * 1000, permit);
        }
        // A later rejection revokes it.
        _ => core.reviews.permits.forget(&review.owner_key, Some(&review.path)),
    }
}

fn permit(key: String, path: &Path, before: &str, after: &str) -> Permit {
    // Agents send the same text with either kind of line ending.
    let digest = |text: &str| Digest::of(text.replace("\r\n", "\n").as_bytes());
    Permit { key, path: path.to_owned(), before: digest(before), after: digest(after) }
}
