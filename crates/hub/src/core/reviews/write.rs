//! Writes accepted changes that are the hub's to write: through the editor that has the file open, else to the disk. If
//! there is no answer, the file is read to find out what happened.

use linkspan_dialect::Failure;
use linkspan_editor_api as api;
use linkspan_review as review;
use linkspan_review::{Effect, Phase, Review, ReviewId, Text};

use crate::core::Core;
use crate::core::contract::{Action, Replacement, WriteError};
use crate::core::files::{Base, Buffer, READ_SECONDS};
use crate::core::pending::{AfterAnswer, LATE_MS, LATE_WRITE_MS, LateWrite, NoAnswer, ReadPurpose};
use crate::core::reviews::{news, patches};
use crate::core::timers::{Due, TimerId};

/// Saving runs formatters and whatever else is set up for it.
pub(in crate::core) const SAVE_MS: u32 = 25_000;

/// Whether a write whose file is looked at may have been done.
const MAYBE_WRITTEN: bool = true;
const NOT_WRITTEN: bool = false;

/// A write that the disk has not answered.
#[derive(Debug, Clone, Copy)]
pub(in crate::core) struct DiskWrite {
    deadline: TimerId,
    late: LateWrite,
}

pub(super) fn remember_buffer(core: &mut Core, review: ReviewId, buffer: Option<Buffer>) {
    if let Some(meta) = core.reviews.meta.get_mut(&review) {
        meta.buffer = buffer;
    }
}

/// An open document is changed by its editor, so that the user can undo it there; if it was saved, it is saved again.
/// Everything else is replaced on disk, including texts that the editor would not keep byte for byte.
pub(super) fn write(core: &mut Core, id: ReviewId, replacement: Replacement) {
    let buffer = core.reviews.meta.get_mut(&id).and_then(|meta| meta.buffer.take());
    let review = core.reviews.get(id);
    let text = review.and_then(|review| match &review.phase {
        Phase::Writing(decided) => Some(decided.text.clone()),
        _ => None,
    });
    let held = review.and_then(Review::held);
    let held = held.as_ref().map_or("", |held| &held.text);
    let buffer = buffer.filter(|buffer| text.as_ref().is_some_and(|text| buffer.can_take(text, held)));
    let window = review.and_then(|review| core.windows.get(&review.window));
    let editor = window
        .filter(|window| window.capabilities.edits)
        .and_then(|window| Some((window, window.connection?)));
    let away = review.is_some_and(|review| core.windows.editor_is_away(review.window));
    match (buffer, editor, text) {
        (Some(_), None, Some(_)) if away => look_again(core, id, false, None, NOT_WRITTEN),
        (Some(Buffer { version, dirty, .. }), Some((window, connection)), Some(text)) => {
            let path = window.editor_path(&replacement.path).display().to_string();
            let save = !dirty;
            let edits = window.document_edits(held, &text);
            let apply = api::EditsApply { path, version, edits, save };
            let more_ms = if save { SAVE_MS } else { 0 };
            let late = LateWrite::new(core.out.now_ms);
            core.ask_and_wait(
                connection,
                &apply,
                AfterAnswer::EditsApplied { review: id, save, late },
                more_ms,
            );
        }
        _ => {
            let when = core.out.now_ms + READ_SECONDS * 1000;
            let deadline = core.out.at(when, Due::Write(id));
            let on_disk = DiskWrite { deadline, late: LateWrite::new(core.out.now_ms) };
            if let Some(earlier) = core.reviews.disk_writes.insert(id, on_disk) {
                core.out.cancel(earlier.deadline);
            }
            core.out.push(Action::WriteFile { review: id, replacement });
        }
    }
}

pub(in crate::core) fn write_timed_out(core: &mut Core, id: ReviewId) {
    let Some(on_disk) = core.reviews.disk_writes.get_mut(&id) else { return };
    if on_disk.late.waits_longer(core.out.now_ms) {
        on_disk.deadline = core.out.after(LATE_WRITE_MS, Due::Write(id));
        return look_whether_written(core, id, false);
    }
    core.reviews.disk_writes.remove(&id);
    not_known(core, id, "the disk");
}

