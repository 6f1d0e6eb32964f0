//! Whether an agent has written the change that was accepted. Where agents write, "accepted" is only half of it: an agent
//! may refuse, fail or die. The hub reads the file, less and less often, until it holds the accepted bytes, and notifies
//! the user if it does not. A pending change without an agent is watched in the same way: the agent may have been told in
//! its own terminal to write it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use linkspan_editor_api as api;
use linkspan_editor_api::{ReviewChange, WindowEvent};
use linkspan_review as review;
use linkspan_review::{
    Comment, Format, Outcome, Phase, Review, ReviewEnd, ReviewId, SharedBytes, WindowId, Writer,
    compare_written,
};

use crate::core::Core;
use crate::core::contract::{Action, FileState, UnseenWrite};
use crate::core::convert::{self, asker};
use crate::core::out::Out;
use crate::core::pending::ReadPurpose;
use crate::core::reviews::news;
use crate::core::timers::{Due, TimerId};

/// When the file is read after the agent received its answer, each time counted from the time before.
const LOOKS_MS: [u64; 11] = [30, 70, 150, 250, 500, 1_000, 2_000, 4_000, 12_000, 30_000, 60_000];

/// A user may take long to answer in a terminal: as long as the change is pending, the file is read this often.
const PENDING_LOOK_MS: u64 = 5_000;

/// After this read the user is notified that the file does not hold the change: four seconds.
const WARNED_AFTER_LOOK: usize = 7;

/// Each has the bytes of a file before and after. Beyond this number, the oldest are no longer watched.
const AGENT_WRITES_MOST: usize = 64;

/// Changes that their agents write, or may have written.
#[derive(Debug, Default)]
pub(super) struct AgentWrites {
    expected: BTreeMap<ReviewId, AgentWrite>,
    /// Queries about past changes wait for the reads of these.
    awaited: BTreeSet<ReviewId>,
}

#[derive(Debug)]
struct AgentWrite {
    window: WindowId,
    path: PathBuf,
    owner_key: String,
    writer: Writer,
    before: Option<SharedBytes>,
    accepted: SharedBytes,
    /// The agent received its answer. If not, the change is pending and no agent waits for it.
    answered: bool,
    /// A second question about this change was answered by the same decision. There is only one.
    answered_twice: bool,
    /// What the user wrote to the agent.
    comments: Vec<Comment>,
    /// When this was expected first, by any hub.
    since_ms: i64,
    looks: usize,
    timer: TimerId,
}

impl AgentWrite {
    fn is_in(&self, now: Option<&[u8]>) -> bool {
        compare_written(self.writer, self.before.as_deref(), &self.accepted, now).is_some()
    }
}

impl AgentWrites {
    pub(super) fn window_of(&self, id: ReviewId) -> Option<WindowId> {
        self.expected.get(&id).map(|write| write.window)
    }

    pub(super) fn len(&self) -> usize {
        self.expected.len()
    }

    fn expect(&mut self, out: &mut Out, review: &Review, accepted: SharedBytes, answered: bool) {
        let id = review.id;
        let answered_twice = self.remove(out, id).is_some_and(|write| write.answered_twice);
        let outcome = review.outcome().filter(|_| answered);
        if self.expected.len() >= AGENT_WRITES_MOST
            && let Some((_, oldest)) = self.expected.pop_first()
        {
            out.cancel(oldest.timer);
        }
        let write = AgentWrite {
            window: review.window,
            path: review.path.clone(),
            owner_key: review.owner_key.clone(),
            writer: review.writer,
            before: review.base.as_ref().and_then(|base| base.encode().ok()),
            accepted,
            answered,
            answered_twice,
            comments: outcome.map(|outcome| outcome.comments.clone()).unwrap_or_default(),
            since_ms: out.now_ms.cast_signed(),
            looks: 0,
            timer: out.after(LOOKS_MS[0], Due::AgentWrite(id)),
        };
        self.expected.insert(id, write);
    }

    /// What an earlier hub told an agent to write, and did not see in the file. The user was notified then.
    fn expect_unseen(&mut self, out: &mut Out, unseen: UnseenWrite) {
        let UnseenWrite { review, window, path, owner_key, decided_ms, writer, before, accepted } = unseen;
        let since_ms = out.now_ms.cast_signed().saturating_sub_unsigned(decided_ms);
        let timer = out.after(LOOKS_MS[0], Due::AgentWrite(review));
        let (looks, answered) = (WARNED_AFTER_LOOK, true);
        let write = AgentWrite {
            window,
            path,
            owner_key,
            writer,
            before,
            accepted,
            answered,
            answered_twice: false,
            comments: Vec::new(),
            since_ms,
            looks,
            timer,
        };
        self.expected.insert(review, write);
    }

