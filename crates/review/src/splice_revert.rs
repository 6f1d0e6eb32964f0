//! Reverts edits that a text already contains. Some agents write first and ask afterwards.

use crate::{Digest, Splice, TextPosition};

/// Identifies these edits, whatever text they are for.
pub fn splices_digest(splices: &[Splice]) -> Digest {
    let numbers: Vec<[u8; 16]> = splices.iter().map(numbers).collect();
    let mut parts: Vec<&[u8]> = vec![b"edits"];
    for (splice, numbers) in splices.iter().zip(&numbers) {
        parts.extend([&numbers[..], splice.text.as_bytes()]);
        // Expecting nothing and expecting the empty text are different.
        parts.extend(splice.expects.as_ref().map_or([&b""[..], b"none"], |old| [b"text", old.as_bytes()]));
    }
    Digest::of_parts(&parts)
}

fn numbers(splice: &Splice) -> [u8; 16] {
    let Splice { from, to, .. } = splice;
    let mut bytes = [0; 16];
    let numbers = [from.line, from.character, to.line, to.character];
    for (place, number) in bytes.chunks_exact_mut(4).zip(numbers) {
        place.copy_from_slice(&number.to_le_bytes());
    }
    bytes
}

/// Each edit is searched in the whole text; this limits the bytes searched in total.
const MOST_WORK: usize = 128 << 20;

/// The text before these edits, which were made one after the other, and how many of them, counted from the last, the
/// text contains. `None` if it does not contain the last one.
pub fn revert_splices(text: &str, splices: &[Splice]) -> Option<(String, usize)> {
    if text.len().saturating_mul(splices.len()) > MOST_WORK {
        return None;
    }
    let mut before = text.to_owned();
    let mut count = 0;
    for splice in splices.iter().rev() {
        let Some(old) = splice.expects.as_deref() else { break };
        let Some(start) = found(&before, splice, old) else { break };
        before.replace_range(start..start + splice.text.len(), old);
        count += 1;
    }
    (count > 0).then_some((before, count))
}

/// The offset of the new text, if the splice's range is that of the new text or that of the old one.
fn found(text: &str, splice: &Splice, old: &str) -> Option<usize> {
    let Splice { from, to, text: new, .. } = splice;
    if new == old {
        return None;
    }
    Unit::ALL.into_iter().find_map(|unit| {
        let start = unit.offset(text, *from)?;
        let of_the_new = unit.after(*from, new) == *to;
        let of_the_old = unit.after(*from, old) == *to && !new.is_empty();
        let is_there = text.get(start..)?.starts_with(new.as_str());
        // If both fit, the old text must no longer be there.
        let still_old = of_the_old && text.get(start..)?.starts_with(old) && old.len() >= new.len();
        (is_there && (of_the_new || of_the_old) && !still_old).then_some(start)
    })
}

/// The unit of columns: the protocols count UTF-16 code units, an agent in Python counts characters.
#[derive(Clone, Copy)]
enum Unit {
    Utf16,
    Character,
}

impl Unit {
    const ALL: [Unit; 2] = [Unit::Utf16, Unit::Character];

    fn len(self, character: char) -> u32 {
        match self {
            Unit::Utf16 => u32::try_from(character.len_utf16()).unwrap_or(2),
            Unit::Character => 1,
        }
    }

    fn offset(self, text: &str, place: TextPosition) -> Option<usize> {
        let line = usize::try_from(place.line).ok()?;
        let start = match line {
            0 => 0,
            line => text.match_indices('\n').nth(line - 1)?.0 + 1,
        };
        let mut column = 0;
        for (at, character) in text.get(start..)?.char_indices() {
            if column == place.character {
                return Some(start + at);
            }
            if character == '\n' {
                return None;
            }
            column += self.len(character);
        }
        (column == place.character).then_some(text.len())
    }

    /// The end of a text that starts at `from`.
    fn after(self, from: TextPosition, text: &str) -> TextPosition {
        let last = text.rsplit('\n').next().unwrap_or_default();
        let wide: u32 = last.chars().fold(0, |sum, character| sum.saturating_add(self.len(character)));
        match u32::try_from(text.matches('\n').count()).unwrap_or(u32::MAX) {
            0 => TextPosition { line: from.line, character: from.character.saturating_add(wide) },
            lines => TextPosition { line: from.line.saturating_add(lines), character: wide },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(from: (u32, u32), to: (u32, u32), old: &str, new: &str) -> Splice {
        let place = |(line, character)| TextPosition { line, character };
        Splice { from: place(from), to: place(to), text: new.to_owned(), expects: Some(old.to_owned()) }
    }

    #[test]
    fn edits_are_undone_from_the_last_to_the_first() {
        // `b` became two lines, then `d`, which is a line further down since, became `D`.
        let edits = [edit((1, 0), (2, 1), "b", "1\n2"), edit((4, 0), (4, 1), "d", "D")];
        assert_eq!(revert_splices("a\n1\n2\nc\nD\n", &edits), Some(("a\nb\nc\nd\n".to_owned(), 2)));
        assert_eq!(revert_splices("a\n1\n?\nc\nD\n", &edits), Some(("a\n1\n?\nc\nd\n".to_owned(), 1)));
        assert_eq!(revert_splices("a\n1\n2\nc\nd\n", &edits), None);
    }

    #[test]
    fn a_range_may_be_that_of_the_old_text() {
        assert_eq!(
            revert_splices("long\n", &[edit((0, 0), (0, 1), "s", "long")]),
            Some(("s\n".to_owned(), 1))
        );
        assert_eq!(
            revert_splices("s\n", &[edit((0, 0), (0, 4), "long", "s")]),
            Some(("long\n".to_owned(), 1))
        );
    }

    #[test]
    fn an_edit_that_is_not_made_yet_is_not_reverted() {
        assert_eq!(revert_splices("one\n", &[edit((0, 0), (0, 3), "one", "ONE")]), None);
        // The new text is the start of the old one, which is there.
        assert_eq!(revert_splices("foobar\n", &[edit((0, 0), (0, 6), "foobar", "foo")]), None);
        assert_eq!(revert_splices("one\n", &[edit((0, 0), (0, 3), "one", "one")]), None);
        let unknown = Splice { expects: None, ..edit((0, 0), (0, 3), "", "one") };
        assert_eq!(revert_splices("one\n", &[unknown]), None, "the old text is unknown");
    }

    #[test]
    fn columns_count_what_the_agent_counts() {
        let text = "\u{1f600} ONE\n";
        for column in [2, 3] {
            let edit = edit((0, column), (0, column + 3), "one", "ONE");
            assert_eq!(revert_splices(text, &[edit]), Some(("\u{1f600} one\n".to_owned(), 1)));
        }
    }

    #[test]
    fn edits_have_a_digest_of_their_own() {
        let one = edit((0, 0), (0, 1), "a", "b");
        let others = [
            edit((0, 0), (0, 2), "a", "b"),
            edit((0, 0), (0, 1), "b", "b"),
            edit((0, 0), (0, 1), "a", "a"),
            Splice { expects: None, ..one.clone() },
            Splice { expects: Some(String::new()), ..one.clone() },
        ];
        let digest = splices_digest(std::slice::from_ref(&one));
        assert_eq!(digest, splices_digest(std::slice::from_ref(&one)));
        assert!(others.iter().all(|other| splices_digest(std::slice::from_ref(other)) != digest));
    }
}
