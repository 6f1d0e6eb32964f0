//! The declarations shims are written against.

use super::{MethodEntry, Protocol};
use crate::errors::CODES;
use crate::method::{Direction, MethodKind};
use crate::version::PROTOCOL;

const MAPS: &[(&str, &str, Direction, MethodKind)] = &[
    ("EditorToHubRequests", "Requests of an editor to the hub.", Direction::EditorToHub, MethodKind::Request),
    (
        "EditorToHubNotifications",
        "Notifications of an editor to the hub.",
        Direction::EditorToHub,
        MethodKind::Notification,
    ),
    ("HubToEditorRequests", "Requests of the hub to an editor.", Direction::HubToEditor, MethodKind::Request),
    (
        "HubToEditorNotifications",
        "Notifications of `linkspan attach` to an editor, about the hub.",
        Direction::AttachToEditor,
        MethodKind::Notification,
    ),
    (
        "CommandToHubRequests",
        "Requests of a command to the hub.",
        Direction::CommandToHub,
        MethodKind::Request,
    ),
    (
        "HubToCommandNotifications",
        "Notifications of the hub to a command.",
        Direction::HubToCommand,
        MethodKind::Notification,
    ),
    ("AgentToHubRequests", "Requests of an agent to the hub.", Direction::AgentToHub, MethodKind::Request),
    (
        "AgentToHubNotifications",
        "Notifications of an agent to the hub.",
        Direction::AgentToHub,
        MethodKind::Notification,
    ),
];

/// The protocol as a TypeScript module.
pub fn typescript() -> String {
    let protocol = Protocol::collect();
    let mut out =
        String::from("// Generated from crates/editor-api by `cargo xtask codegen`. Do not edit.\n\n");
    out.push_str("/** Version of the protocol, for `attach`. */\n");
    out.push_str(&format!("export const PROTOCOL = {PROTOCOL};\n\n"));
    out.push_str("/** Error codes. */\nexport const ERRORS = {\n");
    for (code, name, docs) in CODES {
        out.push_str(&format!("  /** {} */\n  {name}: {code},\n", docs.trim()));
    }
    out.push_str("} as const;\n");
    for &(name, docs, direction, kind) in MAPS {
        let methods = protocol.methods.iter().filter(|m| m.kind == kind && m.goes(direction));
        let members: String = methods.map(member).collect();
        out.push_str(&format!("\n/** {docs} */\nexport interface {name} {{\n{members}}}\n"));
    }
    for declaration in protocol.types.values() {
        out.push_str(&format!("\n{declaration}"));
    }
    out
}

fn member(method: &MethodEntry) -> String {
    let MethodEntry { name, docs, params, result, .. } = method;
    match method.kind {
        MethodKind::Request => {
            format!("  /** {docs} */\n  \"{name}\": {{ params: {params}; result: {result} }};\n")
        }
        MethodKind::Notification => format!("  /** {docs} */\n  \"{name}\": {{ params: {params} }};\n"),
    }
}
