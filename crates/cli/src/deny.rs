//! `linkspan deny`: no to what an agent asks.

use linkspan_editor_api::AskOption;

use crate::asks;
use crate::exit::Failure;
use crate::output::Report;
use crate::reach::Reach;

/// Refuse what an agent asks for, this time.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The question, as `linkspan asks` names it.
    ask: String,
}

pub(crate) fn run(args: &Args, reach: &Reach) -> Result<Report, Failure> {
    asks::answer(reach, &args.ask, AskOption::Deny)
}
