//! How an agent joins a window on the hub's own socket. The messages after that are MCP, which this crate does not
//! know.

use serde::{Deserialize, Serialize};

use crate::receives::Receives;
use crate::window::Editor;

/// Joins a window as an agent. After the answer, every message on this connection is MCP of the dialect `linkspan`, in
/// both directions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct AgentJoin {
    /// Id of the window, such as `w3`: `hub/windows` lists them.
    pub window: String,
    /// A random string of 1 to 64 letters, digits, `-` and `_` that the agent keeps across reconnects and that no other
    /// agent uses. With it, its name and its window, an agent finds its own changes again. An older connection with the
    /// same three is considered lost.
    pub session: String,
    /// What the agent calls itself.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its process id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// What its model learns of a decision, if that is less than everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receives: Option<Receives>,
    /// Set by a command that another agent runs for one event of its hooks, such as `linkspan hook`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook: Option<HookJoin>,
    /// Set by `linkspan acp`: the messages on this connection are then its own, about a session of an agent between which
    /// and its client it is. When the connection ends, the pending changes are withdrawn at once.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub acp_proxy: bool,
}

/// The agent behind a hook. The joined process lives as long as the question that it asks: when its connection ends, its
/// pending changes and questions are withdrawn at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct HookJoin {
    /// What the agent that runs the hook calls itself, such as `Claude Code`; 1 to 200 bytes.
    pub agent: String,
    /// That agent's own id of its session; 1 to 200 bytes. Permissions for a session last as long as it, across all
    /// processes that join with it.
    pub session: String,
}

/// The window the agent is in now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct AgentJoinResult {
    /// Id of the connection, such as `a4`.
    pub agent: String,
    /// Id of the window.
    pub window: String,
    /// Its editor.
    pub editor: Editor,
    /// Absolute paths of its workspace folders.
    pub folders: Vec<String>,
}

/// Leaves: the open changes and calls of the agent are withdrawn, and the hub closes the connection. After a connection
/// that ends without it, the agent may reconnect for its answers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct AgentLeave {}
