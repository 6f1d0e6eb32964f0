//! Telling those who watch what happens, as it happens. Of reviews, what is recorded, and what stands even without its
//! record; nothing that `deny` covers. Watching changes nothing.

use std::path::Path;

use linkspan_editor_api as api;
use linkspan_editor_api::{HubEvent, Message, RequestId, ReviewChange, RpcError, WindowEvent};
use linkspan_review::{AgentId, Ended, Phase, Review, ReviewId, Step, WindowId};

use super::Core;
use super::event::{Action, LocalId};
use super::history::window_named;
use super::present;

/// What is told of a review once the core has gone on: by then it may be forgotten.
pub(super) struct News {
    window: WindowId,
    path: String,
    change: ReviewChange,
}

impl Core {
    pub(super) fn watch(
        &mut self,
        local: LocalId,
        request: RequestId,
        watch: &api::HubWatch,
    ) -> Result<(), RpcError> {
        let window = watch.window.as_deref().map(window_named).transpose()?;
        self.watchers.insert(local, window);
        self.send(local, &Message::response(request, &()));
        Ok(())
    }

    pub(super) fn publish(&mut self, window: WindowId, what: WindowEvent) {
        let to: Vec<LocalId> = self
            .watchers
            .iter()
            .filter(|(_, watched)| watched.is_none_or(|watched| watched == window))
            .map(|(local, _)| *local)
            .collect();
        if !to.is_empty() {
            let event = HubEvent { window: window.to_string(), what };
            self.act(Action::Publish { to, body: Message::notification(&event).to_bytes() });
        }
    }

    /// What this record will mean to those who watch, once the review has gone on.
    pub(super) fn news(&self, id: ReviewId, step: Step) -> Option<News> {
        let review = self.state.review(id).filter(|_| !self.watchers.is_empty())?;
        let change = match step {
            Step::Proposed => ReviewChange::Proposed,
            Step::Edited => ReviewChange::Edited { revision: review.revision.0 },
            Step::Rebased => ReviewChange::Rebased {
                revision: review.revision.0,
                conflicts: u32::try_from(review.conflicts.len()).unwrap_or(u32::MAX),
            },
            Step::Decided => {
                let outcome = review.outcome()?;
                let by =
                    outcome.by.map_or_else(|| "someone".to_owned(), |surface| self.surface_name(surface));
                ReviewChange::Decided { verdict: present::verdict_kind(Some(outcome)), by }
            }
            Step::Written => ReviewChange::Written,
            Step::Ended => match &review.outcome()?.ended {
                Ended::Superseded { by } => ReviewChange::Superseded { by: by.to_string() },
                Ended::Failed { error } => ReviewChange::Failed { error: error.clone() },
                Ended::Withdrawn | Ended::Accepted(_) | Ended::Rejected { .. } => ReviewChange::Withdrawn,
            },
            Step::Delivered => ReviewChange::Delivered,
        };
        Some(self.news_of(review, change))
    }

    fn news_of(&self, review: &Review, change: ReviewChange) -> News {
        News { window: review.window, path: review.path.display().to_string(), change }
    }

    /// A record that failed left the review where it was, or opened it again.
    pub(super) fn tell_watchers(&mut self, id: ReviewId, news: Option<News>, failed: Option<String>) {
        let Some(News { window, path, mut change }) = news else { return };
        let review = self.state.review(id);
        if let Some(error) = failed {
            let pending = review.is_some_and(|review| review.phase == Phase::Pending);
            match change {
                ReviewChange::Failed { .. } if pending => change = ReviewChange::Reopened { error },
                // It did not come to that, and nobody has heard of it.
                ReviewChange::Proposed | ReviewChange::Decided { .. } | ReviewChange::Failed { .. } => return,
                // These stand without their record.
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
        if self.keeps_back(window, Path::new(&path)) {
            return;
        }
        let summary = review.map(|review| present::summary(review, self.age_of(review)));
        self.publish(window, WindowEvent::Review { review: id.to_string(), path, change, summary });
    }

    /// About what is not recorded, or was before.
    pub(super) fn tell_watchers_of(&mut self, id: ReviewId, change: ReviewChange) {
        let news = self.state.review(id).map(|review| self.news_of(review, change));
        self.tell_watchers(id, news.filter(|_| !self.watchers.is_empty()), None);
    }

    pub(super) fn review_shown(&mut self, shown: &api::ReviewShown) -> Result<(), RpcError> {
        let id = self.review_named(&shown.review)?;
        self.tell_watchers_of(id, ReviewChange::Shown { revision: shown.revision });
        Ok(())
    }

    pub(super) fn window_joined(&mut self, id: WindowId) {
        let Some(window) = self.windows.get(&id) else { return };
        let folders = window.identity.folders.iter().map(|folder| folder.display().to_string()).collect();
        let what = WindowEvent::Attached { editor: window.editor.clone(), folders };
        self.publish(id, what);
    }

    pub(super) fn agent_joined(&mut self, id: AgentId) {
        let Some(agent) = self.agents.get(&id) else { return };
        let what = WindowEvent::AgentJoined {
            agent: id.to_string(),
            name: agent.name.clone(),
            version: agent.version.clone(),
            dialect: agent.session.dialect().name.to_owned(),
        };
        self.publish(agent.window, what);
    }
}
