//! Replacements by position in a text, as editors and agents count positions: lines from 0, UTF-16 code units from the
//! start of the line.

use std::ops::Range;

/// A position between two characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TextPosition {
    pub line: u32,
    /// Beyond the end of the line means its end, as in every editor.
    pub character: u32,
}

/// Replaces `from..to` by `text`. The positions of all splices of one change refer to the text before any of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Splice {
    pub from: TextPosition,
    pub to: TextPosition,
    pub text: String,
    /// The text that must be at `from..to`.
    pub expects: Option<String>,
}

/// Why nothing was replaced. Splices are counted from 1, lines too.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpliceError {
    #[error("edit {edit} ends before it starts")]
    Backwards { edit: usize },
    #[error("edit {edit} starts on line {line}, but the text has {lines}")]
    BeyondEnd { edit: usize, line: u32, lines: usize },
    #[error("edits {one} and {other} overlap")]
    Overlap { one: usize, other: usize },
    #[error("edit {edit} expects {expected:?} on line {line}, but found {found:?}")]
    Stale { edit: usize, line: u32, expected: String, found: String },
}

/// The text with all replacements made, or none.
pub fn splice(text: &str, splices: &[Splice]) -> Result<String, SpliceError> {
    let starts: Vec<usize> =
        std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
    let wanted: Vec<TextPosition> = splices.iter().flat_map(|splice| [splice.from, splice.to]).collect();
    let found = offsets(text, &starts, &wanted);
    let mut places = Vec::with_capacity(splices.len());
    for ((edit, splice), ends) in (1..).zip(splices).zip(found.chunks(2)) {
        if splice.to < splice.from {
            return Err(SpliceError::Backwards { edit });
        }
        let beyond =
            || SpliceError::BeyondEnd { edit, line: splice.from.line.saturating_add(1), lines: starts.len() };
        let from = ends.first().copied().flatten().ok_or_else(beyond)?;
        // A range that ends after the last line ends with the text.
        let to = ends.get(1).copied().flatten().unwrap_or(text.len());
        let found = text.get(from..to).unwrap_or_default();
        if let Some(expected) = splice.expects.as_ref().filter(|expected| !same(expected, found)) {
            return Err(SpliceError::Stale {
                edit,
                line: splice.from.line.saturating_add(1),
                expected: shown(expected),
                found: shown(found),
            });
        }
        places.push((from..to, edit, splice.text.as_str()));
    }
    // Insertions at one position keep their order.
    places.sort_by_key(|(place, edit, _)| (place.start, place.end, *edit));
    let mut result = String::with_capacity(text.len());
    let mut done: (usize, usize) = (0, 0);
    for (place, edit, new) in places {
        let Range { start, end } = place;
        let between = text.get(done.0..start).ok_or(SpliceError::Overlap { one: done.1, other: edit })?;
        result.push_str(between);
        result.push_str(new);
        done = (end, edit);
    }
    result.push_str(text.get(done.0..).unwrap_or_default());
    Ok(in_its_own_endings(text, result))
}

/// Agents insert LF into files that have CRLF everywhere.
fn in_its_own_endings(before: &str, after: String) -> String {
    let crlf = before.matches("\r\n").count();
    if crlf == 0 || crlf != before.matches('\n').count() {
        return after;
    }
    after.replace("\r\n", "\n").replace('\n', "\r\n")
}

fn same(expected: &str, found: &str) -> bool {
    expected == found || expected.replace("\r\n", "\n") == found.replace("\r\n", "\n")
}

