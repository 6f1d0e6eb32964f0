//! Searches the text of files with ripgrep's own searcher: finds the same lines as `rg`. Owns the limits on matches, text
//! and time; which files are searched is decided in `walk`.

mod bounded;
mod lines;

use std::fs;
use std::path::Path;

use grep_regex::RegexMatcherBuilder;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use rustix::fs::OFlags;
use serde::Serialize;

use crate::cancel::Cancel;
use crate::error::WorkspaceError;
use crate::folders::Workspace;
use crate::glob::{Pattern, shortened};
use crate::open_nofollow::open_nofollow;
use crate::walk::{File, Selection, Stop, Worker, walk};
use bounded::Expression;
use lines::{Lines, ResultBudget};

const LARGEST_FILE: u64 = 50 * 1024 * 1024;
const LONGEST_QUERY: usize = 10_000;

/// What to search for, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchFiles {
    /// A text or a regular expression, matched within single lines.
    pub query: String,
    /// The query is a regular expression.
    pub regex: bool,
    /// Match case.
    pub case_sensitive: bool,
    /// Match whole words only.
    pub whole_word: bool,
    /// A glob of the files to search, relative to each folder; `None`: all.
    pub pattern: Option<String>,
    /// A glob of files to skip; a matching folder is skipped with everything in it.
    pub exclude: Option<String>,
    /// Include ignored files.
    pub ignored: bool,
    /// The maximum number of matches.
    pub limit: usize,
    /// How many lines before and after each match; at most [`SearchFiles::MOST_CONTEXT`].
    pub context: usize,
}

impl SearchFiles {
    /// The default limit.
    pub const LIMIT: usize = 1_000;
    /// The highest limit.
    pub const MOST: usize = 10_000;
    /// The highest number of context lines.
    pub const MOST_CONTEXT: usize = 10;
}

impl Default for SearchFiles {
    fn default() -> SearchFiles {
        SearchFiles {
            query: String::new(),
            regex: false,
            case_sensitive: false,
            whole_word: false,
            pattern: None,
            exclude: None,
            ignored: false,
            limit: SearchFiles::LIMIT,
            context: 0,
        }
    }
}

/// The result of a search.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Found {
    /// Sorted by file, then by line.
    pub matches: Vec<Match>,
    /// How many files they are in.
    pub files: usize,
    /// There are more matches, more than 16 MiB of text, the time limit was reached, or a file could not be searched to
    /// its end.
    pub truncated: bool,
}

/// A matching line, and the start of its first match.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Match {
    /// Named as [`crate::list_files`] names it.
    pub path: String,
    /// From 1.
    pub line: u32,
    /// From 0, in UTF-16 code units.
    pub column: u32,
    /// The line without its ending, cut after 500 characters. Invalid UTF-8 is replaced.
    pub text: String,
    /// The lines before it, cut the same way.
    pub before: Vec<String>,
    /// The lines after it, cut the same way.
    pub after: Vec<String>,
}

/// Binary files, links and files of more than 50 MiB are not searched, nor the rest of a file after a line that is too
/// long for the expression: a simple expression has no such limit, and for one of the largest it is 16 KiB.
pub fn search_files(
    workspace: &Workspace,
    asked: &SearchFiles,
    cancel: &Cancel,
) -> Result<Found, WorkspaceError> {
    let selection = Selection {
        pattern: Pattern::read(asked.pattern.as_deref())?,
        exclude: Pattern::read(asked.exclude.as_deref())?,
        ignored: asked.ignored,
    };
    let expression = expression(asked)?;
    let room = ResultBudget::new(asked.limit.min(SearchFiles::MOST));
    let context = asked.context.min(SearchFiles::MOST_CONTEXT);
    let worker = || FileSearcher {
        expression: expression.clone(),
        searcher: SearcherBuilder::new()
            .binary_detection(BinaryDetection::quit(0))
            .heap_limit(Some(expression.longest_text))
            .before_context(context)
            .after_context(context)
            .build(),
        context,
        room: &room,
    };
    let (mut matches, truncated) = walk(workspace, &selection, cancel, worker)?;
    matches.sort_unstable();
    let files = matches.chunk_by(|one, next| one.path == next.path).count();
    Ok(Found { matches, files, truncated })
}

fn expression(asked: &SearchFiles) -> Result<Expression, WorkspaceError> {
    let bad =
        |reason: &str| WorkspaceError::BadQuery { query: shortened(&asked.query), reason: reason.to_owned() };
    if asked.query.is_empty() {
        return Err(bad("it is empty; give a text to search for"));
    }
    if asked.query.len() > LONGEST_QUERY {
        return Err(bad("it is longer than 10,000 bytes"));
    }
    if !asked.regex && asked.query.contains('\n') {
        return Err(bad("lines are searched one by one; search for a text within one line"));
    }
    let mut builder = RegexMatcherBuilder::new();
    builder
        .fixed_strings(!asked.regex)
        .case_insensitive(!asked.case_sensitive)
        .word(asked.whole_word)
        .multi_line(true)
        .octal(false)
        .line_terminator(Some(b'\n'));
    Expression::new(&mut builder, &asked.query, !asked.regex).map_err(|reason| bad(&reason))
}

struct FileSearcher<'a> {
    expression: Expression,
    searcher: Searcher,
    context: usize,
    room: &'a ResultBudget,
}

impl Worker for FileSearcher<'_> {
    type Item = Match;

    fn visit(&mut self, file: &File<'_>, found: &mut Vec<Match>, stop: &Stop<'_>) {
        let Some(handle) = open(file.path) else { return };
        let matcher = self.expression.until(stop);
        let lines = Lines::new(matcher, file, self.context, self.room, found, stop);
        // A file that cannot be read to its end yields the matches up to there, also if a line is too long for this
        // expression.
        if self.searcher.search_file(matcher, &handle, lines).is_err() {
            stop.leave_something_out();
        }
    }
}

/// If the file or a folder in its path became a link or a pipe since it was listed, it is neither followed nor waited for.
fn open(path: &Path) -> Option<fs::File> {
    let file = fs::File::from(open_nofollow(path, OFlags::RDONLY).ok()?);
    let about = file.metadata().ok()?;
    (about.is_file() && about.len() <= LARGEST_FILE).then_some(file)
}
