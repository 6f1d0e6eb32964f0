//! Writing an accepted change, where that is ours to do: through the editor that has the file open, else to the disk;
//! and finding out what happened when nobody could tell us.

use linkspan_dialect::Failure;
use linkspan_editor_api as api;
use linkspan_review as review;
use linkspan_review::{Effect, Phase, Review, ReviewId, Text};

use super::Core;
use super::base::{BaseWanted, Buffer, READ_SECONDS};
use super::editor::{NoAnswer, Resume};
use super::event::Action;
use super::timers::{Due, TimerId};
use crate::files::{Replacement, WriteError};

/// Saving runs formatters and whatever else a person has set up for it.
pub(super) const SAVE_MS: u32 = 25_000;

/// How often the file is looked at while whoever writes it is late.
pub(super) const LOOK_AGAIN_MS: u64 = 10_000;

/// How long a late answer is waited for. What was not heard of by then is told as not known.
const LATE_MS: u64 = 120_000;

/// A write that the disk has not answered.
#[derive(Debug, Clone, Copy)]
pub(super) struct OnDisk {
    deadline: TimerId,
    /// Until then a late answer is waited for.
    until_ms: u64,
}

impl Core {
    pub(super) fn remember_buffer(&mut self, review: ReviewId, buffer: Option<Buffer>) {
        if let Some(age) = self.ages.get_mut(&review) {
            age.buffer = buffer;
        }
    }

    /// An open document is changed by its editor, so that the person can undo it there; a file that was saved
    /// is saved again. Everything else is replaced on disk, and so is what the editor could not hold to the byte.
    pub(super) fn write(&mut self, id: ReviewId, replacement: Replacement) {
        let buffer = self.ages.get_mut(&id).and_then(|age| age.buffer.take());
        let review = self.state.review(id);
        let text = review.and_then(|review| match &review.phase {
            Phase::Writing(decided) => Some(decided.text.clone()),
            _ => None,
        });
        let held = review.and_then(Review::held);
        let held = held.as_ref().map_or("", |held| &held.text);
        let buffer = buffer.filter(|buffer| text.as_ref().is_some_and(|text| buffer.can_take(text, held)));
        let window = review.and_then(|review| self.windows.get(&review.window));
        let editor = window
            .filter(|window| window.capabilities.edits)
            .and_then(|window| Some((window.local?, window.as_named(&replacement.path))));
        let away = review.is_some_and(|review| self.editor_is_away(review.window));
        match (buffer, editor, text) {
            (Some(_), None, Some(_)) if away => self.look_again(id, false, None),
            (Some(Buffer { version, dirty, .. }), Some((local, named)), Some(text)) => {
                let path = named.display().to_string();
                let save = !dirty;
                let edits = api::Edits::Text { text: text.into_string() };
                let apply = api::EditsApply { path, version, edits, save };
                let more_ms = if save { SAVE_MS } else { 0 };
                let until_ms = self.now_ms + LATE_MS;
                self.ask_and_wait(local, &apply, Resume::Applied { review: id, save, until_ms }, more_ms);
            }
            _ => {
                let when = self.now_ms + READ_SECONDS * 1000;
                let deadline = self.timers.add(when, Due::Write(id));
                let on_disk = OnDisk { deadline, until_ms: self.now_ms + LATE_MS };
                if let Some(earlier) = self.writing.insert(id, on_disk) {
                    self.timers.cancel(earlier.deadline);
                }
                self.act(Action::WriteFile { review: id, replacement });
            }
        }
    }

    pub(super) fn write_timed_out(&mut self, id: ReviewId) {
        let Some(on_disk) = self.writing.get_mut(&id) else { return };
        if self.now_ms < on_disk.until_ms {
            on_disk.deadline = self.timers.add(self.now_ms + LOOK_AGAIN_MS, Due::Write(id));
            return self.look_whether_written(id, false);
        }
        self.writing.remove(&id);
        self.not_known(id, "the disk");
    }

    /// It was waited for long enough, and may happen all the same.
    fn not_known(&mut self, review: ReviewId, who: &str) {
        let seconds = LATE_MS / 1000;
        let error = format!("{who} did not answer within {seconds} s; look at the file");
        self.apply(review::Event::WriteFailed { review, error: review::WriteError::Unknown(error) });
    }

    /// Whoever writes is late. Only that it is done can be seen: what is not done may yet be.
    pub(super) fn look_whether_written(&mut self, review: ReviewId, save: bool) {
        let writing = |review: &&Review| matches!(review.phase, Phase::Writing(_));
        if let Some(path) = self.state.review(review).filter(writing).map(|review| review.path.clone()) {
            self.read_base(BaseWanted::LateWrite { review, save }, path);
        }
    }

