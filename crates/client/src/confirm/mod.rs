//! May the agent do this? Asks the person, in the editor where a change can be shown there, else in the terminal.
//! The first decision wins, a lost connection decides nothing, and the answer says who writes the file.

mod cancelled;
mod console;
mod question;
mod race;
mod reviewer;
mod terminal;

use crate::bridge::BridgeConfig;
use crate::connection::{Change, ChangeWriter, Comment, Decided, Taken};
use crate::proposal::FILE_TOOLS;

pub use cancelled::Cancelled;
pub use console::Console;
pub use question::{FileChange, Question, QuestionError};
pub use reviewer::{NoDecision, PendingReview, Reviewer};
pub use terminal::{Answer, NoTerminal, Terminal};

/// How much an agent may do by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PermissionMode {
    /// Everything, unasked.
    Yolo,
    /// Whatever the agent brings here is asked.
    Trusted,
    /// What its sandbox lets through, unasked: the sandbox says no by itself.
    Sandboxed,
}

/// When to ask whom.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// What the agent may do.
    pub mode: PermissionMode,
    /// The switches; `enabled` and `use_ide_diffs` count here.
    pub config: BridgeConfig,
    /// Ask in the terminal too while the editor shows the change; whoever answers first decides.
    pub ask_both: bool,
    /// Who should write a change that is accepted in the editor.
    pub writer: ChangeWriter,
}

impl Rules {
    /// The editor first, the terminal where that fails, and the editor writes.
    pub fn new(mode: PermissionMode) -> Rules {
        Rules { mode, config: BridgeConfig::default(), ask_both: false, writer: ChangeWriter::Editor }
    }
}

/// Where a person decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In the editor.
    Editor,
    /// In the terminal.
    Terminal,
}

/// What may be done.
#[derive(Debug, Clone, PartialEq)]
pub enum Confirmation {
    /// Nobody has to be asked: go on with the tool.
    NotAsked,
    /// The file holds what it would be given: there is nothing to do.
    Unchanged,
    /// The person said yes, to this one call.
    AllowOnce {
        /// What the file holds or shall hold; it may differ from what was proposed. `None` for other tools,
        /// and where the editor wrote it and did not tell.
        text: Option<String>,
        /// The file holds it already: do not write, and do not run the tool.
        written: bool,
        /// What the caller has to write; only where `written` is false and the tool edits a file.
        bytes: Option<Vec<u8>>,
        /// Where.
        by: Place,
    },
    /// The person said no.
    Deny {
        /// Why, in her words.
        reason: Option<String>,
        /// What she said about single lines.
        comments: Vec<Comment>,
        /// Where.
        by: Place,
    },
    /// Neither yes nor no: nobody could be asked, or the answer cannot be carried out. Do not go on.
    Undecided {
        /// Why.
        why: String,
    },
}

/// Asks the person, by the rules. Waits for her without limit, and for no machine.
pub fn confirm(
    question: &Question,
    rules: &Rules,
    reviewer: Option<&dyn Reviewer>,
    terminal: &dyn Terminal,
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
        Some((reviewer, change)) => race::ask(question, rules.ask_both, reviewer, &change, terminal),
        None => race::answered(question, terminal.ask(question, &Cancelled::never())),
    }
}

/// What an editor can show: a change of a file's text, by one of the tools that make one.
fn change_for_editor(question: &Question, rules: &Rules) -> Option<Change> {
    let wanted = rules.config.enabled && rules.config.use_ide_diffs;
    if !wanted || !FILE_TOOLS.contains(&question.tool.as_str()) {
        return None;
    }
    let change = question.change.as_ref()?;
    let text = change.proposed.for_review()?;
    Some(Change { writer: rules.writer, ..Change::new(&change.path, text) })
}

/// What a decision in the editor means for the agent.
fn decided(question: &Question, decided: Decided) -> Confirmation {
    let by = Place::Editor;
    if !decided.is_accepted() {
        return Confirmation::Deny { reason: decided.reason, comments: decided.comments, by };
    }
    let Some(change) = &question.change else {
        return Confirmation::AllowOnce { text: decided.text, written: decided.written, bytes: None, by };
    };
    if decided.written {
        // Some editors do not tell the text, and some texts are too large to be told: they are in the file.
        let known = decided.taken == Some(Taken::All);
        let text = decided.text.or_else(|| known.then(|| change.proposed.text().to_owned()));
        return Confirmation::AllowOnce { text, written: true, bytes: None, by };
    }
    let Some(text) = decided.text else {
        let why = "the change was accepted, but the editor did not say which text: look at it there";
        return Confirmation::Undecided { why: why.to_owned() };
    };
    match change.proposed.encode(&text) {
        Ok(bytes) => Confirmation::AllowOnce { text: Some(text), written: false, bytes: Some(bytes), by },
        Err(error) => Confirmation::Undecided {
            why: format!("the change was accepted but cannot be written as it was edited: {error}"),
        },
    }
}

#[cfg(test)]
mod tests;
