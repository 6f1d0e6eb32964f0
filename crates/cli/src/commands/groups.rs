//! What the commands are for: the groups of `linkspan --help` and of docs/commands.md.

use std::fmt::Write;

use clap::Command;

/// Some commands and what they have in common.
pub(crate) struct CommandGroup {
    pub(crate) title: &'static str,
    /// By name, the most used first.
    pub(crate) commands: &'static [&'static str],
}

pub(crate) const GROUPS: [CommandGroup; 5] = [
    CommandGroup {
        title: "Review changes",
        commands: &["review", "page", "reviews", "show", "accept", "reject", "diff", "history", "undo"],
    },
    CommandGroup {
        title: "Ask the editor",
        commands: &[
            "ide",
            "open",
            "diagnostics",
            "selection",
            "editors",
            "folders",
            "dirty",
            "save",
            "close",
            "context",
        ],
    },
    CommandGroup {
        title: "Agents and permissions",
        commands: &["agent", "hook", "mcp", "acp", "asks", "allow", "deny", "clients"],
    },
    CommandGroup {
        title: "Set up",
        commands: &["try", "serve", "status", "doctor", "config", "hub", "completions", "man"],
    },
    CommandGroup {
        title: "For scripts and extensions",
        commands: &["watch", "tools", "call", "attach", "record", "replay", "conform"],
    },
];

/// The template of `linkspan --help`: clap has no headings for subcommands, and one list of all commands would be too long to read.
pub(crate) fn help_template(program: &Command) -> String {
    let (header, literal) = (program.get_styles().get_header(), program.get_styles().get_literal());
    let width =
        GROUPS.iter().flat_map(|group| group.commands).map(|name| name.len()).max().unwrap_or_default();
    let mut text = String::from("{about-with-newline}\n{usage-heading} {usage}\n");
    for CommandGroup { title, commands } in &GROUPS {
        let _ = write!(text, "\n{header}{title}:{header:#}\n");
        for command in commands.iter().filter_map(|name| program.find_subcommand(name)) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {literal}{:<width$}{literal:#}  {about}", command.get_name());
        }
    }
    let _ = write!(text, "\n{header}Options:{header:#}\n");
    text + "{options}{after-help}"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_one_group() {
        let program = crate::program();
        let mut listed: Vec<&str> = GROUPS.iter().flat_map(|group| group.commands).copied().collect();
        let mut offered: Vec<&str> = program
            .get_subcommands()
            .filter(|command| !command.is_hide_set())
            .map(Command::get_name)
            .collect();
        listed.sort_unstable();
        offered.sort_unstable();
        assert_eq!(listed, offered);
    }

    #[test]
    fn each_command_is_one_line_on_a_terminal_of_80_columns() {
        let help = crate::program().render_help().to_string();
        for line in help.lines().filter(|line| line.starts_with("  ")) {
            assert!(line.chars().count() <= 80, "{line}");
        }
        for command in GROUPS.iter().flat_map(|group| group.commands) {
            let line = format!("  {command} ");
            assert_eq!(help.lines().filter(|found| found.starts_with(&line)).count(), 1, "{command}");
        }
    }
}
