//! The only module that knows the diff library: two sequences of tokens in, the ranges that differ out.

pub(crate) use gix_imara_diff::Hunk as Change;
/// Like `split_inclusive('\n')`, but several times as fast.
pub(crate) use gix_imara_diff::sources::lines as split_lines;
use gix_imara_diff::{Algorithm, Diff, InternedInput, Token};

/// Histogram diffs read best, but the algorithm scans the whole rest again for each common run it finds: its time grows
/// with lines times changes. With more differing lines than this, Myers is used, as git does by default.
const MOST_HISTOGRAM_LINES: usize = 8_000;

/// The replacements that turn one sequence of lines into the other, in order; at least one common line is between two
/// changes.
pub(crate) fn changed_lines<'a>(
    before: impl Iterator<Item = &'a str>,
    after: impl Iterator<Item = &'a str>,
) -> Vec<Change> {
    let input = intern(before, after);
    let algorithm = if differing(&input.before, &input.after) > MOST_HISTOGRAM_LINES {
        Algorithm::Myers
    } else {
        Algorithm::Histogram
    };
    let mut diff = Diff::compute(algorithm, &input);
    diff.postprocess_lines(&input);
    diff.hunks().collect()
}

/// Like [`changed_lines`], for words: they are few and often repeated, where Myers does better.
pub(crate) fn changed_words<'a>(
    before: impl Iterator<Item = &'a str>,
    after: impl Iterator<Item = &'a str>,
) -> Vec<Change> {
    let input = intern(before, after);
    let mut diff = Diff::compute(Algorithm::Myers, &input);
    diff.postprocess_no_heuristic(&input);
    diff.hunks().collect()
}

/// Assigns equal tokens to equal pieces. Most pieces of `after` equal the next one of `before`: comparing those two
/// first costs far less than a lookup for each.
fn intern<'a>(
    before: impl Iterator<Item = &'a str>,
    after: impl Iterator<Item = &'a str>,
) -> InternedInput<&'a str> {
    let mut input = InternedInput::default();
    let expected = before.size_hint().0;
    input.before.reserve(expected);
    input.after.reserve(after.size_hint().0);
    input.interner.reserve(expected);
    // Tokens count up from 0; this is the first position of each in `before`.
    let mut first_at = Vec::with_capacity(expected);
    for (at, piece) in before.enumerate() {
        let token = input.interner.intern(piece);
        if token.0 as usize == first_at.len() {
            first_at.push(at);
        }
        input.before.push(token);
    }
    let mut next = 0;
    for piece in after {
        let token = match input.before.get(next) {
            Some(token) if input.interner[*token] == piece => {
                next += 1;
                *token
            }
            _ => {
                let token = input.interner.intern(piece);
                if let Some(at) = first_at.get(token.0 as usize) {
                    next = at + 1;
                }
                token
            }
        };
        input.after.push(token);
    }
    input
}

/// The number of lines between the common start and the common end, on both sides together.
fn differing(before: &[Token], after: &[Token]) -> usize {
    let start = before.iter().zip(after).take_while(|(one, other)| one == other).count();
    let (before, after) = (before.iter().skip(start), after.iter().skip(start));
    let end = before.clone().rev().zip(after.clone().rev()).take_while(|(one, other)| one == other).count();
    before.len() + after.len() - 2 * end
}
