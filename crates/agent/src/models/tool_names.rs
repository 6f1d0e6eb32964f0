//! Tool names on wires that allow only `[A-Za-z0-9_-]` and 64 characters: there and back.

use std::collections::BTreeMap;

use super::ToolSpec;

const LONGEST: usize = 64;

/// Our names and those on the wire.
#[derive(Debug, Clone, Default)]
pub(super) struct ToolNames {
    to_wire: BTreeMap<String, String>,
    from_wire: BTreeMap<String, String>,
}

impl ToolNames {
    pub(super) fn new(tools: &[ToolSpec]) -> ToolNames {
        let mut names = ToolNames::default();
        // Those that need no other name keep theirs.
        let (plain, others): (Vec<_>, Vec<_>) = tools.iter().partition(|tool| plain(&tool.name) == tool.name);
        for tool in plain.into_iter().chain(others) {
            let base = plain_or(&tool.name, "tool");
            let mut name = base.clone();
            let mut number = 2;
            while names.from_wire.contains_key(&name) {
                let suffix = format!("_{number}");
                name = base.chars().take(LONGEST - suffix.len()).collect::<String>() + &suffix;
                number += 1;
            }
            names.from_wire.insert(name.clone(), tool.name.clone());
            names.to_wire.insert(tool.name.clone(), name);
        }
        names
    }

    /// Also of a tool that no longer exists, in an older message.
    pub(super) fn to_wire(&self, name: &str) -> String {
        self.to_wire.get(name).cloned().unwrap_or_else(|| plain_or(name, "tool"))
    }

    /// As the model wrote it, if it is not one of ours.
    pub(super) fn original(&self, name: &str) -> String {
        self.from_wire.get(name).cloned().unwrap_or_else(|| name.to_owned())
    }
}

/// Only characters that every wire allows.
pub(super) fn plain(name: &str) -> String {
    let fits = |character: char| character.is_ascii_alphanumeric() || character == '_' || character == '-';
    name.chars().map(|character| if fits(character) { character } else { '_' }).take(LONGEST).collect()
}

fn plain_or(name: &str, otherwise: &str) -> String {
    if name.is_empty() { otherwise.to_owned() } else { plain(name) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_go_there_and_back_even_if_two_become_equal() {
        let long = "x".repeat(70);
        let names = ["ide.open_file", "ide_open_file", "ide:open_file", "größe", &long, &format!("{long}y")];
        let tools = names.map(|name| ToolSpec {
            name: name.to_owned(),
            description: String::new(),
            schema: json!({}),
        });
        let mapped = ToolNames::new(&tools);
        assert_eq!(mapped.to_wire("ide_open_file"), "ide_open_file");
        assert_eq!(mapped.to_wire("ide.open_file"), "ide_open_file_2");
        for name in names {
            let wire = mapped.to_wire(name);
            assert!(wire.len() <= LONGEST && plain(&wire) == wire, "{wire}");
            assert_eq!(mapped.original(&wire), name);
        }
        assert_eq!(mapped.original("no_such_tool"), "no_such_tool");
    }
}
