//! Carries out what the review core decides: records, shows, writes, answers. Every effect has one place here.

use std::cell::Cell;
use std::collections::VecDeque;
use std::path::PathBuf;

use linkspan_dialect::{Answer, CallId, Failure, FailureKind};
use linkspan_editor_api as api;
use linkspan_editor_api::{Limits, Message, RequestId, RpcError, errors};
use linkspan_review as review;
use linkspan_review::{
    AgentId, Effect, Ended, HideReason, Outcome, Phase, Proposal, Reply, Review, ReviewId, Revision, Step,
    SurfaceId, Taken, Verdict, WindowId, Writer,
};

use super::Core;
use super::base::{BaseWanted, Buffer};
use super::editing::STANDING_WORD;
use super::editor::Resume;
use super::event::{Action, LocalId};
use super::present::{self, Size};
use super::timers::Due;
use crate::files::Replacement;
use crate::journal::Past;

/// What an editor takes as one message, but for the few bytes around it.
pub(super) const LARGEST_SHOW: usize = Limits::OF_AN_EDITOR.body - 4 * 1024;

/// What the hub knows of a review beside the review itself.
#[derive(Debug)]
pub(super) struct Age {
    /// Also of one that the core has forgotten, until the surfaces have.
    window: WindowId,
    /// In the hub's own time, which begins at 0: before that for reviews of an earlier life.
    proposed_ms: i64,
    orphaned_ms: Option<u64>,
    /// How the editor had the file open when the decision was made.
    pub(super) buffer: Option<Buffer>,
    /// Of the revision that was counted last: a diff of a large file is not made for each line of a list.
    counted: Cell<Option<(Revision, Size)>>,
    /// Edits that are not recorded yet, oldest first.
    edits: VecDeque<Edit>,
    /// Its editor was not given the texts, which are too large.
    omitted: bool,
    manner: Manner,
}

/// How a change comes before the person.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Manner {
    /// Not at all: what she said before decides it.
    pub(super) allowed: bool,
    /// Best in the file itself.
    pub(super) inline: bool,
}

/// A person's edit that waits for its record.
#[derive(Debug)]
struct Edit {
    local: LocalId,
    request: RequestId,
    result: api::ReviewEditedResult,
    revision: Revision,
}

impl Age {
    pub(super) fn ms(&self, now_ms: u64) -> u64 {
        u64::try_from(now_ms.cast_signed().saturating_sub(self.proposed_ms)).unwrap_or_default()
    }

    pub(super) fn size_of(&self, review: &Review) -> Size {
        match self.counted.get() {
            Some((revision, size)) if revision == review.revision => size,
            _ => {
                let size = Size::of(review);
                self.counted.set(Some((review.revision, size)));
                size
            }
        }
    }
}

impl Core {
    /// A review of an earlier life; its agent has its time to come back from now on.
    pub(super) fn remember_review(&mut self, past: Past) {
        self.orphan(past.review);
        self.expect_unasked(past.review);
        if let Some(age) = self.ages.get_mut(&past.review) {
            age.proposed_ms = past.proposed_ms.cast_signed().saturating_neg();
        }
        // A decision that its agent did not fetch in time is history, however long no hub was there to say so.
        let grace_ms = self.config.agent_grace_seconds * 1000;
        let settled = self.state.review(past.review).is_some_and(|review| !review.is_open());
        if settled && past.decided_ms.is_some_and(|ago_ms| ago_ms > grace_ms) {
            self.expire(past.review);
        }
    }

    pub(super) fn apply(&mut self, event: review::Event) {
        let effects = self.state.apply(event);
        self.carry_out(effects);
    }

