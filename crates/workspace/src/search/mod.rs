//! Searching the text of files, with ripgrep's own searcher: the same lines that `rg` finds.

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
use crate::straight::open_straight;
use crate::walk::{File, Selection, Stop, Worker, walk};
use bounded::Expression;
use lines::{Lines, Room};

const LARGEST_FILE: u64 = 50 * 1024 * 1024;
const LONGEST_QUERY: usize = 10_000;

/// What to search for, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchFiles {
    /// A text, or a regular expression. It is looked for in each line by itself.
    pub query: String,
    /// Read the query as a regular expression.
    pub regex: bool,
    /// Tell capitals from small letters.
    pub case_sensitive: bool,
    /// Only where no letter, digit or underscore touches it.
    pub whole_word: bool,
    /// A glob of the files to search, from each folder; missing: all.
    pub pattern: Option<String>,
    /// A glob of what to leave out; a folder that matches is left out with all that is in it.
    pub exclude: Option<String>,
    /// Also what ignore files leave out.
    pub ignored: bool,
    /// How many matches at most.
    pub limit: usize,
    /// How many lines before and after each match; at most [`SearchFiles::MOST_CONTEXT`].
    pub context: usize,
}

impl SearchFiles {
    /// Where nobody says how many.
    pub const LIMIT: usize = 1_000;
    /// Nobody gets more.
    pub const MOST: usize = 10_000;
    /// Nobody gets more lines around a match.
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

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Found {
    /// By file, then by line.
    pub matches: Vec<Match>,
    /// How many files they are in.
    pub files: usize,
    /// There are more, or more than 16 MiB of text, or the time was up, or a file could not be searched to its end.
    pub truncated: bool,
}

/// A line that matches, and where the first match in it begins.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Match {
    /// Named as [`crate::list_files`] names it.
    pub path: String,
    /// From 1.
    pub line: u32,
    /// From 0, in UTF-16 code units.
    pub column: u32,
    /// The line without its end, cut after 500 characters. What is not UTF-8 is replaced.
    pub text: String,
    /// The lines before it, cut alike.
    pub before: Vec<String>,
    /// The lines after it, cut alike.
    pub after: Vec<String>,
}

/// Binary files, links and files of more than 50 MiB are not searched, nor what follows a line that is too long for the
/// expression: a simple one has no such line, and one of the largest takes 16 KiB.
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
    let room = Room::new(asked.limit.min(SearchFiles::MOST));
    let context = asked.context.min(SearchFiles::MOST_CONTEXT);
    let worker = || Searching {
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
        return Err(bad("there is nothing in it; say what to search for"));
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

struct Searching<'a> {
    expression: Expression,
    searcher: Searcher,
    context: usize,
    room: &'a Room,
}

impl Worker for Searching<'_> {
    type Item = Match;

    fn look(&mut self, file: &File<'_>, found: &mut Vec<Match>, stop: &Stop<'_>) {
        let Some(handle) = open(file.path) else { return };
        let matcher = self.expression.until(stop);
        let lines = Lines::new(matcher, file, self.context, self.room, found, stop);
        // A file that cannot be read to its end gives what was found up to there. One that has a line which is too long
        // for this expression is such a file.
        if self.searcher.search_file(matcher, &handle, lines).is_err() {
            stop.leave_something_out();
        }
    }
}

/// What became a link or a pipe since it was listed, or a folder on the way to it, is neither followed nor waited for.
fn open(path: &Path) -> Option<fs::File> {
    let file = fs::File::from(open_straight(path, OFlags::RDONLY).ok()?);
    let about = file.metadata().ok()?;
    (about.is_file() && about.len() <= LARGEST_FILE).then_some(file)
}
