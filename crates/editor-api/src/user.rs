//! Words to the person outside of a review.

use serde::{Deserialize, Serialize};

/// Tells the person something, without asking for an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct StatusMessage {
    /// One sentence.
    pub text: String,
    /// How loud.
    pub level: MessageLevel,
}

/// How loud a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub enum MessageLevel {
    /// In passing.
    Info,
    /// She should know.
    Warning,
    /// Something does not work.
    Error,
}

/// Asks the person for permission. Answered at once, before she looks; what she says comes back as `user/answered`.
/// A question with an id that is on her screen already is the same one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct UserAsk {
    /// Id of the question, which no later question has.
    pub ask: String,
    /// One sentence, ending with a question mark.
    pub question: String,
    /// What it is about, such as the command that would run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The answers to offer, in this order.
    pub options: Vec<AskOption>,
}

/// An answer the person can give.
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

/// What the person said. Closing the question is no answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum UserAskResult {
    /// She chose.
    Answered {
        /// What she chose.
        option: AskOption,
    },
    /// She closed the question.
    Dismissed,
}

/// The person answered a question, or closed it. The first answer counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct UserAnswered {
    /// Id of the question.
    pub ask: String,
    /// What she said.
    pub result: UserAskResult,
}

/// What became of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct UserAnsweredResult {
    /// Whether it counts. If not, the question was over: answered before, or nobody waits for it any more.
    pub taken: bool,
}

/// Takes a question off the screen: it was answered elsewhere, or nobody waits for its answer any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct UserUnask {
    /// Id of the question.
    pub ask: String,
}
