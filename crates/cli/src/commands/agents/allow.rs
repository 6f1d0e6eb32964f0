//! `linkspan allow`: grants a permission that an agent asks for.

use linkspan_editor_api::AskOption;

use crate::cli::context::CliContext;
use crate::cli::exit::Failure;
use crate::cli::output::Report;
use crate::commands::agents::asks;

/// Allow what an agent asks for.
///
/// Once, unless an option says for how long.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The id of the request, from `linkspan asks`.
    ask: String,
    /// Also allow further requests of this kind from this agent, as long as it stays connected.
    #[arg(long)]
    session: bool,
    /// Also allow it permanently, to every program of yours with this name and dialect in this folder.
    #[arg(long, conflicts_with = "session")]
    always: bool,
}

pub(crate) fn run(args: &Args, cli: &CliContext) -> Result<Report, Failure> {
    let option = match (args.session, args.always) {
        (_, true) => AskOption::AllowAlways,
        (true, _) => AskOption::AllowSession,
        (false, false) => AskOption::AllowOnce,
    };
    asks::answer(cli, &args.ask, option)
}