/// The answer is too late; the write may still happen.
fn not_known(core: &mut Core, review: ReviewId, who: &str) {
    let seconds = LATE_MS / 1000;
    let error = format!("{who} did not answer within {seconds} s; look at the file");
    core.apply(review::Event::WriteFailed { review, error: review::WriteError::Unknown(error) });
}

/// The write is late. The file can show that it is done, but not that it will not be done.
pub(super) fn look_whether_written(core: &mut Core, review: ReviewId, save: bool) {
    let writing = |review: &&Review| matches!(review.phase, Phase::Writing(_));
    if let Some(path) = core.reviews.get(review).filter(writing).map(|review| review.path.clone()) {
        core.read_base(ReadPurpose::LateWrite { review, save }, path);
    }
}

fn looked_whether_written(core: &mut Core, id: ReviewId, now: Option<&Text>) {
    let wanted = core.reviews.get(id).and_then(|review| match &review.phase {
        Phase::Writing(decided) => Some(&decided.text),
        _ => None,
    });
    if wanted.is_some() && now.map(|now| &now.text) == wanted {
        if let Some(on_disk) = core.reviews.disk_writes.remove(&id) {
            core.out.cancel(on_disk.deadline);
        }
        core.apply(review::Event::Written { review: id });
    }
}

pub(super) fn edits_applied(
    core: &mut Core,
    id: ReviewId,
    save: bool,
    answer: Result<api::EditsApplyResult, NoAnswer>,
) {
    match answer {
        Ok(applied) if applied.applied && (applied.saved || !save) => {
            core.apply(match applied.text {
                Some(text) => review::Event::SavedAs { review: id, text },
                None => review::Event::Written { review: id },
            });
            if core.reviews.get(id).is_some_and(|review| matches!(review.phase, Phase::Writing(_))) {
                let error = "the editor says it saved what the file's encoding cannot hold; look at it there";
                look_again(core, id, save, Some(error.to_owned()), MAYBE_WRITTEN);
            }
        }
        Ok(applied) if applied.applied => {
            let error = "the editor holds the change but could not save it; save it there".to_owned();
            let error = review::WriteError::Io(error);
            core.apply(review::Event::WriteFailed { review: id, error });
        }
        // The document changed; if it did not, trying again is useless.
        Ok(_) => {
            let error = "the editor does not let the document be changed";
            look_again(core, id, save, Some(error.to_owned()), NOT_WRITTEN);
        }
        // Its editor is gone: starts again when it is back.
        Err(NoAnswer::Gone) => look_again(core, id, false, None, MAYBE_WRITTEN),
        Err(NoAnswer::TimedOut) => not_known(core, id, "the editor"),
        Err(no_answer) => look_again(core, id, save, Some(no_answer.message()), MAYBE_WRITTEN),
    }
}

/// The file shows what happened.
fn look_again(core: &mut Core, review: ReviewId, save: bool, failed: Option<String>, maybe_written: bool) {
    if let Some(path) = core.reviews.get(review).map(|review| review.path.clone()) {
        let late = LateWrite::new(core.out.now_ms);
        core.read_base(ReadPurpose::Write { review, save, failed, maybe_written, late }, path);
    }
}

/// These waited, and the user may have typed meanwhile, or the editor may have been restarted.
pub(super) fn write_again(core: &mut Core, held: Vec<Effect>) {
    for effect in held {
        if let Effect::Write { review, .. } = effect {
            look_again(core, review, false, None, NOT_WRITTEN);
        }
    }
}

/// Writes that an earlier hub did not finish continue when the window is back: its editor may have unsaved text. A window
/// that does not come back has none.
pub(in crate::core) fn write_when_back(core: &mut Core, writes: &[Effect]) {
    core.reviews.unfinished_writes.extend(writes.iter().filter_map(|effect| match effect {
        Effect::Write { review, .. } => Some(*review),
        _ => None,
    }));
    for id in core.reviews.unfinished_writes.clone() {
        patches::doubt_confirmation(core, id);
    }
}

