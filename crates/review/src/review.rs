//! One review: what is proposed for which file, the user's draft, and its phase. Knows how to rebase onto a file that
//! changed; does not know events or effects.

use std::borrow::Cow;
use std::path::PathBuf;

use crate::format::MARK;
use crate::proposal::held;
use crate::{
    AgentId, Conflict, Convention, Digest, Hunk, Merge, Outcome, ReviewEnd, ReviewId, Revision, SetId,
    SharedBytes, SharedText, Text, WindowId, Writer, adopt_endings, hunks, merge,
};

/// One review, as the journal stores and restores it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Review {
    pub id: ReviewId,
    pub set: Option<SetId>,
    pub window: WindowId,
    pub path: PathBuf,
    pub label: String,
    pub writer: Writer,
    /// The hub writes instead of the agent: the agent no longer waits and the user let the hub write, or the agent would
    /// write something other than the accepted text. Set with the decision.
    pub written_here: bool,
    pub owner_key: String,
    /// `None`: the agent is gone.
    pub owner: Option<AgentId>,
    pub base: Option<Text>,
    /// Shown on the left instead of `base`: the text of another file, in the line endings of `proposed`. Hunks are
    /// computed from it. A write is still bound to `base`.
    pub left: Option<SharedText>,
    /// In the file's own line endings.
    pub proposed: SharedText,
    pub convention: Convention,
    /// The agent sends the file's byte order mark with its text, and wants it back.
    pub marked: bool,
    /// The digest of the proposal as sent, to recognise a repetition.
    pub original: Digest,
    /// The user's edits of the proposed side.
    pub draft: Option<SharedText>,
    /// Where the file changed under the proposal, in lines of `side()`; the user has to resolve these.
    pub conflicts: Vec<Conflict>,
    pub revision: Revision,
    pub phase: Phase,
}

/// The phase of a review. A phase that waits for its record is stored as such: found in the journal, it *was* recorded,
/// and `State::restore` continues from there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Proposed, not yet durable: not shown anywhere.
    Recording,
    Pending,
    /// The user decided; not yet durable: not reported to anyone.
    Deciding(Box<ResolvedDecision>),
    /// Durable, and the hub or its editor is writing the file.
    Writing(Box<ResolvedDecision>),
    /// Written (`Accepted`), or ended without a decision (all others); that fact is not yet durable.
    Settling(Box<Outcome>),
    Settled {
        outcome: Box<Outcome>,
        delivered: bool,
    },
}

/// The user's decision, resolved to exact bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedDecision {
    /// The outcome that the agent will receive.
    pub outcome: Outcome,
    /// The accepted text in the file's own endings, as the input of a merge; empty if rejected.
    pub text: SharedText,
}

impl ResolvedDecision {
    pub(crate) fn is_accepted(&self) -> bool {
        matches!(self.outcome.ended, ReviewEnd::Accepted(_))
    }
}

impl Review {
    /// The proposed side as shown: the user's draft if there is one.
    pub fn side(&self) -> &str {
        self.shared_side()
    }

    pub(crate) fn shared_side(&self) -> &SharedText {
        self.draft.as_ref().unwrap_or(&self.proposed)
    }

    /// The left side as shown: the file's content, or the text of another file.
    pub fn base_text(&self) -> &str {
        self.left.as_deref().unwrap_or_else(|| self.file_text())
    }

    /// The file's own content; empty if there is no file.
    pub fn file_text(&self) -> &str {
        self.base.as_ref().map_or("", |base| &base.text)
    }

    /// The file's content when this was shown; `None`: there was no file.
    pub fn held(&self) -> Option<Text> {
        held(self.writer, self.base.as_ref(), || self.proposed.clone())
    }

    pub fn base_digest(&self) -> Option<Digest> {
        self.base.as_ref().map(Text::digest)
    }

    /// Identifies exactly what is shown: this review, its file, the file's content, the text shown instead of that, and
    /// the new content. A decision with this digest is about exactly this, even if something else has the same id and
    /// revision.
    pub fn shown_digest(&self) -> Digest {
        let (format, base) = match &self.base {
            Some(base) => (base.format.name(), Some(base.text.digest())),
            None => ("", None),
        };
        let (id, side) = (self.id.0.to_le_bytes(), self.shared_side().digest());
        let left = self.left.as_ref().map(SharedText::digest);
        let mut parts: Vec<&[u8]> = vec![
            &id,
            self.path.as_os_str().as_encoded_bytes(),
            format.as_bytes(),
            base.as_ref().map_or(&[], |digest| digest.as_bytes()),
            side.as_bytes(),
        ];
        parts.extend(left.as_ref().map(|digest| digest.as_bytes().as_slice()));
        Digest::of_parts(&parts)
    }

    /// The content that the file must have for the result to be written; `None`: it must not exist.
    pub fn held_digest(&self) -> Option<Digest> {
        self.held().as_ref().map(Text::digest)
    }

    pub fn hunks(&self) -> Vec<Hunk> {
        hunks(self.base_text(), self.side())
    }

    /// Not settled yet.
    pub fn is_open(&self) -> bool {
        !matches!(self.phase, Phase::Settled { .. })
    }

    /// Nobody has decided about it, and its agent has not taken it back.
    pub fn is_pending(&self) -> bool {
        matches!(self.phase, Phase::Recording | Phase::Pending)
    }

