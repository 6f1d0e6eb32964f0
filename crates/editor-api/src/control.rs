//! Requests of `linkspan` commands about the hub itself, and stopping it. Requests about reviews are in `reviews`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::window::Editor;

/// Identifies the caller and asks which hub this is. This request never changes its shape, because two versions find
/// out about each other with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct HubHello {
    /// Version of the caller.
    pub version: String,
    /// The protocol version the caller speaks.
    pub protocol: u32,
    /// The kind of caller, such as `attach`, `serve` or `command`. Only for the log.
    #[serde(default)]
    pub role: String,
}

/// Which hub this is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct HubHelloResult {
    /// Version of the hub.
    pub version: String,
    /// The protocol version the hub speaks.
    pub protocol: u32,
    /// Process id of the hub.
    pub pid: u32,
    /// When it started, in milliseconds since 1970.
    pub started_at_ms: u64,
}

/// Asks what is connected right now.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct HubStatus {}

/// What is connected right now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct HubStatusResult {
    /// Version of the hub.
    pub version: String,
    /// Process id of the hub.
    pub pid: u32,
    /// How long it has been running.
    pub uptime_ms: u64,
    /// Path of its socket.
    pub socket: String,
    /// Memory that it uses, if the system reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resident_bytes: Option<u64>,
    /// The windows, oldest first.
    pub windows: Vec<WindowStatus>,
    /// Number of rejected connections, by reason.
    #[serde(default)]
    pub refused: BTreeMap<String, u64>,
    /// Current problems, each with a remedy.
    #[serde(default)]
    pub problems: Vec<String>,
}

/// Asks which windows there are. Faster than `hub/status`: agents are not pinged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct HubWindows {}

/// The windows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct HubWindowsResult {
    /// Oldest first; their agents are left out.
    pub windows: Vec<WindowStatus>,
}

/// One window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct WindowStatus {
    /// Id of the window.
    pub window: String,
    /// Its editor.
    pub editor: Editor,
    /// Process id of the editor.
    pub editor_pid: u32,
    /// Absolute paths of its workspace folders.
    pub folders: Vec<String>,
    /// Port on 127.0.0.1 where agents find it.
    pub port: u16,
    /// The protocols spoken on that port.
    pub dialects: Vec<DialectStatus>,
    /// The editor is connected. If not, the window is kept for a while, in case it comes back.
    pub attached: bool,
    /// The agents connected to it, oldest first.
    pub agents: Vec<AgentStatus>,
    /// Agents that reconnected by themselves after a broken connection and have sent no request since. Gemini CLI and
    /// Qwen Code show themselves as disconnected then, until the user types `/ide enable`.
    #[serde(default)]
    pub returned_agents: Vec<AgentStatus>,
    /// Pending reviews.
    pub pending_reviews: u32,
}

/// A protocol agents can speak to a window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct DialectStatus {
    /// Its name, such as `claude`.
    pub name: String,
    /// The well-known port of its agents, if it leads to this window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// The discovery files of the window that exist.
    #[serde(default)]
    pub discovery_files: Vec<String>,
    /// Why a discovery file is missing.
    #[serde(default)]
    pub problems: Vec<String>,
}

/// One connected agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct AgentStatus {
    /// Id of the connection, such as `a4`.
    pub agent: String,
    /// Its name.
    pub name: String,
    /// The version that it reports.
    pub version: String,
    /// The protocol it speaks.
    pub dialect: String,
    /// Its process id, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// How long it has been connected.
    pub connected_ms: u64,
    /// Its reviews that are not closed.
    pub open_reviews: u32,
}

/// Stops the hub. It starts again when it is needed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct HubStop {
    /// Stop even if reviews are pending. They are in the journal and come back.
    #[serde(default)]
    pub force: bool,
}

/// Whether the hub stops.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct HubStopResult {
    /// It stops now.
    pub stopped: bool,
    /// Why it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Pending reviews.
    pub pending: u32,
}
