//! Changes that agents propose, from the proposal to the outcome.
//!
//! Owns the review state machine (`linkspan_review::State`) and everything that the hub knows of a review besides: when it
//! was proposed, writes that are under way, permits. The state machine decides, and gives effects; `effects` carries each
//! of them out. The flows take `&mut Core`, because a review concerns its agent, its window and its file at once.
//!
//! Must not know: how files are read (`files`), how undos work (`history`), what agents may ask for (`requests`).
//!
//! Invariants: nothing is written without a recorded decision; a call of an agent is answered once, with the outcome that
//! was recorded; what the user typed is confirmed only after it is recorded.

pub(super) mod agent_writes;
pub(super) mod decide;
pub(super) mod edits;
pub(super) mod effects;
pub(super) mod expire;
pub(super) mod followers;
mod meta;
mod news;
pub(super) mod patches;
mod permits;
pub(super) mod propose;
pub(super) mod show;
pub(super) mod write;

use std::collections::BTreeMap;
use std::path::Path;

use linkspan_dialect::CallId;
use linkspan_editor_api as api;
use linkspan_editor_api::{Limits, RequestId, RpcError, errors};
use linkspan_review as review;
use linkspan_review::{AgentId, Effect, Follower, Phase, Proposal, Review, ReviewId, State, WindowId};

use crate::core::Core;
use crate::core::agents::hooks::{self, HOOK_RETURN_MS};
use crate::core::contract::{ConnectionId, Ticket};
use crate::core::convert::Size;
use crate::core::out::Out;
use crate::core::pending::{NoAnswer, ToolCall};
use crate::core::reviews::agent_writes::AgentWrites;
use crate::core::reviews::edits::EditCall;
use crate::core::reviews::meta::ReviewMeta;
use crate::core::reviews::permits::Permits;
use crate::core::reviews::write::DiskWrite;
use crate::core::timers::Due;

/// What an editor accepts as one message, except for the few bytes around it.
const LARGEST_SHOW: usize = Limits::OF_AN_EDITOR.body - 4 * 1024;

pub(super) struct Reviews {
    state: State,
    meta: BTreeMap<ReviewId, ReviewMeta>,
    /// How many bytes of a review an editor is shown at most.
    largest_show: usize,
    /// Calls whose files are being read.
    edit_calls: BTreeMap<Ticket, EditCall>,
    permits: Permits,
    /// Changes that are being written to disk.
    disk_writes: BTreeMap<ReviewId, DiskWrite>,
    /// Accepted changes that an earlier hub may or may not have written.
    unfinished_writes: Vec<ReviewId>,
    /// Accepted changes that their agents are to write.
    agent_writes: AgentWrites,
    /// Agents that wait for the review of another agent, because both asked for the same.
    followers: BTreeMap<(ReviewId, AgentId), Follower>,
}

impl Reviews {
    pub(super) fn new(state: State) -> Reviews {
        Reviews {
            state,
            meta: BTreeMap::new(),
            largest_show: LARGEST_SHOW,
            edit_calls: BTreeMap::new(),
            permits: Permits::default(),
            disk_writes: BTreeMap::new(),
            unfinished_writes: Vec::new(),
            agent_writes: AgentWrites::default(),
            followers: BTreeMap::new(),
        }
    }

