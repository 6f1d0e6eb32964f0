//! One question for one change, also if an agent asks for it twice: through its hook and through its editor protocol. The
//! second to ask follows the first: it waits for the same review, and receives the same outcome. If the first leaves, the
//! review belongs to one that still waits. And what was accepted and is about to be written is not asked about again.

use linkspan_dialect::{Accepted, Answer, CallId, FailureKind};
use linkspan_editor_api as api;
use linkspan_review as review;
use linkspan_review::{
    AgentId, Digest, Follower, Format, Outcome, Phase, Proposal, Review, ReviewEnd, ReviewId, Text, Writer,
};

use crate::core::agents::{Agent, hooks};
use crate::core::convert::asker;
use crate::core::reviews::{effects, patches, show};
use crate::core::{Core, convert};

/// An agent asks through its editor protocol within a second after its hook was answered. Later, the same text is a new
/// request.
const SAME_REQUEST_MS: i64 = 60_000;

/// Whether this change is already being decided, or was accepted a moment ago, for the same agent under another name. The
/// call is then answered from there.
pub(super) fn is_asked_elsewhere(core: &mut Core, call: CallId, proposal: &Proposal) -> bool {
    let is_known = core.reviews.of_path(&proposal.path).next().is_some()
        || core.reviews.agent_writes.is_expected_in(&proposal.path);
    if !is_known || !proposal.writer.is_agent() || core.reviews.find_repeated(proposal).is_some() {
        return false;
    }
    if let Some(id) = core.reviews.state.find_same_change(proposal)
        && concerns_hook(core, proposal, id)
    {
        return follow(core, call, proposal, id);
    }
    answer_as_accepted(core, call, proposal)
}

/// Two agents that happen to propose the same are asked about separately, unless one is a hook and both may be the same
/// program.
fn concerns_hook(core: &Core, proposal: &Proposal, id: ReviewId) -> bool {
    let Some(asks) = core.agents.get(&proposal.owner.agent) else { return false };
    // In its editor protocol an agent may have no name, but the protocol is its own.
    let is_meant = |is_hook: bool, (dialect, name): (&str, &str)| {
        (is_hook || asks.hook.is_some())
            && (hooks::may_be_one_agent(name, &asks.name)
                || hooks::may_be_one_agent(name, asks.session.dialect().name)
                || hooks::may_be_one_agent(dialect, &asks.name))
    };
    let owner = core.reviews.get(id).map(|review| review.owner_key.as_str());
    owner.is_some_and(|key| is_meant(hooks::is_hook_key(key), asker(key)))
        || waiting_agents(core, id)
            .iter()
            .filter_map(|agent| core.agents.get(agent))
            .any(|agent| is_meant(agent.hook.is_some(), (agent.session.dialect().name, &agent.name)))
}

/// The agents that wait for this review: its owner, and those that follow it.
pub(super) fn waiting_agents(core: &Core, id: ReviewId) -> Vec<AgentId> {
    let owner = core.reviews.get(id).and_then(|review| review.owner);
    let followers = core.reviews.followers.range((id, AgentId(0))..).take_while(|((of, _), _)| *of == id);
    let followers = followers.map(|((_, agent), _)| *agent).filter(|agent| Some(*agent) != owner);
    let waits = |agent: &AgentId| core.agents.get(agent).is_some_and(|agent| agent.waits_for(id));
    owner.into_iter().chain(followers).filter(waits).collect()
}

/// The call waits for that review; `false` if its agent is to become the owner by asking.
fn follow(core: &mut Core, call: CallId, proposal: &Proposal, id: ReviewId) -> bool {
    let agent_id = proposal.owner.agent;
    let follower = Follower::of(proposal);
    let Some(review) = core.reviews.get(id) else { return false };
    if review.owner.is_none() {
        keep_as_followers(core, id);
        core.apply(review::Event::HandedOver { review: id, to: follower, waits: false });
        return false;
    }
    let (is_recorded, outcome) = match &review.phase {
        Phase::Recording => (false, None),
        Phase::Settled { outcome, .. } => (true, Some((**outcome).clone())),
        _ => (true, None),
    };
    tracing::info!("agent {agent_id} asks for the change of {id}, and waits for its outcome");
    if let Some(agent) = core.agents.get_mut(&agent_id) {
        agent.waiting.push((id, call));
    }
    core.reviews.followers.insert((id, agent_id), follower);
    if is_recorded {
        core.agents.acknowledge(&mut core.out, agent_id, call);
    }
    if let Some(outcome) = outcome {
        answer_all(core, id, &outcome);
    }
    true
}

