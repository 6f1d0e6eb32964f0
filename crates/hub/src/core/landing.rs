//! Whether the agent wrote what it was told that was accepted. Where agents write, "accepted" is only half of it: an
//! agent may refuse, fail or die. The hub looks at the file until it holds the accepted bytes, more and more rarely,
//! and tells the user if it does not. It looks in the same way where nobody waits for a pending change: its agent may
//! have been told to write it in its own terminal.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use linkspan_editor_api as api;
use linkspan_editor_api::{ReviewChange, WindowEvent};
use linkspan_review as review;
use linkspan_review::{
    Ended, Format, Outcome, Phase, Review, ReviewId, SharedBytes, WindowId, Writer, landed,
};

use super::Core;
use super::base::BaseWanted;
use super::editor::Resume;
use super::event::Action;
use super::present::{self, asker};
use super::timers::{Due, TimerId};
use crate::files::FileState;
use crate::journal::Unseen;

/// When the file is looked at after the agent was told, each time counted from the time before.
const LOOKS_MS: [u64; 11] = [30, 70, 150, 250, 500, 1_000, 2_000, 4_000, 12_000, 30_000, 60_000];

/// A user may take long to answer a terminal: as long as the change is pending, the file is looked at this often.
const PENDING_LOOK_MS: u64 = 5_000;

/// After this look the user is told that the file does not hold it: four seconds.
const TOLD_AFTER_LOOK: usize = 7;

/// Each holds the bytes of a file before and after; of more, the oldest are not looked at any longer.
const LANDINGS_MOST: usize = 64;

/// Changes that their agents write, or may have written.
#[derive(Debug, Default)]
pub(super) struct Landings {
    expected: BTreeMap<ReviewId, Landing>,
    /// Of these, questions about the past wait for the look that is under way.
    awaited: BTreeSet<ReviewId>,
}

#[derive(Debug)]
struct Landing {
    window: WindowId,
    path: PathBuf,
    agent: String,
    writer: Writer,
    before: Option<SharedBytes>,
    accepted: SharedBytes,
    /// The hub told the agent. If not, the change is pending and nobody waits for it.
    told: bool,
    looks: usize,
    timer: TimerId,
}

impl Landings {
    pub(super) fn window_of(&self, id: ReviewId) -> Option<WindowId> {
        self.expected.get(&id).map(|landing| landing.window)
    }

    pub(super) fn len(&self) -> usize {
        self.expected.len()
    }
}

impl Core {
    /// The agent hears that it may write. Also for a decision of an earlier hub.
    pub(super) fn expect_on_disk(&mut self, id: ReviewId, outcome: &Outcome) {
        let review = self.state.review(id);
        if let Some(accepted) = review.and_then(|review| accepted_for_agent(review, outcome)) {
            self.expect(id, accepted, true);
        }
    }

    /// Nobody waits for this pending change. If the file comes to hold it, it was decided elsewhere.
    pub(super) fn expect_unasked(&mut self, id: ReviewId) {
        let undecided = |review: &&Review| review.nobody_would_write() && review.outcome().is_none();
        let Some(review) = self.state.review(id).filter(undecided) else { return };
        let format = review.base.as_ref().map_or(Format::UTF8, |base| base.format);
        if let Ok(proposed) = format.encode_shared(&review.proposed) {
            self.expect(id, proposed, false);
        }
    }

    /// Its agent waits again: what the file holds says nothing about a decision.
    pub(super) fn asked_again(&mut self, id: ReviewId) {
        if self.landings.expected.get(&id).is_some_and(|landing| !landing.told)
            && let Some(landing) = self.landings.expected.remove(&id)
        {
            self.timers.cancel(landing.timer);
        }
    }

    fn expect(&mut self, id: ReviewId, accepted: SharedBytes, told: bool) {
        let Some(review) = self.state.review(id) else { return };
        let before = review.base.as_ref().and_then(|base| base.encode().ok());
        let (window, path) = (review.window, review.path.clone());
        let agent = asker(&review.owner_key).1.to_owned();
        if let Some(earlier) = self.landings.expected.remove(&id) {
            self.timers.cancel(earlier.timer);
        }
        if self.landings.expected.len() >= LANDINGS_MOST
            && let Some((_, oldest)) = self.landings.expected.pop_first()
        {
            self.timers.cancel(oldest.timer);
        }
        let timer = self.timers.add(self.now_ms + LOOKS_MS[0], Due::Landing(id));
        let writer = review.writer;
        let landing = Landing { window, path, agent, writer, before, accepted, told, looks: 0, timer };
        self.landings.expected.insert(id, landing);
    }

    /// What an earlier hub told agents to write, and did not see in the file. The user was told then.
    pub(super) fn expect_unseen(&mut self, unseen: Vec<Unseen>) {
        for Unseen { review, window, path, agent, writer, before, accepted } in unseen {
            let timer = self.timers.add(self.now_ms + LOOKS_MS[0], Due::Landing(review));
            let looks = TOLD_AFTER_LOOK;
            let told = true;
            let landing = Landing { window, path, agent, writer, before, accepted, told, looks, timer };
            self.landings.expected.insert(review, landing);
        }
    }