    pub(super) fn carry_out(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                // Taken care of where the proposal is made: only there the call is known.
                Effect::Bound { .. } => {}
                Effect::Record { review, step } => self.record(review, step),
                Effect::Show { review } => {
                    let age = self.ages.get_mut(&review);
                    if age.is_some_and(|age| std::mem::take(&mut age.manner.allowed)) {
                        self.decide_by_standing_word(review);
                    } else {
                        self.show(review);
                    }
                }
                Effect::Hide { review, reason } => self.hide(review, reason),
                Effect::Reply { surface, review, reply } => self.reply(surface, review, reply),
                Effect::Write { review, path, bytes, expect } => {
                    let Some(window) = self.state.review(review).map(|review| review.window) else {
                        continue;
                    };
                    let (folders, limit_mib) = self.folders_of(window);
                    let replacement =
                        Replacement { review, folders, path, bytes, expect, mode: None, limit_mib };
                    self.write(review, replacement);
                }
                Effect::Answer { review, agent, outcome } => self.tell(review, agent, &outcome),
                Effect::Forget { review } => self.forget(review),
            }
        }
    }

    /// A new proposal, or one that was made before; either way this call gets its answer.
    pub(super) fn proposed(&mut self, call: CallId, proposal: Proposal, manner: Manner) {
        let path = proposal.path.clone();
        let effects = self.state.apply(review::Event::Proposed(proposal));
        let mut by_standing_word = None;
        let mut back = None;
        if let Some(&Effect::Bound { review, agent }) = effects.first() {
            if let Some(agent) = self.agents.get_mut(&agent) {
                agent.waiting.push((review, call));
            }
            if let Some(age) = self.age(review) {
                age.orphaned_ms = None;
                age.manner.inline = manner.inline;
            }
            self.bundled(agent, call, review, &path);
            // One that was asked for before is recorded already.
            let known = self.state.review(review);
            let is_recorded = known.is_some_and(|review| review.phase != Phase::Recording);
            // What she has begun to change is hers to decide.
            let untouched = known.is_some_and(|review| {
                review.phase == Phase::Pending && review.draft.is_none() && review.conflicts.is_empty()
            });
            if is_recorded {
                back = Some(review);
                self.acknowledge(review);
                by_standing_word = (manner.allowed && untouched).then_some(review);
            } else if let Some(age) = self.age(review) {
                age.manner.allowed = manner.allowed;
            }
        }
        self.carry_out(effects);
        if let Some(review) = back {
            self.owner_changed(review);
        }
        if let Some(review) = by_standing_word {
            self.decide_by_standing_word(review);
        }
    }

    fn record(&mut self, id: ReviewId, step: Step) {
        let Some(review) = self.state.review(id) else { return };
        // Named while the surface is sure to be there; later records leave the name as it is.
        let by = review.outcome().filter(|_| step == Step::Decided).and_then(|outcome| outcome.by);
        let by = by.map(|surface| self.surface_name(surface));
        // Where all of what was shown is taken, its lines are counted already. Not those of the file itself, where it
        // was shown next to another one.
        let as_shown = review.draft.is_none()
            && review.left.is_none()
            && review.outcome().is_some_and(
                |outcome| matches!(&outcome.ended, Ended::Accepted(accepted) if accepted.taken == Taken::All),
            );
        let counted = self.ages.get(&id).and_then(|age| age.counted.get());
        let counted = counted.filter(|(revision, _)| as_shown && *revision == review.revision);
        let size = counted.map(|(_, size)| size.lines());
        self.act(Action::Record { review: Box::new(review.clone()), step, by, size });
    }

    pub(super) fn recorded(&mut self, review: ReviewId, step: Step, result: Result<(), String>) {
        let news = self.news(review, step);
        let failed = result.clone().err();
        self.unrecorded.clone_from(&failed);
        if step == Step::Proposed && failed.is_none() {
            self.acknowledge(review);
        }
        if step == Step::Decided && failed.is_none() {
            self.grant_permit(review);
        }
        let mut effects = self.state.apply(match result {
            Ok(()) => review::Event::Recorded { review, step },
            Err(error) => review::Event::RecordFailed { review, step, error },
        });
        if step == Step::Edited && self.edit_recorded(review, failed.as_deref()) {
            effects.retain(|effect| !matches!(effect, Effect::Show { .. }));
        }
        self.carry_out(effects);
        self.tell_watchers(review, news, failed);
        // Its agent did not wait, and must not be told to write over what the hub wrote.
        let written_here = |review: &Review| review.written_here && review.owner.is_none();
        if step == Step::Written && self.state.review(review).is_some_and(written_here) {
            self.expire(review);
        }
    }

    /// Some agents are answered once their change waits for a person, and told the decision later.
    fn acknowledge(&mut self, id: ReviewId) {
        // Only its owner can wait for it.
        let Some(owner) = self.state.review(id).and_then(|review| review.owner) else { return };
        let Some(agent) = self.agents.get(&owner) else { return };
        // More than one, where the agent repeated itself.
        let calls = agent.waiting.iter().filter(|(review, _)| *review == id).map(|(_, call)| *call);
        let calls: Vec<CallId> = calls.collect();
        calls.into_iter().for_each(|call| self.acknowledge_call(owner, call));
    }

    fn acknowledge_call(&mut self, id: AgentId, call: CallId) {
        let Some(agent) = self.agents.get_mut(&id) else { return };
        if let Some(frame) = agent.session.shown(call) {
            self.send_frame(id, frame);
        }
    }

    /// Where a person can see this review.
    fn surface_of(&self, id: ReviewId) -> Option<LocalId> {
        let window = self.windows.get(&self.ages.get(&id)?.window)?;
        window.local.filter(|_| window.capabilities.reviews)
    }

    pub(super) fn show(&mut self, id: ReviewId) {
        let Some(local) = self.surface_of(id) else { return };
        let Some(review) = self.state.review(id) else { return };
        let window = self.windows.get(&review.window);
        let named = window.map_or_else(|| review.path.clone(), |window| window.as_named(&review.path));
        let path = named.display().to_string();
        let inline = self.ages.get(&id).is_some_and(|age| age.manner.inline);
        let texts = review.base_text().len() + review.side().len();
        let whole = (texts <= self.largest_show).then(|| {
            let hunks = review.hunks();
            if let Some(age) = self.ages.get(&id) {
                age.counted.set(Some((review.revision, Size::of_hunks(&hunks))));
            }
            api::ReviewShow { path: path.clone(), inline, ..present::shown(review, &hunks) }
        });
        let without = api::ReviewShow { path, inline, omitted: true, ..present::without_texts(review) };
        let Some(request) = self.await_answer(local, Resume::Ignore, 0) else { return };
        // Written once: its length is known only then, and most fit.
        // Lines end with a byte that is two in JSON, and a hunk is numbers and names.
        let room = |show: &api::ReviewShow| texts + texts / 8 + 512 * (show.hunks.len() + 1);
        let whole = whole.map(|show| Message::request_bytes(&request, &show, room(&show)));
        let whole = whole.filter(|body| body.len() <= self.largest_show);
        if let Some(age) = self.ages.get_mut(&id) {
            age.omitted = whole.is_none();
        }
        let body = whole.unwrap_or_else(|| Message::request_bytes(&request, &without, 0));
        self.act(Action::SendLocal { local, body });
    }

    /// A person's own text for the proposed side. It is said to be taken once it is recorded: what she typed is
    /// hers to lose only until then.
    pub(super) fn edited(
        &mut self,
        local: LocalId,
        request: RequestId,
        edited: api::ReviewEdited,
    ) -> Result<(), RpcError> {
        let api::ReviewEdited { review: name, revision, digest, text } = edited;
        let digest = present::digest(digest.as_deref())?;
        // Nobody edits what she was not given.
        let unseen = |id: &ReviewId| self.ages.get(id).is_some_and(|age| age.omitted);
        let Some(id) = self.review_named(&name).ok().filter(|id| !unseen(id)) else {
            self.send(local, &Message::response(request, &api::ReviewEditedResult::NotPending));
            return Ok(());
        };
        let (surface, revision) = (SurfaceId(local.0), Revision(revision));
        let edited = review::Event::Edited { review: id, surface, revision, digest, text };
        let mut effects = self.state.apply(edited);
        // Told by this answer, and not to a decision that waits for its own.
        let refusal = effects.extract_if(.., |effect| matches!(effect, Effect::Reply { .. })).next();
        let result = match (&refusal, self.state.review(id)) {
            (None, Some(now)) => {
                let hunks = present::shown_hunks(now, &now.hunks());
                let digest = now.shown_digest().to_string();
                api::ReviewEditedResult::Taken { revision: now.revision.0, digest, hunks }
            }
            (Some(Effect::Reply { reply: Reply::Stale { .. }, .. }), _) => api::ReviewEditedResult::Stale,
            _ => api::ReviewEditedResult::NotPending,
        };
        let stale = result == api::ReviewEditedResult::Stale;
        match self.ages.get_mut(&id).filter(|_| !effects.is_empty()) {
            Some(age) => {
                let revision = self.state.review(id).map_or(revision, |review| review.revision);
                age.edits.push_back(Edit { local, request, result, revision });
            }
            None => self.send(local, &Message::response(request, &result)),
        }
        self.carry_out(effects);
        if stale {
            self.show_if_pending(id);
        }
        Ok(())
    }

    /// Tells who edited what came of it, and gives whether that says all that showing it again would.
    fn edit_recorded(&mut self, id: ReviewId, failed: Option<&str>) -> bool {
        let Some(edit) = self.ages.get_mut(&id).and_then(|age| age.edits.pop_front()) else { return false };
        if let Some(error) = failed {
            let message = format!(
                "the edit could not be recorded ({error}): keep a copy of it, run `linkspan doctor`, then edit again"
            );
            let error = RpcError::new(errors::INTERNAL, message);
            self.send(edit.local, &Message::error(Some(edit.request), error));
            return false;
        }
        self.send(edit.local, &Message::response(edit.request, &edit.result));
        let newest = self.state.review(id).is_some_and(|review| review.revision == edit.revision);
        newest && self.surface_of(id) == Some(edit.local)
    }

    fn show_if_pending(&mut self, id: ReviewId) {
        if self.state.review(id).is_some_and(|review| review.phase == Phase::Pending) {
            self.show(id);
        }
    }

    fn hide(&mut self, id: ReviewId, reason: HideReason) {
        let Some(local) = self.surface_of(id) else { return };
        let reason = match reason {
            HideReason::Decided { by } => {
                let outcome = self.state.review(id).and_then(|review| review.outcome());
                let verdict = present::verdict_kind(outcome);
                let by = by.map_or_else(|| "someone".to_owned(), |surface| self.surface_name(surface));
                api::HideReason::Decided { by, verdict }
            }
            HideReason::Withdrawn => api::HideReason::Withdrawn,
            HideReason::Superseded { .. } => api::HideReason::Superseded,
            HideReason::Failed { error } => {
                if let Some(review) = self.state.review(id) {
                    tracing::warn!("{id} {}: {error}", review.path.display());
                }
                api::HideReason::Failed { error }
            }
        };
        self.ask(local, &api::ReviewHide { review: id.to_string(), reason }, Resume::Ignore);
    }

    /// Who decided, for people.
    pub(super) fn surface_name(&self, surface: SurfaceId) -> String {
        if LocalId(surface.0) == STANDING_WORD {
            return "what was allowed before".to_owned();
        }
        let Some(local) = self.locals.get(&LocalId(surface.0)) else { return "someone".to_owned() };
        match local.window.and_then(|window| self.windows.get(&window)) {
            Some(window) => window.editor.name.clone(),
            None if local.role.is_empty() => "a command".to_owned(),
            None => local.role.clone(),
        }
    }

    /// A person's word on a review, from an editor or a command.
    pub(super) fn decide(
        &mut self,
        local: LocalId,
        request: RequestId,
        name: &str,
        (revision, digest): (Option<u32>, Option<String>),
        decision: api::Decision,
    ) -> Result<(), RpcError> {
        let id = self.review_named(name)?;
        let digest = present::digest(digest.as_deref())?;
        let Some(review) = self.state.review(id) else { return Ok(()) };
        let seen = (revision.map_or(review.revision, Revision), digest);
        let decision =
            present::decision(decision).map_err(|message| RpcError::new(errors::INVALID_PARAMS, message))?;
        // A no concerns no bytes, and must be possible whatever became of the file; two given texts concern no file.
        // Unless the file holds it already: a no puts back what was there.
        let no_file = match review.writer {
            Writer::Nobody => true,
            Writer::AgentFirst => false,
            Writer::Agent | Writer::AgentAsProposed | Writer::Editor => {
                matches!(decision.verdict, Verdict::Reject { .. })
            }
        };
        if no_file || review.phase != Phase::Pending {
            let base_now = review.base.clone();
            self.decided(local, request, id, seen, decision, base_now);
        } else {
            let path = review.path.clone();
            self.read_base(BaseWanted::Decision { local, request, review: id, seen, decision }, path);
        }
        Ok(())
    }

    fn reply(&mut self, surface: SurfaceId, review: ReviewId, reply: Reply) {
        let local = LocalId(surface.0);
        let Some(connection) = self.locals.get_mut(&local) else { return };
        let waiting = connection.deciding.iter().position(|(decided, _)| *decided == review);
        let Some(request) = waiting.map(|at| connection.deciding.remove(at).1) else { return };
        let result = match reply {
            Reply::Taken => api::ReviewDecidedResult::Taken,
            Reply::Stale { revision } => api::ReviewDecidedResult::Stale { revision: revision.0 },
            Reply::AlreadyDecided { by } => {
                let by = by.map_or_else(|| "someone".to_owned(), |surface| self.surface_name(surface));
                api::ReviewDecidedResult::AlreadyDecided { by }
            }
            Reply::NotPending => api::ReviewDecidedResult::NotPending,
            Reply::AskAgain { conflicts } => {
                api::ReviewDecidedResult::AskAgain { conflicts: u32::try_from(conflicts).unwrap_or(u32::MAX) }
            }
            Reply::Refused(message) => api::ReviewDecidedResult::Refused { message, can_write_here: false },
            Reply::NobodyWaits => {
                let message = self.state.review(review).map(why_nobody_writes).unwrap_or_default();
                api::ReviewDecidedResult::Refused { message, can_write_here: true }
            }
        };
        self.send(local, &Message::response(request, &result));
        // What it has on its screen is not what there is, even if its revision says so.
        if matches!(result, api::ReviewDecidedResult::Stale { .. }) && self.surface_of(review) == Some(local)
        {
            self.show_if_pending(review);
        }
    }

    /// Where files of this window may be, and how large; also of one that is closed.
    pub(super) fn folders_of(&self, window: WindowId) -> (Vec<PathBuf>, usize) {
        match self.windows.get(&window) {
            Some(window) => (window.folders.clone(), window.config.limits.file_mib),
            None => {
                let remembered = self.remembered.iter().find(|old| old.id == window);
                let folders = remembered.map(|old| old.real_folders.clone()).unwrap_or_default();
                (folders, self.config.limits.file_mib)
            }
        }
    }

    /// Tells the agent.
    fn tell(&mut self, id: ReviewId, agent_id: AgentId, outcome: &Outcome) {
        let Some(agent) = self.agents.get_mut(&agent_id) else { return };
        // More than one, where the agent repeated itself.
        let calls: Vec<CallId> =
            agent.waiting.extract_if(.., |(review, _)| *review == id).map(|(_, call)| call).collect();
        if calls.is_empty() {
            return;
        }
        for call in calls {
            // It may be decided before it was shown to anyone, where the agent asks again.
            if outcome.ended.by_a_person() {
                self.acknowledge_call(agent_id, call);
            }
            let answer = present::answer(self.state.review(id), outcome);
            self.answer_part(agent_id, call, id, answer);
        }
        self.expect_on_disk(id, outcome);
    }

    /// A call whose review is gone without an outcome was taken back by its own agent.
    fn forget(&mut self, id: ReviewId) {
        self.ages.remove(&id);
        let mut unanswered = Vec::new();
        for (agent_id, agent) in self.agents.iter_mut() {
            agent.waiting.retain(|(review, call)| {
                if *review == id {
                    unanswered.push((*agent_id, *call));
                }
                *review != id
            });
        }
        for (agent, call) in unanswered {
            let message = "the change was withdrawn before anyone decided";
            self.answer_part(agent, call, id, Answer::Failed(Failure::new(FailureKind::Withdrawn, message)));
        }
    }

    /// Starts the time in which the agent of this review may come back.
    pub(super) fn orphan(&mut self, id: ReviewId) {
        let now_ms = self.now_ms;
        let Some(age) = self.age(id) else { return };
        age.orphaned_ms = Some(now_ms);
        // Never now: a clock that is wound up while it strikes would strike for ever.
        let when = now_ms + (self.config.agent_grace_seconds * 1000).max(1);
        self.timers.add(when, Due::Review(id));
    }

    /// The agent of a pending review is gone, or waits again: every surface says so.
    pub(super) fn owner_changed(&mut self, id: ReviewId) {
        let pending = |review: &&Review| review.phase == Phase::Pending;
        let Some(review) = self.state.review(id).filter(pending) else { return };
        let owner_gone = review.owner.is_none();
        match owner_gone {
            true => self.expect_unasked(id),
            false => self.asked_again(id),
        }
        let change = if owner_gone { api::ReviewChange::AgentGone } else { api::ReviewChange::AgentBack };
        self.tell_watchers_of(id, change);
        if let Some(local) = self.surface_of(id) {
            self.ask(local, &api::ReviewWaiting { review: id.to_string(), owner_gone }, Resume::Ignore);
        }
    }

    /// The time to come back does not count any more.
    pub(super) fn has_its_agent(&mut self, id: ReviewId) {
        if let Some(age) = self.age(id) {
            age.orphaned_ms = None;
        }
    }

    /// Begins with the first question about a review that there is.
    fn age(&mut self, id: ReviewId) -> Option<&mut Age> {
        let window = self.state.review(id)?.window;
        let proposed_ms = self.now_ms.cast_signed();
        let fresh = Age {
            window,
            proposed_ms,
            orphaned_ms: None,
            buffer: None,
            counted: Cell::default(),
            edits: VecDeque::new(),
            omitted: false,
            manner: Manner::default(),
        };
        Some(self.ages.entry(id).or_insert(fresh))
    }

    pub(super) fn review_grace_over(&mut self, id: ReviewId) {
        let grace_ms = self.config.agent_grace_seconds * 1000;
        let since = self.ages.get(&id).and_then(|age| age.orphaned_ms);
        if since.is_some_and(|since| since + grace_ms <= self.now_ms) {
            let deciding = |review: &Review| review.is_open() && review.outcome().is_some();
            match self.state.review(id).is_some_and(deciding) {
                // What comes of it is kept as long as any answer, and not for ever.
                true => self.orphan(id),
                false => self.expire(id),
            }
        }
    }

    /// `r12`, `12`, or `latest`: the newest that waits for a person.
    pub(super) fn review_named(&self, name: &str) -> Result<ReviewId, RpcError> {
        let unknown = |message: String| RpcError::new(errors::UNKNOWN_REVIEW, message);
        if name == "latest" {
            let pending = self.state.reviews().filter(|review| review.phase == Phase::Pending);
            return pending.map(|review| review.id).last().ok_or_else(|| {
                unknown("no review waits for a decision; `linkspan reviews --all` lists the rest".to_owned())
            });
        }
        let id: Option<ReviewId> = name.parse().ok();
        id.filter(|id| self.state.review(*id).is_some())
            .ok_or_else(|| unknown(format!("there is no review `{name}`; `linkspan reviews` lists them")))
    }
}

fn why_nobody_writes(review: &Review) -> String {
    let agent = api::visible::name(present::asker(&review.owner_key).1);
    format!(
        "{agent} no longer waits for the answer, so it would not write {}. Accept it again and let Linkspan write the \
         file, or reject it",
        review.path.display()
    )
}
