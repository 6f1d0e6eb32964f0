//! What a command hears as it happens: reviews, and what goes on in windows.

use serde::{Deserialize, Serialize};

use crate::consent::AskSummary;
use crate::decision::VerdictKind;
use crate::position::LineRange;
use crate::reviews::ReviewSummary;
use crate::selection::Selection;
use crate::user::AskOption;
use crate::window::Editor;

/// Asks for `hub/event` from now on. What is there already is asked for afterwards, with `hub/status` and
/// `reviews/list`: then nothing is missed in between. A watcher that does not read what it is sent is closed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct HubWatch {
    /// Id of the window to hear about; missing: all of them, also those that come later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<String>,
}

/// Something happened. Sent in the order in which it did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct HubEvent {
    /// Id of the window it happened in.
    pub window: String,
    /// What happened.
    pub what: WindowEvent,
}

/// What can happen in a window. A kind that is not known comes from a newer hub and is skipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum WindowEvent {
    /// Its editor joined, or came back.
    Attached {
        /// The editor.
        editor: Editor,
        /// Absolute paths of its workspace folders.
        folders: Vec<String>,
    },
    /// Its editor is gone; the window is kept for a while, for it to come back.
    Away,
    /// The window is closed.
    Closed,
    /// An agent said who it is.
    AgentJoined {
        /// Id of the connection, such as `a4`.
        agent: String,
        /// What it calls itself.
        name: String,
        /// The version it says it has.
        version: String,
        /// The protocol it speaks.
        dialect: String,
    },
    /// An agent is gone.
    AgentLeft {
        /// Id of the connection.
        agent: String,
        /// What it called itself.
        name: String,
    },
    /// The person selected something, or moved the cursor.
    Selection {
        /// The selection now.
        selection: Selection,
    },
    /// The person pointed the agents at a file, or some of its lines.
    Mentioned {
        /// Absolute path of the file.
        path: String,
        /// Which lines; missing: the whole file.
        #[serde(skip_serializing_if = "Option::is_none")]
        lines: Option<LineRange>,
    },
    /// The diagnostics of some files changed.
    Diagnostics {
        /// Absolute paths of the files.
        paths: Vec<String>,
    },
    /// A review changed. It is recorded already.
    Review {
        /// Id of the review.
        review: String,
        /// Absolute path of its file.
        path: String,
        /// What became of it.
        change: ReviewChange,
        /// The review as it is now; missing once the hub has forgotten it.
        #[serde(skip_serializing_if = "Option::is_none")]
        summary: Option<ReviewSummary>,
    },
    /// An accepted change was taken back, or put in again.
    Undone {
        /// Id of the change, such as `c17`.
        change: String,
        /// Absolute path of its file.
        path: String,
        /// What to give `history/undo` to have it the other way again.
        redo: String,
    },
    /// An agent waits for the person's word.
    Asked {
        /// The question.
        asked: AskSummary,
    },
    /// A question is over.
    AskOver {
        /// Id of the question.
        ask: String,
        /// What the agent calls itself.
        agent: String,
        /// The answer; missing: there was none, and nobody waits for it any more.
        #[serde(skip_serializing_if = "Option::is_none")]
        option: Option<AskOption>,
        /// Where it was answered, for people.
        #[serde(skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
}

/// What can become of a review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ReviewChange {
    /// It waits for a person.
    Proposed,
    /// An editor has it on the screen.
    Shown {
        /// The revision that is shown.
        revision: u32,
    },
    /// A person edited the proposed side.
    Edited {
        /// The revision now.
        revision: u32,
    },
    /// The file changed under it: it waits for a person with what the file holds now.
    Rebased {
        /// The revision now.
        revision: u32,
        /// How many places conflict.
        conflicts: u32,
    },
    /// A person decided.
    Decided {
        /// What.
        verdict: VerdictKind,
        /// Where it was decided, for people.
        by: String,
    },
    /// The accepted change is in the file. Only where the agent does not write it itself.
    Written,
    /// The agent was told to write the accepted change, and the file holds it now.
    OnDisk,
    /// The agent was told to write the accepted change some seconds ago, and the file does not hold it.
    NotOnDisk,
    /// Its agent no longer waits for the answer. It may come back and ask again.
    AgentGone,
    /// Its agent waits for the answer again.
    AgentBack,
    /// The decision could not be carried out, nor that be recorded: it waits for a person again.
    Reopened {
        /// Why.
        error: String,
    },
    /// Its agent took it back, or did not come back for it.
    Withdrawn,
    /// Its agent proposed something newer.
    Superseded {
        /// Id of the newer review.
        by: String,
    },
    /// It was accepted and could not be carried out.
    Failed {
        /// Why.
        error: String,
    },
    /// Its agent has the answer, or it is too old to be asked for: it is history.
    Delivered,
}
