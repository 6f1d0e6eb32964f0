//! Decisions: made by the user in an editor or with a command, or by what the user allowed before. What the file holds is
//! read first.

use linkspan_dialect::Failure;
use linkspan_editor_api as api;
use linkspan_editor_api::{Message, RequestId, RpcError, errors};
use linkspan_review as review;
use linkspan_review::{
    Decision, Digest, Effect, Phase, Reply, Review, ReviewId, Revision, SurfaceId, Text, Verdict, Writer,
};

use crate::core::contract::ConnectionId;
use crate::core::files::Base;
use crate::core::pending::{Decider, Preapproval, ReadPurpose};
use crate::core::reviews::{show, write};
use crate::core::{Core, convert};

/// Decides a review as the user asks, in an editor or with a command.
pub(super) fn decide(
    core: &mut Core,
    connection: ConnectionId,
    request: RequestId,
    name: &str,
    (revision, digest): (Option<u32>, Option<String>),
    decision: api::Decision,
) -> Result<(), RpcError> {
    let id = core.reviews.named(name)?;
    let digest = convert::digest(digest.as_deref())?;
    let Some(review) = core.reviews.get(id) else { return Ok(()) };
    let seen = (revision.map_or(review.revision, Revision), digest);
    let decision =
        convert::decision(decision).map_err(|message| RpcError::new(errors::INVALID_PARAMS, message))?;
    // A rejection writes nothing, so it must be possible whatever became of the file; a comparison of two given texts
    // concerns no file. But if the agent has written the change already, a rejection restores what was there.
    let no_file = match review.writer {
        Writer::Nobody => true,
        Writer::AgentFirst => false,
        Writer::Agent | Writer::AgentAsProposed | Writer::Hub => {
            matches!(decision.verdict, Verdict::Reject { .. })
        }
    };
    if no_file || review.phase != Phase::Pending {
        let base_now = review.base.clone();
        let decider = Decider::Surface { connection, request };
        decided(core, decider, id, seen, decision, base_now);
    } else {
        let path = review.path.clone();
        let decider = Decider::Surface { connection, request };
        core.read_base(ReadPurpose::Decision { decider, review: id, seen, decision }, path);
    }
    Ok(())
}

/// The change is recorded, and the user has allowed it before.
pub(super) fn auto_accept(core: &mut Core, id: ReviewId, by: Preapproval) {
    let Some(review) = core.reviews.get(id).filter(|review| review.draft.is_none()) else {
        return show::show(core, id);
    };
    let decision = Decision { verdict: Verdict::Accept, comments: Vec::new(), write_here: false };
    let (path, seen) = (review.path.clone(), (review.revision, Some(review.shown_digest())));
    let decider = Decider::Preapproved(by);
    core.read_base(ReadPurpose::Decision { decider, review: id, seen, decision }, path);
}

/// The file is read: the decision counts, unless the file cannot be changed.
pub(in crate::core) fn base_read(
    core: &mut Core,
    decider: Decider,
    review: ReviewId,
    seen: (Revision, Option<Digest>),
    decision: Decision,
    base: Result<Base, Failure>,
) {
    let refusal = match &base {
        Ok(base) => {
            cannot_change(core, review, &decision, base).map(|why| format!("{} {why}", base.path.display()))
        }
        Err(failure) => Some(failure.message.clone()),
    };
    match (base, refusal, decider) {
        (Ok(base), None, decider) => {
            // A second decision must not replace the document that the first one is about.
            if core.reviews.get(review).is_some_and(|review| review.phase == Phase::Pending) {
                write::remember_buffer(core, review, base.buffer);
            }
            decided(core, decider, review, seen, decision, base.text);
        }
        (_, _, Decider::Preapproved(Preapproval::ByGrant)) => show::show(core, review),
        // Its agent writes it all the same.
        (_, _, Decider::Preapproved(Preapproval::Elsewhere(_))) => {
            core.apply(review::Event::Withdrawn { review });
        }
        (_, message, Decider::Surface { connection, request }) => {
            let message = message.unwrap_or_default();
            let result = api::ReviewDecidedResult::Refused { message, can_write_here: false };
            core.out.send(connection, &Message::response(request, &result));
        }
    }
}

