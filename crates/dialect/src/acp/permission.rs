//! A question of the agent that waits for an answer, and how far it is. Each is answered once.

use std::path::PathBuf;

use serde_json::Value;

use super::frames::{list, text};

#[derive(Debug)]
pub(super) enum OpenQuestion {
    /// Whether the agent may be started; the answer is not sent to it.
    Start,
    /// Whether files may be changed.
    Edit(Permission),
    /// Whether it may do something else.
    Other(Permission),
    /// What a file holds.
    Read { request: Value, path: PathBuf },
}

/// A permission request.
#[derive(Debug)]
pub(super) struct Permission {
    /// The id of the request, as it was sent.
    pub(super) request: Value,
    /// The id of its tool call.
    pub(super) tool: String,
    pub(super) paths: Vec<PathBuf>,
    allow: Option<String>,
    reject: Option<String>,
    pub(super) stage: PermissionStage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PermissionStage {
    /// Nobody has answered.
    Asked,
    /// We said no, because the hub writes what was accepted; the agent has not shown that it knows.
    Declining,
    /// The agent knows our no: the hub may write.
    Declined,
    /// Answered; the agent has not shown that it knows.
    Answered,
}

impl Permission {
    pub(super) fn new(request: Value, params: &Value, tool: &str) -> Permission {
        // Options that end the asking are never taken: then nothing would be reviewed from then on.
        let option = |kind: &str| {
            let found = list(params, "options").find(|option| text(option, "kind") == Some(kind));
            found.and_then(|option| text(option, "optionId")).map(str::to_owned)
        };
        Permission {
            request,
            tool: tool.to_owned(),
            paths: Vec::new(),
            allow: option("allow_once"),
            reject: option("reject_once"),
            stage: PermissionStage::Asked,
        }
    }

    /// The frame of a yes; a no if the agent does not offer one for this time only.
    pub(super) fn allowed(&self) -> String {
        match &self.allow {
            Some(option) => super::frames::selected(&self.request, option),
            None => self.rejected(),
        }
    }

    pub(super) fn can_allow(&self) -> bool {
        self.allow.is_some()
    }

    pub(super) fn rejected(&self) -> String {
        match &self.reject {
            Some(option) => super::frames::selected(&self.request, option),
            None => super::frames::cancelled(&self.request),
        }
    }
}

impl OpenQuestion {
    pub(super) fn permission(&self) -> Option<&Permission> {
        match self {
            OpenQuestion::Edit(permission) | OpenQuestion::Other(permission) => Some(permission),
            OpenQuestion::Start | OpenQuestion::Read { .. } => None,
        }
    }

    pub(super) fn permission_mut(&mut self) -> Option<&mut Permission> {
        match self {
            OpenQuestion::Edit(permission) | OpenQuestion::Other(permission) => Some(permission),
            OpenQuestion::Start | OpenQuestion::Read { .. } => None,
        }
    }

    /// The turn is not over before this is decided.
    pub(super) fn is_undecided(&self) -> bool {
        self.permission().is_some_and(|permission| permission.stage != PermissionStage::Answered)
    }

    pub(super) fn is_request(&self, id: &Value) -> bool {
        match self {
            OpenQuestion::Read { request, .. } => request == id,
            _ => self.permission().is_some_and(|permission| permission.request == *id),
        }
    }
}