    pub(super) fn get(&self, id: ReviewId) -> Option<&Review> {
        self.state.review(id)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Review> {
        self.state.reviews()
    }

    pub(super) fn of_path<'a>(&'a self, path: &'a Path) -> impl Iterator<Item = &'a Review> {
        self.state.reviews_of_path(path)
    }

    pub(super) fn of_window(&self, window: WindowId) -> impl Iterator<Item = &Review> {
        self.state.reviews_of_window(window)
    }

    /// The review of the same proposal, if it was made before.
    fn find_repeated(&self, proposal: &Proposal) -> Option<ReviewId> {
        self.state.find_repeated(proposal)
    }

    /// The effects are still to be carried out.
    pub(super) fn apply(&mut self, event: review::Event) -> Vec<Effect> {
        self.state.apply(event)
    }

    /// `r12`, `12`, or `latest`: the newest pending one.
    pub(super) fn named(&self, name: &str) -> Result<ReviewId, RpcError> {
        let unknown = |message: String| RpcError::new(errors::UNKNOWN_REVIEW, message);
        if name == "latest" {
            let pending = self.iter().filter(|review| review.phase == Phase::Pending);
            return pending.map(|review| review.id).last().ok_or_else(|| {
                unknown("no review waits for a decision; `linkspan reviews --all` lists the rest".to_owned())
            });
        }
        let id: Option<ReviewId> = name.parse().ok();
        id.filter(|id| self.get(*id).is_some())
            .ok_or_else(|| unknown(format!("there is no review `{name}`; `linkspan reviews` lists them")))
    }

    pub(super) fn is_undecided(&self, id: ReviewId) -> bool {
        let review = self.get(id);
        review.is_some_and(|review| matches!(review.phase, Phase::Recording | Phase::Pending))
    }

    /// How old the review is in milliseconds, and how large.
    pub(super) fn age_of(&self, now_ms: u64, review: &Review) -> (u64, Size) {
        match self.meta.get(&review.id) {
            Some(meta) => (meta.age_ms(now_ms), meta.size_of(review)),
            None => (0, Size::of(review)),
        }
    }

    /// The conversation that it comes from.
    pub(super) fn origin_of(&self, id: ReviewId) -> Option<&api::ReviewOrigin> {
        self.meta.get(&id)?.origin.as_deref()
    }

    /// What was said in this conversation is forgotten.
    pub(super) fn forget_words(&mut self, chat: &str) {
        for origin in self.meta.values_mut().filter_map(|meta| meta.origin.as_deref_mut()) {
            if origin.chat == chat {
                (origin.prompt, origin.words) = (None, None);
            }
        }
    }

    /// Starts the time in which the agent of this review may come back.
    pub(super) fn orphan(&mut self, out: &mut Out, id: ReviewId) {
        let now_ms = out.now_ms;
        let grace_ms = self.grace_ms(out, id);
        let Some(meta) = self.meta_of(now_ms, id) else { return };
        meta.orphaned_ms = Some(now_ms);
        // At least 1 ms: a deadline that is set to `now` while deadlines are handled would never end.
        let when = now_ms + grace_ms.max(1);
        out.at(when, Due::Review(id));
    }

    /// How long the agent of this review may be away.
    fn grace_ms(&self, out: &Out, id: ReviewId) -> u64 {
        let grace_ms = out.config.agent_grace_seconds * 1000;
        let is_hook = self.get(id).is_some_and(|review| hooks::is_hook_key(&review.owner_key));
        if is_hook { grace_ms.min(HOOK_RETURN_MS) } else { grace_ms }
    }

    /// The agent of this review is there again.
    pub(super) fn set_owned(&mut self, now_ms: u64, id: ReviewId) {
        if let Some(meta) = self.meta_of(now_ms, id) {
            meta.orphaned_ms = None;
        }
    }

    /// The agent said goodbye, so its permits end.
    pub(super) fn drop_permits(&mut self, owner_key: &str) {
        self.permits.forget(owner_key, None);
    }

    /// Nothing that was accepted before counts any longer.
    pub(super) fn drop_all_permits(&mut self) {
        self.permits.forget_all();
    }

    /// Created for the first question about an existing review.
    fn meta_of(&mut self, now_ms: u64, id: ReviewId) -> Option<&mut ReviewMeta> {
        let window = self.state.review(id)?.window;
        Some(self.meta.entry(id).or_insert_with(|| ReviewMeta::new(window, now_ms)))
    }

    /// Where the file of such a review may be.
    pub(super) fn window_of_agent_write(&self, id: ReviewId) -> Option<WindowId> {
        self.agent_writes.window_of(id)
    }

    pub(super) fn agent_writes(&self) -> usize {
        self.agent_writes.len()
    }

    pub(super) fn followers(&self) -> usize {
        self.followers.len()
    }

    pub(super) fn ages(&self) -> usize {
        self.meta.len()
    }

    pub(super) fn edit_calls(&self) -> usize {
        self.edit_calls.len()
    }

    pub(super) fn disk_writes(&self) -> usize {
        self.disk_writes.len() + self.unfinished_writes.len()
    }

    /// In bytes.
    pub(super) fn largest_show(&self) -> usize {
        self.largest_show
    }

    /// For tests of large reviews.
    #[cfg(test)]
    pub(super) fn set_largest_show(&mut self, bytes: usize) {
        self.largest_show = bytes;
    }
}

/// What other parts of the core start.
impl Core {
    pub(super) fn apply(&mut self, event: review::Event) {
        let effects = self.reviews.apply(event);
        self.carry_out(effects);
    }

