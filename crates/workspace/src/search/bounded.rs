//! A regular expression that can be cancelled. The engine cannot be interrupted while it searches a text, so it gets no
//! more text at once than it can search in about a second; how much that is depends on the size of its program.

use std::fmt;

use grep_matcher::{ByteSet, LineMatchKind, LineTerminator, Match, Matcher, NoCaptures};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};

use super::LARGEST_FILE;
use crate::walk::Stop;

/// Bytes of program times bytes of text: at worst about a second of one core.
const MOST_WORK: usize = 8 * 1024 * 1024 * 1024;
/// The limit without Unicode tables, which make a program large but not slow.
const LARGEST_PROGRAM: usize = 512 * 1024;
const SMALLEST_MEASURE: usize = 1024;
/// The part of a program with Unicode classes that is never active at the same time.
const UNICODE_SHARE: usize = 64;
/// The limit with all tables.
const LARGEST_WITH_TABLES: usize = 10 * 1024 * 1024;
const SHORT_TEXT: usize = 200;
/// The size of each thread's state cache.
const LARGEST_CACHE: usize = 8 * 1024 * 1024;

/// An expression, and how much text it may search at once.
#[derive(Debug, Clone)]
pub(super) struct Expression {
    matcher: RegexMatcher,
    pub(super) longest_text: usize,
}

impl Expression {
    /// Fails with what is wrong with it. A short plain text is searched without limit: it has few states, which all stay
    /// in the cache.
    pub(super) fn new(
        builder: &mut RegexMatcherBuilder,
        query: &str,
        is_plain: bool,
    ) -> Result<Expression, String> {
        builder.dfa_size_limit(LARGEST_CACHE);
        let mut measure = SMALLEST_MEASURE;
        while !fits(builder, query, measure)? {
            measure *= 2;
            if measure > LARGEST_PROGRAM {
                return Err("it is too large; use smaller repetitions".to_owned());
            }
        }
        let largest = usize::try_from(LARGEST_FILE).unwrap_or(usize::MAX);
        let longest_text = match is_plain && query.len() <= SHORT_TEXT {
            true => largest,
            false => (MOST_WORK / measure).min(largest),
        };
        let matcher = builder.unicode(true).size_limit(LARGEST_WITH_TABLES).build(query);
        let matcher = matcher.map_err(|error| match is_too_large(&error) {
            true => "it is too large; use smaller repetitions or classes".to_owned(),
            false => format!("it is not a regular expression: {error}"),
        })?;
        Ok(Expression { matcher, longest_text })
    }

    pub(super) fn until<'a>(&'a self, stop: &'a Stop<'a>) -> Bounded<'a> {
        Bounded { expression: self, stop }
    }
}

/// Whether the program has at most this size. If it needs Unicode, it is measured with the tables.
fn fits(builder: &mut RegexMatcherBuilder, query: &str, measure: usize) -> Result<bool, String> {
    match builder.unicode(false).size_limit(measure).build(query) {
        Ok(_) => return Ok(true),
        Err(error) if is_too_large(&error) => return Ok(false),
        Err(_) => {}
    }
    match builder.unicode(true).size_limit(measure * UNICODE_SHARE).build(query) {
        Ok(_) => Ok(true),
        Err(error) if is_too_large(&error) => Ok(false),
        Err(error) => Err(format!("it is not a regular expression: {error}")),
    }
}

fn is_too_large(error: &grep_regex::Error) -> bool {
    // The library offers no other way to recognise this error.
    error.to_string().contains("size limit")
}

/// The expression, until it is cancelled.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounded<'a> {
    expression: &'a Expression,
    stop: &'a Stop<'a>,
}

/// The search was cancelled.
#[derive(Debug)]
pub(super) struct SearchCancelled;

impl fmt::Display for SearchCancelled {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("stopped")
    }
}

impl Bounded<'_> {
    /// Searches whole lines, as many at once as allowed. `search` gets the text up to the end of a piece and the start of
    /// the piece, and returns where it found a match. No match spans the end of a line.
    fn in_pieces<T>(
        &self,
        text: &[u8],
        at: usize,
        search: impl Fn(&[u8], usize) -> Option<(usize, T)>,
    ) -> Result<Option<T>, SearchCancelled> {
        let mut from = at;
        loop {
            if self.stop.is_due() {
                return Err(SearchCancelled);
            }
            let end = self.end_of_piece(text, from);
            let found = search(text.get(..end).unwrap_or(text), from);
            match found {
                // An empty match after the last line ending belongs to the next line, which is in the next piece.
                Some((place, found)) if place < end || end == text.len() => return Ok(Some(found)),
                _ if end == text.len() => return Ok(None),
                _ => from = end,
            }
        }
    }

    /// The end of a piece: after a line ending, or at the end of the text. Only a line longer than a piece makes it longer.
    fn end_of_piece(&self, text: &[u8], from: usize) -> usize {
        let most = from.saturating_add(self.expression.longest_text);
        let is_end = |byte: &u8| *byte == b'\n';
        let Some(piece) = text.get(from..most) else { return text.len() };
        if let Some(last) = piece.iter().rposition(is_end) {
            return from + last + 1;
        }
        let rest = text.get(most..).unwrap_or_default();
        rest.iter().position(is_end).map_or(text.len(), |next| most + next + 1)
    }
}

impl Matcher for Bounded<'_> {
    type Captures = NoCaptures;
    type Error = SearchCancelled;

    fn find_at(&self, text: &[u8], at: usize) -> Result<Option<Match>, SearchCancelled> {
        self.in_pieces(text, at, |text, from| {
            let found = self.expression.matcher.find_at(text, from).ok()??;
            Some((found.start(), found))
        })
    }

    fn shortest_match_at(&self, text: &[u8], at: usize) -> Result<Option<usize>, SearchCancelled> {
        self.in_pieces(text, at, |text, from| {
            let end = self.expression.matcher.shortest_match_at(text, from).ok()??;
            Some((end, end))
        })
    }

    fn find_candidate_line(&self, text: &[u8]) -> Result<Option<LineMatchKind>, SearchCancelled> {
        self.in_pieces(text, 0, |text, from| {
            let piece = text.get(from..).unwrap_or_default();
            Some(match self.expression.matcher.find_candidate_line(piece).ok()?? {
                LineMatchKind::Confirmed(at) => (from + at, LineMatchKind::Confirmed(from + at)),
                LineMatchKind::Candidate(at) => (from + at, LineMatchKind::Candidate(from + at)),
            })
        })
    }

    fn new_captures(&self) -> Result<NoCaptures, SearchCancelled> {
        Ok(NoCaptures::new())
    }

    fn non_matching_bytes(&self) -> Option<&ByteSet> {
        self.expression.matcher.non_matching_bytes()
    }

    fn line_terminator(&self) -> Option<LineTerminator> {
        self.expression.matcher.line_terminator()
    }
}
