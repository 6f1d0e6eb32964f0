//! The options of a hook, read without clap: an agent waits for each of its hooks, and clap's tree of all commands costs
//! more than the rest of a hook that has nothing to decide.

use std::ffi::OsString;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::Args)]
pub(crate) struct HookOptions {
    /// Deny an edit that you cannot be asked about, instead of leaving it to the agent.
    #[arg(long)]
    pub(crate) require: bool,
    /// Ask even in a mode in which the agent itself would not.
    #[arg(long)]
    pub(crate) always: bool,
    /// Ask before commands, too.
    #[arg(long)]
    pub(crate) commands: bool,
}

impl HookOptions {
    /// The options if this is the command line of a hook; `None` leaves it to clap: help, errors, subcommands.
    pub(crate) fn read(arguments: impl Iterator<Item = OsString>) -> Option<HookOptions> {
        let mut arguments = arguments.skip(1);
        if arguments.next()? != super::NAME {
            return None;
        }
        let mut options = HookOptions::default();
        for argument in arguments {
            match argument.to_str()? {
                "--require" => options.require = true,
                "--always" => options.always = true,
                "--commands" => options.commands = true,
                _ => return None,
            }
        }
        Some(options)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct OptionsOnly {
        #[command(flatten)]
        options: HookOptions,
    }

    fn read(line: &str) -> Option<HookOptions> {
        HookOptions::read(line.split(' ').map(OsString::from))
    }

    #[test]
    fn options_are_read_as_clap_reads_them() {
        for options in ["", " --require", " --always --commands", " --commands --require --always"] {
            let by_clap = OptionsOnly::parse_from(format!("hook{options}").split(' ')).options;
            assert_eq!(read(&format!("linkspan hook{options}")), Some(by_clap), "{options}");
        }
    }

    #[test]
    fn what_is_more_than_a_hook_is_left_to_clap() {
        for line in [
            "linkspan",
            "linkspan mcp",
            "linkspan hook install",
            "linkspan hook --help",
            "linkspan --json hook",
        ] {
            assert_eq!(read(line), None, "{line}");
        }
    }
}