    fn remove(&mut self, out: &mut Out, id: ReviewId) -> Option<AgentWrite> {
        let write = self.expected.remove(&id)?;
        out.cancel(write.timer);
        Some(write)
    }

    /// Somebody else writes it.
    pub(super) fn forget(&mut self, out: &mut Out, id: ReviewId) {
        self.remove(out, id);
    }

    /// The agent waits again, so what the file holds tells nothing about a decision.
    pub(super) fn agent_is_back(&mut self, out: &mut Out, id: ReviewId) {
        if self.expected.get(&id).is_some_and(|write| !write.answered) {
            self.remove(out, id);
        }
    }

    /// Those of these files that a query about past changes has to wait for, from now on.
    fn await_all(&mut self, meant: impl Fn(&Path) -> bool) -> Vec<ReviewId> {
        let answered = self.expected.iter().filter(|(_, write)| write.answered && meant(&write.path));
        answered.map(|(id, _)| *id).filter(|id| self.awaited.insert(*id)).collect()
    }

    /// The accepted change that an agent is about to write over `before`, with exactly this result, and what the user
    /// wrote about it. `meant` is given the key of that agent. Each is found once: one decision answers one further
    /// question.
    pub(super) fn take_accepted(
        &mut self,
        (path, before, accepted): (&Path, Option<&SharedBytes>, &SharedBytes),
        since_ms: i64,
        meant: impl Fn(&str) -> bool,
    ) -> Option<(ReviewId, Vec<Comment>)> {
        let (id, write) = self.expected.iter_mut().rev().find(|(_, write)| {
            write.answered
                && !write.answered_twice
                && write.writer.is_agent()
                && write.since_ms >= since_ms
                && write.path == path
                && write.before.as_ref() == before
                && write.accepted == *accepted
                && meant(&write.owner_key)
        })?;
        write.answered_twice = true;
        Some((*id, write.comments.clone()))
    }

    /// Another agent received this decision: it answers no further question.
    pub(super) fn set_answered_twice(&mut self, id: ReviewId) {
        if let Some(write) = self.expected.get_mut(&id) {
            write.answered_twice = true;
        }
    }

    pub(super) fn is_expected_in(&self, path: &Path) -> bool {
        self.expected.values().any(|write| write.answered && write.path == path)
    }

    /// The changes that this file holds now.
    fn in_file(&self, path: &Path, holds: Option<&[u8]>) -> Vec<ReviewId> {
        let there = self.expected.iter().filter(|(_, write)| write.path == path && write.is_in(holds));
        there.map(|(id, _)| *id).collect()
    }

    /// The file does not hold the change yet: it is read again later, or no longer. Returns whether the user is to be
    /// notified.
    fn not_yet(&mut self, out: &mut Out, id: ReviewId, is_pending: bool) -> bool {
        // It was read before its time, for a query.
        if self.awaited.contains(&id) {
            return false;
        }
        let Some(write) = self.expected.get_mut(&id) else { return false };
        write.looks += 1;
        let (looks, answered) = (write.looks, write.answered);
        let wait_ms = match LOOKS_MS.get(looks).copied() {
            wait_ms if !answered && is_pending => {
                Some(wait_ms.unwrap_or(PENDING_LOOK_MS).min(PENDING_LOOK_MS))
            }
            wait_ms => wait_ms,
        };
        match wait_ms {
            Some(wait_ms) => write.timer = out.after(wait_ms, Due::AgentWrite(id)),
            None => drop(self.expected.remove(&id)),
        }
        looks == WARNED_AFTER_LOOK && answered
    }
}

/// The agent receives the answer that it may write. Also for a decision of an earlier hub.
pub(super) fn expect_decided(core: &mut Core, id: ReviewId) {
    let Some(review) = core.reviews.state.review(id) else { return };
    let accepted = review.outcome().and_then(|outcome| accepted_for_agent(review, outcome));
    if let Some(accepted) = accepted {
        core.reviews.agent_writes.expect(&mut core.out, review, accepted, true);
    }
}

/// No agent waits for this pending change. If the file comes to hold it, it was decided elsewhere.
pub(super) fn expect_pending(core: &mut Core, id: ReviewId) {
    let undecided = |review: &&Review| review.lacks_writer() && review.outcome().is_none();
    let Some(review) = core.reviews.state.review(id).filter(undecided) else { return };
    let format = review.base.as_ref().map_or(Format::UTF8, |base| base.format);
    if let Ok(proposed) = format.encode_shared(&review.proposed) {
        core.reviews.agent_writes.expect(&mut core.out, review, proposed, false);
    }
}

