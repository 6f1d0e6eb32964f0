//! Patches that an agent applies as a whole or not at all: what each file would become is proposed, and the outcome of
//! all files together decides who writes. `agents::patch_calls` has the order of the steps.

use std::path::Path;

use linkspan_dialect::{Answer, CallId, Failure, FailureKind, PatchFile, Request};
use linkspan_review as review;
use linkspan_review::{
    Accepted, AcceptedPart, AgentId, Digest, Effect, Format, Phase, Review, ReviewEnd, ReviewId, SharedText,
    Text, Writer,
};

use crate::core::agents::{Agent, PatchPart, PatchStep, Transport};
use crate::core::files::Base;
use crate::core::pending::{LateWrite, ReadPurpose, ToolCall};
use crate::core::reviews::meta::LeftOver;
use crate::core::reviews::propose::{self, ProposedChange};
use crate::core::reviews::{agent_writes, edits, effects, write};
use crate::core::{Core, convert};

/// More files than anyone reviews as one change.
const FILES_PER_PATCH: usize = 64;

pub(in crate::core) fn patch(core: &mut Core, tool: ToolCall) {
    let ToolCall { agent, call, request: Request::Patch { files, cwd, .. } } = &tool else { return };
    let (agent, call) = (*agent, *call);
    // Another window of the user may be the one for this folder: that one asks.
    let window = core.agents.get(&agent).map(|agent| agent.window);
    let is_daemon = core.agents.get(&agent).is_some_and(|agent| matches!(agent.transport, Transport::Daemon));
    let is_elsewhere = || is_daemon && core.windows.for_folder(cwd, linkspan_dialect::CODEX.name) != window;
    if window.is_none() || is_elsewhere() {
        return core.agents.fail(&mut core.out, agent, call, FailureKind::OutsideWorkspace, "another window");
    }
    if files.is_empty() || files.len() > FILES_PER_PATCH {
        let message = format!("a patch of {} files is not reviewed as one", files.len());
        return core.agents.fail(&mut core.out, agent, call, FailureKind::Unsupported, message);
    }
    let paths = files.iter().map(|file| file.path.clone()).collect();
    edits::read_all(core, tool, paths);
}

/// All files are read.
pub(super) fn propose_all(core: &mut Core, tool: ToolCall, bases: Vec<Base>) {
    let ToolCall { agent, call, request: Request::Patch { files, set, can_apply, .. } } = tool else {
        return;
    };
    let mut parts = Vec::new();
    let mut changes: Vec<ProposedChange> = Vec::new();
    for (file, base) in files.iter().zip(bases) {
        if changes.iter().any(|other| other.path == base.path) {
            let message = format!("{} is named twice", base.path.display());
            return core.agents.fail(&mut core.out, agent, call, FailureKind::Unsupported, message);
        }
        let set = (files.len() > 1).then(|| set.clone());
        match proposed(core, agent, file, base, set) {
            Ok((change, part)) => {
                parts.push(if can_apply { part } else { part.written_here() });
                changes.push(change);
            }
            // The agent's terminal asks, as if there were no hub.
            Err(failure) => {
                tracing::info!("a patch is left to the agent's terminal: {}", failure.message);
                return core.agents.answer(&mut core.out, agent, call, &Answer::Failed(failure));
            }
        }
    }
    // While the files were read, its agent may have left or withdrawn it.
    if propose::waits_for_change(core, agent, call) {
        if let Err(message) = propose::has_room(core, agent, changes.len()) {
            return core.agents.fail(&mut core.out, agent, call, FailureKind::Denied, message);
        }
        core.agents.begin_patch(agent, call, parts);
    }
    for change in changes {
        propose::submit_proposal(core, agent, call, change);
    }
}

