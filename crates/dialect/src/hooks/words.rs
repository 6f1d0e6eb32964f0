//! The text for the model: which lines are in the file and which are not, the user's reason and comments.
//!
//! The same text is the context of an accepted edit and the reason of a denied one, so it says for each file what the
//! file holds. Nothing the user wrote is cut; only the diffs have a limit.

use std::path::PathBuf;

use linkspan_editor_api::ReviewComment;
use linkspan_review::unified;

use crate::outcome::DecidedHunk;

/// Sentences about a written file, each a line of its own, and what is true if nothing could be written after all.
const TAKEN: Sentence = Sentence {
    written: "Accepted, these changes are in the file:",
    not_written: "Accepted, but NOT in the file yet:",
};
const EDITED: Sentence = Sentence {
    written: "How it differs from yours (- your line, not in the file; + the user's line, in the file):",
    not_written: "How it differs from yours (- your line; + the user's line; neither is in the file):",
};
const HOLDS: Sentence = Sentence {
    written: "The file now holds the user's version; read it before you edit it again.",
    not_written: "The file is as it was before; propose the user's version in another way.",
};

struct Sentence {
    written: &'static str,
    not_written: &'static str,
}

const MOVED: &str =
    "The file was changed in other places, too, while the user decided. Read it before you edit it again.";

/// A longer diff is cut after a whole line.
const MAX_DIFF: usize = 64 * 1024;

/// A file of an edit and what the user decided about it. Texts have LF line endings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecidedFile {
    /// As the model should read it.
    pub path: PathBuf,
    /// The text before the edit; `None` if there was no file.
    pub current: Option<String>,
    /// The text that the agent proposed; `None` if it deletes the file.
    pub proposed: Option<String>,
    pub verdict: FileVerdict,
    pub comments: Vec<ReviewComment>,
    /// Others changed the file while the user decided, and the edit was merged with that.
    pub moved: bool,
    /// How the user's text differs from the proposed one, as the hub says it. `None`: as the texts say it.
    pub person_diff: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileVerdict {
    /// Accepted; the file will hold this text (`None`: it is deleted). It may be the proposed one, one with some of its
    /// hunks, or one that the user edited. `hunks` are all hunks of the proposal if only some were accepted, else none.
    Accepted {
        text: Option<String>,
        hunks: Vec<DecidedHunk>,
    },
    Rejected {
        reason: Option<String>,
    },
}

/// One plain text for a context or for the reason of a denial. `None` if everything was accepted exactly as proposed
/// and without a comment.
pub fn model_text(files: &[DecidedFile]) -> Option<String> {
    if files.iter().all(DecidedFile::needs_no_words) {
        return None;
    }
    Some(files.iter().map(DecidedFile::paragraph).collect::<Vec<_>>().join("\n\n"))
}

