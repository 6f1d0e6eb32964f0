//! The outcome of a review, before a dialect encodes it.

use std::borrow::Cow;
use std::path::PathBuf;

use linkspan_editor_api::{AcceptedPart, ReviewComment};
use linkspan_review::SharedText;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// Id of the review, such as `r12`.
    pub review: String,
    pub path: PathBuf,
    /// The final text as the agent would send it: with its line endings, and with the byte order mark if it sends one.
    /// None only if it is written and too large to be repeated.
    pub text: Option<SharedText>,
    /// The file has a byte order mark that the agent did not send.
    pub unsent_mark: bool,
    pub new_file: bool,
    /// The hub or the editor has written it. If not, the agent writes it, or nobody does.
    pub written: bool,
    pub taken: AcceptedPart,
    /// All hunks of the change, if only some were accepted.
    pub hunks: Vec<DecidedHunk>,
    /// Unified diff from the proposal to the final text; none when they are equal.
    pub person_diff: Option<String>,
    pub comments: Vec<ReviewComment>,
}

impl Accepted {
    /// The text for an agent that writes it unchanged. A program that keeps the byte order mark of a file by itself
    /// treats a mark at the beginning of the text as that mark, so a text that begins with another one gets it here
    /// too.
    pub(crate) fn text_to_write(&self, keeps_mark: bool) -> Option<Cow<'_, str>> {
        const MARK: char = '\u{feff}';
        let text = self.text.as_ref()?;
        Some(match self.unsent_mark && (!keeps_mark || text.starts_with(MARK)) {
            true => Cow::Owned(format!("{MARK}{}", &**text)),
            false => Cow::Borrowed(text),
        })
    }

    /// Shorter versions of this outcome for a wire with a size limit, longest first: without the user's comments, then
    /// without the text of the file.
    pub(crate) fn shorter(&self) -> Vec<Accepted> {
        let without_comments = Accepted { person_diff: None, comments: Vec::new(), ..self.clone() };
        let without_text = Accepted { text: None, hunks: Vec::new(), ..without_comments.clone() };
        if self.written { vec![without_comments, without_text] } else { vec![without_comments] }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rejected {
    pub review: String,
    pub path: PathBuf,
    pub new_file: bool,
    pub reason: Option<String>,
    pub comments: Vec<ReviewComment>,
}

impl Rejected {
    pub(crate) fn without_remarks(&self) -> Rejected {
        Rejected { reason: None, comments: Vec::new(), ..self.clone() }
    }
}

/// One hunk of the review. Lines count from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecidedHunk {
    pub id: String,
    pub before_start: u32,
    pub before_count: u32,
    pub after_start: u32,
    pub after_count: u32,
    pub taken: bool,
}

/// A comment as one line of text.
pub(crate) fn remark(comment: &ReviewComment) -> String {
    format!("line {}: {}", comment.line, comment.text)
}
