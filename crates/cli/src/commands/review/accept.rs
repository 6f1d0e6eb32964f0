//! `linkspan accept`: accepts all of a review, some hunks, or a text of the user's own.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use linkspan_editor_api::{ReviewComment, ReviewShow, Verdict};

use crate::cli::context::CliContext;
use crate::cli::exit::Failure;
use crate::cli::output::Report;
use crate::commands::review::decision;
use crate::commands::review::review_args::{DigestStart, HunkName, LineRef, ReviewName, hunk_ids};

/// Accept a review, some of its hunks, or your own text instead.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The review: r12, 12 or latest.
    review: ReviewName,
    /// Accept only these hunks, by number or id as `linkspan show` prints them.
    #[arg(long, value_name = "N", num_args = 1.., value_delimiter = ',', conflicts_with = "with")]
    hunk: Vec<HunkName>,
    /// Accept the text of this file instead; - reads standard input.
    #[arg(long, value_name = "FILE")]
    with: Option<PathBuf>,
    /// Add a comment. It is kept in the history; `linkspan show` says whether the agent receives it.
    #[arg(long, value_name = "TEXT")]
    comment: Option<String>,
    /// The line that the comment is about; the first line of the change if omitted.
    #[arg(long, value_name = "FILE:LINE", requires = "comment")]
    at: Option<LineRef>,
    /// Decide only if the review still has this digest, from `linkspan show --json`; 8 digits are enough.
    #[arg(long, value_name = "DIGEST")]
    digest: Option<DigestStart>,
    /// Have Linkspan write the file if the agent that should write it no longer waits for the decision.
    #[arg(long)]
    write: bool,
}

pub(crate) fn run(args: &Args, cli: &CliContext) -> Result<Report, Failure> {
    let text = args.with.as_deref().map(read_text).transpose()?;
    let review = decision::fetch(cli, &args.review, args.digest.as_ref())?;
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
    let bytes = bytes.map_err(|error| Failure::usage(format!("cannot read {}: {error}", path.display())))?;
    String::from_utf8(bytes).map_err(|_| {
        Failure::usage(format!(
            "{} is not UTF-8; convert it first (the text is written in the encoding of the reviewed file)",
            path.display()
        ))
    })
}
