//! Showing reviews in editors and hiding them, and the edits that users make to the proposed text.

use linkspan_editor_api as api;
use linkspan_editor_api::{Message, RequestId, RpcError, errors};
use linkspan_review as review;
use linkspan_review::{Effect, HideReason, Phase, Reply, ReviewId, Revision, SurfaceId};

use crate::core::Core;
use crate::core::contract::{Action, ConnectionId};
use crate::core::convert::{self, Size};
use crate::core::pending::AfterAnswer;
use crate::core::reviews::meta::PendingEdit;

/// The connection of the editor that shows this review.
pub(super) fn surface_of(core: &Core, id: ReviewId) -> Option<ConnectionId> {
    let window = core.windows.get(&core.reviews.meta.get(&id)?.window)?;
    window.connection.filter(|_| window.capabilities.reviews)
}

pub(in crate::core) fn show(core: &mut Core, id: ReviewId) {
    let Some(connection) = surface_of(core, id) else { return };
    let Some(review) = core.reviews.get(id) else { return };
    let window = core.windows.get(&review.window);
    let named = window.map_or_else(|| review.path.clone(), |window| window.editor_path(&review.path));
    let path = named.display().to_string();
    let inline = core.reviews.meta.get(&id).is_some_and(|meta| meta.options.inline);
    let receives = core.agents.receives_of(review);
    let origin = core.reviews.origin_of(id).cloned();
    let set_label = review.set.and_then(|set| core.agents.name_of_set(set)).map(str::to_owned);
    let texts = review.base_text().len() + review.side().len();
    let whole = (texts <= core.reviews.largest_show).then(|| {
        let hunks = review.hunks();
        if let Some(meta) = core.reviews.meta.get(&id) {
            meta.counted.set(Some((review.revision, Size::of_hunks(&hunks))));
        }
        let (origin, set_label) = (origin.clone(), set_label.clone());
        let shown = convert::shown(review, &hunks, receives);
        api::ReviewShow { path: path.clone(), inline, origin, set_label, ..shown }
    });
    let without = convert::without_texts(review, receives);
    let without = api::ReviewShow { path, inline, origin, set_label, omitted: true, ..without };
    let Some(request) = core.expect_answer(connection, AfterAnswer::Ignore, 0) else { return };
    // Encoded once: only then its length is known, and most fit. The estimate counts line ends, which are two bytes in
    // JSON, and the numbers and names of hunks.
    let room = |show: &api::ReviewShow| texts + texts / 8 + 512 * (show.hunks.len() + 1);
    let whole = whole.map(|show| Message::request_bytes(&request, &show, room(&show)));
    let whole = whole.filter(|body| body.len() <= core.reviews.largest_show);
    if let Some(meta) = core.reviews.meta.get_mut(&id) {
        meta.omitted = whole.is_none();
    }
    let body = whole.unwrap_or_else(|| Message::request_bytes(&request, &without, 0));
    core.out.push(Action::SendMessage { connection, body });
}

pub(super) fn show_if_pending(core: &mut Core, id: ReviewId) {
    if core.reviews.get(id).is_some_and(|review| review.phase == Phase::Pending) {
        show(core, id);
    }
}

pub(super) fn hide(core: &mut Core, id: ReviewId, reason: HideReason) {
    let Some(connection) = surface_of(core, id) else { return };
    let reason = match reason {
        HideReason::Decided { by } => {
            let outcome = core.reviews.get(id).and_then(|review| review.outcome());
            let verdict = convert::verdict_kind(outcome);
            let by = by.map_or_else(
                || "someone".to_owned(),
                |surface| core.windows.surface_name(&core.connections, surface),
            );
            api::HideReason::Decided { by, verdict }
        }
        HideReason::Withdrawn => api::HideReason::Withdrawn,
        HideReason::Superseded { .. } => api::HideReason::Superseded,
        HideReason::Failed { error } => {
            if let Some(review) = core.reviews.get(id) {
                tracing::warn!("{id} {}: {error}", review.path.display());
            }
            api::HideReason::Failed { error }
        }
    };
    core.connections.send_request(
        &mut core.out,
        connection,
        &api::ReviewHide { review: id.to_string(), reason },
    );
}

/// The user's own text for the proposed side. It is confirmed once it is recorded: until then it can be lost.
pub(super) fn edited(
    core: &mut Core,
    connection: ConnectionId,
    request: RequestId,
    edited: api::ReviewEdited,
) -> Result<(), RpcError> {
    let api::ReviewEdited { review: name, revision, digest, text } = edited;
    let digest = convert::digest(digest.as_deref())?;
    // A text that was omitted cannot be edited.
    let unseen = |id: &ReviewId| core.reviews.meta.get(id).is_some_and(|meta| meta.omitted);
    let Some(id) = core.reviews.named(&name).ok().filter(|id| !unseen(id)) else {
        core.out.send(connection, &Message::response(request, &api::ReviewEditedResult::NotPending));
        return Ok(());
    };
    let (surface, revision) = (SurfaceId(connection.0), Revision(revision));
    let edited = review::Event::Edited { review: id, surface, revision, digest, text };
    let mut effects = core.reviews.apply(edited);
    // It belongs to this request, not to a decision that waits for its own answer.
    let refusal = effects.extract_if(.., |effect| matches!(effect, Effect::Reply { .. })).next();
    let result = match (&refusal, core.reviews.get(id)) {
        (None, Some(now)) => {
            let hunks = convert::shown_hunks(now, &now.hunks());
            let digest = now.shown_digest().to_string();
            api::ReviewEditedResult::Taken { revision: now.revision.0, digest, hunks }
        }
        (Some(Effect::Reply { reply: Reply::Stale { .. }, .. }), _) => api::ReviewEditedResult::Stale,
        _ => api::ReviewEditedResult::NotPending,
    };
    let stale = result == api::ReviewEditedResult::Stale;
    let revision = core.reviews.get(id).map_or(revision, |review| review.revision);
    match core.reviews.meta.get_mut(&id).filter(|_| !effects.is_empty()) {
        Some(meta) => {
            meta.edits.push_back(PendingEdit { connection, request, result, revision });
        }
        None => core.out.send(connection, &Message::response(request, &result)),
    }
    core.carry_out(effects);
    if stale {
        show_if_pending(core, id);
    }
    Ok(())
}

/// Answers the edit. Returns whether the answer makes showing the review again unnecessary.
pub(super) fn edit_recorded(core: &mut Core, id: ReviewId, failed: Option<&str>) -> bool {
    let Some(edit) = core.reviews.meta.get_mut(&id).and_then(|meta| meta.edits.pop_front()) else {
        return false;
    };
    if let Some(error) = failed {
        let message = format!(
            "the edit could not be recorded ({error}): keep a copy of it, run `linkspan doctor`, then edit again"
        );
        let error = RpcError::new(errors::INTERNAL, message);
        core.out.send(edit.connection, &Message::error(Some(edit.request), error));
        return false;
    }
    core.out.send(edit.connection, &Message::response(edit.request, &edit.result));
    let newest = core.reviews.get(id).is_some_and(|review| review.revision == edit.revision);
    newest && surface_of(core, id) == Some(edit.connection)
}
