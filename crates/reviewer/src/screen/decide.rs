//! Decides the selected review: all of it, the marked hunks, the user's own text, or a rejection.

use linkspan_editor_api::{Decision, ReviewsDecide, Verdict};

use super::{Command, Confirm, Overlay, Purpose, Screen, Tone};
use crate::document::{Draft, Mark};
use crate::input_line::InputLine;
use crate::keys::Action;

const OLD_DRAFT: &str =
    "not submitted: the proposal changed after your edit. Press e to keep editing, d to discard";

impl Screen {
    pub(super) fn decision_key(&mut self, action: Action) {
        let Some(entry) = self.current() else {
            return self.show_message(Tone::Quiet, "nothing to decide");
        };
        if let Some((how, _)) = &entry.ended {
            let text = format!("{} is closed: {how}", entry.id());
            return self.show_message(Tone::Warning, text);
        }
        let Some(document) = entry.document.as_deref().filter(|_| entry.is_open()) else {
            return self.show_message(Tone::Quiet, "not yet: the change is still loading");
        };
        let hunk = document.hunk();
        let left = document.marks.values().filter(|mark| **mark == Mark::Exclude).count();
        match action {
            Action::Accept | Action::Submit if document.draft.is_some() => {
                self.show(Overlay::Confirm(Confirm::Draft));
            }
            Action::Accept if left > 0 => self.show(Overlay::Confirm(Confirm::DespiteMarks { left })),
            Action::Accept => self.accept_whole(),
            Action::Reject => self.decide(Verdict::Reject { reason: None }),
            Action::RejectWithReason => {
                self.show(Overlay::Type { purpose: Purpose::Reason, line: InputLine::default() });
            }
            Action::Submit if document.marks.is_empty() => {
                self.show_message(Tone::Quiet, "mark hunks first: y includes, x excludes; a accepts all");
            }
            Action::Submit => match document.unmarked() {
                0 => self.submit_marks(false),
                count => self.show(Overlay::Confirm(Confirm::Unmarked { count })),
            },
            Action::IncludeHunk => self.mark_and_advance(hunk, Mark::Include),
            Action::ExcludeHunk => self.mark_and_advance(hunk, Mark::Exclude),
            Action::Toggle => self.toggle_mark(hunk),
            Action::Edit => self.edit(),
            Action::Comment => {
                let line_number = document.comment_line();
                let line = InputLine::holding(document.comment_on(line_number).unwrap_or_default());
                self.show(Overlay::Type { purpose: Purpose::Comment { line_number }, line });
            }
            _ => {}
        }
    }

    pub(super) fn toggle_mark(&mut self, hunk: Option<usize>) {
        let Some(hunk) = hunk else { return };
        if let Some(document) = self.document_mut() {
            let next = match document.mark_of(hunk) {
                None => Some(Mark::Include),
                Some(Mark::Include) => Some(Mark::Exclude),
                Some(Mark::Exclude) => None,
            };
            document.mark(hunk, next);
        }
    }

    /// A mark is not a decision, so the misclick guard does not apply.
    fn mark_and_advance(&mut self, hunk: Option<usize>, mark: Mark) {
        let Some(hunk) = hunk else { return };
        let Some(document) = self.document_mut() else { return };
        document.mark(hunk, Some(mark));
        document.go_to_hunk(hunk + 1);
        let (unmarked, count) = (document.unmarked(), document.shown.hunks.len());
        self.fit();
        if unmarked == 0 {
            let hunks = linkspan_editor_api::labels::count(count as u64, "hunk");
            self.show_message(Tone::Quiet, format!("{hunks} marked: press s to submit"));
        }
    }

    pub(super) fn accept_whole(&mut self) {
        self.decide(Verdict::Accept);
    }

    pub(super) fn submit_marks(&mut self, take_unmarked: bool) {
        let Some(document) = self.document() else { return };
        let hunks = &document.shown.hunks;
        let takes = |id: &String| document.marks.get(id).map_or(take_unmarked, |mark| *mark == Mark::Include);
        let taken: Vec<String> = hunks.iter().map(|hunk| hunk.id.clone()).filter(takes).collect();
        let verdict = match taken.len() {
            0 => Verdict::Reject { reason: None },
            count if count == hunks.len() => Verdict::Accept,
            _ => Verdict::AcceptHunks { hunks: taken },
        };
        self.decide(verdict);
    }