    pub(super) fn carry_out(&mut self, effects: Vec<Effect>) {
        effects::carry_out(self, effects);
    }

    /// An agent will not apply its patch, or somebody else was first.
    pub(super) fn patch_declined(&mut self, agent: AgentId, call: CallId, applied: bool) {
        patches::declined(self, agent, call, applied);
    }

    /// A patch was decided elsewhere; nothing if the call is not a patch.
    pub(super) fn patch_cancelled(&mut self, agent: AgentId, call: CallId) {
        patches::cancelled(self, agent, call);
    }

    /// The agent of this conversation could have asked again for what an earlier hub had not told it.
    pub(super) fn finish_left_over(&mut self, chat: &str) {
        patches::finish_all(self, chat);
    }

    /// An agent asks for changes by place.
    pub(super) fn edit(&mut self, tool: ToolCall) {
        edits::edit(self, tool);
    }

    /// The user decides, in an editor or with a command.
    pub(super) fn decide(
        &mut self,
        connection: ConnectionId,
        request: RequestId,
        name: &str,
        seen: (Option<u32>, Option<String>),
        decision: api::Decision,
    ) -> Result<(), RpcError> {
        decide::decide(self, connection, request, name, seen, decision)
    }

    /// The user edits the proposed text.
    pub(super) fn edited(
        &mut self,
        connection: ConnectionId,
        request: RequestId,
        edited: api::ReviewEdited,
    ) -> Result<(), RpcError> {
        show::edited(self, connection, request, edited)
    }

    /// The agent of a pending review is gone, or waits again: every surface shows it.
    pub(super) fn owner_changed(&mut self, id: ReviewId) {
        expire::owner_changed(self, id);
    }

    /// The agent no longer wants this change. Another agent that asked for the same may still wait for it.
    pub(super) fn withdraw_review(&mut self, agent: AgentId, review: ReviewId) {
        followers::withdraw(self, agent, review);
    }

    /// The agent no longer waits for this review; `false` if nobody else does either, and nothing is done.
    pub(super) fn leave_review(&mut self, agent: AgentId, review: ReviewId) -> bool {
        followers::leave(self, agent, review)
    }

    /// The call cannot be answered any longer, and the user has decided: the decision is being recorded, or later.
    pub(super) fn leave_decided_review(&mut self, agent: AgentId, call: CallId, review: ReviewId) {
        followers::leave_decided(self, agent, call, review);
    }

    /// Nobody can be told the outcome of this review. If its agent should write, an accept that is being recorded is
    /// refused.
    pub(super) fn review_not_awaited(&mut self, review: ReviewId) {
        self.apply(review::Event::NotAwaited { review });
        if self.reviews.get(review).is_some_and(|review| review.owner.is_none()) {
            self.reviews.orphan(&mut self.out, review);
        }
    }

    /// Other agents that asked for the same changes as this one own their reviews from now on.
    pub(super) fn hand_over_reviews(&mut self, agent: AgentId) {
        followers::hand_over_all(self, agent);
    }

    /// One of the agents that wait for this outcome has received it, or is gone.
    pub(super) fn outcome_arrived(&mut self, review: ReviewId) {
        followers::outcome_arrived(self, review);
    }

    /// About what is not recorded, or was before.
    pub(super) fn tell_watchers_of(&mut self, id: ReviewId, change: api::ReviewChange) {
        news::tell_watchers_of(self, id, change);
    }

    /// An editor answered to `edits/apply`.
    pub(super) fn edits_applied(
        &mut self,
        id: ReviewId,
        save: bool,
        answer: Result<api::EditsApplyResult, NoAnswer>,
    ) {
        write::edits_applied(self, id, save, answer);
    }

    /// The editor that writes this change is late. Only that it is done can be seen: it may still do it.
    pub(super) fn look_whether_written(&mut self, review: ReviewId, save: bool) {
        write::look_whether_written(self, review, save);
    }

    /// Continues the writes of an earlier hub whose editor is back, or will not come back.
    pub(super) fn continue_writes(&mut self, of: impl Fn(&Review) -> bool) {
        write::continue_writes(self, of);
    }
}
