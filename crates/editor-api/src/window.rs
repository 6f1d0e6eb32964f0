//! An editor window: how it attaches to the hub, its capabilities, folders and focus.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Attaches an editor window to the hub. Required before every other message of an editor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct Attach {
    /// The protocol version the editor speaks.
    pub protocol: u32,
    /// Version of the editor's Linkspan integration.
    pub version: String,
    /// The editor.
    pub editor: Editor,
    /// Process id of the editor, which agents look for among their parents.
    pub pid: u32,
    /// Absolute paths of the workspace folders, main one first.
    pub folders: Vec<String>,
    /// An id that the editor keeps across reloads. With it, or else with the same folders, a window gets its port, its
    /// agents and its pending reviews back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_id: Option<String>,
    /// The folder in `CLAUDE_CONFIG_DIR` of the editor's process. `linkspan attach` fills it in: the hub may have
    /// been started where the variable is not set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claude_config_dir: Option<String>,
    /// What the editor can do.
    #[serde(default)]
    pub capabilities: Capabilities,
}

/// An editor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct Editor {
    /// Its name for people, such as `Visual Studio Code`.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// What an editor can do. Only requests of these groups are sent to it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS))]
#[serde(default, rename_all = "camelCase")]
pub struct Capabilities {
    /// `documents/list` and `document/…`, except `document/format`.
    pub documents: bool,
    /// `selection/current` and `selection/latest`.
    pub selection: bool,
    /// `diagnostics/get`.
    pub diagnostics: bool,
    /// `review/show` and `review/hide`.
    pub reviews: bool,
    /// `edits/apply`.
    pub edits: bool,
    /// `edits/apply` may name the places that differ instead of the whole text.
    pub edit_ranges: bool,
    /// `document/format`.
    pub format: bool,
    /// `language/…`.
    pub language: bool,
    /// `terminal/…`.
    pub terminal: bool,
    /// `status/message`.
    pub messages: bool,
    /// `user/ask` and `user/unask`.
    pub questions: bool,
    /// `code/execute`.
    pub execute_code: bool,
    /// The user trusts the folders, so that agents may run commands and write to git in them once the user allows it.
    /// Missing from older editors, where an editor with documents and without `terminal` has not trusted them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "codegen", ts(optional))]
    pub trusted: Option<bool>,
}

/// The window that the hub created, or found again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct AttachResult {
    /// Id of the window, such as `w3`.
    pub window: String,
    /// Port on 127.0.0.1 where agents find this window.
    pub port: u16,
    /// Version of the hub.
    pub hub_version: String,
    /// The protocol version the hub speaks.
    pub protocol: u32,
    /// Variables to set in integrated terminals, so that agents started there find this window first.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Ids of the window's pending reviews, for each of which `review/show` follows. Remove every other one from the
    /// screen. Missing from older hubs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending_reviews: Option<Vec<String>>,
}

/// The hub cannot be reached. Sent by `linkspan attach` itself, which keeps trying. Requests of the editor wait in the
/// meantime.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct HubLost {
    /// Why, for people.
    pub reason: String,
}

/// The hub can be reached, and the window is attached again. Sent by `linkspan attach` itself. The environment, and
/// even the port, may have changed. Pending reviews are shown again; all others are closed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS))]
pub struct HubBack(pub AttachResult);

/// Detaches for good. A window whose connection ends without it may come back.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct Detach {}

/// The workspace folders changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct FoldersChanged {
    /// Absolute paths of all workspace folders now, main one first.
    pub folders: Vec<String>,
}

/// The window got or lost the focus.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct FocusChanged {
    /// It has the focus now.
    pub focused: bool,
}

/// Asks whether the other side is alive.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct Ping {}
