//! The place in a file that is most similar to a missing text, for the error message. A guess, within a bounded time.

use super::error::Nearest;

/// Lines longer than this are compared by their start.
const WIDEST: usize = 400;
/// The maximum number of line comparisons.
const MOST_COMPARISONS: usize = 200_000;

/// The place whose first lines match best, and its first line that differs.
pub(super) fn nearest(text: &str, wanted: &str) -> Option<Nearest> {
    let wanted: Vec<&str> = wanted.lines().skip_while(|line| line.trim().is_empty()).collect();
    let lines: Vec<&str> = text.lines().collect();
    let mut comparisons = 0;
    let mut best = (0.0, None);
    for start in 0..lines.len() {
        let here = lines.get(start..).unwrap_or_default();
        let same = here.iter().zip(&wanted).take_while(|(line, wanted)| line == wanted).count();
        comparisons += same + 1;
        let (Some(found), Some(expected)) = (here.get(same), wanted.get(same)) else { continue };
        let score = same as f64 + likeness(found, expected);
        if score > best.0 {
            let nearest =
                Nearest { line: start + same + 1, expected: (*expected).into(), found: (*found).into() };
            best = (score, Some(nearest));
        }
        if comparisons > MOST_COMPARISONS {
            break;
        }
    }
    let (score, nearest) = best;
    nearest.filter(|_| score >= 0.4)
}

/// The part of the longer line that common start and end make up, ignoring white space.
fn likeness(one: &str, other: &str) -> f64 {
    let letters = |line: &str| {
        line.chars().take(WIDEST).filter(|character| !character.is_whitespace()).collect::<Vec<char>>()
    };
    let (one, other) = (letters(one), letters(other));
    let (shorter, longer) = (one.len().min(other.len()), one.len().max(other.len()));
    if shorter == 0 {
        return 0.0;
    }
    let start = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
    let end = one.iter().rev().zip(other.iter().rev()).take_while(|(a, b)| a == b).count();
    let common = (start + end).min(shorter);
    common as f64 / longer as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_most_like_it_is_named() {
        let text = "fn alpha() {}\nfn beta(x: u32) {}\nfn gamma() {}\n";
        let nearest = nearest(text, "fn beta(x: u64) {}").unwrap();
        assert_eq!((nearest.line, nearest.found.as_str()), (2, "fn beta(x: u32) {}"));
    }

    #[test]
    fn nothing_is_named_where_nothing_is_like_it() {
        assert_eq!(nearest("alpha\nbeta\n", "0123456789"), None);
        assert_eq!(nearest("", "x"), None);
    }
}
