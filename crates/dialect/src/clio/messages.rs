//! Clio's messages, as they are on the wire.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// From the agent.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum FromAgent<'a> {
    Connect {
        #[serde(borrow, default)]
        client_version: Cow<'a, str>,
    },
    OpenDiff {
        file: String,
        before: String,
        after: String,
        #[serde(default)]
        description: String,
    },
    ProposeDiff {
        file: String,
        edits: Vec<WireEdit>,
        #[serde(default)]
        description: String,
    },
    ApplyDiff {
        file: String,
        edits: Vec<WireEdit>,
    },
    CloseDiff {
        file: String,
    },
    Status {
        message: String,
        #[serde(default)]
        level: WireLevel,
    },
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireEdit {
    pub(super) range: WireRange,
    pub(super) old_text: Option<String>,
    pub(super) new_text: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct WireRange {
    pub(super) start: WirePosition,
    pub(super) end: WirePosition,
}

#[derive(Debug, Deserialize)]
pub(super) struct WirePosition {
    pub(super) line: u32,
    pub(super) character: u32,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum WireLevel {
    #[default]
    Info,
    Warning,
    Error,
}

/// To the agent.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum ToAgent<'a> {
    Connected {
        server_version: &'a str,
        ide_name: &'a str,
        capabilities: &'static [&'static str],
        /// The hub writes an accepted change before it answers. Clio's own extension leaves that to the agent.
        writes: bool,
    },
    DiffAccepted {
        file: &'a str,
    },
    DiffRejected {
        file: &'a str,
    },
    Error {
        message: &'a str,
        code: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        file: Option<&'a str>,
    },
}