fn proposed(
    core: &Core,
    agent: AgentId,
    file: &PatchFile,
    base: Base,
    set: Option<String>,
) -> Result<(ProposedChange, PatchPart), Failure> {
    let before = base.text.as_ref().map(|text| &*text.text);
    let asked = Some(file.digest());
    let unsaved = base.buffer.is_some_and(|buffer| buffer.dirty);
    let (text, compared, result, left) = match file.patched(before) {
        // The agent only knows what is on disk, and may only know what was there before.
        Ok(patched) if unsaved || patched.may_be_whole => {
            (patched.text, patched.compared, None, patched.left)
        }
        Ok(patched) => {
            let result = Digest::of(patched.text.as_bytes());
            (patched.text, patched.compared, Some(result), patched.left)
        }
        // It was accepted and written, and the agent does not know that.
        Err(_) if edits::edited_before(core, agent, asked, &base, &[Writer::Agent]).is_some() => {
            (before.unwrap_or_default().to_owned(), false, None, None)
        }
        Err(error) => return Err(Failure::new(FailureKind::Stale, error.to_string())),
    };
    let (writer, shown) = match compared {
        false => (Writer::Agent, base.text),
        // Both sides are given.
        true => {
            let before = base.text.map(|text| text.text);
            let text = left.map(SharedText::from).or(before);
            (Writer::Nobody, text.map(|text| Text { format: Format::UTF8, text }))
        }
    };
    let part = PatchPart::new(base.path.clone(), compared, result);
    let change = ProposedChange {
        path: base.path,
        label: file.label(),
        set,
        writer,
        direct: false,
        allowed_by: None,
        inline: false,
        base: shown,
        buffer: base.buffer,
        left: None,
        proposed: text,
        asked,
    };
    Ok((change, part))
}

/// Returns false if the call is not a patch.
pub(super) fn part_decided(
    core: &mut Core,
    agent: AgentId,
    call: CallId,
    review: ReviewId,
    answer: &Answer,
) -> bool {
    // The file had changed, so the user has decided again; the agent was told not to write before that.
    let is_declined = core.reviews.meta.get(&review).is_some_and(|meta| meta.is_declined);
    if is_declined && core.reviews.get(review).is_some_and(is_unwritten) {
        if let Some(agent) = core.agents.get_mut(&agent) {
            agent.waiting.push((review, call));
        }
        write_here(core, review);
        return true;
    }
    let outcome = core.reviews.get(review).and_then(Review::outcome);
    let bytes = outcome.and_then(|outcome| match &outcome.ended {
        ReviewEnd::Accepted(accepted) => Some(accepted.bytes.digest()),
        _ => None,
    });
    let step = core.agents.patch_part_decided(agent, call, review, answer.clone(), bytes);
    let is_patch = step.is_some();
    if let Some(step) = step {
        take_step(core, agent, call, step);
    }
    is_patch
}

/// A file whose change was accepted elsewhere a moment ago: nothing is asked about it. Returns false if the call is not a
/// patch.
pub(super) fn part_known(
    core: &mut Core,
    agent: AgentId,
    call: CallId,
    path: &Path,
    answer: &Answer,
) -> bool {
    let step = core.agents.patch_part_known(agent, call, path, answer.clone());
    let is_patch = step.is_some();
    if let Some(step) = step {
        take_step(core, agent, call, step);
    }
    is_patch
}

fn take_step(core: &mut Core, agent: AgentId, call: CallId, step: PatchStep) {
    match step {
        PatchStep::Wait => {}
        PatchStep::WriteHere(reviews) => {
            for review in reviews {
                core.agents.await_confirmation(review);
                if let Some(agent) = core.agents.get_mut(&agent) {
                    agent.waiting.push((review, call));
                }
                write_here(core, review);
            }
        }
        PatchStep::Decline => core.agents.decline(&mut core.out, agent, call),
        PatchStep::Answer(parts, reviews) => {
            core.agents.answer(&mut core.out, agent, call, &Answer::Set(parts));
            effects::answer_sent(core, agent, reviews);
        }
    }
}

pub(super) fn write_here(core: &mut Core, review: ReviewId) {
    if let Some(path) = core.reviews.get(review).map(|review| review.path.clone()) {
        if let Some(meta) = core.reviews.meta.get_mut(&review) {
            (meta.is_taken_over, meta.is_declined) = (true, true);
        }
        let late = LateWrite::new(core.out.now_ms);
        core.read_base(ReadPurpose::WriteHere { review, late }, path);
    }
}

/// A decided review of an earlier hub, whose hosted agent ended with it. The agent may ask again; if it does not, `finish`
/// follows. False if it is none.
pub(super) fn remember(core: &mut Core, id: ReviewId) -> bool {
    let Some(review) = core.reviews.get(id) else { return false };
    let is_settled = matches!(review.phase, Phase::Settled { delivered: false, .. });
    if !is_settled || core.reviews.origin_of(id).is_none() {
        return false;
    }
    let unseen = is_unwritten(review) && core.reviews.agent_writes.window_of(id).is_some();
    // Of a conversation that is forgotten, no model can be told of the doubt.
    let is_known = core.reviews.origin_of(id).is_some_and(|origin| core.chats.knows(&origin.chat));
    let may_be_written = unseen && is_known && may_have_heard_yes(core, id);
    let told = effects::is_told_with_next_message(core, id);
    if let Some(meta) = core.reviews.meta.get_mut(&id) {
        (meta.left_over, meta.told) = (Some(LeftOver { unseen, may_be_written }), told);
    }
    true
}

