//! Reviews without an agent: how long they are kept, and who is notified.

use linkspan_dialect::{CallId, FailureKind};
use linkspan_editor_api as api;
use linkspan_review::{AgentId, Phase, Review, ReviewId};

use crate::core::Core;
use crate::core::contract::ReviewPast;
use crate::core::reviews::{agent_writes, followers, news, patches, propose, show, write};

/// A review of an earlier hub. The time in which its agent may come back begins now.
pub(in crate::core) fn remember_review(core: &mut Core, past: ReviewPast) {
    core.reviews.orphan(&mut core.out, past.review);
    agent_writes::expect_pending(core, past.review);
    if let Some(meta) = core.reviews.meta.get_mut(&past.review) {
        meta.proposed_ms = past.proposed_ms.cast_signed().saturating_neg();
        meta.origin = past.origin;
    }
    // A decision that its agent did not fetch in time expires, even if no hub was running meanwhile.
    let grace_ms = core.reviews.grace_ms(&core.out, past.review);
    let settled = core.reviews.get(past.review).is_some_and(|review| !review.is_open());
    let is_hosted = settled && patches::remember(core, past.review);
    let is_late = past.decided_ms.is_some_and(|ago_ms| ago_ms > grace_ms);
    let is_forgotten =
        core.reviews.origin_of(past.review).is_some_and(|origin| !core.chats.knows(&origin.chat));
    if settled && (is_late || is_hosted && is_forgotten) {
        match is_hosted {
            true => write::finish_when_back(core, past.review),
            false => core.expire(past.review),
        }
    }
}

/// The agent of a pending review is gone, or waits again: every surface shows it.
pub(super) fn owner_changed(core: &mut Core, id: ReviewId) {
    let pending = |review: &&Review| review.phase == Phase::Pending;
    let Some(review) = core.reviews.get(id).filter(pending) else { return };
    let owner_gone = review.owner.is_none();
    match owner_gone {
        true => agent_writes::expect_pending(core, id),
        false => core.reviews.agent_writes.agent_is_back(&mut core.out, id),
    }
    let change = if owner_gone { api::ReviewChange::AgentGone } else { api::ReviewChange::AgentBack };
    news::tell_watchers_of(core, id, change);
    if let Some(connection) = show::surface_of(core, id) {
        core.connections.send_request(
            &mut core.out,
            connection,
            &api::ReviewWaiting { review: id.to_string(), owner_gone },
        );
    }
    // What it receives was not known while it was away.
    if said_what_it_receives(core, id) {
        show::show(core, id);
    }
}

fn said_what_it_receives(core: &Core, id: ReviewId) -> bool {
    let owner = core.reviews.get(id).and_then(|review| review.owner);
    owner.and_then(|owner| core.agents.get(&owner)).is_some_and(|owner| owner.receives.is_some())
}

pub(in crate::core) fn review_grace_over(core: &mut Core, id: ReviewId) {
    let grace_ms = core.reviews.grace_ms(&core.out, id);
    let since = core.reviews.meta.get(&id).and_then(|meta| meta.orphaned_ms);
    if since.is_some_and(|since| since + grace_ms <= core.out.now_ms) {
        let deciding = |review: &Review| review.is_open() && review.outcome().is_some();
        // The clock may have jumped while the hub was about to write it, and more than once: it has the same time again.
        let is_taken_over = core.reviews.meta.get(&id).is_some_and(|meta| meta.is_taken_over);
        if core.agents.awaits_confirmation(id) {
            patches::agent_stayed_away(core, id);
        }
        if patches::finish(core, id) {
            return;
        }
        match is_taken_over || core.reviews.get(id).is_some_and(deciding) {
            // Its outcome is kept as long as any other.
            true => core.reviews.orphan(&mut core.out, id),
            false => core.expire(id),
        }
    }
}

/// The agent no longer waits for this call: no one would receive a decision from now on.
pub(in crate::core) fn wait_limit_over(core: &mut Core, agent: AgentId, call: CallId) {
    let Some(asker) = core.agents.get(&agent) else { return };
    let waiting = asker.waiting.iter().filter(|(_, waiting)| *waiting == call);
    let reviews: Vec<ReviewId> = waiting.map(|(review, _)| *review).collect();
    let decided = reviews.iter().any(|id| !core.reviews.is_undecided(*id));
    // If the user was first, the answer is on its way.
    if decided || !propose::waits_for_change(core, agent, call) {
        return;
    }
    core.agents.fail(
        &mut core.out,
        agent,
        call,
        FailureKind::Timeout,
        "no decision in time; the change is withdrawn",
    );
    for review in reviews {
        followers::withdraw(core, agent, review);
    }
}
