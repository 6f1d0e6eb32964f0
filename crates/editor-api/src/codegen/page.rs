//! The reference page for authors of editor integrations.

use std::collections::BTreeSet;

use super::{MethodEntry, Protocol};
use crate::errors::CODES;
use crate::method::{Direction, MethodKind};
use crate::version::PROTOCOL;

const INTRODUCTION: &str = include_str!("introduction.md");

const SECTIONS: &[(&str, Direction)] = &[
    ("From an editor to the hub", Direction::EditorToHub),
    ("From the hub to an editor", Direction::HubToEditor),
    ("From `linkspan attach` to its editor", Direction::AttachToEditor),
    ("From a command to the hub", Direction::CommandToHub),
    ("From the hub to a command", Direction::HubToCommand),
    ("From an agent to the hub", Direction::AgentToHub),
    ("In every direction", Direction::Both),
];

/// The protocol as a Markdown page.
pub fn protocol_page() -> String {
    let protocol = Protocol::collect();
    let mut out = INTRODUCTION.replace("{PROTOCOL}", &PROTOCOL.to_string());
    let mut printed = BTreeSet::new();
    for &(title, direction) in SECTIONS {
        out.push_str(&format!("\n## {title}\n"));
        for method in protocol.methods.iter().filter(|m| m.direction == direction) {
            out.push_str(&section(&protocol, method, &mut printed));
        }
    }
    out.push_str("\n## Other types\n\n```ts\n");
    let rest = protocol.types.iter().filter(|(name, _)| !printed.contains(name.as_str()));
    out.push_str(&rest.map(|(_, declaration)| declaration.as_str()).collect::<Vec<_>>().join("\n"));
    out.push_str("```\n\n## Errors\n\n| code | name | meaning |\n|---|---|---|\n");
    for (code, name, docs) in CODES {
        out.push_str(&format!("| {code} | `{name}` | {} |\n", docs.trim()));
    }
    out
}

/// A method with the declarations of its own parameters and result.
fn section<'a>(protocol: &'a Protocol, method: &'a MethodEntry, printed: &mut BTreeSet<&'a str>) -> String {
    let MethodEntry { name, docs, params, result, .. } = method;
    let summary = match method.kind {
        MethodKind::Request => format!("Request: `{params}` → `{result}`"),
        MethodKind::Notification => format!("Notification: `{params}`"),
    };
    let mut declarations = Vec::new();
    for own in [params, result] {
        if let Some(declaration) = protocol.types.get(own).filter(|_| printed.insert(own)) {
            declarations.push(declaration.as_str());
        }
    }
    let declarations = match declarations.join("\n") {
        none if none.is_empty() => none,
        some => format!("\n```ts\n{some}```\n"),
    };
    format!("\n### `{name}`\n\n{docs}\n\n{summary}\n{declarations}")
}
