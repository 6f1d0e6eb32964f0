//! Converts the searcher's bytes to matches: only lines of the result are decoded.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

use grep_matcher::Matcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkMatch};

use super::Match;
use super::bounded::Bounded;
use crate::walk::{File, Stop};

const LONGEST_TEXT: usize = 500;

/// The size limit of all results together; no one reads more.
const MOST_TEXT: usize = 16 * 1024 * 1024;

/// The remaining room, shared by all threads.
#[derive(Debug)]
pub(super) struct ResultBudget {
    limit: usize,
    matches: AtomicUsize,
    bytes: AtomicUsize,
}

impl ResultBudget {
    pub(super) fn new(limit: usize) -> ResultBudget {
        ResultBudget { limit, matches: AtomicUsize::new(0), bytes: AtomicUsize::new(0) }
    }

    fn has_one_more(&self) -> bool {
        self.matches.fetch_add(1, Ordering::Relaxed) < self.limit && self.has_bytes()
    }

    fn has_bytes(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) < MOST_TEXT
    }

    fn fill(&self, bytes: usize) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// The matches of one file.
pub(super) struct Lines<'a> {
    matcher: Bounded<'a>,
    file: &'a File<'a>,
    /// Created with the first match.
    name: Option<String>,
    context: usize,
    /// The last lines, matching or not, with their numbers.
    recent: VecDeque<(u32, String)>,
    room: &'a ResultBudget,
    found: &'a mut Vec<Match>,
    /// The index of this file's first match in `found`.
    first: usize,
    stop: &'a Stop<'a>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(
        matcher: Bounded<'a>,
        file: &'a File<'a>,
        context: usize,
        room: &'a ResultBudget,
        found: &'a mut Vec<Match>,
        stop: &'a Stop<'a>,
    ) -> Lines<'a> {
        let (first, recent) = (found.len(), VecDeque::new());
        Lines { matcher, file, name: None, context, recent, room, found, first, stop }
    }

    /// Adds a line to the context of the matches around it.
    fn surround(&mut self, line: u32, text: &str) {
        if self.context == 0 {
            return;
        }
        let reach = u32::try_from(self.context).unwrap_or(u32::MAX);
        let own = self.found.get_mut(self.first..).unwrap_or_default();
        for earlier in own.iter_mut().rev().take_while(|earlier| earlier.line.saturating_add(reach) >= line) {
            self.room.fill(text.len());
            earlier.after.push(text.to_owned());
        }
        self.recent.push_back((line, text.to_owned()));
        if self.recent.len() > self.context {
            self.recent.pop_front();
        }
    }

    fn before(&self, line: u32) -> Vec<String> {
        let reach = u32::try_from(self.context).unwrap_or(u32::MAX);
        let near = self.recent.iter().filter(|(earlier, _)| earlier.saturating_add(reach) >= line);
        near.map(|(_, text)| text.clone()).collect()
    }
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        if !self.room.has_one_more() {
            self.stop.leave_out_the_rest();
        }
        if self.stop.is_due() {
            return Ok(false);
        }
        let (line, bytes) = (number(found.line_number()), found.bytes());
        let start = self.matcher.find(bytes).ok().flatten().map_or(0, |found| found.start());
        let text = text(bytes);
        let before = self.before(line);
        self.surround(line, &text);
        let path = self.name.get_or_insert_with(|| self.file.name()).clone();
        self.room.fill(path.len() + text.len() + before.iter().map(String::len).sum::<usize>());
        let column = utf16_length(bytes.get(..start).unwrap_or_default());
        self.found.push(Match { path, line, column, text, before, after: Vec::new() });
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> Result<bool, io::Error> {
        if !self.room.has_bytes() {
            self.stop.leave_out_the_rest();
            return Ok(false);
        }
        self.surround(number(context.line_number()), &text(context.bytes()));
        Ok(true)
    }
}

fn number(line: Option<u64>) -> u32 {
    line.and_then(|line| u32::try_from(line).ok()).unwrap_or(u32::MAX)
}

fn text(line: &[u8]) -> String {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    // A character has at most four bytes, so only text beyond the longest result is cut off here.
    let start = line.get(..LONGEST_TEXT * 4).unwrap_or(line);
    String::from_utf8_lossy(start).chars().take(LONGEST_TEXT).collect()
}

/// Invalid UTF-8 counts as its one replacement character.
fn utf16_length(bytes: &[u8]) -> u32 {
    let length = bytes.utf8_chunks().map(|chunk| {
        let replaced = usize::from(!chunk.invalid().is_empty());
        chunk.valid().chars().map(char::len_utf16).sum::<usize>() + replaced
    });
    u32::try_from(length.sum::<usize>()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_utf16_units_and_one_for_what_is_no_text() {
        assert_eq!(utf16_length("aé😀".as_bytes()), 4);
        assert_eq!(utf16_length(b"a\xff\xfeb"), 4);
    }

    #[test]
    fn a_long_line_is_cut_after_500_characters() {
        assert_eq!(text("é".repeat(3000).as_bytes()).chars().count(), 500);
        assert_eq!(text(b"\xff".repeat(3000).as_slice()).chars().count(), 500);
        assert_eq!(text(b"short\r\n"), "short");
    }
}
