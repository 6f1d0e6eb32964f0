//! Permissions: what agents may do only if the user allows it, the questions that are pending, answering them from any
//! surface, and the grants of each agent.

use serde::{Deserialize, Serialize};

use crate::user::AskOption;

/// An action that needs the user's permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub enum PermissionKind {
    /// Running a command.
    Command,
    /// Executing code in a notebook.
    Code,
    /// Changing files without a review. There is no prompt for it: without the permission, the change is shown for
    /// review.
    Edit,
    /// Staging and committing.
    Git,
}

impl PermissionKind {
    /// All of them.
    pub const ALL: [PermissionKind; 4] =
        [PermissionKind::Command, PermissionKind::Code, PermissionKind::Edit, PermissionKind::Git];

    /// Its name in configuration files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            PermissionKind::Command => "command",
            PermissionKind::Code => "code",
            PermissionKind::Edit => "edit",
            PermissionKind::Git => "git",
        }
    }
}

/// A pending question to the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct AskSummary {
    /// Id of the question; never used again.
    pub ask: String,
    /// Id of the window whose agent asks.
    pub window: String,
    /// Absolute paths of that window's workspace folders.
    pub folders: Vec<String>,
    /// The name of the agent.
    pub agent: String,
    /// The protocol it speaks.
    pub dialect: String,
    /// The permission that it asks for.
    pub deed: PermissionKind,
    /// One sentence, ending with a question mark.
    pub question: String,
    /// The full subject, such as the command that would run. Invisible characters in it are escaped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The answers to offer, in this order.
    pub options: Vec<AskOption>,
    /// How long it has been pending.
    pub age_ms: u64,
}

/// Asks for the pending questions, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct AsksList {}

/// The pending questions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct AsksListResult {
    /// Oldest first.
    pub asks: Vec<AskSummary>,
}

/// Answers a question for the user, from any surface. The first answer counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct AsksAnswer {
    /// Id of the question.
    pub ask: String,
    /// The chosen option, one of those that it offers.
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
    /// The pending questions.
    pub asks: Vec<AskSummary>,
    /// Permissions that no agent can get, not even by asking.
    pub never: Vec<PermissionKind>,
    /// Absolute path of the file that remembers permissions.
    pub file: String,
    /// Why that file is invalid. An invalid file allows nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// One agent, as it is identified for permissions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ClientSummary {
    /// Its name.
    pub name: String,
    /// The protocol it speaks.
    pub dialect: String,
    /// Its workspace folders, with symlinks resolved.
    pub folders: Vec<String>,
    /// Id of its connection, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Its grants: what it may do without asking.
    pub may: Vec<Grant>,
}

/// A permission that an agent has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct Grant {
    /// The permission.
    pub deed: PermissionKind,
    /// When it was granted permanently, such as `2026-11-15T21:53:10Z`; missing: only for this session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
}

/// Grants permissions to an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ClientsAllow {
    /// The name of the agent.
    pub name: String,
    /// The protocol it speaks. Default: every protocol that agents of that name speak.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialect: Option<String>,
    /// Absolute path of the workspace folder, with symlinks resolved.
    pub folder: String,
    /// The permissions; at least one.
    pub deeds: Vec<PermissionKind>,
    /// Only for agents that are connected, until they disconnect.
    #[serde(default)]
    pub session: bool,
}

/// The agents that have the permissions now.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ClientsAllowResult {
    /// The protocols of these agents.
    pub dialects: Vec<String>,
}

/// Revokes permissions, at once, in all folders.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ClientsRevoke {
    /// The name of the agent. Default: all agents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The permissions to revoke. Empty: all of them.
    #[serde(default)]
    pub deeds: Vec<PermissionKind>,
}

/// The result of revoking.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ClientsRevokeResult {
    /// Number of revoked permissions.
    pub revoked: u32,
}