/// Unsaved text can only be changed in its editor; the file must not be written behind it. And while an editor that may
/// have unsaved text is away, a difference on disk does not mean that the file changed.
fn cannot_change(core: &Core, id: ReviewId, decision: &Decision, base: &Base) -> Option<&'static str> {
    let review = core.reviews.get(id)?;
    let window = core.windows.get(&review.window)?;
    let rejected = matches!(decision.verdict, Verdict::Reject { .. });
    if review.writer == Writer::Nobody || (rejected && review.writer != Writer::AgentFirst) {
        return None;
    }
    let may_be_ours = review.hub_writes() || review.writer == Writer::AgentAsProposed;
    let ours = may_be_ours || review.lacks_writer();
    if core.windows.editor_is_away(review.window) && (ours || review.base != base.text) {
        return Some("may have unsaved text in an editor that is away: decide again in a moment");
    }
    (ours && !window.capabilities.edits && base.buffer.is_some_and(|buffer| buffer.dirty))
        .then_some("has unsaved text that its editor does not let us change: save it there, then decide")
}

/// The decision counts; the surface receives its answer once it is recorded.
fn decided(
    core: &mut Core,
    decider: Decider,
    review: ReviewId,
    (revision, digest): (Revision, Option<Digest>),
    decision: Decision,
    base_now: Option<Text>,
) {
    let surface = decider.surface();
    let decided = review::Event::Decided { review, surface, revision, digest, decision, base_now };
    let effects = core.reviews.apply(decided);
    let answered = effects.iter().any(|effect| matches!(effect, Effect::Reply { .. }));
    // The connection may be closed by now; the decision counts nevertheless. An immediate answer is for this request, not
    // for an earlier one that waits for its record.
    if let Decider::Surface { connection, request } = decider {
        core.connections.add_decision(connection, review, request, answered);
    }
    core.carry_out(effects);
}

pub(super) fn reply(core: &mut Core, surface: SurfaceId, review: ReviewId, reply: Reply) {
    let connection = ConnectionId(surface.0);
    let Some(request) = core.connections.take_decision(connection, review) else { return };
    let result = match reply {
        Reply::Taken => api::ReviewDecidedResult::Taken,
        Reply::Stale { revision } => api::ReviewDecidedResult::Stale { revision: revision.0 },
        Reply::AlreadyDecided { by } => {
            let by = by.map_or_else(
                || "someone".to_owned(),
                |surface| core.windows.surface_name(&core.connections, surface),
            );
            api::ReviewDecidedResult::AlreadyDecided { by }
        }
        Reply::NotPending => api::ReviewDecidedResult::NotPending,
        Reply::AskAgain { conflicts } => {
            api::ReviewDecidedResult::AskAgain { conflicts: u32::try_from(conflicts).unwrap_or(u32::MAX) }
        }
        Reply::Refused(message) => api::ReviewDecidedResult::Refused { message, can_write_here: false },
        Reply::AgentNotWaiting => {
            let message = core.reviews.get(review).map(why_nobody_writes).unwrap_or_default();
            api::ReviewDecidedResult::Refused { message, can_write_here: true }
        }
    };
    core.out.send(connection, &Message::response(request, &result));
    // It shows something else than the review, even if the revision is the same.
    if matches!(result, api::ReviewDecidedResult::Stale { .. })
        && show::surface_of(core, review) == Some(connection)
    {
        show::show_if_pending(core, review);
    }
}

fn why_nobody_writes(review: &Review) -> String {
    let agent = api::visible::name(convert::asker(&review.owner_key).1);
    format!(
        "{agent} no longer waits for the answer, so it would not write {}. Accept it again and let Linkspan write the \
         file, or reject it",
        review.path.display()
    )
}
