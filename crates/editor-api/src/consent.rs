//! What agents may do only with the person's word: the questions that wait for it, answering them from anywhere, and
//! what is allowed to whom.

use serde::{Deserialize, Serialize};

use crate::user::AskOption;

/// What an agent does only when it is allowed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub enum Deed {
    /// Running a command.
    Command,
    /// Executing code in a notebook.
    Code,
    /// Changing files without a review. Nobody is asked about it: what is not allowed is shown for review.
    Edit,
    /// Staging and committing.
    Git,
}

impl Deed {
    /// All of them.
    pub const ALL: [Deed; 4] = [Deed::Command, Deed::Code, Deed::Edit, Deed::Git];

    /// Its word, as in configuration files and on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Deed::Command => "command",
            Deed::Code => "code",
            Deed::Edit => "edit",
            Deed::Git => "git",
        }
    }
}

/// A question that waits for the person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct AskSummary {
    /// Id of the question, which no later question has.
    pub ask: String,
    /// Id of the window whose agent asks.
    pub window: String,
    /// Absolute paths of that window's workspace folders.
    pub folders: Vec<String>,
    /// What the agent calls itself.
    pub agent: String,
    /// The protocol it speaks.
    pub dialect: String,
    /// What is to be allowed.
    pub deed: Deed,
    /// One sentence, ending with a question mark.
    pub question: String,
    /// What it is about, whole, such as the command that would run. What cannot be seen in it is escaped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The answers to offer, in this order.
    pub options: Vec<AskOption>,
    /// How long it has waited.
    pub age_ms: u64,
}

/// Asks for the questions that wait, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct AsksList {}

/// The questions that wait.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct AsksListResult {
    /// Oldest first.
    pub asks: Vec<AskSummary>,
}

/// Answers a question for the person, wherever she is. The first answer counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct AsksAnswer {
    /// Id of the question.
    pub ask: String,
    /// What she chose, of what it offers.
    pub option: AskOption,
}

/// Asks which agents there are, connected or remembered, and what each may do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ClientsList {}

/// Which agents there are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ClientsListResult {
    /// Those that are connected, then those that are only remembered.
    pub clients: Vec<ClientSummary>,
    /// The questions that wait.
    pub asks: Vec<AskSummary>,
    /// What no agent gets, not even by asking.
    pub never: Vec<Deed>,
    /// Absolute path of the file that remembers.
    pub file: String,
    /// What is wrong with that file. Then it allows nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// One agent, as it is told from others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ClientSummary {
    /// What it calls itself.
    pub name: String,
    /// The protocol it speaks.
    pub dialect: String,
    /// The folders where it is, links followed.
    pub folders: Vec<String>,
    /// Id of its connection, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// What it may do without asking.
    pub may: Vec<Permission>,
}

/// What an agent may do without asking.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct Permission {
    /// What.
    pub deed: Deed,
    /// When it was allowed for good, such as `2026-11-15T21:53:10Z`; missing: only for this session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
}

/// Allows an agent something without a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ClientsAllow {
    /// What the agent calls itself.
    pub name: String,
    /// The protocol it speaks; missing: what agents of that name speak.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialect: Option<String>,
    /// Absolute path of the workspace folder, links followed.
    pub folder: String,
    /// What it may do; at least one.
    pub deeds: Vec<Deed>,
    /// Only those that are connected, and not for good.
    #[serde(default)]
    pub session: bool,
}

/// To whom it is allowed now.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ClientsAllowResult {
    /// The protocols of the agents that are meant.
    pub dialects: Vec<String>,
}

/// Takes back what was allowed, at once, in all folders.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ClientsRevoke {
    /// What the agent calls itself; missing: all agents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it may not do any more; none: anything.
    #[serde(default)]
    pub deeds: Vec<Deed>,
}

/// What was taken back.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ClientsRevokeResult {
    /// How many permissions.
    pub revoked: u32,
}
