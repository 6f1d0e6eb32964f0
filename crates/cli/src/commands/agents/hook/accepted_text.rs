//! The text that the user accepted, compared with the file as it is after the decision: whether one follows from the other,
//! and what the agent's own input would write now. Pure.

use linkspan_client::ChangeOutcome;
use linkspan_client::connection::AcceptedPart;
use linkspan_dialect::hooks::{EditCall, FileChangeKind};
use linkspan_review::{adopt_endings, merge};

use super::edit_plan::{PlannedFile, with_lf};

/// A file of the edit, its decision, and the file as it is now.
#[derive(Debug, Clone, Copy)]
pub(super) struct FileDecision<'a> {
    pub(super) file: &'a PlannedFile,
    pub(super) outcome: &'a ChangeOutcome,
    /// With the line endings of the file; `None` if there is none.
    pub(super) now: Option<&'a str>,
}

impl FileDecision<'_> {
    /// With LF.
    pub(super) fn current(&self) -> Option<String> {
        self.now.map(with_lf)
    }

    /// The bytes that were accepted, without encoding. The hub says an LF text to an agent that proposed one.
    pub(super) fn accepted(&self) -> Option<String> {
        let text = self.outcome.text.as_deref().filter(|_| self.outcome.is_accepted())?;
        Some(adopt_endings(self.now.unwrap_or_default(), text).0)
    }

    /// Others changed the file since it was planned, or the editor has unsaved changes.
    pub(super) fn is_moved(&self) -> bool {
        let proposed = self.file.result.text.as_deref().map(with_lf);
        self.current() != self.file.current
            || self.is_all() && self.accepted().map(|text| with_lf(&text)) != proposed
    }

    pub(super) fn is_all(&self) -> bool {
        self.outcome.taken == Some(AcceptedPart::All)
    }

    /// Whether the decision was about the file as it is now. Otherwise a text that the user has not seen would be lost.
    pub(super) fn is_about_this_file(&self) -> bool {
        if !self.file.is_plain() {
            return self.now.map(str::to_owned) == self.file.raw;
        }
        let (Some(accepted), now) = (self.accepted().map(|text| with_lf(&text)), self.current()) else {
            return false;
        };
        if now == self.file.current || now.as_ref() == Some(&accepted) {
            return true;
        }
        let (Some(before), Some(now)) = (&self.file.current, &now) else { return false };
        let is_merge_of = |wanted: &str| {
            let merged = merge(before, now, wanted);
            merged.conflicts.is_empty() && merged.text == accepted
        };
        is_merge_of(&accepted) || is_merge_of(&self.proposed())
    }

    /// The proposed text with the changes of others, in LF: that is what the user saw.
    pub(super) fn merged_proposal(&self) -> String {
        let proposed = self.proposed();
        let (Some(before), Some(now)) = (&self.file.current, self.current()) else { return proposed };
        if *before == now {
            return proposed;
        }
        let merged = merge(before, &now, &proposed);
        if merged.conflicts.is_empty() { merged.text } else { proposed }
    }

    /// Whether the hunks are those between these two texts: with the taken ones, the first becomes the accepted text, or
    /// one that is merged with the changes of others to it.
    pub(super) fn has_hunks_of(&self, before: &str, after: &str) -> bool {
        let index = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
        let (old, new): (Vec<&str>, Vec<&str>) =
            (before.split_inclusive('\n').collect(), after.split_inclusive('\n').collect());
        let (mut text, mut at) = (String::new(), 0);
        for hunk in self.outcome.hunks.iter().filter(|hunk| hunk.taken) {
            let start = index(hunk.before_start);
            text.extend(old.get(at..start).unwrap_or_default().iter().copied());
            text.extend(new.iter().skip(index(hunk.after_start)).take(index(hunk.after_count)).copied());
            at = start.saturating_add(index(hunk.before_count));
        }
        text.extend(old.get(at..).unwrap_or_default().iter().copied());
        let Some(accepted) = self.accepted().map(|accepted| with_lf(&accepted)) else { return false };
        let merged = || merge(before, &self.current().unwrap_or_default(), &text);
        accepted == text || self.file.current.as_deref() == Some(before) && accepted == merged().text
    }

    /// What the agent's tool would write now with its own input; `None` if it would fail.
    pub(super) fn own_text(&self, edit: &EditCall) -> Option<String> {
        let mut text = self.now.map(str::to_owned);
        let mut is_as_given = false;
        for position in &self.file.positions {
            let change = edit.files.get(*position)?;
            is_as_given |= writes_as_given(&change.kind, text.as_deref());
            text = change.result(text.as_deref()).ok()?.text;
        }
        match (text?, self.now) {
            (text, Some(now)) if !is_as_given => Some(adopt_endings(now, text).0),
            (text, _) => Some(text),
        }
    }

    fn proposed(&self) -> String {
        self.file.result.text.as_deref().map(with_lf).unwrap_or_default()
    }
}

/// Whether a tool writes the text that it is given. Others keep the line endings of the file.
pub(super) fn writes_as_given(kind: &FileChangeKind, current: Option<&str>) -> bool {
    match kind {
        FileChangeKind::Write { .. } | FileChangeKind::Add { .. } => true,
        FileChangeKind::Replace { replacements, .. } => {
            current.is_none_or(str::is_empty)
                || replacements.iter().any(|replacement| replacement.old.is_empty())
        }
        FileChangeKind::Patch { .. } | FileChangeKind::Delete | FileChangeKind::Diff(_) => false,
    }
}