    pub(super) fn looked_whether_written(&mut self, id: ReviewId, now: Option<&Text>) {
        let wanted = self.state.review(id).and_then(|review| match &review.phase {
            Phase::Writing(decided) => Some(&decided.text),
            _ => None,
        });
        if wanted.is_some() && now.map(|now| &now.text) == wanted {
            if let Some(on_disk) = self.writing.remove(&id) {
                self.timers.cancel(on_disk.deadline);
            }
            self.apply(review::Event::Written { review: id });
        }
    }

    pub(super) fn edits_applied(
        &mut self,
        id: ReviewId,
        save: bool,
        answer: Result<api::EditsApplyResult, NoAnswer>,
    ) {
        match answer {
            Ok(applied) if applied.applied && (applied.saved || !save) => {
                self.apply(match applied.text {
                    Some(text) => review::Event::SavedAs { review: id, text },
                    None => review::Event::Written { review: id },
                });
                if self.state.review(id).is_some_and(|review| matches!(review.phase, Phase::Writing(_))) {
                    let error =
                        "the editor says it saved what the file's encoding cannot hold; look at it there";
                    self.look_again(id, save, Some(error.to_owned()));
                }
            }
            Ok(applied) if applied.applied => {
                let error = "the editor holds the change but could not save it; save it there".to_owned();
                let error = review::WriteError::Io(error);
                self.apply(review::Event::WriteFailed { review: id, error });
            }
            // The document moved on; if it did not, there is no use in trying again.
            Ok(_) => {
                self.look_again(id, save, Some("the editor does not let the document be changed".to_owned()))
            }
            // Its editor is gone: from the beginning, with what there is when it is back.
            Err(NoAnswer::Gone) => self.look_again(id, false, None),
            Err(NoAnswer::TimedOut) => self.not_known(id, "the editor"),
            Err(no_answer) => self.look_again(id, save, Some(no_answer.message())),
        }
    }

    /// What the file holds decides, not what we think happened.
    fn look_again(&mut self, review: ReviewId, save: bool, failed: Option<String>) {
        if let Some(path) = self.state.review(review).map(|review| review.path.clone()) {
            self.read_base(BaseWanted::Write { review, save, failed }, path);
        }
    }

    /// A hub that died while it wrote goes on when the window is back: its editor may hold unsaved text. A window
    /// that does not come back holds none.
    pub(super) fn write_when_back(&mut self, writes: &[Effect]) {
        self.unfinished_writes.extend(writes.iter().filter_map(|effect| match effect {
            Effect::Write { review, .. } => Some(*review),
            _ => None,
        }));
        if !self.unfinished_writes.is_empty() {
            self.timers.add(self.config.window_grace_seconds * 1000, Due::Writes);
        }
    }

    pub(super) fn go_on_writing(&mut self, of: impl Fn(&Review) -> bool) {
        let unfinished = std::mem::take(&mut self.unfinished_writes);
        let (ready, later): (Vec<ReviewId>, Vec<ReviewId>) =
            unfinished.into_iter().partition(|id| self.state.review(*id).is_some_and(&of));
        self.unfinished_writes = later;
        for id in ready {
            self.look_again(id, false, None);
        }
    }

    pub(super) fn write_in_doubt(
        &mut self,
        id: ReviewId,
        now: Result<Option<Text>, Failure>,
        unsaved: bool,
        failed: Option<String>,
    ) {
        let result = self.state.review(id).and_then(|review| match &review.phase {
            Phase::Writing(decided) => Some(decided.text.clone()),
            _ => None,
        });
        let base = self.state.review(id).and_then(Review::held);
        let io = |error| review::Event::WriteFailed { review: id, error: review::WriteError::Io(error) };
        self.apply(match (now, failed) {
            // The editor holds it, but was to save it too and has not.
            (Ok(Some(now)), Some(error)) if Some(&now.text) == result.as_ref() && unsaved => io(error),
            (Ok(Some(now)), _) if Some(&now.text) == result.as_ref() => review::Event::Written { review: id },
            (Ok(now), Some(error)) if now == base => io(error),
            (Ok(now), _) => {
                review::Event::WriteFailed { review: id, error: review::WriteError::BaseMoved(now) }
            }
            (Err(failure), _) => io(failure.message),
        });
    }

    pub(super) fn file_written(&mut self, id: ReviewId, result: Result<(), WriteError>) {
        // Too late, if it is not waited for any more: what the file held has decided.
        let Some(on_disk) = self.writing.remove(&id) else { return };
        self.timers.cancel(on_disk.deadline);
        self.apply(match result {
            Ok(()) => review::Event::Written { review: id },
            Err(WriteError::BaseMoved(bytes)) => {
                match bytes.as_deref().map(linkspan_review::decode).transpose() {
                    Ok(now) => {
                        review::Event::WriteFailed { review: id, error: review::WriteError::BaseMoved(now) }
                    }
                    Err(error) => review::Event::WriteFailed {
                        review: id,
                        error: review::WriteError::Io(error.to_string()),
                    },
                }
            }
            Err(WriteError::Failed(error)) => {
                review::Event::WriteFailed { review: id, error: review::WriteError::Io(error.to_string()) }
            }
        });
    }
}
