//! `linkspan completions`: what a shell needs to complete `linkspan` on the Tab key.

use clap::CommandFactory;
use clap_complete::{Shell, generate};
use serde_json::json;

use crate::output::Report;

/// Print the completion script of a shell.
#[derive(Debug, clap::Args)]
#[command(after_help = "For example, in bash:\n  \
    linkspan completions bash > ~/.local/share/bash-completion/completions/linkspan")]
pub(crate) struct Args {
    /// Which shell.
    shell: Shell,
}

pub(crate) fn run(args: &Args) -> Report {
    let mut script = Vec::new();
    generate(args.shell, &mut crate::Args::command(), "linkspan", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    let document = json!({ "shell": args.shell.to_string(), "script": script });
    Report::raw(script, document)
}
