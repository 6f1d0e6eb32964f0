//! `linkspan allow`: yes to what an agent asks.

use linkspan_editor_api::AskOption;

use crate::asks;
use crate::exit::Failure;
use crate::output::Report;
use crate::reach::Reach;

/// Allow what an agent asks for: once, unless you say for how long.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The question, as `linkspan asks` names it.
    ask: String,
    /// Also whatever this agent asks of this kind, as long as it stays connected.
    #[arg(long)]
    session: bool,
    /// Also from now on: every program of yours that uses this name and dialect in this folder.
    #[arg(long, conflicts_with = "session")]
    always: bool,
}

pub(crate) fn run(args: &Args, reach: &Reach) -> Result<Report, Failure> {
    let option = match (args.session, args.always) {
        (_, true) => AskOption::AllowAlways,
        (true, _) => AskOption::AllowSession,
        (false, false) => AskOption::AllowOnce,
    };
    asks::answer(reach, &args.ask, option)
}
