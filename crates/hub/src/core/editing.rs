//! Changes that agents name by place: what the files hold is read, all of them, then the new texts are proposed, or
//! none. And what needs no second look: a text that the person has just accepted, and what an agent may do without.

use std::path::{Path, PathBuf};

use linkspan_dialect::{Answer, CallId, Failure, FailureKind, FileEdit, Request};
use linkspan_editor_api::RequestId;
use linkspan_review as review;
use linkspan_review::{
    AgentId, Decision, Digest, Owner, Phase, Proposal, ReviewId, SpliceError, Text, Verdict, Writer,
    digest_of_splices, splice, unsplice,
};

use super::Core;
use super::base::{Base, BaseWanted, Change};
use super::consent::Deed;
use super::event::{LocalId, Ticket};
use super::timers::Due;
use super::tools::ToolCall;

/// More files than anyone reviews as one change.
const FILES_PER_CALL: usize = 64;

/// More is no hand-made edit.
const EDITS_PER_FILE: usize = 10_000;

/// Permits of all agents together; the oldest go first.
const PERMITS: usize = 256;

/// Stands before the label of a change that the agent has written before it asked.
const ALREADY_WRITTEN: &str = "Already on disk (reject puts the old text back)";

/// Decides by what the person said before.
pub(super) const STANDING_WORD: LocalId = LocalId(u64::MAX);

/// A call whose files are being read.
#[derive(Debug)]
pub(super) struct Editing {
    tool: ToolCall,
    bases: Vec<Option<Base>>,
    /// What was read first may have been older than our own write.
    again: bool,
}

/// Texts that were accepted where nobody writes, each with whose it is and until when it counts.
#[derive(Debug, Default)]
pub(super) struct Permits(Vec<(u64, Permit)>);

#[derive(Debug, PartialEq, Eq)]
struct Permit {
    key: String,
    path: PathBuf,
    before: Digest,
    after: Digest,
}

impl Permits {
    fn grant(&mut self, until_ms: u64, permit: Permit) {
        self.forget(&permit.key, Some(&permit.path));
        if self.0.len() >= PERMITS {
            self.0.remove(0);
        }
        self.0.push((until_ms, permit));
    }

    /// Whether there was one that is not too old; it is used up now.
    fn take(&mut self, now_ms: u64, permit: &Permit) -> bool {
        let taken = self.0.extract_if(.., |(_, known)| known == permit).last();
        taken.is_some_and(|(until_ms, _)| now_ms <= until_ms)
    }

    /// Those of an agent: for one file, or all.
    pub(super) fn forget(&mut self, key: &str, path: Option<&Path>) {
        self.0.retain(|(_, known)| known.key != key || path.is_some_and(|path| known.path != path));
    }

    /// Nothing that was accepted before counts any more.
    pub(super) fn forget_all(&mut self) {
        self.0.clear();
    }
}

impl Core {
    pub(super) fn edit(&mut self, tool: ToolCall) {
        let Request::Edit { files, .. } = &tool.request else { return };
        let wrong = match files.as_slice() {
            [] => Some("there is nothing to edit: name at least one file".to_owned()),
            files if files.len() > FILES_PER_CALL => {
                Some(format!("{} files are more than the {FILES_PER_CALL} of one call", files.len()))
            }
            files => files.iter().find(|file| file.edits.len() > EDITS_PER_FILE).map(|file| {
                format!("{} has more than the {EDITS_PER_FILE} edits of one call", file.path.display())
            }),
        };
        if let Some(message) = wrong {
            return self.fail(tool.agent, tool.call, FailureKind::InvalidParams, message);
        }
        let paths: Vec<PathBuf> = files.iter().map(|file| file.path.clone()).collect();
        self.read_all(tool, paths, false);
    }

    fn read_all(&mut self, tool: ToolCall, paths: Vec<PathBuf>, again: bool) {
        let ticket = self.ticket();
        let bases = paths.iter().map(|_| None).collect();
        let agent = tool.agent;
        self.editing.insert(ticket, Editing { tool, bases, again });
        for (part, path) in paths.into_iter().enumerate() {
            self.read_base(BaseWanted::Edit { agent, editing: ticket, part }, path);
        }
    }

    pub(super) fn edit_read(&mut self, ticket: Ticket, part: usize, base: Result<Base, Failure>) {
        let Some(editing) = self.editing.get_mut(&ticket) else { return };
        match base {
            Ok(base) => {
                if let Some(place) = editing.bases.get_mut(part) {
                    *place = Some(base);
                }
                if editing.bases.iter().all(Option::is_some) {
                    self.edit_all(ticket);
                }
            }
            Err(failure) => {
                let ToolCall { agent, call, .. } = &editing.tool;
                let (agent, call) = (*agent, *call);
                self.editing.remove(&ticket);
                self.answer(agent, call, &Answer::Failed(failure));
            }
        }
    }