/// Its agent has not asked again: the hub writes what nobody has written, and the next message tells the model. False if
/// it is none of those.
pub(in crate::core) fn finish(core: &mut Core, id: ReviewId) -> bool {
    if core.reviews.get(id).is_none_or(|review| review.owner.is_some()) {
        return false;
    }
    match core.reviews.meta.get_mut(&id).and_then(|meta| meta.left_over.take()) {
        Some(LeftOver { unseen: true, may_be_written }) => {
            // It does not expire while its editor is waited for.
            core.reviews.set_owned(core.out.now_ms, id);
            if let Some(meta) = core.reviews.meta.get_mut(&id) {
                meta.may_be_written = may_be_written;
            }
            write_here(core, id);
        }
        Some(LeftOver { unseen: false, .. }) => effects::tell_with_next_message(core, id),
        None => return false,
    }
    true
}

/// The turn of this conversation is over, in which its agent could have asked again.
pub(in crate::core) fn finish_all(core: &mut Core, chat: &str) {
    let of_it = |id: &ReviewId| core.reviews.origin_of(*id).is_some_and(|origin| origin.chat == chat);
    let all: Vec<ReviewId> = core.reviews.iter().map(|review| review.id).filter(of_it).collect();
    for id in all {
        finish(core, id);
    }
}

/// The file is read: the hub takes the write over, and records that.
pub(in crate::core) fn base_read(core: &mut Core, review: ReviewId, base: Result<Base, Failure>) {
    let meta = core.reviews.meta.get_mut(&review);
    let may_be_written = meta.is_some_and(|meta| {
        meta.is_taken_over = false;
        std::mem::take(&mut meta.may_be_written)
    });
    let unsaved = |base: &Base| base.buffer.is_some_and(|buffer| buffer.dirty);
    let window = core.reviews.get(review).and_then(|review| core.windows.get(&review.window));
    let edits = window.is_some_and(|window| window.capabilities.edits);
    let failure = match base {
        Ok(base) if unsaved(&base) && !edits => {
            let message = "it has unsaved text in an editor that does not let Linkspan change it";
            Failure::new(FailureKind::Unsupported, message)
        }
        Ok(base) if may_be_written && holds_it(core, review, &base) => {
            return effects::tell_with_next_message(core, review);
        }
        Ok(base) if may_be_written && is_in_doubt(core, review, &base) => {
            return effects::tell_in_doubt(core, review);
        }
        Ok(base) => {
            core.reviews.agent_writes.forget(&mut core.out, review);
            write::remember_buffer(core, review, base.buffer);
            return core.apply(review::Event::WriteHere { review, base_now: base.text });
        }
        Err(failure) => failure,
    };
    let owner = core.reviews.get(review).and_then(|review| review.owner);
    let agent = owner.and_then(|owner| Some((owner, core.agents.get_mut(&owner)?)));
    let waiting = agent.map(|(owner, agent)| {
        let waiting = agent.waiting.extract_if(.., |(of, _)| *of == review);
        (owner, waiting.map(|(_, call)| call).collect::<Vec<CallId>>())
    });
    match waiting.filter(|(_, calls)| !calls.is_empty()) {
        Some((owner, calls)) => {
            for call in calls {
                effects::answer_part(core, owner, call, review, Answer::Failed(failure.clone()));
            }
        }
        None => effects::tell_not_written(core, review, failure),
    }
}

fn accepted(review: &Review) -> Option<&Accepted> {
    match &review.outcome()?.ended {
        ReviewEnd::Accepted(accepted) => Some(accepted),
        _ => None,
    }
}

/// Its agent has written it.
fn holds_it(core: &Core, id: ReviewId, now: &Base) -> bool {
    let holds = now.text.as_ref().and_then(|text| text.encode().ok());
    let accepted = core.reviews.get(id).and_then(accepted);
    holds.is_some_and(|holds| accepted.is_some_and(|accepted| accepted.bytes == holds))
}

/// All that its agent asked for in one call was accepted as proposed. Of anything else it heard a no, or nothing yet.
fn may_have_heard_yes(core: &Core, id: ReviewId) -> bool {
    let as_proposed = |review: &Review| {
        let is_it = |it: &Accepted| it.taken == AcceptedPart::All && it.person_diff.is_none();
        accepted(review).is_some_and(is_it)
    };
    let Some(review) = core.reviews.get(id) else { return false };
    let is_same_call = |other: &&Review| review.set.is_some() && other.set == review.set;
    as_proposed(review) && core.reviews.iter().filter(is_same_call).all(as_proposed)
}

