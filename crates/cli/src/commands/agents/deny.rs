//! `linkspan deny`: denies a permission that an agent asks for.

use linkspan_editor_api::AskOption;

use crate::cli::context::CliContext;
use crate::cli::exit::Failure;
use crate::cli::output::Report;
use crate::commands::agents::asks;

/// Deny what an agent asks for, this time.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The id of the request, from `linkspan asks`.
    ask: String,
}

pub(crate) fn run(args: &Args, cli: &CliContext) -> Result<Report, Failure> {
    asks::answer(cli, &args.ask, AskOption::Deny)
}
