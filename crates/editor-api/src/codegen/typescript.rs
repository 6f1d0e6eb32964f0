//! The declarations shims are written against.

use super::{MethodEntry, Protocol};
use crate::errors::CODES;
use crate::method::{Direction, Kind};
use crate::version::PROTOCOL;

const MAPS: &[(&str, &str, Direction, Kind)] = &[
    ("EditorToHubRequests", "What an editor asks the hub.", Direction::EditorToHub, Kind::Request),
    ("EditorToHubNotifications", "What an editor tells the hub.", Direction::EditorToHub, Kind::Notification),
    ("HubToEditorRequests", "What the hub asks an editor.", Direction::HubToEditor, Kind::Request),
    (
        "HubToEditorNotifications",
        "What `linkspan attach` tells an editor about the hub.",
        Direction::AttachToEditor,
        Kind::Notification,
    ),
    ("CommandToHubRequests", "What a command asks the hub.", Direction::CommandToHub, Kind::Request),
    (
        "HubToCommandNotifications",
        "What the hub tells a command.",
        Direction::HubToCommand,
        Kind::Notification,
    ),
    ("AgentToHubRequests", "What an agent asks the hub.", Direction::AgentToHub, Kind::Request),
    ("AgentToHubNotifications", "What an agent tells the hub.", Direction::AgentToHub, Kind::Notification),
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
        Kind::Request => {
            format!("  /** {docs} */\n  \"{name}\": {{ params: {params}; result: {result} }};\n")
        }
        Kind::Notification => format!("  /** {docs} */\n  \"{name}\": {{ params: {params} }};\n"),
    }
}
