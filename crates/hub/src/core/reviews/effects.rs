//! Carries out what the review state machine decides: records, shows, writes, answers. Every effect has one place here.

use linkspan_dialect::{Answer, CallId, Failure, FailureKind};
use linkspan_review as review;
use linkspan_review::{AcceptedPart, AgentId, Effect, Outcome, Review, ReviewEnd, ReviewId, Step};

use crate::core::contract::{Action, Replacement};
use crate::core::reviews::{agent_writes, decide, expire, followers, news, patches, permits, show, write};
use crate::core::{Core, convert};

pub(super) fn carry_out(core: &mut Core, effects: Vec<Effect>) {
    for effect in effects {
        match effect {
            // Handled where the proposal is made: only there the call is known.
            Effect::Bound { .. } => {}
            Effect::Record { review, step } => record(core, review, step),
            Effect::Show { review } => {
                let meta = core.reviews.meta.get_mut(&review);
                if meta.is_some_and(|meta| std::mem::take(&mut meta.options.preapproved)) {
                    decide::auto_accept(core, review);
                } else {
                    show::show(core, review);
                }
            }
            Effect::Hide { review, reason } => show::hide(core, review, reason),
            Effect::Reply { surface, review, reply } => decide::reply(core, surface, review, reply),
            Effect::Write { review, .. } => {
                let held = patches::hold_write(core, review, effect);
                let Some(Effect::Write { path, bytes, expect, .. }) = held else { continue };
                let Some(window) = core.reviews.get(review).map(|review| review.window) else {
                    continue;
                };
                let (folders, limit_mib) = core.windows.folders_of(&core.out, window);
                let replacement = Replacement { review, folders, path, bytes, expect, mode: None, limit_mib };
                write::write(core, review, replacement);
            }
            Effect::Answer { review, agent, outcome } => {
                answer_owner(core, review, agent, &outcome);
                followers::answer_all(core, review, &outcome);
            }
            Effect::Forget { review } => forget(core, review),
        }
    }
}

fn record(core: &mut Core, id: ReviewId, step: Step) {
    let Some(review) = core.reviews.get(id) else { return };
    // Named while the surface certainly exists; later records keep the name.
    let by = review.outcome().filter(|_| step == Step::Decided).and_then(|outcome| outcome.by);
    let by = by.map(|surface| core.windows.surface_name(&core.connections, surface));
    // If everything that was shown is accepted, its lines are counted already. Not if it was shown next to another file:
    // then the count is not that of the file itself.
    let as_shown = review.draft.is_none()
        && review.left.is_none()
        && review.outcome().is_some_and(
            |outcome| matches!(&outcome.ended, ReviewEnd::Accepted(accepted) if accepted.taken == AcceptedPart::All),
        );
    let counted = core.reviews.meta.get(&id).and_then(|meta| meta.counted.get());
    let counted = counted.filter(|(revision, _)| as_shown && *revision == review.revision);
    let size = counted.map(|(_, size)| size.lines());
    core.out.push(Action::Record { review: Box::new(review.clone()), step, by, size });
}

pub(in crate::core) fn recorded(core: &mut Core, review: ReviewId, step: Step, result: Result<(), String>) {
    let news = news::news(core, review, step);
    let failed = result.clone().err();
    core.lifecycle.set_record_error(failed.clone());
    if step == Step::Proposed && failed.is_none() {
        acknowledge(core, review);
    }
    if step == Step::Decided && failed.is_none() {
        permits::grant_permit(core, review);
    }
    let mut effects = core.reviews.apply(match result {
        Ok(()) => review::Event::Recorded { review, step },
        Err(error) => review::Event::RecordFailed { review, step, error },
    });
    if step == Step::Edited && show::edit_recorded(core, review, failed.as_deref()) {
        effects.retain(|effect| !matches!(effect, Effect::Show { .. }));
    }
    core.carry_out(effects);
    let decided = step == Step::Decided && failed.is_none();
    news::tell_watchers(core, review, news, failed);
    // Its agent stopped waiting while the decision was recorded: the review is pending again, and lacks its agent.
    if decided && core.reviews.get(review).is_some_and(Review::lacks_writer) {
        expire::owner_changed(core, review);
    }
    // Its agent does not wait, and must not overwrite what the hub wrote. A daemon that comes back is told not to write.
    let written_here =
        |review: &Review| review.written_here && review.owner.is_none() && !convert::is_of_daemon(review);
    if step == Step::Written && core.reviews.get(review).is_some_and(written_here) {
        core.expire(review);
    }
}

/// Some agents are answered as soon as their change is pending, and receive the decision later.
pub(super) fn acknowledge(core: &mut Core, id: ReviewId) {
    for waiting in followers::waiting_agents(core, id) {
        let Some(agent) = core.agents.get(&waiting) else { continue };
        // More than one if the agent repeated its call.
        let calls = agent.waiting.iter().filter(|(review, _)| *review == id).map(|(_, call)| *call);
        let calls: Vec<CallId> = calls.collect();
        calls.into_iter().for_each(|call| core.agents.acknowledge(&mut core.out, waiting, call));
    }
}

/// Sends the outcome to every call of the agent that waits for it.
fn answer_owner(core: &mut Core, id: ReviewId, agent_id: AgentId, outcome: &Outcome) {
    let Some(agent) = core.agents.get_mut(&agent_id) else { return };
    // More than one if the agent repeated its call.
    let calls: Vec<CallId> =
        agent.waiting.extract_if(.., |(review, _)| *review == id).map(|(_, call)| call).collect();
    if calls.is_empty() {
        return;
    }
    for call in calls {
        // If the agent asks again, the review may be decided before it was shown.
        if outcome.ended.is_by_user() {
            core.agents.acknowledge(&mut core.out, agent_id, call);
        }
        let answer = convert::answer(core.reviews.get(id), outcome);
        answer_part(core, agent_id, call, id, answer);
    }
}

/// A call whose review is forgotten without an outcome was withdrawn by its own agent.
fn forget(core: &mut Core, id: ReviewId) {
    core.reviews.meta.remove(&id);
    core.agents.end_unconfirmed(id);
    core.reviews.followers.retain(|(review, _), _| *review != id);
    let mut unanswered = Vec::new();
    for (agent_id, agent) in core.agents.iter_mut() {
        agent.waiting.retain(|(review, call)| {
            if *review == id {
                unanswered.push((*agent_id, *call));
            }
            *review != id
        });
    }
    for (agent, call) in unanswered {
        let message = "the change was withdrawn before anyone decided";
        answer_part(core, agent, call, id, Answer::Failed(Failure::new(FailureKind::Withdrawn, message)));
    }
}

/// Answers the call that this review is an answer to, or part of one. Once it is sent, a ping follows whose pong
/// shows that all parts of it have arrived.
pub(super) fn answer_part(core: &mut Core, id: AgentId, call: CallId, review: ReviewId, answer: Answer) {
    if patches::part_decided(core, id, call, review, &answer) {
        return;
    }
    let sent = core.agents.answer_part(&mut core.out, id, call, review, answer);
    answer_sent(core, id, sent);
}

/// The agent is told the outcome of these.
pub(super) fn answer_sent(core: &mut Core, id: AgentId, mut sent: Vec<ReviewId>) {
    // A review that is already forgotten was withdrawn, and needs no confirmation.
    sent.retain(|review| core.reviews.get(*review).is_some());
    core.agents.await_receipt(&mut core.out, id, sent.iter().copied());
    sent.into_iter().for_each(|review| agent_writes::expect_decided(core, review));
}
