//! Which calls may run at the same time, and which are equal.

use std::path::{Component, PathBuf};

use serde_json::Value;

use crate::message::{CallArguments, ModelCall};
use crate::permissions::ToolKind;

/// Which calls may run at the same time. The others run in the model's order.
#[derive(Debug, PartialEq)]
pub(super) enum Overlap {
    /// With all others of this kind.
    Free,
    /// With changes of other files.
    File(PathBuf),
    Alone,
}

impl Overlap {
    pub(super) fn of(call: &ModelCall, kind: Option<ToolKind>) -> Overlap {
        match kind {
            None | Some(ToolKind::Read | ToolKind::Network | ToolKind::Spawn) => Overlap::Free,
            Some(ToolKind::Change) => match &call.arguments {
                CallArguments::Json(Value::Object(arguments)) => match arguments.get("path") {
                    Some(Value::String(path)) => {
                        let path = PathBuf::from(path);
                        let plain = path.components().filter(|part| *part != Component::CurDir);
                        Overlap::File(plain.collect())
                    }
                    _ => Overlap::Alone,
                },
                _ => Overlap::Alone,
            },
            Some(ToolKind::Command | ToolKind::GitWrite | ToolKind::Editor | ToolKind::Foreign) => {
                Overlap::Alone
            }
        }
    }

    pub(super) fn permits(&self, other: &Overlap) -> bool {
        match (self, other) {
            (Overlap::Free, Overlap::Free) => true,
            (Overlap::File(one), Overlap::File(other)) => one != other,
            _ => false,
        }
    }
}

/// What makes two calls equal.
pub(super) fn fingerprint(call: &ModelCall) -> (String, String) {
    let arguments = match &call.arguments {
        CallArguments::Json(value) => value.to_string(),
        CallArguments::Broken(text) => text.clone(),
    };
    (call.name.clone(), arguments)
}

/// What a permission for the session is about.
pub(super) fn grant(call: &ModelCall, kind: ToolKind) -> (String, String) {
    match kind {
        ToolKind::Command => fingerprint(call),
        _ => (call.name.clone(), String::new()),
    }
}
