//! Proposals: an agent asks for a change, its file is read, and the change becomes a review.

use std::path::PathBuf;

use linkspan_dialect::{AllowedBy, Answer, CallId, Failure, FailureKind, Request};
use linkspan_review as review;
use linkspan_review::{AgentId, Digest, Effect, Owner, Phase, Proposal, SharedText, Step, Text, Writer};

use crate::core::Core;
use crate::core::agents::{Agent, OPEN_REVIEWS_PER_AGENT, OPEN_REVIEWS_PER_WINDOW, Transport, shortened};
use crate::core::files::{Base, Buffer};
use crate::core::pending::{Preapproval, ReadPurpose, ToolCall};
use crate::core::reviews::meta::ShowOptions;
use crate::core::reviews::{decide, effects, expire, followers, patches, permits, write};

/// A title above a change, repeated in every list and message about it.
const LONGEST_LABEL: usize = 300;

/// As long as a path can be: agents on a stream identify a change by its label.
const LONGEST_NAMING_LABEL: usize = 4096;

/// A change that an agent asks for, with its base.
#[derive(Debug)]
pub(in crate::core) struct ProposedChange {
    pub(in crate::core) path: PathBuf,
    pub(in crate::core) label: String,
    /// The agent's own name of the set.
    pub(in crate::core) set: Option<String>,
    pub(in crate::core) writer: Writer,
    /// Needs no review if the user allowed that before.
    pub(in crate::core) direct: bool,
    /// Needs no review, because the user allowed it elsewhere; its agent writes it.
    pub(in crate::core) allowed_by: Option<AllowedBy>,
    /// Preferably shown in the file itself.
    pub(in crate::core) inline: bool,
    pub(in crate::core) base: Option<Text>,
    /// The document that has this text.
    pub(in crate::core) buffer: Option<Buffer>,
    /// Shown in place of `base`.
    pub(in crate::core) left: Option<SharedText>,
    pub(in crate::core) proposed: String,
    /// Identifies the edits, if the change was given by edits.
    pub(in crate::core) asked: Option<Digest>,
}

/// The file that the proposal is compared with was read; its own file is next.
pub(in crate::core) fn compared_file_read(core: &mut Core, tool: ToolCall, base: Result<Base, Failure>) {
    match (base, &tool.request) {
        // If it does not exist, the change is shown next to what its own file holds.
        (Ok(base), Request::Propose { path, .. }) => {
            let path = path.clone();
            let left = base.text.map(|text| text.text);
            core.read_base(ReadPurpose::Proposal { tool, again: false, left }, path);
        }
        (Ok(_), _) => {}
        (Err(failure), _) => cannot_propose(core, &tool, failure),
    }
}

pub(in crate::core) fn base_read(
    core: &mut Core,
    tool: ToolCall,
    again: bool,
    left: Option<SharedText>,
    base: Result<Base, Failure>,
) {
    match base {
        Ok(base) if !again && raced_our_own_write(core, tool.agent, &base) => {
            core.read_base(ReadPurpose::Proposal { tool, again: true, left }, base.path);
        }
        Ok(base) => propose(core, tool, base, left),
        Err(failure) => cannot_propose(core, &tool, failure),
    }
}

/// The agent asks again for what was just accepted, and the file was read before we had written it.
pub(super) fn raced_our_own_write(core: &Core, agent: AgentId, base: &Base) -> bool {
    let Some(key) = core.agents.get(&agent).map(Agent::key) else { return false };
    core.reviews.of_path(&base.path).any(|review| {
        review.hub_writes()
            && review.owner.is_none()
            // Also while it is being recorded that it was written.
            && matches!(review.phase, Phase::Settling(_) | Phase::Settled { .. })
            && review.owner_key == key
            && review.base == base.text
    })
}

/// One of its files cannot be read.
pub(super) fn cannot_propose(core: &mut Core, tool: &ToolCall, failure: Failure) {
    if let (FailureKind::TooLarge, Request::Propose { path, .. }) = (failure.kind, &tool.request) {
        core.notify_too_large(tool.agent, path, &failure);
    }
    core.agents.answer(&mut core.out, tool.agent, tool.call, &Answer::Failed(failure));
}

