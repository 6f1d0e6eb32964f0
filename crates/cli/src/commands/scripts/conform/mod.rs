//! `linkspan conform`: walks through the points of a protocol, and says for each whether the other side keeps to it.
//! `point` and the reports are pure; each kind of peer has a folder with its points and what connects to it.

pub(crate) mod editor;
mod junit;
mod point;
mod report;
mod server;

use std::path::PathBuf;

use serde_json::Value;

use crate::cli::context::CliContext;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::Report;
use point::Findings;

/// Check that a server or an editor keeps to its protocol.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Server(server::Args),
    Editor(editor::Args),
    #[command(hide = true)]
    Relay(editor::RelayArgs),
}

/// Where a report goes besides the terminal.
#[derive(Debug, clap::Args)]
struct ReportOptions {
    /// Also write the report as JUnit XML to this file, for a CI.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, cli: &CliContext) -> Result<Report, Failure> {
    match &args.command {
        Command::Server(server) => server::run(server),
        Command::Editor(editor) => editor::run(editor, cli),
        Command::Relay(relay) => editor::relay(relay),
    }
}

/// The report of all findings; exit code 1 if a required point failed.
fn finish(findings: &Findings, options: &ReportOptions) -> Result<Report, Failure> {
    if let Some(path) = &options.junit {
        std::fs::write(path, junit::document(findings)).map_err(|error| {
            let path = crate::visible::name(&path.to_string_lossy());
            Failure::usage(format!("cannot write the JUnit report {path}: {error}; choose another file"))
        })?;
    }
    let document: Value = report::json(findings);
    let exit = if findings.conforms() { Exit::Ok } else { Exit::Negative };
    Ok(Report::new(report::text(findings), document).ending(exit))
}