    fn edit_all(&mut self, ticket: Ticket) {
        let Some(Editing { tool, bases, again }) = self.editing.remove(&ticket) else { return };
        if !again && bases.iter().flatten().any(|base| self.written_meanwhile(tool.agent, base)) {
            let paths = bases.into_iter().flatten().map(|base| base.path).collect();
            return self.read_all(tool, paths, true);
        }
        let ToolCall { agent, call, request: Request::Edit { files, label, direct, inline, may_be_made } } =
            tool
        else {
            return;
        };
        let bases: Vec<Base> = bases.into_iter().flatten().collect();
        let (several, set) = (files.len() > 1, format!("edit {}", ticket.0));
        let mut changes: Vec<Change> = Vec::new();
        for (file, base) in files.iter().zip(bases) {
            if changes.iter().any(|other| other.path == base.path) {
                let message = format!("{} is named twice; put its edits together", base.path.display());
                return self.fail(agent, call, FailureKind::InvalidParams, message);
            }
            let asked = Some(digest_of_splices(&file.edits));
            let edited = match self.edited_before(agent, asked, &base) {
                Some(writer) => Ok(Edited { writer, ..Edited::unchanged(&base) }),
                None => edited(file, &base)
                    .or_else(|failure| made_already(file, &base).filter(|_| may_be_made).ok_or(failure)),
            };
            match edited {
                Ok(Edited { writer, base: before, proposed }) => changes.push(Change {
                    label: match writer {
                        Writer::AgentFirst => format!("{ALREADY_WRITTEN}: {label}"),
                        _ => label.clone(),
                    },
                    set: several.then(|| set.clone()),
                    writer,
                    direct,
                    inline,
                    path: base.path,
                    base: before,
                    left: None,
                    proposed,
                    asked,
                }),
                Err(failure) => return self.answer(agent, call, &Answer::Failed(failure)),
            }
        }
        if several {
            self.enter_all(agent, call, changes);
        } else if let Some(change) = changes.pop() {
            let before = self.shown_as_made(agent, &change);
            self.enter(agent, call, change);
            self.supersede(agent, call, before);
        }
    }

    /// What this agent has shown of the same file as made, which nobody has decided or begun to change. The next such
    /// change has all of it.
    fn shown_as_made(&self, agent: AgentId, change: &Change) -> Vec<ReviewId> {
        let Some(agent) = self.agents.get(&agent).filter(|_| change.writer == Writer::AgentFirst) else {
            return Vec::new();
        };
        let key = agent.key();
        let open = self.state.reviews_of_path(&change.path).filter(|review| {
            review.writer == Writer::AgentFirst
                && review.owner_key == key
                && review.window == agent.window
                && review.draft.is_none()
                && matches!(review.phase, Phase::Recording | Phase::Pending)
                && review.base == change.base
        });
        open.map(|review| review.id).collect()
    }

    /// The review of this call takes the place of these.
    fn supersede(&mut self, agent: AgentId, call: CallId, before: Vec<ReviewId>) {
        let waiting = self.agents.get(&agent).map(|agent| &agent.waiting);
        let by = waiting.and_then(|waiting| waiting.iter().find(|(_, of)| *of == call)).map(|(by, _)| *by);
        let Some(by) = by else { return };
        for review in before.into_iter().filter(|review| *review != by) {
            self.apply(review::Event::Superseded { review, by });
        }
    }

    /// Who writes the review that the same edits were asked for before, if there is one. What the edits would give by
    /// now does not matter: the file may hold them already.
    fn edited_before(&self, agent: AgentId, asked: Option<Digest>, base: &Base) -> Option<Writer> {
        let asker = self.agents.get(&agent)?;
        let (key, window) = (asker.key(), asker.window);
        [Writer::Editor, Writer::AgentFirst].into_iter().find(|writer| {
            let proposal = Proposal {
                owner: Owner { agent, key: key.clone() },
                window,
                set: None,
                path: base.path.clone(),
                label: String::new(),
                writer: *writer,
                base: base.text.clone(),
                left: None,
                proposed: base.text.as_ref().map_or("", |text| &text.text).to_owned(),
                asked,
            };
            self.state.asked_before(&proposal).is_some()
        })
    }

    /// Whether this very text was accepted before, or this agent may edit without being asked.
    pub(super) fn is_allowed(&mut self, agent: AgentId, change: &Change) -> bool {
        let Some(asker) = self.agents.get(&agent) else { return false };
        let (key, allowed) = (asker.key(), self.may(asker, Deed::Edit).is_some());
        let before = change.base.as_ref().map_or("", |base| &base.text);
        let permit = permit(key, &change.path, before, &change.proposed);
        self.permits.take(self.now_ms, &permit) || allowed
    }