pub(in crate::core) fn continue_writes(core: &mut Core, of: impl Fn(&Review) -> bool) {
    let unfinished = std::mem::take(&mut core.reviews.unfinished_writes);
    let (ready, later): (Vec<ReviewId>, Vec<ReviewId>) =
        unfinished.into_iter().partition(|id| core.reviews.get(*id).is_some_and(&of));
    core.reviews.unfinished_writes = later;
    for id in ready {
        match core.reviews.get(id).is_some_and(|review| matches!(review.phase, Phase::Writing(_))) {
            true => look_again(core, id, false, None, MAYBE_WRITTEN),
            false => drop(patches::finish(core, id)),
        }
    }
}

/// The agent has had its time to ask again, but an editor may have unsaved text.
pub(super) fn finish_when_back(core: &mut Core, id: ReviewId) {
    core.reviews.unfinished_writes.push(id);
}

fn write_in_doubt(
    core: &mut Core,
    id: ReviewId,
    now: Result<Option<Text>, Failure>,
    unsaved: bool,
    failed: Option<String>,
    maybe_written: bool,
) {
    let result = core.reviews.get(id).and_then(|review| match &review.phase {
        Phase::Writing(decided) => Some(decided.text.clone()),
        _ => None,
    });
    let base = core.reviews.get(id).and_then(Review::held);
    let io = |error| review::Event::WriteFailed { review: id, error: review::WriteError::Io(error) };
    core.apply(match (now, failed) {
        // The editor has the change, but has not saved it as asked.
        (Ok(Some(now)), Some(error)) if Some(&now.text) == result.as_ref() && unsaved => io(error),
        (Ok(Some(now)), _) if Some(&now.text) == result.as_ref() => review::Event::Written { review: id },
        (Ok(now), Some(error)) if now == base => io(error),
        (Ok(now), _) => {
            let error = match maybe_written {
                true => review::WriteError::InDoubt(now),
                false => review::WriteError::BaseMoved(now),
            };
            review::Event::WriteFailed { review: id, error }
        }
        (Err(failure), _) => io(failure.message),
    });
    if maybe_written && core.reviews.get(id).is_some_and(|review| review.phase == Phase::Pending) {
        notify_asked_again(core, id);
    }
}

/// It is neither written a second time nor taken for written.
fn notify_asked_again(core: &mut Core, id: ReviewId) {
    let Some(review) = core.reviews.get(id) else { return };
    let (window, path) = (review.window, review.path.clone());
    tracing::warn!("{id} may have been written to {} before that changed: asking again", path.display());
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let file = api::visible::name(&file);
    let text = format!(
        "{id} may have been written to {file} before the file changed again, so you are asked once more: look at what \
         the file holds now."
    );
    news::warn_in_editor(core, window, text);
}

pub(in crate::core) fn file_written(core: &mut Core, id: ReviewId, result: Result<(), WriteError>) {
    // Too late if it is no longer waited for: what the file held has decided.
    let Some(on_disk) = core.reviews.disk_writes.remove(&id) else { return };
    core.out.cancel(on_disk.deadline);
    core.apply(match result {
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

/// The file was read because it is not known whether it was written.
pub(in crate::core) fn doubtful_write_read(
    core: &mut Core,
    review: ReviewId,
    save: bool,
    (failed, maybe_written): (Option<String>, bool),
    base: Result<Base, Failure>,
) {
    let buffer = base.as_ref().ok().and_then(|base| base.buffer);
    let unsaved = save && buffer.is_some_and(|buffer| buffer.dirty);
    remember_buffer(core, review, buffer);
    write_in_doubt(core, review, base.map(|base| base.text), unsaved, failed, maybe_written);
}

/// The file was read because its write is late.
pub(in crate::core) fn late_write_read(
    core: &mut Core,
    review: ReviewId,
    save: bool,
    base: Result<Base, Failure>,
) {
    if let Ok(base) = base {
        let unsaved = save && base.buffer.is_some_and(|buffer| buffer.dirty);
        looked_whether_written(core, review, base.text.filter(|_| !unsaved).as_ref());
    }
}
