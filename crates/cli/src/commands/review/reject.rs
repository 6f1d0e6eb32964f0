//! `linkspan reject`: rejects a review, with a reason.

use linkspan_editor_api::Verdict;

use crate::cli::context::CliContext;
use crate::cli::exit::Failure;
use crate::cli::output::Report;
use crate::commands::review::decision;
use crate::commands::review::review_args::{DigestStart, LineRef, ReviewName};

/// Reject a review.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The review: r12, 12 or latest.
    review: ReviewName,
    /// Say why. It is kept in the history; `linkspan show` says whether the agent receives it.
    #[arg(long, value_name = "TEXT")]
    comment: Option<String>,
    /// The line that the comment is about; if omitted, it is the reason for the whole review.
    #[arg(long, value_name = "FILE:LINE", requires = "comment")]
    at: Option<LineRef>,
    /// Decide only if the review still has this digest, from `linkspan show --json`; 8 digits are enough.
    #[arg(long, value_name = "DIGEST")]
    digest: Option<DigestStart>,
}

pub(crate) fn run(args: &Args, cli: &CliContext) -> Result<Report, Failure> {
    let review = decision::fetch(cli, &args.review, args.digest.as_ref())?;
    match (&args.comment, &args.at) {
        (Some(text), Some(at)) => {
            let comment = review.comment(text, at)?;
            review.decide(Verdict::Reject { reason: None }, vec![comment], false)
        }
        (reason, _) => review.decide(Verdict::Reject { reason: reason.clone() }, vec![], false),
    }
}