/// Before the review passes on: each agent that still waits asked for it as its owner did, unless it is known otherwise.
/// An agent that lost its stream waits and is not the owner.
fn keep_as_followers(core: &mut Core, id: ReviewId) {
    let Some(window) = core.reviews.get(id).map(|review| review.window) else { return };
    let waiting = core.agents.of_window(window).filter(|(_, agent)| agent.waits_for(id));
    for agent in waiting.map(|(agent, _)| *agent).collect::<Vec<_>>() {
        if let Some(review) = core.reviews.state.review(id) {
            let as_owner = || Follower::of_owner(review, agent);
            core.reviews.followers.entry((id, agent)).or_insert_with(as_owner);
        }
    }
}

/// Answers the calls of other agents than the owner that wait for this outcome.
pub(super) fn answer_all(core: &mut Core, id: ReviewId, outcome: &Outcome) {
    let owner = core.reviews.get(id).and_then(|review| review.owner);
    // Its owner may wait again: for the hub to write it.
    for agent_id in waiting_agents(core, id).into_iter().filter(|agent| Some(*agent) != owner) {
        let Some(agent) = core.agents.get_mut(&agent_id) else { continue };
        let calls: Vec<CallId> =
            agent.waiting.extract_if(.., |(review, _)| *review == id).map(|(_, call)| call).collect();
        let follower = core.reviews.followers.remove(&(id, agent_id));
        for call in calls {
            if outcome.ended.is_by_user() {
                core.agents.acknowledge(&mut core.out, agent_id, call);
            }
            let answer = answer_for(core.reviews.get(id), follower.as_ref(), outcome);
            effects::answer_part(core, agent_id, call, id, answer);
        }
        core.reviews.agent_writes.set_answered_twice(id);
    }
}

/// The answer with the text in the form in which this agent sends it.
fn answer_for(review: Option<&Review>, follower: Option<&Follower>, outcome: &Outcome) -> Answer {
    let mut answer = convert::answer(review, outcome);
    if let (Answer::Accepted(told), ReviewEnd::Accepted(accepted), Some(review), Some(follower)) =
        (&mut answer, &outcome.ended, review, follower)
    {
        let accepted = follower.accepted(review, accepted);
        told.text = Some(accepted.text);
        told.person_diff = accepted.person_diff;
        told.unsent_mark = follower.has_unsent_mark(review.base.as_ref());
    }
    answer
}

/// This agent no longer wants the change. If the user decided first, the decision counts.
pub(in crate::core) fn withdraw(core: &mut Core, agent: AgentId, review: ReviewId) {
    if !(core.reviews.is_undecided(review) && leave(core, agent, review)) {
        core.apply(review::Event::Withdrawn { review });
    }
}

/// This agent no longer waits for the review, and others do; `false` if nobody else does.
pub(super) fn leave(core: &mut Core, agent_id: AgentId, id: ReviewId) -> bool {
    let others = waiting_agents(core, id).into_iter().any(|other| other != agent_id);
    let Some(agent) = core.agents.get_mut(&agent_id).filter(|_| others) else { return false };
    let calls: Vec<CallId> =
        agent.waiting.extract_if(.., |(review, _)| *review == id).map(|(_, call)| call).collect();
    if core.reviews.get(id).is_some_and(|review| review.owner == Some(agent_id)) {
        hand_over(core, id);
    }
    core.reviews.followers.remove(&(id, agent_id));
    for call in calls {
        let message = "the change was withdrawn before anyone decided";
        core.agents.fail(&mut core.out, agent_id, call, FailureKind::Withdrawn, message);
    }
    true
}

/// This call was cancelled after the user decided, and gets no answer. Another call of its agent, or another agent, may
/// still wait for the outcome. What the hub has begun to write is written in any case.
pub(super) fn leave_decided(core: &mut Core, agent_id: AgentId, call: CallId, id: ReviewId) {
    let deciding = |review: &Review| matches!(review.phase, Phase::Deciding(_));
    if !core.reviews.get(id).is_some_and(deciding) {
        return;
    }
    let Some(agent) = core.agents.get_mut(&agent_id) else { return };
    agent.waiting.retain(|waiting| *waiting != (id, call));
    if !agent.waits_for(id) && !leave(core, agent_id, id) {
        core.review_not_awaited(id);
    }
}

