//! What a file holds now: the live buffer where the editor has unsaved text, else the disk. Asked for before a
//! change is shown, before a decision counts, and when a write finds the file changed.

use std::path::PathBuf;

use linkspan_dialect::{Answer, CallId, Failure, FailureKind, Request};
use linkspan_editor_api as api;
use linkspan_editor_api::RequestId;
use linkspan_review as review;
use linkspan_review::{
    AgentId, Decision, Digest, Effect, Format, Owner, Phase, Proposal, ReviewId, Revision, SharedText,
    SurfaceId, Text, Verdict, WindowId, Writer, same_endings,
};

use super::Core;
use super::agents::{Agent, OPEN_REVIEWS_PER_AGENT, OPEN_REVIEWS_PER_WINDOW, Reach, shortened};
use super::editing::STANDING_WORD;
use super::editor::{NoAnswer, Resume};
use super::event::{Action, LocalId, Ticket};
use super::reviews::Manner;
use super::timers::{Due, TimerId};
use super::tools::{ToolCall, denied, failure_of, unanswered};
use super::undo::UndoRead;
use crate::files::{FileError, FileState, Want};

/// A title above a change, repeated in every list and message about it.
const LONGEST_LABEL: usize = 300;

/// As long as a path can be: by its label, an agent that listens knows the change.
const LONGEST_NAMING_LABEL: usize = 4096;

/// Who wants to know.
#[derive(Debug)]
pub(super) enum BaseWanted {
    /// Only whether the path may be spoken of.
    Path(ToolCall),
    /// For the agent to read.
    Text(ToolCall),
    /// The other file that a proposal is compared with. It is read first.
    CompareWith(ToolCall),
    /// `again`: what was read may have been older than our own write. `left`: the text of the other file.
    Proposal { tool: ToolCall, again: bool, left: Option<SharedText> },
    Decision {
        local: LocalId,
        request: RequestId,
        review: ReviewId,
        seen: (Revision, Option<Digest>),
        decision: Decision,
    },
    /// It is not known whether an accepted change was written: what does the file hold? If not the result, the
    /// write begins again, or failed for the reason given.
    Write {
        review: ReviewId,
        /// It was to be saved as well.
        save: bool,
        failed: Option<String>,
    },
    /// Whoever writes an accepted change is late: is it done?
    LateWrite { review: ReviewId, save: bool },
    /// One of the files of a call that names its changes by place.
    Edit { agent: AgentId, editing: Ticket, part: usize },
    /// Whether the agent wrote this accepted change.
    Landing(ReviewId),
    /// Whether the file is what an undo needs it to be.
    Undo(UndoRead),
}

/// A file that is being read.
#[derive(Debug)]
pub(super) struct Reading {
    wanted: BaseWanted,
    path: PathBuf,
    timer: TimerId,
}

/// A disk may be slow to wake up, but not for ever.
pub(super) const READ_SECONDS: u64 = 20;

/// What a file holds, and how the editor has it open.
#[derive(Debug)]
pub(super) struct Base {
    pub(super) path: PathBuf,
    pub(super) text: Option<Text>,
    pub(super) buffer: Option<Buffer>,
    /// As the editor names it, if it has the file open.
    pub(super) language: Option<String>,
}

/// A change as an agent asks for it, its base known.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) path: PathBuf,
    pub(super) label: String,
    /// The agent's own word.
    pub(super) set: Option<String>,
    pub(super) writer: Writer,
    /// Needs no look where the person has said so before.
    pub(super) direct: bool,
    /// Best shown in the file itself.
    pub(super) inline: bool,
    pub(super) base: Option<Text>,
    /// Shown in place of `base`.
    pub(super) left: Option<SharedText>,
    pub(super) proposed: String,
    /// What identifies it, where it was asked for by edits.
    pub(super) asked: Option<Digest>,
}

/// An open document, as it was when its text was read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Buffer {
    pub(super) version: Option<i64>,
    pub(super) dirty: bool,
    /// Its text is the file's to the character. If not, the editor made line endings alike when it loaded it, reads
    /// another encoding, or has not seen yet that the file changed.
    pub(super) as_on_disk: bool,
}