    /// The outcome, once there is one, reported or not.
    pub fn outcome(&self) -> Option<&Outcome> {
        match &self.phase {
            Phase::Recording | Phase::Pending => None,
            Phase::Deciding(decided) | Phase::Writing(decided) => Some(&decided.outcome),
            Phase::Settling(outcome) | Phase::Settled { outcome, .. } => Some(outcome),
        }
    }

    /// The file's text as the agent would send it: in its line endings, with the byte order mark if it sends that.
    pub fn as_sent<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let text = self.convention.for_agent(text);
        match self.marked && self.base_has_mark() {
            true => Cow::Owned(format!("{MARK}{text}")),
            false => text,
        }
    }

    fn base_has_mark(&self) -> bool {
        self.base.as_ref().is_some_and(|base| base.format.has_bom())
    }

    /// The file has a byte order mark that the agent does not send: if the agent writes, it may have to add it.
    pub fn has_unsent_mark(&self) -> bool {
        !self.marked && self.base_has_mark()
    }

    /// Whether this outcome means that the hub or its editor writes the file.
    pub(crate) fn will_write(&self, outcome: &Outcome) -> bool {
        match self.writer {
            // The accepted content is already there, and the write detects that.
            Writer::AgentFirst => outcome.ended.is_by_user(),
            _ => self.hub_writes() && matches!(outcome.ended, ReviewEnd::Accepted(_)),
        }
    }

    /// The new content of the file, if the hub or its editor writes it.
    pub(crate) fn result(&self, decided: &ResolvedDecision) -> Option<SharedBytes> {
        match &decided.outcome.ended {
            ReviewEnd::Accepted(accepted) => Some(accepted.bytes.clone()),
            ReviewEnd::Rejected { .. } => self.base.as_ref()?.format.encode_shared(&decided.text).ok(),
            ReviewEnd::Withdrawn | ReviewEnd::Superseded { .. } | ReviewEnd::Failed { .. } => None,
        }
    }

    /// The hub or its editor writes the result, not the agent.
    pub fn hub_writes(&self) -> bool {
        matches!(self.writer, Writer::Hub | Writer::AgentFirst) || self.written_here
    }

    /// No one would write after an accept: the agent should, but no longer waits for the answer.
    pub fn lacks_writer(&self) -> bool {
        self.writer.is_agent() && self.owner.is_none()
    }

    /// Rebases a text made for the base onto the file's current content. A file that was converted to CRLF in the
    /// meantime does not conflict on every line. A text that was shown next to another file's is not merged.
    pub(crate) fn carry(&self, text: &str, now: Option<&Text>) -> Merge {
        let whole = |text: String| Merge { text, conflicts: Vec::new() };
        let Some(now) = now else { return whole(text.to_owned()) };
        let in_its_endings = self.in_the_endings_of(now, text);
        if self.left.is_some() {
            return whole(in_its_endings.unwrap_or_else(|| text.to_owned()));
        }
        match in_its_endings {
            Some(text) => merge(&adopt_endings(&now.text, self.file_text()).0, &now.text, &text),
            None => merge(self.file_text(), &now.text, text),
        }
    }

    /// The text in the endings of a file that has CRLF now, if neither base nor text had any.
    fn in_the_endings_of(&self, now: &Text, text: &str) -> Option<String> {
        if self.file_text().contains("\r\n") {
            return None;
        }
        let (text, convention) = adopt_endings(&now.text, text);
        (convention == Convention::Lf).then_some(text)
    }

    /// Rebases the review onto the file's current content. The proposal and the draft are rebased too; the shown content
    /// changes, and so does the revision. The text of another file is no longer shown: the user has to see what would
    /// be overwritten.
    pub(crate) fn move_to(&mut self, now: Option<Text>) {
        if self.writer == Writer::AgentFirst {
            if let Some(now) = now {
                self.follow(now);
            }
            return;
        }
        if now.as_ref().is_some_and(|now| self.in_the_endings_of(now, &self.proposed).is_some()) {
            self.convention = Convention::Lf;
        }
        let shown = self.carry(self.side(), now.as_ref());
        if self.draft.is_some() {
            self.proposed = self.carry(&self.proposed, now.as_ref()).text.into();
            self.draft = Some(shown.text.into());
        } else {
            self.proposed = shown.text.into();
        }
        self.conflicts = shown.conflicts;
        self.base = now;
        self.left = None;
        self.revision = self.revision.next();
    }

    /// Rebases a review whose file holds the proposed side: the current content becomes that side, and changes by others
    /// are merged into the base as well. If that conflicts, the base stays as it was; returns the number of conflicts.
    pub(crate) fn follow(&mut self, now: Text) -> usize {
        let before = merge(&self.proposed, &now.text, self.file_text());
        if let Some(base) = &mut self.base {
            base.format = now.format;
            if before.conflicts.is_empty() {
                base.text = before.text.into();
            }
        }
        self.conflicts.clear();
        if let Some(draft) = self.draft.take() {
            let carried = merge(&self.proposed, &now.text, &draft);
            self.conflicts = carried.conflicts;
            self.draft = Some(carried.text.into());
        }
        self.proposed = now.text;
        self.revision = self.revision.next();
        before.conflicts.len()
    }
}