/// Somebody else changed the file, so it does not show whether the agent wrote what it proposed before that. Made again,
/// the change could take back what was done to it since.
fn is_in_doubt(core: &Core, id: ReviewId, now: &Base) -> bool {
    core.reviews.get(id).is_some_and(|review| review.base != now.text)
}

/// Keeps the write back until the agent has heard that it must not apply its patch.
pub(super) fn hold_write(core: &mut Core, review: ReviewId, effect: Effect) -> Option<Effect> {
    if !core.agents.holds_write(review) {
        if !core.agents.awaits_confirmation(review) {
            return Some(effect);
        }
        core.agents.keep_unconfirmed(review, effect);
        return None;
    }
    if let Some((agent, call, step)) = core.agents.hold_write(review, effect) {
        take_step(core, agent, call, step);
    }
    None
}

/// The agent that was lost asks again: it is told not to apply its patch, and then this is written.
pub(super) fn agent_is_back(core: &mut Core, review: ReviewId) {
    if let Some(write) = core.agents.take_unconfirmed(review) {
        hold_write(core, review, write);
    }
}

/// The agent did not come back. It may have applied its patch meanwhile, so nothing is written.
pub(super) fn agent_stayed_away(core: &mut Core, review: ReviewId) {
    let held = core.agents.end_unconfirmed(review);
    let why = "its agent did not come back to confirm that it does not apply its own patch; look at the file";
    give_up(core, held.into_iter().collect(), why);
}

/// Writes that an earlier hub did not finish: whether the agent confirmed is not known.
pub(super) fn doubt_confirmation(core: &mut Core, review: ReviewId) {
    let is_part = |review: &Review| review.written_here && convert::is_of_daemon(review);
    if core.reviews.get(review).is_some_and(is_part) {
        core.agents.await_confirmation(review);
    }
}

/// The agent will not apply its patch: what was accepted is written, over what the file holds by now. If it was
/// `applied`, somebody else was first.
pub(in crate::core) fn declined(core: &mut Core, agent: AgentId, call: CallId, applied: bool) {
    let held = core.agents.release_writes(agent, call);
    for effect in &held {
        if let Effect::Write { review, .. } = effect {
            core.agents.end_unconfirmed(*review);
        }
    }
    match applied {
        false => write::write_again(core, held),
        true => give_up(core, held, "its agent has applied the whole patch, which was accepted elsewhere"),
    }
}

/// The agent no longer waits for its patch.
pub(in crate::core) fn cancelled(core: &mut Core, agent: AgentId, call: CallId) {
    match core.agents.get(&agent).is_some_and(Agent::is_acp) {
        true => not_applied(core, agent, call),
        false => decided_elsewhere(core, agent, call),
    }
}

/// Its turn was cancelled, or it is gone, and nobody else can tell it to apply its patch: the hub writes what was accepted
/// so far.
fn not_applied(core: &mut Core, agent: AgentId, call: CallId) {
    let (held, decided) = core.agents.end_patch(agent, call);
    if let Some(agent) = core.agents.get_mut(&agent) {
        let is_decided = |review: ReviewId| !core.reviews.is_undecided(review);
        let left = agent.waiting.extract_if(.., |(review, of)| *of == call && is_decided(*review));
        for (review, _) in left.collect::<Vec<_>>() {
            core.agents.end_unconfirmed(review);
        }
    }
    write::write_again(core, held);
    for review in decided {
        match core.reviews.get(review).is_some_and(is_unwritten) {
            true => write_here(core, review),
            false => effects::tell_with_next_message(core, review),
        }
    }
}

/// Accepted, for its agent to write.
pub(super) fn is_unwritten(review: &Review) -> bool {
    review.writer == Writer::Agent && !review.written_here && accepted(review).is_some()
}

/// The patch was decided elsewhere. What was accepted here before that may still come true.
fn decided_elsewhere(core: &mut Core, agent: AgentId, call: CallId) {
    let (held, decided) = core.agents.end_patch(agent, call);
    give_up(core, held, "the patch was decided in the agent's terminal");
    for review in decided {
        agent_writes::expect_decided(core, review);
        core.apply(review::Event::Delivered { review });
    }
}

fn give_up(core: &mut Core, held: Vec<Effect>, why: &str) {
    for effect in held {
        let Effect::Write { review, .. } = effect else { continue };
        core.agents.end_unconfirmed(review);
        let error = review::WriteError::Io(why.to_owned());
        core.apply(review::Event::WriteFailed { review, error });
    }
}
