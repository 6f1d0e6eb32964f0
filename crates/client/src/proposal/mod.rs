//! The contents of a file after one of the six editing tools: bytes in, bytes out. Must not read files or ask the user.
//! Everything outside the edit keeps its bytes: line endings, byte order mark, encoding, final newline.

mod call;
mod error;
mod lf_view;
mod lines;
mod near_match;
mod patch;
mod pattern;
mod replacement;
mod template;

use linkspan_review::{Format, Text, decode, to_file_conventions};

pub use call::{ArgumentsError, FILE_TOOLS, FileEdit};
pub use error::{Nearest, ProposalError};
pub use patch::PatchMode;

/// The most bytes a file may have before or after an edit: the most that the hub reviews by default.
pub const LARGEST_FILE: usize = 50 * 1024 * 1024;

/// One change to one file, with the arguments of its tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    /// The whole new content.
    WriteFile {
        /// The new content.
        content: String,
    },
    /// Replaces one text by another.
    EditFile {
        /// The old text; unique in the file unless `replace_all`.
        old_string: String,
        /// The new text.
        new_string: String,
        /// Every occurrence.
        replace_all: bool,
    },
    /// Several replacements, one after the other; all or none.
    EditFileBatch {
        /// In the order in which they are made.
        edits: Vec<TextReplacement>,
    },
    /// Whole lines, by number.
    EditLines {
        /// The first line to replace, counted from 1.
        start_line: usize,
        /// The last one, inclusive.
        end_line: usize,
        /// The new lines; empty: they are removed.
        new_content: String,
    },
    /// Appends a text.
    AppendFile {
        /// The text.
        content: String,
        /// Start it on a new line.
        newline: bool,
    },
    /// A regular expression.
    RegexReplace {
        /// In the syntax of the `regex` crate: that of Python without lookaround and backreferences.
        pattern: String,
        /// With `\1` and `\g<name>` for groups.
        replacement: String,
        /// The most replacements; 0 for all.
        count: usize,
        /// Letters match in either case.
        ignore_case: bool,
        /// `^` and `$` match at every line.
        multiline: bool,
        /// `.` matches a line end too.
        dotall: bool,
    },
    /// A unified diff of this one file.
    Patch {
        /// With or without its file headers.
        diff: String,
        /// How exactly its context must match.
        mode: PatchMode,
    },
}

/// One replacement, as in [`Edit::EditFile`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextReplacement {
    /// The old text.
    pub old_string: String,
    /// The new text.
    pub new_string: String,
    /// Every occurrence.
    pub replace_all: bool,
}

/// The proposed contents of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposed {
    base: Option<Text>,
    text: String,
    bytes: Vec<u8>,
}

impl Proposed {
    /// The current text; `None` if there is no file.
    pub fn base(&self) -> Option<&str> {
        self.base.as_ref().map(|base| base.text.as_str())
    }

    /// The new text, without a byte order mark, with the file's own line endings.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The new bytes, for the caller to write.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The new text for a reviewer. `None` for a change of line endings only: reviewers keep the file's line endings,
    /// so they would lose it.
    pub fn for_review(&self) -> Option<&str> {
        let (understood, _) = to_file_conventions(self.base.as_ref(), &self.text);
        (understood == self.text).then_some(self.text.as_str())
    }

    /// Whether the file holds these bytes already.
    pub fn is_unchanged(&self) -> bool {
        self.base() == Some(&self.text)
    }

    /// The bytes for another text of the same file, such as one that the user edited, with the file's endings.
    pub fn encode(&self, text: &str) -> Result<Vec<u8>, ProposalError> {
        encode(self.base.as_ref(), &to_file_conventions(self.base.as_ref(), text).0)
    }
}

/// The contents of the file after this edit; `current` is the current contents, `None` if there is no file.
pub fn proposed(edit: &Edit, current: Option<&[u8]>) -> Result<Proposed, ProposalError> {
    let largest = |bytes: usize| {
        if bytes > LARGEST_FILE {
            return Err(ProposalError::TooLarge { what: "the file", bytes, most: LARGEST_FILE });
        }
        Ok(())
    };
    largest(current.map_or(0, <[u8]>::len))?;
    let base = current.map(decode).transpose().map_err(ProposalError::NotAText)?;
    let now = base.as_ref().map(|base| base.text.as_str());
    let existing = || now.ok_or(ProposalError::NoFile);
    let text = match edit {
        Edit::WriteFile { content } => to_file_conventions(base.as_ref(), content).0,
        Edit::EditFile { old_string, new_string, replace_all } => {
            replacement::replace(existing()?, old_string, new_string, *replace_all)?
        }
        Edit::EditFileBatch { edits } => edits.iter().try_fold(existing()?.to_owned(), |text, edit| {
            replacement::replace(&text, &edit.old_string, &edit.new_string, edit.replace_all)
        })?,
        Edit::EditLines { start_line, end_line, new_content } => {
            lines::replace(existing()?, *start_line, *end_line, new_content)?
        }
        Edit::AppendFile { content, newline } => lines::append(now.unwrap_or_default(), content, *newline),
        Edit::RegexReplace { pattern, replacement, count, ignore_case, multiline, dotall } => {
            let flags = pattern::Flags { ignore_case: *ignore_case, multiline: *multiline, dotall: *dotall };
            pattern::replace(existing()?, pattern, flags, replacement, *count)?
        }
        Edit::Patch { diff, mode } => patch::apply(now, diff, *mode)?,
    };
    largest(text.len())?;
    let bytes = encode(base.as_ref(), &text)?;
    Ok(Proposed { base, text, bytes })
}

fn encode(base: Option<&Text>, text: &str) -> Result<Vec<u8>, ProposalError> {
    let format = base.map_or(Format::UTF8, |base| base.format);
    format.encode(text).map_err(ProposalError::NotEncodable)
}
