//! Why an edit cannot be made, as messages that a model can act on.

use std::fmt;

use linkspan_review::TextError;

use crate::visible;

/// Why an edit cannot be made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ProposalError {
    /// The file does not exist.
    #[error("there is no such file: check the path, or create it with write_file")]
    NoFile,
    /// The file is not text.
    #[error("{0}")]
    NotAText(TextError),
    /// The file's encoding lacks a character of the new text.
    #[error("{0}")]
    NotEncodable(TextError),
    /// An empty text cannot be searched for.
    #[error("old_string is empty: give the text to replace, or use write_file or append_file")]
    EmptyOldString,
    /// The text is not in the file.
    #[error(
        "old_string is not in the file{}; read the file again and copy the text exactly",
        near(.nearest.as_ref())
    )]
    NoMatch {
        /// The most similar place.
        nearest: Option<Nearest>,
    },
    /// The text occurs more than once.
    #[error(
        "old_string is in the file {count} times, at lines {}: add lines around it until it is unique, or \
         set replace_all",
        numbers(lines)
    )]
    SeveralMatches {
        /// How often it occurs.
        count: usize,
        /// Where the first ones start.
        lines: Vec<usize>,
    },
    /// There are no such lines.
    #[error(
        "lines {start} to {end} are not in the file, which has {lines}: lines count from 1, and end_line is \
         not before start_line; use append_file to add at the end"
    )]
    LineOutOfRange {
        /// The first requested line.
        start: usize,
        /// The last requested line.
        end: usize,
        /// Number of lines of the file.
        lines: usize,
    },
    /// The pattern is invalid.
    #[error("the pattern is invalid: {reason}; lookaround and backreferences are not supported")]
    BadRegex {
        /// Why.
        reason: String,
    },
    /// The replacement is invalid.
    #[error("the replacement is invalid: {reason}; write \\1 or \\g<name> for a group, \\\\ for a backslash")]
    BadReplacement {
        /// Why.
        reason: String,
    },
    /// The pattern matches nothing.
    #[error("the pattern matches nothing in the file; ^ and $ match at each line only with multiline")]
    PatternMatchesNothing,
    /// The pattern matches too much.
    #[error("the pattern matches more than {most} times: make it narrower or set count")]
    TooManyMatches {
        /// The maximum.
        most: usize,
    },
    /// The pattern takes too long.
    #[error("the pattern takes longer than {seconds} s on this file: make it narrower")]
    TooSlow {
        /// The time limit.
        seconds: u64,
    },
    /// The diff is invalid.
    #[error("line {line} of the diff is invalid: {reason}")]
    BadPatch {
        /// Which line of the diff, counted from 1.
        line: usize,
        /// Why.
        reason: String,
    },
    /// The file does not match the diff.
    #[error(
        "hunk {number} of the diff does not apply: line {line} should be `{}`{}; read the file again and \
         make the diff from what it holds now",
        excerpt(expected),
        found.as_ref().map_or(" but the file ends there".to_owned(), |found| format!(" but is `{}`", excerpt(found)))
    )]
    HunkDoesNotApply {
        /// Which hunk, counted from 1.
        number: usize,
        /// Where in the file, counted from 1.
        line: usize,
        /// The text in the diff.
        expected: String,
        /// The text in the file; `None`: the end of the file.
        found: Option<String>,
    },
    /// The diff fits in several places.
    #[error(
        "hunk {number} of the diff fits at lines {}: give the right line number in its @@ header or more context",
        numbers(lines)
    )]
    HunkFitsSeveralPlaces {
        /// Which hunk, counted from 1.
        number: usize,
        /// Where it fits.
        lines: Vec<usize>,
    },
    /// It exceeds a limit.
    #[error("{what} has {bytes} bytes, but at most {most} are allowed: make a smaller change")]
    TooLarge {
        /// The file, the result, the pattern.
        what: &'static str,
        /// Its size.
        bytes: usize,
        /// The limit.
        most: usize,
    },
}

/// The place in a file that is most similar to the searched text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nearest {
    /// The first line that differs, counted from 1.
    pub line: usize,
    /// The searched line.
    pub expected: String,
    /// The line in the file.
    pub found: String,
}

impl fmt::Display for Nearest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (expected, found) = (excerpt(&self.expected), excerpt(&self.found));
        write!(f, "line {} is `{found}`, not `{expected}`", self.line)?;
        if self.expected.split_whitespace().eq(self.found.split_whitespace()) {
            f.write_str(" (they differ only in white space)")?;
        }
        Ok(())
    }
}

fn near(nearest: Option<&Nearest>) -> String {
    nearest.map_or_else(String::new, |nearest| format!("; nearest: {nearest}"))
}

/// Enough of a line to recognise it, on one line.
fn excerpt(line: &str) -> String {
    const MOST: usize = 120;
    let mut shown = visible::code(&line.chars().take(MOST).collect::<String>());
    if line.chars().nth(MOST).is_some() {
        shown.push('…');
    }
    shown
}

/// The first of them.
fn numbers(lines: &[usize]) -> String {
    const MOST: usize = 8;
    let shown = lines.iter().take(MOST).map(usize::to_string).collect::<Vec<_>>().join(", ");
    if lines.len() > MOST { format!("{shown}, …") } else { shown }
}
