//! One review: what is proposed for which file, what the person made of it, and how far it got. It
//! knows how to move onto a file that changed; it does not know events or effects.

use std::borrow::Cow;
use std::path::PathBuf;

use crate::format::MARK;
use crate::proposal::held;
use crate::{
    AgentId, Conflict, Convention, Digest, Ended, Hunk, Merge, Outcome, ReviewId, Revision, SetId,
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
    /// The hub writes in place of the agent: the agent no longer waits and the user let the hub write, or the agent
    /// would write something else than what was accepted. Set with the decision.
    pub written_here: bool,
    pub owner_key: String,
    /// `None`: gone.
    pub owner: Option<AgentId>,
    pub base: Option<Text>,
    /// Shown on the left in place of `base`: the text of another file, in the line endings of `proposed`. Hunks are
    /// computed from it. What is written is bound to `base` all the same.
    pub left: Option<SharedText>,
    /// In the file's own line endings.
    pub proposed: SharedText,
    pub convention: Convention,
    /// The agent sends the file's byte order mark with its text, and wants it back.
    pub marked: bool,
    /// Of the proposal as sent, to find it again.
    pub original: Digest,
    /// The person's own edits of the proposed side.
    pub draft: Option<SharedText>,
    /// Where the file moved under the change, in lines of `side()`; the person is asked about these.
    pub conflicts: Vec<Conflict>,
    pub revision: Revision,
    pub phase: Phase,
}

/// How far a review got. A phase that waits for its record is stored as such: found in the journal, it
/// *was* recorded, and `State::restore` goes on from there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Proposed, not yet durable: shown to nobody.
    Recording,
    Pending,
    /// A person decided; not yet durable: told to nobody.
    Deciding(Box<Decided>),
    /// Durable, and the editor side is writing the file.
    Writing(Box<Decided>),
    /// Written (`Accepted`), or ended without a person (all others); that fact is not yet durable.
    Settling(Box<Outcome>),
    Settled {
        outcome: Box<Outcome>,
        delivered: bool,
    },
}

/// A person's decision, worked out to the byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    /// What the agent will be told.
    pub outcome: Outcome,
    /// The accepted text in the file's own endings, from which a merge can start; empty when rejected.
    pub text: SharedText,
}

impl Decided {
    pub(crate) fn is_accepted(&self) -> bool {
        matches!(self.outcome.ended, Ended::Accepted(_))
    }
}

impl Review {
    /// The proposed side as shown: the person's draft where there is one.
    pub fn side(&self) -> &str {
        self.shared_side()
    }

    pub(crate) fn shared_side(&self) -> &SharedText {
        self.draft.as_ref().unwrap_or(&self.proposed)
    }

    /// The left side as shown: what the file holds, or the text of another file.
    pub fn base_text(&self) -> &str {
        self.left.as_deref().unwrap_or_else(|| self.file_text())
    }

    /// What the file itself holds; empty where there is no file.
    pub fn file_text(&self) -> &str {
        self.base.as_ref().map_or("", |base| &base.text)
    }

    /// What the file held when this was shown; `None`: there was no file.
    pub fn held(&self) -> Option<Text> {
        held(self.writer, self.base.as_ref(), || self.proposed.clone())
    }

    pub fn base_digest(&self) -> Option<Digest> {
        self.base.as_ref().map(Text::digest)
    }

    /// Names exactly what is shown: this review, its file, what that holds, what is shown in place of that, and what it
    /// would hold. A decision that has
    /// it is about this and about nothing else, whatever else has the same id and revision.
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

    /// What the file must hold for a write of the result; `None`: it must not exist.
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

    /// The outcome, once a person or anyone else brought it about, told or not.
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

    /// The file has a byte order mark that the agent does not send: if the agent writes, it may have to put it there.
    pub fn has_unsent_mark(&self) -> bool {
        !self.marked && self.base_has_mark()
    }

    /// Whether this outcome means that the editor side writes the file.
    pub(crate) fn will_write(&self, outcome: &Outcome) -> bool {
        match self.writer {
            // What is kept is there already, and the write finds that out.
            Writer::AgentFirst => outcome.ended.by_a_person(),
            _ => self.hub_writes() && matches!(outcome.ended, Ended::Accepted(_)),
        }
    }

    /// What the file shall hold, where the editor side writes it.
    pub(crate) fn result(&self, decided: &Decided) -> Option<SharedBytes> {
        match &decided.outcome.ended {
            Ended::Accepted(accepted) => Some(accepted.bytes.clone()),
            Ended::Rejected { .. } => self.base.as_ref()?.format.encode_shared(&decided.text).ok(),
            Ended::Withdrawn | Ended::Superseded { .. } | Ended::Failed { .. } => None,
        }
    }

    /// The hub or its editor writes what was decided, not the agent.
    pub fn hub_writes(&self) -> bool {
        matches!(self.writer, Writer::Editor | Writer::AgentFirst) || self.written_here
    }

    /// An accept would come to nothing: the agent should write, and does not wait for the answer.
    pub fn nobody_would_write(&self) -> bool {
        self.writer.is_agent() && self.owner.is_none()
    }

    /// Carries a text made for the base over to what the file holds now. A file that turned to CRLF
    /// meanwhile is not a conflict on every line. A text that was made for another file is not merged.
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

    /// The text in the endings of a file that has CRLF by now, where both base and text knew of none.
    fn in_the_endings_of(&self, now: &Text, text: &str) -> Option<String> {
        if self.file_text().contains("\r\n") {
            return None;
        }
        let (text, convention) = adopt_endings(&now.text, text);
        (convention == Convention::Lf).then_some(text)
    }

    /// Moves the review onto what the file holds now. The proposal and the draft are carried along; what
    /// is shown changes, and so does the revision. The text of another file is no longer shown: the user has to see
    /// what would be overwritten.
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

    /// The same, where the file holds the proposed side: what it holds now is that side, and what others changed is in
    /// the text before as well. Where that cannot be, it stays as it was, and the count of conflicts is given.
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
