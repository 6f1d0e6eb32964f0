//! `linkspan reject`: no, and why.

use linkspan_editor_api::Verdict;

use crate::decide;
use crate::exit::Failure;
use crate::output::Report;
use crate::reach::Reach;
use crate::review_args::{At, DigestStart, ReviewName};

/// Reject a review.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which: r12, 12 or latest.
    review: ReviewName,
    /// Say why; kept in the journal, and told to agents whose protocol has room for it (not Claude Code).
    #[arg(long, value_name = "TEXT")]
    comment: Option<String>,
    /// The line the comment is about; without it, it is the reason for all of the review.
    #[arg(long, value_name = "FILE:LINE", requires = "comment")]
    at: Option<At>,
    /// Only if it is still what had this digest in `linkspan show --json` or `linkspan reviews --json`; the first 8
    /// digits are enough.
    #[arg(long, value_name = "DIGEST")]
    digest: Option<DigestStart>,
}

pub(crate) fn run(args: &Args, reach: &Reach) -> Result<Report, Failure> {
    let review = decide::fetch(reach, &args.review, args.digest.as_ref())?;
    match (&args.comment, &args.at) {
        (Some(text), Some(at)) => {
            let comment = review.comment(text, at)?;
            review.decide(Verdict::Reject { reason: None }, vec![comment], false)
        }
        (reason, _) => review.decide(Verdict::Reject { reason: reason.clone() }, vec![], false),
    }
}
