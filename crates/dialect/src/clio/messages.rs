//! The messages, as they are on the wire.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// From the agent.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum Said<'a> {
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
        edits: Vec<Edit>,
        #[serde(default)]
        description: String,
    },
    ApplyDiff {
        file: String,
        edits: Vec<Edit>,
    },
    CloseDiff {
        file: String,
    },
    Status {
        message: String,
        #[serde(default)]
        level: Level,
    },
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Edit {
    pub(super) range: Range,
    pub(super) old_text: Option<String>,
    pub(super) new_text: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Range {
    pub(super) start: Place,
    pub(super) end: Place,
}

#[derive(Debug, Deserialize)]
pub(super) struct Place {
    pub(super) line: u32,
    pub(super) character: u32,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Level {
    #[default]
    Info,
    Warning,
    Error,
}

/// To the agent.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum Say<'a> {
    Connected {
        server_version: &'a str,
        ide_name: &'a str,
        capabilities: &'static [&'static str],
        /// What is accepted is written here, before that is said. Clio's own extension leaves it to the agent.
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
