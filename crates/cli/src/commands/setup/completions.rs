//! `linkspan completions`: completion scripts for shells.

use clap_complete::{Shell, generate};
use serde_json::json;

use crate::cli::output::Report;

/// Print a completion script for a shell.
#[derive(Debug, clap::Args)]
#[command(after_help = "For example, in bash:\n  \
    linkspan completions bash > ~/.local/share/bash-completion/completions/linkspan")]
pub(crate) struct Args {
    /// The shell.
    shell: Shell,
}

pub(crate) fn run(args: &Args) -> Report {
    let mut script = Vec::new();
    generate(args.shell, &mut crate::program(), "linkspan", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    let document = json!({ "shell": args.shell.to_string(), "script": script });
    Report::raw(script, document)
}