impl Buffer {
    /// Whether the editor can put this text in place of that and nothing else changes. Unsaved text can only be
    /// changed there.
    pub(super) fn can_take(self, text: &str, instead_of: &str) -> bool {
        self.dirty || (self.as_on_disk && same_endings(instead_of, text))
    }
}

impl Core {
    pub(super) fn read_base(&mut self, wanted: BaseWanted, path: PathBuf) {
        let Some(window) = self.window_of(&wanted) else {
            let gone = Failure::new(
                FailureKind::EditorGone,
                "the window of this review is closed; open its folder again",
            );
            return self.base_ready(wanted, Err(gone));
        };
        let (folders, limit_mib) = self.folders_of(window);
        let want = match &wanted {
            BaseWanted::Path(ToolCall {
                request: Request::RunInTerminal { .. } | Request::CreateTerminal { .. },
                ..
            }) => Want::Folder,
            BaseWanted::Path(_) => Want::Place,
            _ => Want::Bytes { limit_mib },
        };
        let path = self.absolute(&wanted, window, path);
        let ticket = self.ticket();
        let when = self.now_ms + READ_SECONDS * 1000;
        let timer = self.timers.add(when, Due::Read(ticket));
        self.reading.insert(ticket, Reading { wanted, path: path.clone(), timer });
        self.act(Action::ReadFile { ticket, folders, path, want });
    }

    /// Some dialects name files by their place in the workspace; in one of several folders, with its name before.
    fn absolute(&self, wanted: &BaseWanted, window: WindowId, path: PathBuf) -> PathBuf {
        let asker = match wanted {
            BaseWanted::Path(tool)
            | BaseWanted::Text(tool)
            | BaseWanted::CompareWith(tool)
            | BaseWanted::Proposal { tool, .. } => Some(tool.agent),
            BaseWanted::Edit { agent, .. } => Some(*agent),
            _ => None,
        };
        let asker = asker.and_then(|agent| self.agents.get(&agent));
        let relative =
            asker.is_some_and(|agent| agent.session.dialect().relative_paths) && path.is_relative();
        match self.windows.get(&window).filter(|_| relative) {
            Some(window) => window.absolute(&path),
            None => path,
        }
    }

    pub(super) fn read_timed_out(&mut self, ticket: Ticket) {
        let Some(path) = self.reading.get(&ticket).map(|reading| reading.path.display().to_string()) else {
            return;
        };
        let error = format!("the disk did not answer within {READ_SECONDS} s");
        self.file_read(ticket, Err(FileError::Io { path, error }));
    }

    pub(super) fn window_of(&self, wanted: &BaseWanted) -> Option<WindowId> {
        match wanted {
            BaseWanted::Path(tool)
            | BaseWanted::Text(tool)
            | BaseWanted::CompareWith(tool)
            | BaseWanted::Proposal { tool, .. } => self.agents.get(&tool.agent).map(|agent| agent.window),
            BaseWanted::Edit { agent, .. } => self.agents.get(agent).map(|agent| agent.window),
            BaseWanted::Decision { review, .. }
            | BaseWanted::Write { review, .. }
            | BaseWanted::LateWrite { review, .. } => self.state.review(*review).map(|review| review.window),
            BaseWanted::Landing(review) => self.landings.window_of(*review),
            BaseWanted::Undo(read) => Some(self.window_of_undo(read)),
        }
    }

    pub(super) fn file_read(&mut self, ticket: Ticket, result: Result<FileState, FileError>) {
        // Too late, if it is not waited for any more.
        let Some(Reading { wanted, timer, .. }) = self.reading.remove(&ticket) else { return };
        self.timers.cancel(timer);
        if let BaseWanted::Landing(review) = wanted {
            return self.landing_read(review, result.ok());
        }
        if let Ok(file) = &result {
            self.landed_in(&file.path, Some(&file.bytes).filter(|_| file.exists).map(Vec::as_slice));
        }
        let file = match result {
            Ok(file) => file,
            Err(error) => return self.base_ready(wanted, Err(failure_of(&error))),
        };
        let window = self.window_of(&wanted).and_then(|id| self.windows.get(&id));
        if window.is_some_and(|window| window.policy.denies(&file.path)) {
            return self.base_ready(wanted, Err(denied(&file.path)));
        }
        let editor = window
            .filter(|window| window.capabilities.documents)
            .and_then(|window| Some((window.local?, window.as_named(&file.path))));
        match (editor, &wanted) {
            (
                Some((local, named)),
                BaseWanted::Proposal { .. }
                | BaseWanted::CompareWith(_)
                | BaseWanted::Text(_)
                | BaseWanted::Edit { .. }
                | BaseWanted::Decision { .. }
                | BaseWanted::Write { .. }
                | BaseWanted::LateWrite { .. }
                | BaseWanted::Undo(UndoRead::Begin(_)),
            ) => {
                let path = named.display().to_string();
                self.ask(local, &api::DocumentText { path }, Resume::Base { wanted, disk: file });
            }
            _ => self.without_editor(wanted, file),
        }
    }

