//! `linkspan conform editor`: plays the hub against an editor integration, point by point. `host` starts the editor and
//! carries messages; the other files have the points, one table for each chapter of docs/editors/writing-a-shim.md.

mod connection;
mod documents;
mod host;
mod launch;
mod relay;
mod reviews;

use std::path::PathBuf;
use std::time::Duration;

use super::point::{Check, Findings, Weight, walk};
use super::{ReportOptions, finish};
use crate::cli::context::CliContext;
use crate::cli::exit::Failure;
use crate::cli::output::Report;
use crate::cli::signals;
use host::EditorHost;

/// Play the hub against an editor integration, and check point by point what it has to do.
///
/// The command starts the editor, in a new folder with a few files. Its `PATH` begins with a `linkspan` that connects
/// `linkspan attach` with this check instead of a hub; LINKSPAN_BIN names the same program. Nobody has to decide anything.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit code 1 if a required point fails. For example:\n  \
    linkspan conform editor -- nvim --headless\n  \
    linkspan conform editor --json -- nvim --headless --cmd 'set runtimepath^=editors/nvim'")]
pub(crate) struct Args {
    /// Wait this long for each answer of the editor.
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=600))]
    timeout: u32,
    #[command(flatten)]
    report: ReportOptions,
    /// The command that starts the editor, with its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// Connect `linkspan attach` of an editor with the check that started it.
#[derive(Debug, clap::Args)]
pub(crate) struct RelayArgs {
    /// The socket of the check.
    socket: PathBuf,
}

pub(crate) fn relay(args: &RelayArgs) -> Result<Report, Failure> {
    relay::run(&args.socket)
}

/// All points, in the order in which they are checked.
const CHAPTERS: [&[Check<EditorHost>]; 5] =
    [connection::BEGIN, documents::CHECKS, reviews::CHECKS, connection::CHECKS, connection::END];

/// The obligations of an editor, as a table of a page of the documentation.
pub(crate) fn obligations() -> String {
    let mut text = String::from("| area | point | |\n|---|---|---|\n");
    for point in CHAPTERS.iter().flat_map(|checks| checks.iter()).map(|check| check.point) {
        let weight = if point.weight == Weight::Recommended { " (recommended)" } else { "" };
        text += &format!("| {} | `{}` | {}{weight} |\n", point.area, point.id, point.what);
    }
    text
}

pub(crate) fn run(args: &Args, cli: &CliContext) -> Result<Report, Failure> {
    let timeout = Duration::from_secs(args.timeout.into());
    let mut host = EditorHost::start(&args.command, cli.program(), timeout)?;
    let interrupted = signals::withdraw_on_interrupt(host.abandon())?;
    let walked = walk(&mut host, &CHAPTERS);
    interrupted.park_if_interrupted();
    let findings = Findings {
        protocol: "editor".to_owned(),
        peer: args.command.join(" "),
        name: host.editor_name(),
        notes: Vec::new(),
        findings: walked,
    };
    finish(&findings, &args.report)
}