pub(super) fn propose(core: &mut Core, tool: ToolCall, base: Base, left: Option<SharedText>) {
    if !core.is_newest_of_its_name(tool.agent, tool.call) {
        let message = "a newer change of this file was asked for meanwhile";
        return core.agents.fail(&mut core.out, tool.agent, tool.call, FailureKind::Withdrawn, message);
    }
    let (asked, proposed, mut label, set, writer, allowed_by) = match tool.request {
        Request::Propose { path, compare_with: _, proposed, label, set, writer } => {
            (path, proposed, label, set, writer, None)
        }
        Request::Record { path, proposed, label, allowed_by } => {
            (path, proposed, label, None, Some(Writer::Agent), Some(allowed_by))
        }
        _ => return,
    };
    let Some(agent) = core.agents.get(&tool.agent) else { return };
    // Agents on a stream are answered with the path that they asked for, also after a restart. The review itself keeps
    // only the resolved path.
    if matches!(agent.transport, Transport::Stream) && asked != base.path {
        label = asked.to_string_lossy().into_owned();
    }
    let writer = writer.unwrap_or(agent.session.dialect().writer);
    // Its tool may change more than the proposal shows: NEXUS3 shows a batch of edits as an unchanged file.
    if writer == Writer::AgentAsProposed && base.text.as_ref().is_some_and(|now| is_the_same(now, &proposed))
    {
        let message = "the proposed text is what the file already holds, so there is nothing to review here; \
                       decide in the agent's terminal";
        return core.agents.fail(&mut core.out, tool.agent, tool.call, FailureKind::Unsupported, message);
    }
    let change = ProposedChange {
        path: base.path,
        label,
        set,
        writer,
        direct: false,
        allowed_by,
        inline: false,
        base: base.text,
        buffer: base.buffer,
        left,
        proposed,
        asked: None,
    };
    submit_proposal(core, tool.agent, tool.call, change);
}

/// Whether the user can be asked about this many more changes.
pub(super) fn has_room(core: &Core, id: AgentId, more: usize) -> Result<(), String> {
    let Some(agent) = core.agents.get(&id) else { return Ok(()) };
    if agent.waiting.len() + more > OPEN_REVIEWS_PER_AGENT {
        return Err(format!(
            "{OPEN_REVIEWS_PER_AGENT} changes of this agent wait for a decision; ask again when some are decided"
        ));
    }
    let open = core.reviews.of_window(agent.window).filter(|review| review.is_open());
    if open.count() + more > OPEN_REVIEWS_PER_WINDOW {
        return Err(format!("{OPEN_REVIEWS_PER_WINDOW} changes wait in this window; decide some first"));
    }
    Ok(())
}

/// Whether that call still waits for a decision.
pub(super) fn waits_for_change(core: &Core, id: AgentId, call: CallId) -> bool {
    let agent = core.agents.get(&id);
    agent.is_some_and(|agent| agent.session.open_changes().any(|(open, _)| open == call))
}

/// Proposes each; the call waits for all.
pub(super) fn submit_bundle(core: &mut Core, id: AgentId, call: CallId, changes: Vec<ProposedChange>) {
    // While the files were read, its agent may have left or withdrawn it.
    if waits_for_change(core, id, call) {
        core.agents.begin_bundle(id, call, changes.iter().map(|change| change.path.clone()));
        // All or none: otherwise an accepted part would be written although its agent received a refusal.
        if let Err(message) = has_room(core, id, changes.len()) {
            return core.agents.fail(&mut core.out, id, call, FailureKind::Denied, message);
        }
    }
    for change in changes {
        submit_proposal(core, id, call, change);
    }
}

