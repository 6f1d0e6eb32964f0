//! The tabs of changes: an agent withdraws a change by closing its tab.

use linkspan_dialect::{Answer, CallId, FailureKind};
use linkspan_review::{AgentId, Review, ReviewId};

use crate::core::Core;
use crate::core::reviews::followers;

/// By closing the tab of a change, an agent withdraws it. It cannot close other tabs.
pub(super) fn close(core: &mut Core, agent: AgentId, call: CallId, label: &str) {
    let Some(asker) = core.agents.get(&agent) else { return };
    // By the agent's own label: the label of the review may be shortened.
    let named: Vec<CallId> =
        asker.session.open_changes().filter(|(_, named)| *named == label).map(|(call, _)| call).collect();
    let waiting = asker.waiting.iter().filter(|(_, waiting)| named.contains(waiting));
    let theirs: Vec<ReviewId> = waiting.map(|(review, _)| *review).collect();
    let text = theirs.last().and_then(|review| core.reviews.get(*review));
    let text = text.map(|review| review.as_sent(review.side()).into_owned());
    for review in theirs {
        followers::withdraw(core, agent, review);
    }
    withdraw_unread(core, agent, |named| named == label);
    core.agents.answer(&mut core.out, agent, call, &Answer::TabClosed { text });
}

pub(super) fn close_all(core: &mut Core, agent: AgentId, call: CallId) {
    let theirs = open_reviews_of(core, agent);
    let mut count = theirs.len();
    for review in theirs {
        followers::withdraw(core, agent, review);
    }
    count += withdraw_unread(core, agent, |_| true);
    core.agents.answer(&mut core.out, agent, call, &Answer::DiffsClosed(count));
}

/// Withdraws changes whose file is still being read, which are not reviews yet; returns how many.
pub(super) fn withdraw_unread(core: &mut Core, id: AgentId, meant: impl Fn(&str) -> bool) -> usize {
    let Some(agent) = core.agents.get(&id) else { return 0 };
    let unread = agent
        .session
        .open_changes()
        .filter(|(call, label)| meant(label) && !agent.waiting.iter().any(|(_, waiting)| waiting == call));
    let unread: Vec<CallId> = unread.map(|(call, _)| call).collect();
    for call in &unread {
        core.agents.fail(
            &mut core.out,
            id,
            *call,
            FailureKind::Withdrawn,
            "the change was withdrawn before anyone decided",
        );
    }
    unread.len()
}

fn open_reviews_of(core: &Core, agent: AgentId) -> Vec<ReviewId> {
    let waits = |id: ReviewId| core.agents.get(&agent).is_some_and(|agent| agent.waits_for(id));
    let theirs = |review: &&Review| review.owner == Some(agent) || waits(review.id);
    let open = core.reviews.iter().filter(|review| review.is_open()).filter(theirs);
    open.map(|review| review.id).collect()
}