    /// Nobody can say more than the disk does, unless the editor that may know more comes back.
    fn without_editor(&mut self, wanted: BaseWanted, disk: FileState) {
        if self.depends_on_editor(&wanted, &disk.path) {
            self.until_back.push((wanted, disk.path));
        } else {
            self.base_ready(wanted, on_disk(disk));
        }
    }

    /// The editor said what it holds. Unsaved text is the truth; saved text is what the disk says, to the byte.
    pub(super) fn live_text(
        &mut self,
        wanted: BaseWanted,
        disk: FileState,
        answer: Result<api::DocumentTextResult, NoAnswer>,
    ) {
        let live = match answer {
            Ok(live) => live,
            Err(NoAnswer::Gone) => return self.without_editor(wanted, disk),
            Err(no_answer) => return self.base_ready(wanted, Err(unanswered(&no_answer))),
        };
        let base = on_disk(disk).map(|mut base| {
            let held = base.text.as_ref().map(|text| text.text.as_str());
            let as_on_disk = live.text.is_none() || live.text.as_deref() == held;
            let buffer = Buffer { version: live.version, dirty: live.dirty, as_on_disk };
            base.buffer = live.open.then_some(buffer);
            base.language = live.language.filter(|_| live.open);
            if let Some(text) = live.text.filter(|_| live.open && live.dirty) {
                // The buffer has no bytes of its own: it will be saved as the file is encoded.
                let format = base.text.as_ref().map_or(Format::UTF8, |text| text.format);
                base.text = Some(Text { format, text: text.into() });
            }
            base
        });
        self.base_ready(wanted, base);
    }

    fn base_ready(&mut self, wanted: BaseWanted, base: Result<Base, Failure>) {
        match wanted {
            BaseWanted::Path(tool) => {
                let checked = base.map(|base| (base.path, base.text.is_some()));
                self.path_checked(tool, checked);
            }
            BaseWanted::Text(tool) => self.text_read(&tool, base),
            BaseWanted::CompareWith(tool) => match (base, &tool.request) {
                // One that does not exist has no text to show: the change is shown next to what its own file holds.
                (Ok(base), Request::Propose { path, .. }) => {
                    let path = path.clone();
                    let left = base.text.map(|text| text.text);
                    self.read_base(BaseWanted::Proposal { tool, again: false, left }, path);
                }
                (Ok(_), _) => {}
                (Err(failure), _) => self.cannot_propose(&tool, failure),
            },
            BaseWanted::Proposal { tool, again, left } => match base {
                Ok(base) if !again && self.written_meanwhile(tool.agent, &base) => {
                    self.read_base(BaseWanted::Proposal { tool, again: true, left }, base.path);
                }
                Ok(base) => self.propose(tool, base, left),
                Err(failure) => self.cannot_propose(&tool, failure),
            },
            BaseWanted::Edit { editing, part, .. } => self.edit_read(editing, part, base),
            BaseWanted::Decision { local: STANDING_WORD, review, decision, .. }
                if base
                    .as_ref()
                    .map_or(true, |base| self.cannot_change(review, &decision, base).is_some()) =>
            {
                self.show(review);
            }
            BaseWanted::Decision { local, request, review, seen, decision } => match base {
                Ok(base) if let Some(why) = self.cannot_change(review, &decision, &base) => {
                    let message = format!("{} {why}", base.path.display());
                    let result = api::ReviewDecidedResult::Refused { message, can_write_here: false };
                    self.send(local, &api::Message::response(request, &result));
                }
                Ok(base) => {
                    // One that comes second must not pass its document off as the one that the first is about.
                    if self.state.review(review).is_some_and(|review| review.phase == Phase::Pending) {
                        self.remember_buffer(review, base.buffer);
                    }
                    self.decided(local, request, review, seen, decision, base.text);
                }
                Err(failure) => {
                    let message = failure.message;
                    let result = api::ReviewDecidedResult::Refused { message, can_write_here: false };
                    self.send(local, &api::Message::response(request, &result));
                }
            },
            BaseWanted::Write { review, save, failed } => {
                let buffer = base.as_ref().ok().and_then(|base| base.buffer);
                let unsaved = save && buffer.is_some_and(|buffer| buffer.dirty);
                self.remember_buffer(review, buffer);
                self.write_in_doubt(review, base.map(|base| base.text), unsaved, failed);
            }
            BaseWanted::LateWrite { review, save } => {
                if let Ok(base) = base {
                    let unsaved = save && base.buffer.is_some_and(|buffer| buffer.dirty);
                    self.looked_whether_written(review, base.text.filter(|_| !unsaved).as_ref());
                }
            }
            BaseWanted::Landing(review) => self.landing_read(review, None),
            BaseWanted::Undo(read) => self.undo_read(read, base),
        }
    }

