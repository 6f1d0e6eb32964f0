//! The words that differ inside a hunk, for display only; decisions and compositions do not use them.

use std::ops::Range;

use crate::diff::changed_words;

/// Byte ranges inside a hunk's removed text and inside its added text, on character boundaries.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WordChange {
    pub before: Range<usize>,
    pub after: Range<usize>,
}

/// The limit of removed and added text together; a larger hunk reads as a rewrite, and the time is better spent.
const MOST_BYTES: usize = 16 * 1024;

/// Empty when one side is empty, or when both together exceed [`MOST_BYTES`].
pub(crate) fn word_changes(removed: &str, added: &str) -> Vec<WordChange> {
    if removed.is_empty() || added.is_empty() || removed.len() + added.len() > MOST_BYTES {
        return Vec::new();
    }
    let (before, after) = (ends(removed), ends(added));
    changed_words(pieces(removed, &before), pieces(added, &after))
        .into_iter()
        .map(|change| WordChange {
            before: bytes(&before, change.before),
            after: bytes(&after, change.after),
        })
        .collect()
}

#[derive(PartialEq, Eq)]
enum Class {
    /// Everything that is not ASCII counts as part of a word: a combining mark or a joiner alone would be half a character
    /// on the screen.
    Word,
    Blank,
    LineEnd,
    Sign,
}

impl Class {
    fn of(character: char) -> Class {
        match character {
            '\n' | '\r' => Class::LineEnd,
            _ if character.is_whitespace() => Class::Blank,
            _ if character.is_ascii_alphanumeric() || character == '_' || !character.is_ascii() => {
                Class::Word
            }
            _ => Class::Sign,
        }
    }
}

/// The ends of the words, blanks, line endings and symbols.
fn ends(text: &str) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut characters = text.char_indices().map(|(at, character)| (at, Class::of(character))).peekable();
    while let Some((_, class)) = characters.next() {
        match characters.peek() {
            Some((_, next)) if *next == class && class != Class::Sign => {}
            Some((at, _)) => ends.push(*at),
            None => ends.push(text.len()),
        }
    }
    ends
}

fn pieces<'a>(text: &'a str, ends: &[usize]) -> impl Iterator<Item = &'a str> {
    let mut start = 0;
    ends.iter().map(move |&end| {
        let piece = text.get(start..end).unwrap_or_default();
        start = end;
        piece
    })
}

fn bytes(ends: &[usize], words: Range<u32>) -> Range<usize> {
    let start = |word: u32| match word.checked_sub(1) {
        None => 0,
        Some(previous) => ends.get(previous as usize).copied().unwrap_or_default(),
    };
    start(words.start)..start(words.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(removed: &str, added: &str, expect: &[(&str, &str)]) {
        let changes = word_changes(removed, added);
        let shown: Vec<_> = changes
            .iter()
            .map(|change| {
                (removed.get(change.before.clone()).unwrap(), added.get(change.after.clone()).unwrap())
            })
            .collect();
        assert_eq!(shown, expect);
    }

    #[test]
    fn only_the_word_that_changed_is_named() {
        check("let total = 1;\n", "let sum = 1;\n", &[("total", "sum")]);
        check("f(a, b)\n", "f(a, b, c)\n", &[("", ", c")]);
        check("a_b c\n", "a_b  c\n", &[(" ", "  ")]);
    }

    #[test]
    fn a_changed_line_ending_is_a_change_of_its_own() {
        check("same\n", "same\r\n", &[("\n", "\r\n")]);
        check("same", "same\n", &[("", "\n")]);
    }

    #[test]
    fn a_combining_mark_or_a_joined_emoji_is_never_cut() {
        check("cafe x", "cafe\u{301} x", &[("cafe", "cafe\u{301}")]);
        check("👩\u{200d}🔧 x", "👩\u{200d}🚀 x", &[("👩\u{200d}🔧", "👩\u{200d}🚀")]);
    }

    #[test]
    fn a_pure_addition_and_a_huge_hunk_have_no_words() {
        check("", "new\n", &[]);
        let huge = "word ".repeat(MOST_BYTES / 5);
        check(&huge, "word other", &[]);
    }
}