    pub(super) fn landing_due(&mut self, id: ReviewId) {
        if let Some(path) = self.landings.expected.get(&id).map(|landing| landing.path.clone()) {
            self.read_base(BaseWanted::Landing(id), path);
        }
    }

    /// Before anyone is told of the past: what is in the files by now is known by then.
    pub(super) fn look_at_landings(&mut self) {
        let expected = self.landings.expected.iter().filter(|(_, landing)| landing.told);
        let expected: Vec<ReviewId> = expected.map(|(id, _)| *id).collect();
        for id in expected {
            if self.landings.awaited.insert(id) {
                self.history.looking += 1;
                self.landing_due(id);
            }
        }
    }

    /// `None`: the file could not be read.
    pub(super) fn landing_read(&mut self, id: ReviewId, file: Option<FileState>) {
        self.landing_looked_at(id, file);
        if self.landings.awaited.remove(&id) {
            self.looked_at_file();
        }
    }

    fn landing_looked_at(&mut self, id: ReviewId, file: Option<FileState>) {
        let Some(landing) = self.landings.expected.get_mut(&id) else { return };
        let now = file.filter(|file| file.exists).map(|file| file.bytes);
        if landing.is_in(now.as_deref()) {
            return self.seen_on_disk(id);
        }
        // Someone wanted to know before it was time.
        if self.landings.awaited.contains(&id) {
            return;
        }
        landing.looks += 1;
        let (looks, told) = (landing.looks, landing.told);
        let pending = !told && self.state.review(id).is_some_and(Review::nobody_would_write);
        let wait_ms = match LOOKS_MS.get(looks).copied() {
            wait_ms if pending => Some(wait_ms.unwrap_or(PENDING_LOOK_MS).min(PENDING_LOOK_MS)),
            wait_ms => wait_ms,
        };
        match wait_ms {
            Some(wait_ms) => {
                landing.timer = self.timers.add(self.now_ms + wait_ms, Due::Landing(id));
            }
            None => drop(self.landings.expected.remove(&id)),
        }
        if looks == TOLD_AFTER_LOOK && told {
            self.tell_not_on_disk(id);
        }
    }

    /// A file was read for another reason: whatever its agent wrote there is known now, before it changes again.
    pub(super) fn landed_in(&mut self, path: &Path, holds: Option<&[u8]>) {
        let there = self.landings.expected.iter();
        let there = there.filter(|(_, landing)| landing.path == path && landing.is_in(holds));
        let there: Vec<ReviewId> = there.map(|(id, _)| *id).collect();
        for id in there {
            self.seen_on_disk(id);
        }
    }

    fn seen_on_disk(&mut self, id: ReviewId) {
        let Some(landing) = self.landings.expected.remove(&id) else { return };
        self.timers.cancel(landing.timer);
        if !landing.told {
            let pending = |review: &Review| review.nobody_would_write() && review.phase == Phase::Pending;
            if self.state.review(id).is_some_and(pending) {
                tracing::info!("{id}: {} holds it already, so it is withdrawn", landing.path.display());
                self.apply(review::Event::Withdrawn { review: id });
            }
            return;
        }
        self.act(Action::RecordOnDisk { review: id });
        self.tell_landing(id, landing.window, &landing.path, ReviewChange::OnDisk);
    }

    fn tell_not_on_disk(&mut self, id: ReviewId) {
        let Some(landing) = self.landings.expected.get(&id) else { return };
        let (window, path) = (landing.window, landing.path.clone());
        let name = api::visible::name(&landing.agent);
        tracing::warn!("{id}: {name} was told to write {} and has not", path.display());
        self.tell_landing(id, window, &path, ReviewChange::NotOnDisk);
        let Some(local) = self.windows.get(&window).filter(|window| window.capabilities.messages) else {
            return;
        };
        let Some(local) = local.local else { return };
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let file = api::visible::name(&file);
        let text = format!(
            "{id} is accepted, but {file} does not hold it: {name} has not written it. Look at the agent's terminal."
        );
        let level = api::MessageLevel::Warning;
        self.ask(local, &api::StatusMessage { text, level }, Resume::Ignore);
    }

    fn tell_landing(&mut self, id: ReviewId, window: WindowId, path: &Path, change: ReviewChange) {
        if self.watchers.is_empty() || self.keeps_back(window, path) {
            return;
        }
        let review = self.state.review(id);
        let summary = review.map(|review| present::summary(review, self.age_of(review)));
        let path = path.display().to_string();
        self.publish(window, WindowEvent::Review { review: id.to_string(), path, change, summary });
    }
}

impl Landing {
    fn is_in(&self, now: Option<&[u8]>) -> bool {
        landed(self.writer, self.before.as_deref(), &self.accepted, now).is_some()
    }
}

fn accepted_for_agent(review: &Review, outcome: &Outcome) -> Option<SharedBytes> {
    match &outcome.ended {
        Ended::Accepted(accepted) if review.writer.is_agent() && !review.written_here => {
            Some(accepted.bytes.clone())
        }
        _ => None,
    }
}