    /// She accepted a text that nobody writes: the agent that asked for it may put it in the file.
    pub(super) fn grant_permit(&mut self, id: ReviewId) {
        let Some(review) = self.state.review(id).filter(|review| review.writer == Writer::Nobody) else {
            return;
        };
        let Some(outcome) = review.outcome() else { return };
        match &outcome.ended {
            review::Ended::Accepted(accepted) => {
                let key = review.owner_key.clone();
                let permit = permit(key, &review.path, review.base_text(), &accepted.text);
                self.permits.grant(self.now_ms + self.config.agent_grace_seconds * 1000, permit);
            }
            // She has thought better of it.
            _ => self.permits.forget(&review.owner_key, Some(&review.path)),
        }
    }

    /// The change is recorded, and needs no look.
    pub(super) fn decide_by_standing_word(&mut self, id: ReviewId) {
        let Some(review) = self.state.review(id).filter(|review| review.draft.is_none()) else {
            return self.show(id);
        };
        let decision = Decision { verdict: Verdict::Accept, comments: Vec::new(), write_here: false };
        let (path, seen) = (review.path.clone(), (review.revision, Some(review.shown_digest())));
        self.read_base(
            BaseWanted::Decision {
                local: STANDING_WORD,
                request: RequestId::Number(0),
                review: id,
                seen,
                decision,
            },
            path,
        );
    }

    /// Whoever asked does not listen any more: a decision from now on would be told to nobody.
    pub(super) fn patience_over(&mut self, agent: AgentId, call: CallId) {
        let Some(asker) = self.agents.get(&agent) else { return };
        let waiting = asker.waiting.iter().filter(|(_, waiting)| *waiting == call);
        let reviews: Vec<ReviewId> = waiting.map(|(review, _)| *review).collect();
        let decided = reviews.iter().any(|id| !self.is_undecided(*id));
        // If she was first, the answer is hers, and on its way.
        if decided || !self.waits_for_change(agent, call) {
            return;
        }
        self.fail(agent, call, FailureKind::Timeout, "nobody decided in time, and the change is withdrawn");
        for review in reviews {
            self.apply(review::Event::Withdrawn { review });
        }
    }

    /// Starts the time that the agent of this call waits for a person.
    pub(super) fn begin_patience(&mut self, agent: AgentId, call: CallId) {
        let patience_ms = self.agents.get(&agent).and_then(|agent| agent.session.patience_ms(call));
        if let Some(patience_ms) = patience_ms {
            self.timers.add(self.now_ms + patience_ms, Due::Patience { agent, call });
        }
    }
}

fn permit(key: String, path: &Path, before: &str, after: &str) -> Permit {
    // Agents speak of the same text with one kind of line end or the other.
    let digest = |text: &str| Digest::of(text.replace("\r\n", "\n").as_bytes());
    Permit { key, path: path.to_owned(), before: digest(before), after: digest(after) }
}

/// A change of one file, as it follows from its edits.
struct Edited {
    writer: Writer,
    base: Option<Text>,
    proposed: String,
}

impl Edited {
    fn unchanged(base: &Base) -> Edited {
        let proposed = base.text.as_ref().map_or("", |text| &text.text).to_owned();
        Edited { writer: Writer::Editor, base: base.text.clone(), proposed }
    }
}

/// The agent has made these edits, and asks afterwards.
fn made_already(file: &FileEdit, base: &Base) -> Option<Edited> {
    let now = base.text.as_ref()?;
    let (before, _) = unsplice(&now.text, &file.edits)?;
    let before = Text { format: now.format, text: before.into() };
    Some(Edited { writer: Writer::AgentFirst, base: Some(before), proposed: now.text.to_string() })
}

fn edited(file: &FileEdit, base: &Base) -> Result<Edited, Failure> {
    if base.text.is_none() && !file.may_create {
        let message = format!("there is no file {}", base.path.display());
        return Err(Failure::new(FailureKind::NotFound, message));
    }
    let before = base.text.as_ref().map_or("", |text| &text.text);
    let wrong = |error: SpliceError| {
        let kind = match error {
            SpliceError::Stale { .. } => FailureKind::Stale,
            _ => FailureKind::InvalidParams,
        };
        Failure::new(kind, format!("{}: {error}; read the file again", base.path.display()))
    };
    let proposed = splice(before, &file.edits).map_err(wrong)?;
    Ok(Edited { writer: Writer::Editor, base: base.text.clone(), proposed })
}
