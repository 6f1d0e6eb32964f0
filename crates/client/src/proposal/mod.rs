//! What a file would hold after one of the six editing tools: bytes in, bytes out. Reads no file and asks
//! nobody. What lies outside the edit keeps its bytes: line endings, byte order mark, encoding, final newline.

mod call;
mod error;
mod lines;
mod nearest;
mod patch;
mod pattern;
mod replace;
mod spoken;
mod template;

use linkspan_review::{Format, Text, decode, in_the_files_terms};

pub use call::{ArgumentsError, FILE_TOOLS, FileEdit};
pub use error::{Nearest, ProposalError};
pub use patch::PatchMode;

/// The most bytes a file may have before or after an edit: the most that the hub reviews by default.
pub const LARGEST_FILE: usize = 50 * 1024 * 1024;

/// One change to one file, in the words of the tool that asks for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    /// The whole new content.
    WriteFile {
        /// What the file will hold.
        content: String,
    },
    /// One text for another.
    EditFile {
        /// What is there now; unique in the file unless `replace_all`.
        old_string: String,
        /// What replaces it.
        new_string: String,
        /// Every occurrence.
        replace_all: bool,
    },
    /// Several replacements, one after the other; all or none.
    EditFileBatch {
        /// In the order in which they are made.
        edits: Vec<Replacement>,
    },
    /// Whole lines, by number.
    EditLines {
        /// The first line to replace, counted from 1.
        start_line: usize,
        /// The last one, included.
        end_line: usize,
        /// What replaces them; empty: they are removed.
        new_content: String,
    },
    /// More at the end.
    AppendFile {
        /// What is added.
        content: String,
        /// Starts it on a line of its own.
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

/// One text for another, as in [`Edit::EditFile`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replacement {
    /// What is there now.
    pub old_string: String,
    /// What replaces it.
    pub new_string: String,
    /// Every occurrence.
    pub replace_all: bool,
}

/// What a file would hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposed {
    base: Option<Text>,
    text: String,
    bytes: Vec<u8>,
}

impl Proposed {
    /// The text it has now; `None` where there is no file.
    pub fn base(&self) -> Option<&str> {
        self.base.as_ref().map(|base| base.text.as_str())
    }

    /// The new text, without a byte order mark, in the file's own line endings.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The new bytes, for whoever writes the file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What to give to a reviewer as the new text. `None` where a reviewer, who keeps a file's line endings,
    /// would make something else of it: a change of nothing but endings.
    pub fn for_review(&self) -> Option<&str> {
        let (understood, _) = in_the_files_terms(self.base.as_ref(), &self.text);
        (understood == self.text).then_some(self.text.as_str())
    }

    /// The file holds these bytes already.
    pub fn is_unchanged(&self) -> bool {
        self.base() == Some(&self.text)
    }

    /// The bytes for another text of the same file, such as the one a person edited, in the file's endings.
    pub fn encode(&self, text: &str) -> Result<Vec<u8>, ProposalError> {
        encode(self.base.as_ref(), &in_the_files_terms(self.base.as_ref(), text).0)
    }
}

/// What the file would hold after this edit; `current` is what it holds now, `None` where there is no file.
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
        Edit::WriteFile { content } => in_the_files_terms(base.as_ref(), content).0,
        Edit::EditFile { old_string, new_string, replace_all } => {
            replace::replace(existing()?, old_string, new_string, *replace_all)?
        }
        Edit::EditFileBatch { edits } => edits.iter().try_fold(existing()?.to_owned(), |text, edit| {
            replace::replace(&text, &edit.old_string, &edit.new_string, edit.replace_all)
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