/// An agent reports that it edited the file of this pending change. If the file holds the change now, it was decided
/// elsewhere, although its agent still waits.
pub(in crate::core) fn look_at_pending(core: &mut Core, id: ReviewId) {
    let pending = |review: &&Review| review.writer.is_agent() && review.phase == Phase::Pending;
    let Some(review) = core.reviews.state.review(id).filter(pending) else { return };
    let format = review.base.as_ref().map_or(Format::UTF8, |base| base.format);
    let Ok(proposed) = format.encode_shared(&review.proposed) else { return };
    core.reviews.agent_writes.expect(&mut core.out, review, proposed, false);
    read_again(core, id);
}

pub(in crate::core) fn expect_unseen(core: &mut Core, unseen: Vec<UnseenWrite>) {
    for unseen in unseen {
        core.reviews.agent_writes.expect_unseen(&mut core.out, unseen);
    }
}

pub(in crate::core) fn read_again(core: &mut Core, id: ReviewId) {
    if let Some(path) = core.reviews.agent_writes.expected.get(&id).map(|write| write.path.clone()) {
        core.read_base(ReadPurpose::AgentWrite(id), path);
    }
}

/// Before a query about past changes: what agents have written by now is known by then.
pub(in crate::core) fn read_all(core: &mut Core) {
    read_those(core, |_| true);
}

/// An agent says that it has written these files.
pub(in crate::core) fn read_those(core: &mut Core, meant: impl Fn(&Path) -> bool) {
    for id in core.reviews.agent_writes.await_all(meant) {
        core.history.begin_look();
        read_again(core, id);
    }
}

/// `None`: the file could not be read.
pub(in crate::core) fn file_read(core: &mut Core, id: ReviewId, file: Option<FileState>) {
    look(core, id, file);
    if core.reviews.agent_writes.awaited.remove(&id) {
        core.looked_at_file();
    }
}

fn look(core: &mut Core, id: ReviewId, file: Option<FileState>) {
    let Some(write) = core.reviews.agent_writes.expected.get(&id) else { return };
    let now = file.filter(|file| file.exists).map(|file| file.bytes);
    if write.is_in(now.as_deref()) {
        return seen_in_file(core, id);
    }
    let is_pending = core.reviews.get(id).is_some_and(Review::lacks_writer);
    if core.reviews.agent_writes.not_yet(&mut core.out, id, is_pending) {
        notify_not_written(core, id);
    }
}

/// A file was read for another reason: what its agent wrote there is known now, before it changes again.
pub(in crate::core) fn file_seen(core: &mut Core, path: &Path, holds: Option<&[u8]>) {
    for id in core.reviews.agent_writes.in_file(path, holds) {
        seen_in_file(core, id);
    }
}

fn seen_in_file(core: &mut Core, id: ReviewId) {
    let Some(write) = core.reviews.agent_writes.remove(&mut core.out, id) else { return };
    if !write.answered {
        let pending = |review: &Review| review.writer.is_agent() && review.phase == Phase::Pending;
        if core.reviews.get(id).is_some_and(pending) {
            tracing::info!("{id} is withdrawn, because {} already holds it", write.path.display());
            core.apply(review::Event::Withdrawn { review: id });
        }
        return;
    }
    core.out.push(Action::RecordOnDisk { review: id });
    publish(core, id, write.window, &write.path, ReviewChange::OnDisk);
    if let Some(left) = core.reviews.meta.get_mut(&id).and_then(|meta| meta.left_over.as_mut()) {
        left.unseen = false;
    }
}

fn notify_not_written(core: &mut Core, id: ReviewId) {
    let Some(write) = core.reviews.agent_writes.expected.get(&id) else { return };
    let (window, path) = (write.window, write.path.clone());
    let name = api::visible::name(asker(&write.owner_key).1);
    tracing::warn!("{id} was accepted, but {name} has not written it to {}", path.display());
    publish(core, id, window, &path, ReviewChange::NotOnDisk);
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let file = api::visible::name(&file);
    let text = format!(
        "{id} is accepted, but {file} does not hold it: {name} has not written it. Look at the agent's terminal."
    );
    news::warn_in_editor(core, window, text);
}

fn publish(core: &mut Core, id: ReviewId, window: WindowId, path: &Path, change: ReviewChange) {
    if core.connections.watchers() == 0 || core.windows.is_denied(&core.out, window, path) {
        return;
    }
    let review = core.reviews.get(id);
    let summary = review.map(|review| {
        let age = core.reviews.age_of(core.out.now_ms, review);
        convert::summary(review, age, core.agents.receives_of(review))
    });
    let path = path.display().to_string();
    let event = WindowEvent::Review { review: id.to_string(), path, change, summary };
    core.connections.publish(&mut core.out, window, event);
}

fn accepted_for_agent(review: &Review, outcome: &Outcome) -> Option<SharedBytes> {
    match &outcome.ended {
        ReviewEnd::Accepted(accepted) if review.writer.is_agent() && !review.written_here => {
            Some(accepted.bytes.clone())
        }
        _ => None,
    }
}