/// Makes a review of it, unless its agent no longer waits or there are too many.
pub(in crate::core) fn submit_proposal(core: &mut Core, id: AgentId, call: CallId, change: ProposedChange) {
    let Some(agent) = core.agents.get(&id) else { return };
    let (window, key) = (agent.window, agent.key());
    let longest = match agent.transport {
        Transport::Stream => LONGEST_NAMING_LABEL,
        Transport::Port
        | Transport::SocketStream
        | Transport::Calls
        | Transport::Local(_)
        | Transport::Daemon
        | Transport::Child => LONGEST_LABEL,
    };
    let taken_back = !waits_for_change(core, id, call);
    if !taken_back && let Err(message) = has_room(core, id, 1) {
        return core.agents.fail(&mut core.out, id, call, FailureKind::Denied, message);
    }
    let allowed = change.direct && !taken_back && permits::is_allowed(core, id, &change);
    let preapproved = match change.allowed_by {
        Some(by) => Some(Preapproval::Elsewhere(by)),
        None => allowed.then_some(Preapproval::ByGrant),
    };
    let ProposedChange { path, label, set, writer, inline, base, buffer, left, proposed, asked, .. } = change;
    let open_sets = || core.reviews.iter().filter_map(|review| review.set).collect();
    let set = core.agents.set_of(id, set, open_sets);
    let proposal = Proposal {
        owner: Owner { agent: id, key },
        window,
        set,
        path,
        label: shortened(label, longest),
        writer,
        base,
        left,
        proposed,
        asked,
    };
    if !taken_back {
        if followers::is_asked_elsewhere(core, call, &proposal) {
            return;
        }
        return bind(core, call, proposal, buffer, ShowOptions { preapproved, inline });
    }
    // It was withdrawn while its file was read. It must not be shown, nor the same proposal from before a reconnect.
    if let Some(review) = core.reviews.find_repeated(&proposal) {
        core.apply(review::Event::Withdrawn { review });
    }
}

/// A new proposal or a repeated one; either way the call receives its outcome.
fn bind(core: &mut Core, call: CallId, proposal: Proposal, buffer: Option<Buffer>, options: ShowOptions) {
    let path = proposal.path.clone();
    let origin = core.chats.origin(proposal.owner.agent, call);
    let effects = core.reviews.apply(review::Event::Proposed(proposal));
    let mut preapproved = None;
    let mut back = None;
    if let Some(&Effect::Bound { review, agent }) = effects.first() {
        if let Some(agent) = core.agents.get_mut(&agent) {
            agent.waiting.push((review, call));
        }
        if let Some(meta) = core.reviews.meta_of(core.out.now_ms, review) {
            (meta.orphaned_ms, meta.left_over, meta.told) = (None, None, false);
            meta.options.inline = options.inline;
            if meta.origin.is_none() {
                meta.origin = origin.map(Box::new);
            }
        }
        core.agents.attach_review_to_bundle(agent, call, review, &path);
        core.agents.attach_review_to_patch(agent, call, review, &path);
        // A repeated proposal is already recorded.
        let known = core.reviews.get(review);
        let is_recorded = known.is_some_and(|review| review.phase != Phase::Recording);
        // What the user has begun to edit must not be accepted automatically.
        let untouched = known.is_some_and(|review| {
            review.phase == Phase::Pending && review.draft.is_none() && review.conflicts.is_empty()
        });
        if is_recorded {
            back = Some(review);
            effects::acknowledge(core, review);
            preapproved = options.preapproved.filter(|_| untouched).map(|by| (review, by));
        } else if let Some(meta) = core.reviews.meta_of(core.out.now_ms, review) {
            meta.options.preapproved = options.preapproved;
        }
    }
    // What was accepted before is bound to what the file holds now.
    let is_decided = |effect: &Effect| matches!(effect, Effect::Record { step: Step::Decided, .. });
    if let Some(review) = back.filter(|_| effects.iter().any(is_decided)) {
        write::remember_buffer(core, review, buffer);
    }
    core.carry_out(effects);
    if let Some(review) = back {
        patches::agent_is_back(core, review);
        expire::owner_changed(core, review);
    }
    if let Some((review, by)) = preapproved {
        decide::auto_accept(core, review, by);
    }
}

fn is_the_same(now: &Text, proposed: &str) -> bool {
    review::to_file_conventions(Some(now), proposed).0 == *now.text
}
