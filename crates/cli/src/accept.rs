//! `linkspan accept`: yes, to all of a review, to some hunks, or to a text of the person's own.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use linkspan_editor_api::{ReviewComment, ReviewShow, Verdict};

use crate::decide;
use crate::exit::Failure;
use crate::output::Report;
use crate::reach::Reach;
use crate::review_args::{At, DigestStart, HunkName, ReviewName, hunk_ids};

/// Accept a review, or some hunks of it, or a text of your own instead.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which: r12, 12 or latest.
    review: ReviewName,
    /// Accept only these hunks, by number or id as `linkspan show` prints them.
    #[arg(long, value_name = "N", num_args = 1.., value_delimiter = ',', conflicts_with = "with")]
    hunk: Vec<HunkName>,
    /// Accept this text instead; - reads standard input.
    #[arg(long, value_name = "FILE")]
    with: Option<PathBuf>,
    /// Say something about it; kept in the journal, and told to agents whose protocol has room for it.
    #[arg(long, value_name = "TEXT")]
    comment: Option<String>,
    /// The line the comment is about; without it, the first line of the change.
    #[arg(long, value_name = "FILE:LINE", requires = "comment")]
    at: Option<At>,
    /// Only if it is still what had this digest in `linkspan show --json` or `linkspan reviews --json`; the first 8
    /// digits are enough.
    #[arg(long, value_name = "DIGEST")]
    digest: Option<DigestStart>,
    /// Let Linkspan write the file if the agent that should write it no longer waits for the answer.
    #[arg(long)]
    write: bool,
}

pub(crate) fn run(args: &Args, reach: &Reach) -> Result<Report, Failure> {
    let text = args.with.as_deref().map(read_text).transpose()?;
    let review = decide::fetch(reach, &args.review, args.digest.as_ref())?;
    let verdict = match text {
        Some(text) => Verdict::AcceptEdited { text },
        None if args.hunk.is_empty() => Verdict::Accept,
        None => Verdict::AcceptHunks { hunks: hunk_ids(&args.hunk, &review.shown.hunks)? },
    };
    let comment = match (&args.comment, &args.at) {
        (Some(text), Some(at)) => Some(review.comment(text, at)?),
        (Some(text), None) => Some(ReviewComment { line: first_line(&review.shown), text: text.clone() }),
        (None, _) => None,
    };
    review.decide(verdict, comment.into_iter().collect(), args.write)
}

fn first_line(shown: &ReviewShow) -> u32 {
    shown.hunks.first().map_or(1, |hunk| hunk.after_start.saturating_add(1))
}

fn read_text(path: &Path) -> Result<String, Failure> {
    let bytes = if path == Path::new("-") {
        let mut bytes = Vec::new();
        io::stdin().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        fs::read(path)
    };
    let bytes =
        bytes.map_err(|error| Failure::usage(format!("{} cannot be read: {error}", path.display())))?;
    String::from_utf8(bytes).map_err(|_| {
        Failure::usage(format!(
            "{} is not UTF-8: give the text in UTF-8, it is written in the file's own encoding",
            path.display()
        ))
    })
}
