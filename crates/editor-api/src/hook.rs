//! What an agent reports through its hooks without asking anything: that its turn ended, that it waits, that it edited.

use serde::{Deserialize, Serialize};

/// Reports an event of an agent's hooks. Needs no `agent/join`, and is answered at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct HookReport {
    /// What the agent calls itself, as in `hook.agent` of `agent/join`; 1 to 200 bytes.
    pub agent: String,
    /// The agent's own id of its session, as in `hook.session` of `agent/join`; 1 to 200 bytes.
    pub session: String,
    /// Absolute path of the folder that the agent works in.
    pub cwd: String,
    /// What happened.
    pub event: HookReportKind,
    /// The agent's own words, for `waiting`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Absolute paths of files, for `edited`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
}

/// What an agent's hook reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub enum HookReportKind {
    /// The user sent a new prompt: what hooks of this session still ask is withdrawn.
    Prompt,
    /// The agent ended its turn, and the user is told. What a hook of this session still asks stays: an agent in the
    /// background may wait for it.
    Stopped,
    /// The agent waits for the user, who is told.
    Waiting,
    /// The session ended: what its hooks still ask is withdrawn, and its permissions end.
    Ended,
    /// The agent edited these files, which are read at once. What a hook of this session still asks is withdrawn soon
    /// after if the file holds that change.
    Edited,
}

/// What the report led to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct HookReportResult {
    /// How many reviews and questions were withdrawn at once.
    pub withdrawn: u32,
}