    pub(super) fn reject_because(&mut self, reason: &str) {
        let reason = Some(reason.trim().to_owned()).filter(|reason| !reason.is_empty());
        self.decide(Verdict::Reject { reason });
    }

    pub(super) fn accept_draft(&mut self) {
        let Some(document) = self.document() else { return };
        if document.has_old_draft() {
            return self.show_message(Tone::Warning, OLD_DRAFT);
        }
        let Some(text) = document.draft.as_ref().map(|draft| draft.text.clone()) else { return };
        self.decide(Verdict::AcceptEdited { text });
    }

    /// Decides, or first asks whether the hub should write the file because the agent would not.
    fn decide(&mut self, verdict: Verdict) {
        let is_accept = !matches!(verdict, Verdict::Reject { .. });
        if is_accept && self.current().is_some_and(|entry| entry.is_open() && entry.needs_writing()) {
            return self.show(Overlay::Confirm(Confirm::WriteHere { verdict }));
        }
        self.send_decision(verdict, false);
    }

    /// The user confirmed that the hub writes the file.
    pub(super) fn write_here(&mut self) {
        let Overlay::Confirm(Confirm::WriteHere { verdict }) = &self.overlay else { return };
        self.send_decision(verdict.clone(), true);
    }

    /// Sends a decision on exactly the visible content, if it has been visible for a moment.
    fn send_decision(&mut self, verdict: Verdict, write_here: bool) {
        let open = self.current().is_some_and(|entry| entry.is_open());
        if !open {
            self.overlay = Overlay::None;
            return self.show_message(Tone::Warning, "not submitted: the review is no longer pending");
        }
        if !self.confirm_visible() {
            return;
        }
        self.overlay = Overlay::None;
        let Some(entry) = self.current_mut() else { return };
        let Some(document) = entry.document.as_deref() else { return };
        let comments = document.comments.clone();
        let (revision, digest) = (Some(document.shown.revision), Some(document.shown.digest.clone()));
        let decision = Decision { verdict, comments, write_here };
        let review = entry.id().to_owned();
        entry.sent = Some(decision.verdict.clone());
        self.commands.push(Command::Decide(ReviewsDecide { review, revision, digest, decision }));
    }

    /// Opens the user's editor with their text so far, or else with the proposal.
    pub(super) fn edit(&mut self) {
        let Some(entry) = self.current() else { return };
        let Some(document) = entry.document.as_deref() else { return };
        let draft = document.draft.as_ref().map(|draft| draft.text.clone());
        let command = Command::Edit {
            review: entry.id().to_owned(),
            revision: document.shown.revision,
            path: document.shown.path.clone(),
            text: draft.unwrap_or_else(|| document.shown.proposed.clone()),
        };
        self.commands.push(command);
    }

    /// The user's editor is closed.
    pub(super) fn edited(&mut self, review: &str, revision: u32, text: Result<String, String>) {
        let Some(entry) = self.list.get_mut(review) else {
            return self
                .show_message(Tone::Warning, "not submitted: the review went away while you were editing");
        };
        let text = match text {
            Ok(text) => text,
            Err(why) => return self.show_message(Tone::Warning, why),
        };
        let open = entry.is_open();
        let Some(document) = entry.document.as_deref_mut() else { return };
        if text == document.shown.proposed {
            document.draft = None;
            return self.show_message(Tone::Quiet, "the text is unchanged; nothing was submitted");
        }
        // Closing the editor without a change does not rebase the draft onto a newer revision.
        let unchanged = document.draft.as_ref().filter(|draft| draft.text == text);
        let revision = unchanged.map_or(revision, |draft| draft.revision);
        document.draft = Some(Draft { text, revision });
        let old = document.has_old_draft();
        if !open || self.selected.as_deref() != Some(review) {
            return self.show_message(Tone::Warning, format!("not submitted: {review} is no longer pending"));
        }
        self.show(Overlay::Confirm(Confirm::Draft));
        if old {
            self.show_message(Tone::Warning, OLD_DRAFT);
        }
    }
}
