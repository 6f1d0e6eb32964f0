//! What a person made of a change, in no dialect yet.

use std::borrow::Cow;
use std::path::PathBuf;

use linkspan_editor_api::{ReviewComment, Taken};
use linkspan_review::SharedText;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// Id of the review, such as `r12`.
    pub review: String,
    pub path: PathBuf,
    /// The final text as the agent would send it: in its line endings, with the byte order mark if it sends that. None
    /// only where it is written and there is no room to repeat it.
    pub text: Option<SharedText>,
    /// The file has a byte order mark that the agent does not send.
    pub unsent_mark: bool,
    pub new_file: bool,
    /// The editor side has written it. If not, that is for the agent, or for nobody.
    pub written: bool,
    pub taken: Taken,
    /// All hunks of the change, where only some were taken.
    pub hunks: Vec<DecidedHunk>,
    /// Unified diff from the proposal to the final text; none when they are equal.
    pub person_diff: Option<String>,
    pub comments: Vec<ReviewComment>,
}

impl Accepted {
    /// The text for an agent that writes it as it is. A program that keeps the mark of a file by itself takes a mark at
    /// the beginning of the text for it, so a text that begins with another one gets it here all the same.
    pub(crate) fn text_to_write(&self, keeps_mark: bool) -> Option<Cow<'_, str>> {
        const MARK: char = '\u{feff}';
        let text = self.text.as_ref()?;
        Some(match self.unsent_mark && (!keeps_mark || text.starts_with(MARK)) {
            true => Cow::Owned(format!("{MARK}{}", &**text)),
            false => Cow::Borrowed(text),
        })
    }

    /// The same decision for a wire that has no room for all of it, the fullest first: without what the person
    /// remarked, then without what stands in the file.
    pub(crate) fn shorter(&self) -> Vec<Accepted> {
        let unremarked = Accepted { person_diff: None, comments: Vec::new(), ..self.clone() };
        let untold = Accepted { text: None, hunks: Vec::new(), ..unremarked.clone() };
        if self.written { vec![unremarked, untold] } else { vec![unremarked] }
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

/// Lines from 0, as the review showed them.
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
