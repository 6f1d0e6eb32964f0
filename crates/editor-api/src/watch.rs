//! Events that a watching command receives: about reviews and about windows.

use serde::{Deserialize, Serialize};

use crate::decision::VerdictKind;
use crate::permissions::AskSummary;
use crate::position::LineRange;
use crate::reviews::ReviewSummary;
use crate::selection::Selection;
use crate::user::AskOption;
use crate::window::Editor;

/// Asks for `hub/event` from now on. Ask for the current state afterwards, with `hub/status` and `reviews/list`, so
/// that nothing is missed in between. The connection of a watcher that does not read is closed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct HubWatch {
    /// Id of the window to watch. Default: all windows, including later ones.
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

/// An event in a window. Skip unknown kinds: they come from a newer hub.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum WindowEvent {
    /// Its editor attached, or reattached.
    Attached {
        /// The editor.
        editor: Editor,
        /// Absolute paths of its workspace folders.
        folders: Vec<String>,
    },
    /// Its editor is gone. The window is kept for a while, in case it comes back.
    Away,
    /// The window is closed.
    Closed,
    /// An agent introduced itself.
    AgentJoined {
        /// Id of the connection, such as `a4`.
        agent: String,
        /// What it calls itself.
        name: String,
        /// The version that it reports.
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
    /// An agent waits for the user, as its hook reports.
    AgentWaiting {
        /// What it calls itself.
        name: String,
        /// What it waits for, in its own words; may be empty.
        message: String,
    },
    /// An agent ended its turn, as its hook reports.
    AgentDone {
        /// What it calls itself.
        name: String,
    },
    /// The user selected something, or moved the cursor.
    Selection {
        /// The selection now.
        selection: Selection,
    },
    /// The user pointed the agents at a file, or at some of its lines.
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
        /// The change of the review.
        change: ReviewChange,
        /// The review as it is now; missing once the hub has discarded it.
        #[serde(skip_serializing_if = "Option::is_none")]
        summary: Option<ReviewSummary>,
    },
    /// An accepted change was undone, or redone.
    Undone {
        /// Id of the change, such as `c17`.
        change: String,
        /// Absolute path of its file.
        path: String,
        /// The id to pass to `history/undo` to reverse it.
        redo: String,
    },
    /// An agent waits for permission.
    Asked {
        /// The question.
        asked: AskSummary,
    },
    /// A question is closed.
    AskOver {
        /// Id of the question.
        ask: String,
        /// What the agent calls itself.
        agent: String,
        /// The answer; missing if there was none and it is no longer pending.
        #[serde(skip_serializing_if = "Option::is_none")]
        option: Option<AskOption>,
        /// Where it was answered, for people.
        #[serde(skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
}

/// A change in the state of a review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ReviewChange {
    /// It waits for a decision.
    Proposed,
    /// An editor shows it.
    Shown {
        /// The revision that is shown.
        revision: u32,
    },
    /// The user edited the proposed side.
    Edited {
        /// The revision now.
        revision: u32,
    },
    /// The file changed: the review is pending with the current contents of the file.
    Rebased {
        /// The revision now.
        revision: u32,
        /// How many places conflict.
        conflicts: u32,
    },
    /// The user decided.
    Decided {
        /// What.
        verdict: VerdictKind,
        /// Where it was decided, for people.
        by: String,
    },
    /// The accepted change is in the file. Only where the agent does not write it itself.
    Written,
    /// The agent had to write the accepted change, and the file holds it now.
    OnDisk,
    /// The agent had to write the accepted change some seconds ago, and the file does not hold it.
    NotOnDisk,
    /// Its agent no longer waits for the answer. It may come back and ask again.
    AgentGone,
    /// Its agent waits for the answer again.
    AgentBack,
    /// The decision could not be carried out, and the failure could not be recorded: the review is pending again.
    Reopened {
        /// Why.
        error: String,
    },
    /// Its agent withdrew it, or did not come back for it.
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
    /// Its agent received the answer, or it is too old to be delivered: it is history now.
    Delivered,
}
