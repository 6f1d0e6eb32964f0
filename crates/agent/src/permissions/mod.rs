//! Which tool call is asked about in which mode: one table, pure. docs/agents/linkspan-agent.md shows it, and a test
//! compares them.

use serde::{Deserialize, Serialize};

/// How much the agent may do without asking.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PermissionMode {
    /// Everything, without asking.
    Yolo,
    /// Each change is reviewed; commands and the like are asked about.
    #[default]
    Trusted,
    /// No write outside the workspace, no network for commands; what the sandbox allows is not asked about.
    Sandboxed,
}

/// What a tool does, which decides whether it is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolKind {
    /// Reads, and changes nothing.
    Read,
    /// Changes one file, after a review.
    Change,
    /// Runs a command.
    Command,
    /// Writes to git.
    GitWrite,
    /// Reads from the network.
    Network,
    /// Acts in the editor: opens, reveals, formats, types into a terminal.
    Editor,
    /// A tool of an MCP server, which may do anything.
    Foreign,
    /// Starts another agent of the pool, with at most the same mode.
    Spawn,
}

/// What to do with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PermissionVerdict {
    /// Run it.
    Run,
    /// Ask first.
    Ask,
    /// Run it; the tool itself shows the change and waits for the user's decision.
    Review,
    /// Run it in the sandbox.
    Sandbox,
    /// Do not run it.
    Refuse,
}

impl PermissionMode {
    /// All of them, from the one that asks least.
    pub const ALL: [PermissionMode; 3] =
        [PermissionMode::Yolo, PermissionMode::Trusted, PermissionMode::Sandboxed];

    /// Its name in flags, in the configuration and for `/mode`.
    pub fn name(self) -> &'static str {
        match self {
            PermissionMode::Yolo => "yolo",
            PermissionMode::Trusted => "trusted",
            PermissionMode::Sandboxed => "sandboxed",
        }
    }

    /// The mode of this name.
    pub fn from_name(name: &str) -> Option<PermissionMode> {
        PermissionMode::ALL.into_iter().find(|mode| mode.name() == name)
    }

    /// The mode of a helper that was asked for with `wanted`: never one that allows what this one does not. A sandbox
    /// is not left, and trusted does not become yolo.
    pub fn at_most(self, wanted: PermissionMode) -> PermissionMode {
        match (self, wanted) {
            (PermissionMode::Yolo, wanted) => wanted,
            // Sandboxed writes in the workspace without a review, which trusted does not allow.
            (parent, _) => parent,
        }
    }
}

impl ToolKind {
    /// All of them, in the order of the table.
    pub const ALL: [ToolKind; 8] = [
        ToolKind::Read,
        ToolKind::Editor,
        ToolKind::Change,
        ToolKind::Command,
        ToolKind::GitWrite,
        ToolKind::Network,
        ToolKind::Foreign,
        ToolKind::Spawn,
    ];
}

/// What to do with a call of a tool of this kind in this mode. The one table of permissions.
pub fn verdict(mode: PermissionMode, kind: ToolKind) -> PermissionVerdict {
    use PermissionMode::{Sandboxed, Trusted, Yolo};
    use ToolKind::{Change, Command, Editor, Foreign, GitWrite, Network, Read, Spawn};
    match (kind, mode) {
        (Read | Editor | Spawn, _) | (_, Yolo) => PermissionVerdict::Run,
        (Change, Trusted) => PermissionVerdict::Review,
        (Change | Command, Sandboxed) => PermissionVerdict::Sandbox,
        // In the sandbox, too: hooks of a repository, a server's tools and requests of our own process are outside it.
        (Command, Trusted) | (GitWrite | Network | Foreign, Trusted | Sandboxed) => PermissionVerdict::Ask,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str =
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/agents/linkspan-agent.md"));

    fn in_words(verdict: PermissionVerdict) -> &'static str {
        match verdict {
            PermissionVerdict::Run => "runs",
            PermissionVerdict::Ask => "asks first",
            PermissionVerdict::Review => "is reviewed",
            PermissionVerdict::Sandbox => "runs in the sandbox",
            PermissionVerdict::Refuse => "is refused",
        }
    }

    fn in_the_page(kind: ToolKind) -> &'static str {
        match kind {
            ToolKind::Read => "reading",
            ToolKind::Editor => "acting in the editor",
            ToolKind::Change => "changing a file",
            ToolKind::Command => "a command",
            ToolKind::GitWrite => "writing to git",
            ToolKind::Network => "the network",
            ToolKind::Foreign => "a tool of an MCP server",
            ToolKind::Spawn => "starting a helper",
        }
    }

    #[test]
    fn the_page_shows_the_table_as_it_is() {
        let mut table = String::new();
        for kind in ToolKind::ALL {
            let cells = PermissionMode::ALL.map(|mode| in_words(verdict(mode, kind)));
            table += &format!("| {} | {} |\n", in_the_page(kind), cells.join(" | "));
        }
        assert!(PAGE.contains(&table), "docs/agents/linkspan-agent.md should have:\n{table}");
        assert!(PAGE.contains("| | `yolo` | `trusted` | `sandboxed` |"));
    }

    #[test]
    fn trusted_changes_nothing_and_runs_nothing_unasked() {
        for kind in [ToolKind::Change, ToolKind::Command, ToolKind::GitWrite, ToolKind::Foreign] {
            assert!(matches!(
                verdict(PermissionMode::Trusted, kind),
                PermissionVerdict::Ask | PermissionVerdict::Review
            ));
        }
    }

    #[test]
    fn a_helper_never_has_more_than_its_parent() {
        for parent in PermissionMode::ALL {
            for wanted in PermissionMode::ALL {
                let given = parent.at_most(wanted);
                assert!(given == parent || parent == PermissionMode::Yolo, "{parent:?} {wanted:?} {given:?}");
            }
        }
        assert_eq!(PermissionMode::Yolo.at_most(PermissionMode::Trusted), PermissionMode::Trusted);
    }

    #[test]
    fn each_mode_has_its_name() {
        for mode in PermissionMode::ALL {
            assert_eq!(PermissionMode::from_name(mode.name()), Some(mode));
            assert_eq!(serde_json::to_value(mode).unwrap(), mode.name());
        }
        assert_eq!(PermissionMode::from_name("Trusted"), None);
    }
}