/// The beginning of a text, for an error message.
fn shown(text: &str) -> String {
    const LONGEST: usize = 80;
    let mut shown: String = text.chars().take(LONGEST).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

/// The byte offset of each position. Each line is scanned once, however many positions it has.
fn offsets(text: &str, starts: &[usize], places: &[TextPosition]) -> Vec<Option<usize>> {
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by_key(|at| places.get(*at));
    let mut found = vec![None; places.len()];
    let mut walk: Option<(u32, Walk<'_>)> = None;
    for at in order {
        let Some(place) = places.get(at) else { continue };
        let mut here = match walk.take() {
            Some((line, here)) if line == place.line => here,
            _ => match Walk::along(text, starts, place.line) {
                Some(here) => here,
                // Later positions are beyond the end as well.
                None => break,
            },
        };
        if let Some(found) = found.get_mut(at) {
            *found = Some(here.to(place.character));
        }
        walk = Some((place.line, here));
    }
    found
}

/// A scan of one line, from left to right.
struct Walk<'a> {
    start: usize,
    content: &'a str,
    rest: std::iter::Peekable<std::str::CharIndices<'a>>,
    units: u32,
}

impl<'a> Walk<'a> {
    fn along(text: &'a str, starts: &[usize], line: u32) -> Option<Walk<'a>> {
        let line = usize::try_from(line).ok()?;
        let start = *starts.get(line)?;
        let end = starts.get(line + 1).map_or(text.len(), |next| next - 1);
        let content = text.get(start..end)?;
        let content = content.strip_suffix('\r').unwrap_or(content);
        Some(Walk { start, content, rest: content.char_indices().peekable(), units: 0 })
    }

    fn to(&mut self, character: u32) -> usize {
        while let Some((at, next)) = self.rest.peek() {
            let units = self.units.saturating_add(u32::try_from(next.len_utf16()).unwrap_or(2));
            // There is no position inside a surrogate pair; its start is the nearest.
            if units > character {
                return self.start + at;
            }
            self.units = units;
            self.rest.next();
        }
        self.start + self.content.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(from: (u32, u32), to: (u32, u32), text: &str) -> Splice {
        let place = |(line, character)| TextPosition { line, character };
        Splice { from: place(from), to: place(to), text: text.to_owned(), expects: None }
    }

    fn expecting(splice: Splice, text: &str) -> Splice {
        Splice { expects: Some(text.to_owned()), ..splice }
    }

    #[test]
    fn places_count_utf16_units_from_the_start_of_their_line() {
        let text = "one\n😀two\nthree";
        assert_eq!(splice(text, &[at((1, 2), (1, 5), "TWO")]).unwrap(), "one\n😀TWO\nthree");
        assert_eq!(
            splice(text, &[at((1, 1), (1, 2), "x")]).unwrap(),
            "one\nx😀two\nthree".replace("x😀", "x")
        );
    }

    #[test]
    fn beyond_the_end_of_a_line_is_its_end_and_beyond_the_text_is_an_error() {
        assert_eq!(splice("a\nb\n", &[at((0, 99), (0, 99), "!")]).unwrap(), "a!\nb\n");
        assert_eq!(splice("a\nb\n", &[at((0, 0), (9, 9), "")]).unwrap(), "");
        assert_eq!(
            splice("a\n", &[at((7, 0), (7, 0), "x")]),
            Err(SpliceError::BeyondEnd { edit: 1, line: 8, lines: 2 })
        );
    }

    #[test]
    fn all_edits_refer_to_the_original_text_in_any_order() {
        let edits = [at((2, 0), (2, 1), "C"), at((0, 0), (0, 0), "1"), at((0, 0), (0, 0), "2")];
        assert_eq!(splice("a\nb\nc\n", &edits).unwrap(), "12a\nb\nC\n");
    }

    #[test]
    fn edits_that_overlap_or_run_backwards_change_nothing() {
        let overlapping = [at((0, 0), (0, 2), "x"), at((0, 1), (0, 3), "y")];
        assert_eq!(splice("abcd", &overlapping), Err(SpliceError::Overlap { one: 1, other: 2 }));
        assert_eq!(splice("abcd", &[at((0, 2), (0, 1), "x")]), Err(SpliceError::Backwards { edit: 1 }));
    }

    #[test]
    fn the_expected_text_must_be_there_whatever_its_line_endings() {
        let edit = at((0, 0), (1, 1), "x\ny");
        assert_eq!(splice("a\r\nb\r\n", &[expecting(edit.clone(), "a\nb")]).unwrap(), "x\r\ny\r\n");
        let stale = splice("a\nB\n", &[expecting(edit, "a\nb")]).unwrap_err();
        assert!(matches!(stale, SpliceError::Stale { edit: 1, line: 1, .. }), "{stale}");
    }

    #[test]
    fn many_edits_of_one_long_line_take_no_longer_than_it_is_long() {
        let text = "é".repeat(200_000);
        let edits: Vec<Splice> = (0..10_000).map(|at| at_one(at * 20)).collect();
        assert_eq!(splice(&text, &edits).unwrap().matches('x').count(), 10_000);
    }

    fn at_one(character: u32) -> Splice {
        at((0, character), (0, character + 1), "x")
    }

    #[test]
    fn a_file_with_mixed_line_ends_keeps_each() {
        assert_eq!(splice("a\r\nb\nc\r\n", &[at((1, 0), (1, 1), "B")]).unwrap(), "a\r\nB\nc\r\n");
    }
}