    /// Unsaved text can only be changed where it is; the file behind it must not be written under it. Nor is what the
    /// disk says a move of the file, while the editor that showed more than that is away.
    fn cannot_change(&self, id: ReviewId, decision: &Decision, base: &Base) -> Option<&'static str> {
        let review = self.state.review(id)?;
        let window = self.windows.get(&review.window)?;
        let rejected = matches!(decision.verdict, Verdict::Reject { .. });
        if review.writer == Writer::Nobody || (rejected && review.writer != Writer::AgentFirst) {
            return None;
        }
        let may_be_ours = review.hub_writes() || review.writer == Writer::AgentAsProposed;
        let ours = may_be_ours || review.nobody_would_write();
        if self.editor_is_away(review.window) && (ours || review.base != base.text) {
            return Some("may have unsaved text in an editor that is away: decide again in a moment");
        }
        (ours && !window.capabilities.edits && base.buffer.is_some_and(|buffer| buffer.dirty))
            .then_some("has unsaved text that its editor does not let us change: save it there, then decide")
    }

    /// The agent asks again for what was just accepted, and the file was read before we had written it.
    pub(super) fn written_meanwhile(&self, agent: AgentId, base: &Base) -> bool {
        let Some(key) = self.agents.get(&agent).map(Agent::key) else { return false };
        self.state.reviews_of_path(&base.path).any(|review| {
            review.hub_writes()
                && review.owner.is_none()
                && !review.is_open()
                && review.owner_key == key
                && review.base == base.text
        })
    }

    /// A file that it is about cannot be read.
    fn cannot_propose(&mut self, tool: &ToolCall, failure: Failure) {
        if let (FailureKind::TooLarge, Request::Propose { path, .. }) = (failure.kind, &tool.request) {
            self.tell_too_large(tool.agent, path, &failure);
        }
        self.answer(tool.agent, tool.call, &Answer::Failed(failure));
    }

    fn propose(&mut self, tool: ToolCall, base: Base, left: Option<SharedText>) {
        if !self.is_newest_of_its_name(tool.agent, tool.call) {
            let message = "a newer change of this file was asked for meanwhile";
            return self.fail(tool.agent, tool.call, FailureKind::Withdrawn, message);
        }
        let Request::Propose { path: asked, compare_with: _, proposed, mut label, set, writer } =
            tool.request
        else {
            return;
        };
        let Some(agent) = self.agents.get(&tool.agent) else { return };
        // Told by the path that it asked for, also after a restart: the review keeps only where that really is.
        if matches!(agent.reach, Reach::Stream) && asked != base.path {
            label = asked.to_string_lossy().into_owned();
        }
        let writer = writer.unwrap_or(agent.session.dialect().writer);
        // Its tool may do what the agent could not put into the proposal: NEXUS3 shows a batch of edits as no change.
        if writer == Writer::AgentAsProposed
            && base.text.as_ref().is_some_and(|now| is_the_same(now, &proposed))
        {
            let message = "the proposed text is what the file already holds, so there is nothing to review here; \
                           decide in the agent's terminal";
            return self.fail(tool.agent, tool.call, FailureKind::Unsupported, message);
        }
        let (direct, inline) = (false, false);
        let (path, base, asked) = (base.path, base.text, None);
        let change = Change { path, label, set, writer, direct, inline, base, left, proposed, asked };
        self.enter(tool.agent, tool.call, change);
    }

    /// Whether a person can be asked about so many more changes.
    pub(super) fn has_room(&self, id: AgentId, more: usize) -> Result<(), String> {
        let Some(agent) = self.agents.get(&id) else { return Ok(()) };
        if agent.waiting.len() + more > OPEN_REVIEWS_PER_AGENT {
            return Err(format!(
                "{OPEN_REVIEWS_PER_AGENT} changes of this agent wait for a decision; ask again when some are decided"
            ));
        }
        let open = self.state.reviews_of_window(agent.window).filter(|review| review.is_open());
        if open.count() + more > OPEN_REVIEWS_PER_WINDOW {
            return Err(format!("{OPEN_REVIEWS_PER_WINDOW} changes wait in this window; decide some first"));
        }
        Ok(())
    }

    /// Whether that call still waits for a person.
    pub(super) fn waits_for_change(&self, id: AgentId, call: CallId) -> bool {
        let agent = self.agents.get(&id);
        agent.is_some_and(|agent| agent.session.open_changes().any(|(open, _)| open == call))
    }

    /// Makes a question of it, unless nobody asks any more or there are too many.
    pub(super) fn enter(&mut self, id: AgentId, call: CallId, change: Change) {
        let Some(agent) = self.agents.get(&id) else { return };
        let (window, key) = (agent.window, agent.key());
        let longest = match agent.reach {
            Reach::Stream => LONGEST_NAMING_LABEL,
            Reach::Port | Reach::Calls | Reach::Local(_) => LONGEST_LABEL,
        };
        let taken_back = !self.waits_for_change(id, call);
        if !taken_back && let Err(message) = self.has_room(id, 1) {
            return self.fail(id, call, FailureKind::Denied, message);
        }
        let allowed = change.direct && !taken_back && self.is_allowed(id, &change);
        let Change { path, label, set, writer, direct: _, inline, base, left, proposed, asked } = change;
        let proposal = Proposal {
            owner: Owner { agent: id, key },
            window,
            set: self.set_of(id, set),
            path,
            label: shortened(label, longest),
            writer,
            base,
            left,
            proposed,
            asked,
        };
        if !taken_back {
            return self.proposed(call, proposal, Manner { allowed, inline });
        }
        // While its file was read: nobody shall be shown it, nor what the same agent asked before it lost us.
        if let Some(review) = self.state.asked_before(&proposal) {
            self.apply(review::Event::Withdrawn { review });
        }
    }

    /// Counts the decision; the surface hears about it once it is recorded.
    pub(super) fn decided(
        &mut self,
        local: LocalId,
        request: RequestId,
        review: ReviewId,
        (revision, digest): (Revision, Option<Digest>),
        decision: Decision,
        base_now: Option<Text>,
    ) {
        let surface = SurfaceId(local.0);
        let decided = review::Event::Decided { review, surface, revision, digest, decision, base_now };
        let effects = self.state.apply(decided);
        let answered = effects.iter().any(|effect| matches!(effect, Effect::Reply { .. }));
        // Whoever decided may be gone by now; what a person decided counts all the same.
        if let Some(connection) = self.locals.get_mut(&local) {
            // An answer right now is for this request, not for an earlier one that waits for its record.
            let at = if answered { 0 } else { connection.deciding.len() };
            connection.deciding.insert(at, (review, request));
        }
        self.carry_out(effects);
    }
}

fn is_the_same(now: &Text, proposed: &str) -> bool {
    review::in_the_files_terms(Some(now), proposed).0 == *now.text
}

fn on_disk(file: FileState) -> Result<Base, Failure> {
    let text = match file.exists {
        false => None,
        true => Some(linkspan_review::decode_owned(file.bytes).map_err(|error| {
            Failure::new(FailureKind::NotText, format!("{}: {error}", file.path.display()))
        })?),
    };
    Ok(Base { path: file.path, text, buffer: None, language: None })
}
