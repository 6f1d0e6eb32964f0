//! Carries out what the review state machine decides: records, shows, writes, answers. Every effect has one place here.

use linkspan_dialect::{Answer, CallId, Failure, FailureKind};
use linkspan_review as review;
use linkspan_review::{AcceptedPart, AgentId, Effect, Outcome, Review, ReviewEnd, ReviewId, Step, Writer};

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
                match meta.and_then(|meta| meta.options.preapproved.take()) {
                    Some(by) => decide::auto_accept(core, review, by),
                    None => show::show(core, review),
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
    let origin = core.reviews.origin_of(id).cloned().map(Box::new);
    core.out.push(Action::Record { review: Box::new(review.clone()), step, by, size, origin });
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
    // What is written is written, whether or not the journal knows it.
    let happened = failed.is_none() || step == Step::Written;
    let lost_conversation = happened && has_lost_its_conversation(core, review, step);
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
    if lost_conversation {
        tell_with_next_message(core, review);
    } else if step == Step::Written && core.reviews.get(review).is_some_and(written_here) {
        core.expire(review);
    }
}

/// The hub has written what a hosted agent had proposed, or could not, or there is nothing to write; and no call of that agent
/// waits for it any longer, even if the agent was started again.
fn has_lost_its_conversation(core: &Core, id: ReviewId, step: Step) -> bool {
    let Some(review) = core.reviews.get(id) else { return false };
    let rejected = |outcome: &Outcome| matches!(outcome.ended, ReviewEnd::Rejected { .. });
    let is_over = match step {
        Step::Written | Step::Ended => review.written_here,
        // Of a mere no the agent hears when it asks again.
        Step::Decided => {
            let ends = review.writer == Writer::Nobody || review.outcome().is_some_and(rejected);
            ends && words_for_model(core, id).is_some()
        }
        _ => false,
    };
    if !is_over {
        return false;
    }
    let waits = |agent: AgentId| {
        core.agents.get(&agent).is_some_and(|agent| agent.waiting.iter().any(|(waiting, _)| *waiting == id))
    };
    core.reviews.origin_of(id).is_some() && !review.owner.is_some_and(waits)
}

/// The call of a hosted agent that this was an answer to is over: the next message has what was decided, and no other
/// answer follows.
pub(super) fn tell_with_next_message(core: &mut Core, id: ReviewId) {
    let words = words_for_model(core, id);
    tell_conversation(core, id, words);
}

fn words_for_model(core: &Core, id: ReviewId) -> Option<String> {
    let review = core.reviews.get(id)?;
    let answer = convert::answer(Some(review), review.outcome()?);
    let part = [(review.path.clone(), answer)];
    match patches::is_unwritten(review) {
        true => linkspan_dialect::told_after_accept(&part),
        false => linkspan_dialect::told_after_decline(&part),
    }
}

/// Whether an earlier hub had recorded that the next message tells it.
pub(super) fn is_told_with_next_message(core: &Core, id: ReviewId) -> bool {
    let (Some(origin), Some(review)) = (core.reviews.origin_of(id), core.reviews.get(id)) else {
        return false;
    };
    let Some(outcome) = review.outcome() else { return false };
    // It may have been told to write it.
    let part = [(review.path.clone(), convert::answer(Some(review), outcome))];
    let both = [linkspan_dialect::told_after_accept(&part), linkspan_dialect::told_after_decline(&part)];
    both.into_iter().flatten().any(|words| core.chats.will_tell(&origin.chat, &words))
}

/// The same for an accepted change that cannot be written.
pub(super) fn tell_not_written(core: &mut Core, id: ReviewId, mut failure: Failure) {
    let outcome = core.reviews.get(id).and_then(Review::outcome);
    for comment in outcome.into_iter().flat_map(|outcome| &outcome.comments) {
        failure.message = format!("{}; the user's comment: {}", failure.message, comment.text);
    }
    agent_writes::expect_decided(core, id);
    let path = core.reviews.get(id).map(|review| review.path.clone());
    let part = path.map(|path| [(path, Answer::Failed(failure))]);
    let words = part.and_then(|part| linkspan_dialect::told_after_decline(&part));
    tell_conversation(core, id, words);
}

/// The same for one that its agent may have written before it ended with an earlier hub.
pub(super) fn tell_in_doubt(core: &mut Core, id: ReviewId) {
    // Even if the comments are told already.
    let meta = core.reviews.meta.get_mut(&id);
    let is_told = meta.is_some_and(|meta| std::mem::take(&mut meta.told));
    let outcome = core.reviews.get(id).and_then(Review::outcome).filter(|_| !is_told);
    let comments = outcome.map(convert::comments).unwrap_or_default();
    agent_writes::expect_decided(core, id);
    let path = core.reviews.get(id).map(|review| review.path.clone());
    let words = path.map(|path| linkspan_dialect::told_in_doubt(&path, &comments));
    tell_conversation(core, id, words);
}

fn tell_conversation(core: &mut Core, id: ReviewId, words: Option<String>) {
    let chat = core.reviews.origin_of(id).map(|origin| origin.chat.clone());
    let is_told = core.reviews.meta.get(&id).is_some_and(|meta| meta.told);
    if let Some((chat, words)) = chat.zip(words).filter(|_| !is_told) {
        core.chats.told_later(&mut core.out, &chat, &words);
    }
    // If its agent is still there.
    core.apply(review::Event::Delivered { review: id });
    core.expire(id);
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
    if calls.is_empty() && is_left_to_hub(core, id) {
        return patches::write_here(core, id);
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

/// A hosted agent is still there, but the call that this was about was cancelled: nobody told it to write.
fn is_left_to_hub(core: &Core, id: ReviewId) -> bool {
    core.reviews.origin_of(id).is_some() && core.reviews.get(id).is_some_and(patches::is_unwritten)
}

/// A call whose review is forgotten without an outcome was withdrawn by its own agent.
fn forget(core: &mut Core, id: ReviewId) {
    core.reviews.meta.remove(&id);
    core.reviews.unfinished_writes.retain(|unfinished| *unfinished != id);
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
