//! How an agent joins a window on the hub's own socket. What is said after that is MCP, and not of this crate.

use serde::{Deserialize, Serialize};

use crate::window::Editor;

/// Joins a window as an agent. From the answer on, every message on this connection is MCP of the dialect
/// `linkspan`, both ways.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct AgentJoin {
    /// Id of the window, such as `w3`: `hub/windows` lists them.
    pub window: String,
    /// A random word of 1 to 64 letters, digits, `-` and `_` that the agent keeps over reconnects, and nobody
    /// else uses: by it, its name and its window an agent finds its own changes again. An older connection with
    /// the same three is taken for lost.
    pub session: String,
    /// What the agent calls itself.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its process id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
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

/// Says goodbye: what the agent has open is withdrawn, and the hub hangs up. A connection that ends without it
/// may come back for its answers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct AgentLeave {}
