//! The text for Codex's model after a decision that its protocol has no words for: what was accepted and written, what
//! was not, how the accepted text differs, the reason and the comments.

use std::path::PathBuf;

use linkspan_editor_api::AcceptedPart;

use crate::answer::Answer;
use crate::outcome::{Accepted, Rejected, remark};

/// Codex takes much more; a diff of everything that a person typed may be longer than a model should read.
const LONGEST_DIFF: usize = 32 * 1024;

/// None if there is nothing that Codex does not say by itself.
pub(crate) fn after_accept(parts: &[(PathBuf, Answer)]) -> Option<String> {
    let commented = parts.iter().filter_map(|(_, answer)| match answer {
        Answer::Accepted(accepted) if !accepted.comments.is_empty() => Some(accepted),
        _ => None,
    });
    let texts: Vec<String> = commented
        .map(|accepted| {
            let head = format!("{}: accepted as proposed, with comments:", accepted.path.display());
            lines(head, accepted.comments.iter().map(remark))
        })
        .collect();
    (!texts.is_empty()).then(|| format!("The user reviewed your patch.\n\n{}", texts.join("\n\n")))
}

/// None if everything was rejected without a word: Codex says that itself.
pub(super) fn after_decline(parts: &[(PathBuf, Answer)]) -> Option<String> {
    let written = "The user reviewed your patch file by file. Codex reports the patch as rejected, because the user's \
                   editor has written the accepted part itself. Do not apply that part again.";
    after_decline_with(parts, written)
}

/// `head_if_written`: the beginning if the hub has written something.
pub(crate) fn after_decline_with(parts: &[(PathBuf, Answer)], head_if_written: &str) -> Option<String> {
    let is_plain = |answer: &Answer| match answer {
        Answer::Rejected(rejected) => rejected.reason.is_none() && rejected.comments.is_empty(),
        _ => false,
    };
    if parts.iter().all(|(_, answer)| is_plain(answer)) {
        return None;
    }
    let written =
        parts.iter().any(|(_, answer)| matches!(answer, Answer::Accepted(accepted) if accepted.written));
    let failed = parts.iter().any(|(_, answer)| matches!(answer, Answer::Failed(_)));
    let head = match written {
        true => head_if_written,
        false if failed => {
            "Your patch could not be carried out as it was decided. Nothing of it was written."
        }
        false => "The user reviewed your patch and rejected it. Nothing of it was written.",
    };
    let files = parts.iter().map(|(path, answer)| match answer {
        Answer::Accepted(accepted) => of_accepted(accepted),
        Answer::Rejected(rejected) => of_rejected(rejected),
        Answer::Failed(failure) => format!("{}: not written: {}.", path.display(), failure.message),
        _ => format!("{}: not decided, not written.", path.display()),
    });
    Some(std::iter::once(head.to_owned()).chain(files).collect::<Vec<_>>().join("\n\n"))
}

fn of_accepted(accepted: &Accepted) -> String {
    let path = accepted.path.display();
    if !accepted.written {
        // A deletion or a move: only Codex can do it.
        let head = format!("{path}: accepted as proposed, but not carried out. Do it again by itself.");
        return lines(head, accepted.comments.iter().map(remark));
    }
    let head = match accepted.taken {
        AcceptedPart::All => format!("{path}: accepted as proposed and written."),
        AcceptedPart::Some => {
            let taken = accepted.hunks.iter().filter(|hunk| hunk.taken).count();
            format!("{path}: {taken} of {} hunks accepted and written.", accepted.hunks.len())
        }
        AcceptedPart::Edited => format!("{path}: accepted with edits of the user, and written."),
    };
    let diff = accepted.person_diff.as_deref().map(|diff| {
        let diff = diff.trim_end();
        if diff.len() > LONGEST_DIFF {
            "The written text differs from your proposal in many lines: read the file.".to_owned()
        } else {
            format!("From your proposal to the text that is now in the file:\n{diff}")
        }
    });
    lines(head, diff.into_iter().chain(accepted.comments.iter().map(remark)))
}

fn of_rejected(rejected: &Rejected) -> String {
    let path = rejected.path.display();
    let head = match &rejected.reason {
        Some(reason) => format!("{path}: rejected, not written. Reason: {reason}"),
        None => format!("{path}: rejected, not written."),
    };
    lines(head, rejected.comments.iter().map(remark))
}

fn lines(head: String, rest: impl Iterator<Item = String>) -> String {
    std::iter::once(head).chain(rest).collect::<Vec<_>>().join("\n")
}
