//! What `linkspan-agent` is told on its command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use linkspan_agent::engine;
use linkspan_agent::permissions::PermissionMode;

/// A coding agent in your terminal, whose changes you review in your editor.
#[derive(Debug, Parser)]
#[command(
    name = "linkspan-agent",
    version,
    args_conflicts_with_subcommands = true,
    after_help = "Without a key, try `linkspan-agent --demo`.\n\nExit codes of -p: 0 done, 1 not done, 2 wrong use, 130 cancelled."
)]
pub(crate) struct CommandLine {
    #[command(flatten)]
    pub(crate) run: RunOptions,
    #[command(subcommand)]
    pub(crate) command: Option<Serving>,
}

/// How to work with the user.
#[derive(Debug, Args)]
pub(crate) struct RunOptions {
    /// The first prompt
    #[arg(value_name = "PROMPT")]
    pub(crate) prompt: Vec<String>,

    /// Run one prompt without a screen and print the answer; the prompt is read from stdin if it is left out
    #[arg(short, long, value_name = "PROMPT", num_args = 0..=1, conflicts_with = "prompt")]
    pub(crate) print: Option<Option<String>>,

    /// With -p: print one JSON object per event
    #[arg(long)]
    pub(crate) json: bool,

    /// Continue the last conversations of this folder
    #[arg(long = "continue", short = 'c', conflicts_with_all = ["resume", "demo"])]
    pub(crate) continues: bool,

    /// Continue a session by its name
    #[arg(long, value_name = "NAME", conflicts_with = "demo")]
    pub(crate) resume: Option<String>,

    /// Play a script instead of asking a model: needs no key and no network
    #[arg(long, conflicts_with = "model")]
    pub(crate) demo: bool,

    #[command(flatten)]
    pub(crate) agent: AgentOptions,
}

/// How the agent starts.
#[derive(Debug, Clone, Args)]
pub(crate) struct AgentOptions {
    /// The model: PROVIDER/MODEL, a provider, a model, or script:FILE
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,

    /// How much the agent may do without asking
    #[arg(long, value_enum, value_name = "MODE")]
    pub(crate) mode: Option<ModeName>,

    /// The folder to work in
    #[arg(long, value_name = "FOLDER")]
    pub(crate) cwd: Option<PathBuf>,
}

/// Serving other programs instead of a user.
#[derive(Debug, Subcommand)]
pub(crate) enum Serving {
    /// Serve chat panels made for ppxai over HTTP on this machine
    Serve {
        /// The port; 0 for any free one
        #[arg(long, default_value_t = engine::DEFAULT_PORT)]
        port: u16,
        /// Require the token in this file; a new one is written there if the file does not exist
        #[arg(long, value_name = "FILE")]
        token_file: Option<PathBuf>,
        #[command(flatten)]
        agent: AgentOptions,
    },
    /// Serve an ACP client on stdin and stdout
    Acp {
        #[command(flatten)]
        agent: AgentOptions,
    },
}

/// The names of the permission modes.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ModeName {
    /// Everything without asking
    Yolo,
    /// Changes are reviewed, commands are asked about
    Trusted,
    /// No write outside the folder, commands without network
    Sandboxed,
}

impl From<ModeName> for PermissionMode {
    fn from(mode: ModeName) -> PermissionMode {
        match mode {
            ModeName::Yolo => PermissionMode::Yolo,
            ModeName::Trusted => PermissionMode::Trusted,
            ModeName::Sandboxed => PermissionMode::Sandboxed,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn a_prompt_may_have_several_words_and_printing_may_read_stdin() {
        let parse = |line: &str| CommandLine::try_parse_from(line.split(' ')).unwrap();
        assert_eq!(parse("agent fix it").run.prompt, ["fix", "it"]);
        assert_eq!(parse("agent -p").run.print, Some(None));
        assert_eq!(parse("agent -p fix --json").run.print, Some(Some("fix".to_owned())));
        assert!(matches!(parse("agent serve --port 0").command, Some(Serving::Serve { port: 0, .. })));
        assert!(matches!(parse("agent acp --mode yolo").command, Some(Serving::Acp { .. })));
        for wrong in ["agent --demo --model x", "agent --mode rooot", "agent --continue --resume x"] {
            assert!(CommandLine::try_parse_from(wrong.split(' ')).is_err(), "{wrong}");
        }
    }
}
