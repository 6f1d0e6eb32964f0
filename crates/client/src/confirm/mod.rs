//! Confirming a tool call: asks the user, in the editor if a change can be shown there, else in the terminal. The first
//! decision wins, a lost connection decides nothing, and the answer says who writes the file. Must not know any wire
//! format.

mod cancellation;
mod console;
mod question;
mod race;
mod reviewer;
mod terminal;

use crate::bridge::BridgeConfig;
use crate::connection::{AcceptedPart, Change, ChangeOutcome, ChangeWriter, Comment, DecidedHunk};
use crate::proposal::FILE_TOOLS;

pub use cancellation::Cancellation;
pub use console::Console;
pub use question::{ConfirmQuestion, FileChange, QuestionError};
pub use reviewer::{NoDecision, PendingReview, Reviewer};
pub use terminal::{NoTerminal, TerminalAnswer, TerminalPrompt};

/// How much an agent may do without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PermissionMode {
    /// Everything, without asking.
    Yolo,
    /// Every call that the agent brings here is asked about.
    Trusted,
    /// Everything that its sandbox allows, without asking: the sandbox itself rejects the rest.
    Sandboxed,
}

/// When and where to ask.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// What the agent may do.
    pub mode: PermissionMode,
    /// The configuration; `enabled` and `use_ide_diffs` are used here.
    pub config: BridgeConfig,
    /// Ask in the terminal too while the editor shows the change; the first answer decides.
    pub ask_both: bool,
    /// Who should write a change that is accepted in the editor.
    pub writer: ChangeWriter,
}

impl Rules {
    /// The editor first, the terminal if that fails, and the editor writes.
    pub fn new(mode: PermissionMode) -> Rules {
        Rules { mode, config: BridgeConfig::default(), ask_both: false, writer: ChangeWriter::Editor }
    }
}

/// Where the user decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecidedBy {
    /// In the editor.
    Editor,
    /// In the terminal.
    Terminal,
}

/// The result of asking.
#[derive(Debug, Clone, PartialEq)]
pub enum Confirmation {
    /// No need to ask: continue with the tool.
    NotAsked,
    /// The file holds the new text already: there is nothing to do.
    Unchanged,
    /// The user allowed this one call.
    AllowOnce {
        /// The text that the file holds or will hold; it may differ from the proposed one. `None` for other tools, and
        /// if the editor wrote it and did not report it.
        text: Option<String>,
        /// The file holds it already: do not write, and do not run the tool.
        written: bool,
        /// The bytes that the caller has to write; only if `written` is false and the tool edits a file.
        bytes: Option<Vec<u8>>,
        /// What else is known about the decision.
        details: AllowDetails,
        /// Where.
        by: DecidedBy,
    },
    /// The user rejected it.
    Deny {
        /// The user's reason.
        reason: Option<String>,
        /// Comments on single lines.
        comments: Vec<Comment>,
        /// Where.
        by: DecidedBy,
    },
    /// Neither allowed nor rejected: the user could not be asked, or the answer cannot be carried out. Do not continue.
    Undecided {
        /// Why.
        why: String,
    },
}

/// What is known about an accepted change besides its text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AllowDetails {
    /// How much was accepted, if the place of the decision reports it.
    pub taken: Option<AcceptedPart>,
    /// Each hunk and whether it was accepted; only if some were and some were not.
    pub hunks: Vec<DecidedHunk>,
    /// The user's edits of the proposal, as a unified diff.
    pub person_diff: Option<String>,
    /// Comments on single lines.
    pub comments: Vec<Comment>,
}

/// Asks the user, by the rules. Waits for the user without limit, and for no machine.
pub fn confirm(
    question: &ConfirmQuestion,
    rules: &Rules,
    reviewer: Option<&dyn Reviewer>,
    terminal: &dyn TerminalPrompt,
) -> Confirmation {
    confirm_unless(question, rules, reviewer, terminal, &Cancellation::never())
}

/// The same as [`confirm`] for a caller that may withdraw the question: it is then [`Confirmation::Undecided`], unless
/// the user decided before.
pub fn confirm_unless(
    question: &ConfirmQuestion,
    rules: &Rules,
    reviewer: Option<&dyn Reviewer>,
    terminal: &dyn TerminalPrompt,
    cancelled: &Cancellation,
) -> Confirmation {
    match rules.mode {
        PermissionMode::Yolo | PermissionMode::Sandboxed => return Confirmation::NotAsked,
        PermissionMode::Trusted => {}
    }
    if question.change.as_ref().is_some_and(|change| change.proposed.is_unchanged()) {
        return Confirmation::Unchanged;
    }
    let in_the_editor = reviewer.zip(change_for_editor(question, rules));
    match in_the_editor {
        Some((reviewer, change)) => {
            race::ask(question, rules.ask_both, reviewer, &change, terminal, cancelled)
        }
        None => race::answered(question, terminal.ask(question, cancelled)),
    }
}

/// The change that an editor can show: of a file's text, by one of the tools that edit files.
fn change_for_editor(question: &ConfirmQuestion, rules: &Rules) -> Option<Change> {
    let wanted = rules.config.enabled && rules.config.use_ide_diffs;
    if !wanted || !FILE_TOOLS.contains(&question.tool.as_str()) {
        return None;
    }
    let change = question.change.as_ref()?;
    let text = change.proposed.for_review()?;
    let shown = Change { writer: rules.writer, ..Change::new(&change.path, text) };
    Some(match &question.label {
        Some(label) => shown.labelled(label),
        None => shown,
    })
}

/// The result for the agent of a decision that the editor's side carried out.
fn decided(question: &ConfirmQuestion, decided: ChangeOutcome, by: DecidedBy) -> Confirmation {
    if !decided.is_accepted() {
        return Confirmation::Deny { reason: decided.reason, comments: decided.comments, by };
    }
    let (written, taken) = (decided.written, decided.taken);
    let details = AllowDetails {
        taken,
        hunks: decided.hunks,
        person_diff: decided.person_diff,
        comments: decided.comments,
    };
    let Some(change) = &question.change else {
        return Confirmation::AllowOnce { text: decided.text, written, bytes: None, details, by };
    };
    if written {
        // Some editors do not report the text, and some texts are too large to be sent: they are in the file.
        let known = taken == Some(AcceptedPart::All);
        let text = decided.text.or_else(|| known.then(|| change.proposed.text().to_owned()));
        return Confirmation::AllowOnce { text, written, bytes: None, details, by };
    }
    let Some(text) = decided.text else {
        let why = "the change was accepted, but the editor did not send the text: check it in the editor";
        return Confirmation::Undecided { why: why.to_owned() };
    };
    to_write(change, text, details, by)
}

/// A text that was accepted and that the caller has to write.
fn to_write(change: &FileChange, text: String, details: AllowDetails, by: DecidedBy) -> Confirmation {
    match change.proposed.encode(&text) {
        Ok(bytes) => {
            Confirmation::AllowOnce { text: Some(text), written: false, bytes: Some(bytes), details, by }
        }
        Err(error) => Confirmation::Undecided {
            why: format!("the change was accepted, but the edited text cannot be written: {error}"),
        },
    }
}

#[cfg(test)]
mod tests;
