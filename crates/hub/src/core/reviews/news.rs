//! What watchers receive about reviews: every step that is recorded, and steps that count even without their record;
//! nothing that `deny` covers.

use std::path::Path;

use linkspan_editor_api::{MessageLevel, ReviewChange, StatusMessage, WindowEvent};
use linkspan_review::{Phase, Review, ReviewEnd, ReviewId, Step, WindowId};

use crate::core::{Core, convert};

/// What watchers receive once the review has moved on; by then it may be forgotten.
pub(super) struct News {
    window: WindowId,
    path: String,
    change: ReviewChange,
}

/// What watchers are to receive once this step is recorded.
pub(super) fn news(core: &Core, id: ReviewId, step: Step) -> Option<News> {
    let review = core.reviews.get(id).filter(|_| core.connections.watchers() > 0)?;
    let change = match step {
        Step::Proposed => ReviewChange::Proposed,
        Step::Edited => ReviewChange::Edited { revision: review.revision.0 },
        Step::Rebased => ReviewChange::Rebased {
            revision: review.revision.0,
            conflicts: u32::try_from(review.conflicts.len()).unwrap_or(u32::MAX),
        },
        Step::Decided => {
            let outcome = review.outcome()?;
            let by = outcome.by.map_or_else(
                || "someone".to_owned(),
                |surface| core.windows.surface_name(&core.connections, surface),
            );
            ReviewChange::Decided { verdict: convert::verdict_kind(Some(outcome)), by }
        }
        Step::Written => ReviewChange::Written,
        Step::Ended => match &review.outcome()?.ended {
            ReviewEnd::Superseded { by } => ReviewChange::Superseded { by: by.to_string() },
            ReviewEnd::Failed { error } => ReviewChange::Failed { error: error.clone() },
            ReviewEnd::Withdrawn | ReviewEnd::Accepted(_) | ReviewEnd::Rejected { .. } => {
                ReviewChange::Withdrawn
            }
        },
        Step::Delivered => ReviewChange::Delivered,
    };
    Some(news_of(review, change))
}

fn news_of(review: &Review, change: ReviewChange) -> News {
    News { window: review.window, path: review.path.display().to_string(), change }
}

/// A failed record left the review where it was, or opened it again.
pub(super) fn tell_watchers(core: &mut Core, id: ReviewId, news: Option<News>, failed: Option<String>) {
    let Some(News { window, path, mut change }) = news else { return };
    let review = core.reviews.get(id);
    if let Some(error) = failed {
        let pending = review.is_some_and(|review| review.phase == Phase::Pending);
        match change {
            ReviewChange::Failed { .. } if pending => change = ReviewChange::Reopened { error },
            // It did not happen, and no watcher knows of it.
            ReviewChange::Proposed | ReviewChange::Decided { .. } | ReviewChange::Failed { .. } => return,
            // These count without their record.
            ReviewChange::Edited { .. }
            | ReviewChange::Rebased { .. }
            | ReviewChange::Written
            | ReviewChange::OnDisk
            | ReviewChange::NotOnDisk
            | ReviewChange::AgentGone
            | ReviewChange::AgentBack
            | ReviewChange::Superseded { .. }
            | ReviewChange::Withdrawn
            | ReviewChange::Delivered
            | ReviewChange::Shown { .. }
            | ReviewChange::Reopened { .. } => {}
        }
    }
    if core.windows.is_denied(&core.out, window, Path::new(&path)) {
        return;
    }
    let summary = review.map(|review| {
        let age = core.reviews.age_of(core.out.now_ms, review);
        convert::summary(review, age, core.agents.receives_of(review))
    });
    core.connections.publish(
        &mut core.out,
        window,
        WindowEvent::Review { review: id.to_string(), path, change, summary },
    );
}

/// The user is told about a change, if the editor of its window can show messages.
pub(super) fn warn_in_editor(core: &mut Core, window: WindowId, text: String) {
    let Some(window) = core.windows.get(&window).filter(|window| window.capabilities.messages) else {
        return;
    };
    let Some(connection) = window.connection else { return };
    let level = MessageLevel::Warning;
    core.connections.send_request(&mut core.out, connection, &StatusMessage { text, level });
}

/// About what is not recorded, or was before.
pub(super) fn tell_watchers_of(core: &mut Core, id: ReviewId, change: ReviewChange) {
    let news = core.reviews.get(id).map(|review| news_of(review, change));
    tell_watchers(core, id, news.filter(|_| core.connections.watchers() > 0), None);
}
