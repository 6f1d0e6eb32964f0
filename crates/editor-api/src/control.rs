//! What `linkspan` commands ask the hub about itself, and how they stop it. What they ask about reviews is in
//! `reviews`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::window::Editor;

/// Says who is calling and asks which hub this is. The one request that never changes its shape, because it
/// is how two versions find out about each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct HubHello {
    /// Version of the caller.
    pub version: String,
    /// The protocol version the caller speaks.
    pub protocol: u32,
    /// What the caller is, such as `attach`, `serve` or `command`: for the log, so any word will do.
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
    /// Memory it occupies, if the system says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resident_bytes: Option<u64>,
    /// The windows, oldest first.
    pub windows: Vec<WindowStatus>,
    /// Attempts to come in that were refused, counted by reason.
    #[serde(default)]
    pub refused: BTreeMap<String, u64>,
    /// What does not work right now, each with what to do.
    #[serde(default)]
    pub problems: Vec<String>,
}

/// Asks which windows there are. Quicker than `hub/status`: no agent is asked for a sign of life.
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
    /// The editor is connected. If not, the window is kept for a while, for it to come back.
    pub attached: bool,
    /// The agents connected to it, oldest first.
    pub agents: Vec<AgentStatus>,
    /// Agents whose connection broke and that came back by themselves, but have asked for nothing since. Gemini CLI and
    /// Qwen Code show themselves as disconnected then, until the user types `/ide enable`.
    #[serde(default)]
    pub returned_agents: Vec<AgentStatus>,
    /// Reviews that wait for a person.
    pub pending_reviews: u32,
}

/// A protocol agents can speak to a window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct DialectStatus {
    /// Its name, such as `claude`.
    pub name: String,
    /// The port that its agents know by heart, if it leads to this window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// The files by which its agents find the window, as far as they are there.
    #[serde(default)]
    pub discovery_files: Vec<String>,
    /// Why its agents do not find the window by a file, though they should.
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
    /// What it calls itself.
    pub name: String,
    /// The version it says it has.
    pub version: String,
    /// The protocol it speaks.
    pub dialect: String,
    /// Its process id, if it told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// How long it has been connected.
    pub connected_ms: u64,
    /// Its reviews that are not settled.
    pub open_reviews: u32,
}

/// Stops the hub. It starts again by itself when somebody needs it.
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
    /// Reviews that wait for a person.
    pub pending: u32,
}
