//! The message to the model after a decision that a yes or a no does not say: what was accepted and written, what was
//! not, how the text of the file differs from the proposal, the reason and the comments.

use std::path::{Path, PathBuf};

use linkspan_editor_api::ReviewComment;

use crate::answer::Answer;
use crate::codex::words;
use crate::outcome::remark;

/// The whole request was accepted as proposed. None if nothing was said.
pub fn after_accept(parts: &[(PathBuf, Answer)]) -> Option<String> {
    words::after_accept(parts)
}

/// None if everything was rejected without a word: the agent says that itself.
pub fn after_decline(parts: &[(PathBuf, Answer)]) -> Option<String> {
    let head = "The user reviewed your change file by file. Your tool reports it as rejected, because the user's editor \
                has written the accepted part itself. Do not apply that part again; this is what the files hold now.";
    words::after_decline_with(parts, head)
}

/// The agent may have written what was accepted as proposed before it ended, and others have changed the file since.
pub fn in_doubt(path: &Path, comments: &[ReviewComment]) -> String {
    let head = format!(
        "Your change could not be carried out as it was decided.\n\n{}: not written by Linkspan. The user accepted it as \
         proposed, but it is not known whether your tool wrote it before it was stopped, and the file has changed since: \
         read it.",
        path.display()
    );
    std::iter::once(head).chain(comments.iter().map(remark)).collect::<Vec<_>>().join("\n")
}

/// It could not be reviewed.
pub(super) fn after_failure(paths: &[PathBuf], why: &str) -> String {
    let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    format!(
        "Your change of {} could not be reviewed, and nothing of it was written: {why}.",
        paths.join(", ")
    )
}