/// This agent is gone, or cannot be reached.
pub(super) fn hand_over_all(core: &mut Core, agent: AgentId) {
    let owned = core.reviews.iter().filter(|review| review.owner == Some(agent) && review.is_open());
    for id in owned.map(|review| review.id).collect::<Vec<_>>() {
        if waiting_agents(core, id).into_iter().any(|other| other != agent) {
            hand_over(core, id);
        }
    }
    if core.agents.get(&agent).is_none() {
        core.reviews.followers.retain(|(_, of), _| *of != agent);
    }
}

/// The review belongs to another agent that waits for it, preferably one that can be reached.
fn hand_over(core: &mut Core, id: ReviewId) {
    let owner = core.reviews.get(id).and_then(|review| review.owner);
    keep_as_followers(core, id);
    let heirs = waiting_agents(core, id).into_iter().filter(|heir| Some(*heir) != owner);
    let is_lost = |heir: &AgentId| core.agents.get(heir).is_some_and(|agent| agent.stream_lost);
    let Some(heir) = heirs.min_by_key(|heir| (is_lost(heir), *heir)) else { return };
    let Some(to) = core.reviews.followers.remove(&(id, heir)) else { return };
    tracing::info!("{id} belongs to agent {heir} now, which asked for the same change");
    core.apply(review::Event::HandedOver { review: id, to, waits: true });
    core.reviews.set_owned(core.out.now_ms, id);
    // The new owner may receive less of the decision.
    show::show_if_pending(core, id);
}

/// An outcome is delivered when everyone who was sent it has received it. Who is gone may ask again for it only if it
/// was the owner.
pub(super) fn outcome_arrived(core: &mut Core, id: ReviewId) {
    let Some(window) = core.reviews.get(id).map(|review| review.window) else { return };
    let lacks = |agent: &Agent| agent.unconfirmed.iter().any(|(_, unconfirmed)| *unconfirmed == id);
    let is_lacking =
        !waiting_agents(core, id).is_empty() || core.agents.of_window(window).any(|(_, agent)| lacks(agent));
    if !is_lacking {
        core.apply(review::Event::Delivered { review: id });
    }
}

/// The user accepted exactly this a moment ago, and the agent is about to write it: it asks once more in another way, as
/// Gemini CLI does after its hook. Nothing new is decided or recorded.
fn answer_as_accepted(core: &mut Core, call: CallId, proposal: &Proposal) -> bool {
    let Some(agent) = core.agents.get(&proposal.owner.agent) else { return false };
    let format = proposal.base.as_ref().map_or(Format::UTF8, |base| base.format);
    let (text, _) = review::to_file_conventions(proposal.base.as_ref(), proposal.proposed.as_str());
    let Ok(result) = format.encode_shared(&text.into()) else { return false };
    let before = proposal.base.as_ref().and_then(|base: &Text| base.encode().ok());
    // Such an agent cannot be given another text than its own.
    let own = || Digest::of(proposal.proposed.as_bytes());
    let is_other = proposal.writer == Writer::AgentAsProposed && result.digest() != own();
    if is_other || before.is_some() != proposal.base.is_some() {
        return false;
    }
    // One of the two is the hook, the other the editor protocol of the same program. A repeated edit, and the same edit in
    // another session, is a new request.
    let is_hook = agent.hook.is_some();
    let name = agent.name.clone();
    let is_meant =
        |key: &str| hooks::is_hook_key(key) != is_hook && hooks::may_be_one_agent(asker(key).1, &name);
    let since_ms = core.out.now_ms.cast_signed() - SAME_REQUEST_MS;
    let change = (proposal.path.as_path(), before.as_ref(), &result);
    let accepted = core.reviews.agent_writes.take_accepted(change, since_ms, is_meant);
    let Some((id, comments)) = accepted else { return false };
    tracing::info!("agent {} asks for what was accepted as {id}", proposal.owner.agent);
    let answer = Answer::Accepted(Accepted {
        review: id.to_string(),
        path: proposal.path.clone(),
        text: Some(proposal.proposed.as_str().into()),
        unsent_mark: Follower::of(proposal).has_unsent_mark(proposal.base.as_ref()),
        new_file: proposal.base.is_none(),
        written: false,
        taken: api::AcceptedPart::All,
        hunks: Vec::new(),
        person_diff: None,
        comments: convert::told_comments(&comments),
    });
    let agent = proposal.owner.agent;
    core.agents.acknowledge(&mut core.out, agent, call);
    if !patches::part_known(core, agent, call, &proposal.path, &answer) {
        core.agents.answer(&mut core.out, agent, call, &answer);
    }
    true
}