/// The same text for an edit that was accepted and then denied, for example because the agent's tool cannot make the
/// accepted text.
pub fn not_written(text: &str) -> String {
    let line = |line: &str| {
        let sentence = [TAKEN, EDITED, HOLDS].into_iter().find(|sentence| sentence.written == line);
        sentence.map_or_else(|| line.to_owned(), |sentence| sentence.not_written.to_owned())
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

impl DecidedFile {
    fn needs_no_words(&self) -> bool {
        let as_proposed =
            matches!(&self.verdict, FileVerdict::Accepted { text, .. } if *text == self.proposed);
        as_proposed && self.comments.is_empty() && !self.moved
    }

    fn paragraph(&self) -> String {
        let path = self.path.display();
        let change = match (&self.current, &self.proposed) {
            (_, None) => format!("the deletion of {path}"),
            (None, Some(_)) => format!("the new file {path}"),
            (Some(_), Some(_)) => format!("the change of {path}"),
        };
        let mut parts = match &self.verdict {
            FileVerdict::Rejected { reason } => self.rejected(&change, reason.as_deref()),
            FileVerdict::Accepted { text, .. } if *text == self.proposed => {
                vec![format!("The user accepted {change} exactly as you proposed it.")]
            }
            FileVerdict::Accepted { text, hunks } if !hunks.is_empty() => {
                self.in_part(text.as_deref(), hunks)
            }
            FileVerdict::Accepted { text, .. } => self.edited(&change, text.as_deref()),
        };
        if self.moved {
            parts.push(MOVED.to_owned());
        }
        if !self.comments.is_empty() {
            parts.push(self.remarks());
        }
        parts.join("\n")
    }

    fn rejected(&self, change: &str, reason: Option<&str>) -> Vec<String> {
        let state = match self.current {
            Some(_) => "The file is as it was before",
            None => "The file does not exist",
        };
        let mut parts = vec![format!("The user rejected {change}. Nothing of it was written. {state}.")];
        if let Some(reason) = reason.filter(|reason| !reason.trim().is_empty()) {
            parts.push(format!("Reason: {}", reason.trim_end()));
        }
        parts
    }

    fn in_part(&self, text: Option<&str>, hunks: &[DecidedHunk]) -> Vec<String> {
        let path = self.path.display();
        let taken = hunks.iter().filter(|hunk| hunk.taken).count();
        let mut parts = vec![format!("The user accepted {taken} of {} hunks of {path}.", hunks.len())];
        let mut show = |title: &str, is_taken: bool| {
            let shown: Vec<String> =
                hunks.iter().filter(|hunk| hunk.taken == is_taken).map(|hunk| self.hunk_diff(hunk)).collect();
            if !shown.is_empty() {
                parts.push(format!("{title}\n{}", cut(shown.concat().trim_end())));
            }
        };
        show(TAKEN.written, true);
        show("Not accepted, these changes are NOT in the file:", false);
        parts.push(self.ending(text));
        parts
    }

    fn edited(&self, change: &str, text: Option<&str>) -> Vec<String> {
        let Some(text) = text else {
            return vec![format!("The user accepted {change} as its deletion. The file does not exist.")];
        };
        let proposed = self.proposed.as_deref().unwrap_or_default();
        let diff = match &self.person_diff {
            Some(diff) => diff.clone(),
            None => unified(proposed, text, "your proposed text", "the user's text", 3),
        };
        vec![
            format!("The user edited {change} and accepted the edited text instead of yours."),
            EDITED.written.to_owned(),
            cut(diff.trim_end()),
            self.ending(Some(text)),
        ]
    }

    fn ending(&self, text: Option<&str>) -> String {
        match text {
            Some(_) => HOLDS.written.to_owned(),
            None => "The file does not exist.".to_owned(),
        }
    }

    /// Lines count from 1 there, as the model counts them.
    fn hunk_diff(&self, hunk: &DecidedHunk) -> String {
        let lines = |text: &Option<String>, sign: char, start: u32, count: u32| -> String {
            let index = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
            let text = text.as_deref().unwrap_or_default();
            let lines = text.split_inclusive('\n').skip(index(start)).take(index(count));
            lines.map(|line| format!("{sign}{}\n", line.strip_suffix('\n').unwrap_or(line))).collect()
        };
        let number = |start: u32, count: u32| if count == 0 { start } else { start.saturating_add(1) };
        format!(
            "@@ -{},{} +{},{} @@\n{}{}",
            number(hunk.before_start, hunk.before_count),
            hunk.before_count,
            number(hunk.after_start, hunk.after_count),
            hunk.after_count,
            lines(&self.current, '-', hunk.before_start, hunk.before_count),
            lines(&self.proposed, '+', hunk.after_start, hunk.after_count),
        )
    }

    fn remarks(&self) -> String {
        let edited = matches!(
            &self.verdict,
            FileVerdict::Accepted { text, hunks } if hunks.is_empty() && *text != self.proposed
        );
        let counted = if edited { "in the text of the user" } else { "in your proposed text" };
        let remark = |comment: &ReviewComment| {
            format!("Comment on line {}: {}", comment.line, comment.text.trim_end())
        };
        let remarks: Vec<String> = self.comments.iter().map(remark).collect();
        format!("{}\n(Lines are counted {counted}.)", remarks.join("\n"))
    }
}

fn cut(diff: &str) -> String {
    if diff.len() <= MAX_DIFF {
        return diff.to_owned();
    }
    let end = diff.floor_char_boundary(MAX_DIFF);
    let whole = diff.get(..end).and_then(|part| part.rfind('\n')).and_then(|end| diff.get(..end));
    format!("{}\n(The rest of this diff is left out: read the file.)", whole.unwrap_or_default())
}

#[cfg(test)]
mod tests;
