//! Messages and permission prompts for the user.

use serde::{Deserialize, Serialize};

/// Shows the user a message that needs no answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct StatusMessage {
    /// One sentence.
    pub text: String,
    /// Its level.
    pub level: MessageLevel,
}

/// The level of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub enum MessageLevel {
    /// Information.
    Info,
    /// A warning.
    Warning,
    /// An error.
    Error,
}

/// Asks the user for permission. Answered at once, before the user looks; the user's answer comes back as
/// `user/answered`. If a question with this id is already on the screen, it is the same one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct UserAsk {
    /// Id of the question; never used again.
    pub ask: String,
    /// One sentence, ending with a question mark.
    pub question: String,
    /// What it is about, such as the command that would run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The answers to offer, in this order.
    pub options: Vec<AskOption>,
    /// What to print on the buttons, in the order of `options`: with the agent and what it is about.
    #[serde(default)]
    pub labels: Vec<String>,
}

/// An answer that the user can give.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub enum AskOption {
    /// This time.
    AllowOnce,
    /// This time, and as long as this agent stays connected.
    AllowSession,
    /// This time and from now on; it is remembered.
    AllowAlways,
    /// No.
    Deny,
}

/// The user's answer. Closing the question is not an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum UserAskResult {
    /// The user chose an option.
    Answered {
        /// The option.
        option: AskOption,
    },
    /// The user closed the question.
    Dismissed,
}

/// The user answered a question, or closed it. The first answer counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct UserAnswered {
    /// Id of the question.
    pub ask: String,
    /// The answer.
    pub result: UserAskResult,
}

/// The result of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct UserAnsweredResult {
    /// Whether it counts. If not, the question was already answered or is no longer pending.
    pub taken: bool,
}

/// Removes a question from the screen: it was answered elsewhere, or is no longer pending.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct UserUnask {
    /// Id of the question.
    pub ask: String,
}
