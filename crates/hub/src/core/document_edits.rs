//! How an editor is told to give a document another text: as the places that differ, so that cursors, folds and marks
//! between them stay, or as the whole text.

use linkspan_editor_api as api;
use linkspan_review::{line_edits, same_endings};

use crate::core::windows::Window;

/// More places than a user keeps track of; a message of this many is larger than the text.
const MOST_PLACES: usize = 2_000;

impl Window {
    /// The edits that turn the text that its editor holds into the other.
    pub(in crate::core) fn document_edits(&self, held: &str, text: &str) -> api::Edits {
        let in_places = self.capabilities.edit_ranges && same_endings(held, text);
        let edits = in_places.then(|| ranges(held, text)).filter(|edits| edits.len() <= MOST_PLACES);
        edits.map_or_else(|| api::Edits::Text { text: text.to_owned() }, |edits| api::Edits::Ranges { edits })
    }
}

fn ranges(held: &str, text: &str) -> Vec<api::TextEdit> {
    let lines = held.bytes().filter(|byte| *byte == b'\n').count();
    // A last line without an end cannot be replaced up to the start of the next.
    let last = held.rsplit_once('\n').map_or(held, |(_, last)| last);
    let end = api::Position { line: number(lines), character: number(last.encode_utf16().count()) };
    let start_of = |line: u32| end.min(api::Position { line, character: 0 });
    let edits = line_edits(held, text).into_iter().map(|edit| api::TextEdit {
        range: api::Range { start: start_of(edit.lines.start), end: start_of(edit.lines.end) },
        new_text: edit.text.to_owned(),
    });
    edits.collect()
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn applied(held: &str, edits: Vec<api::TextEdit>) -> Option<String> {
        api::Edits::Ranges { edits }.applied_to(held)
    }

    #[test]
    fn two_places_are_two_edits() {
        let edits = ranges("a\nb\nc\nd\n", "A\nb\nc\n");
        let at = |start, end| api::Range {
            start: api::Position { line: start, character: 0 },
            end: api::Position { line: end, character: 0 },
        };
        let edit = |range, new_text: &str| api::TextEdit { range, new_text: new_text.into() };
        assert_eq!(edits, [edit(at(0, 1), "A\n"), edit(at(3, 4), "")]);
    }

    #[test]
    fn a_last_line_without_an_end_is_replaced_up_to_its_end() {
        let texts =
            [("a\n😀b", "a\nc\n"), ("a\n😀b", "a\n"), ("a\n", "a\nb"), ("a", ""), ("", "a\n"), ("a", "b")];
        for (held, text) in texts {
            assert_eq!(applied(held, ranges(held, text)).as_deref(), Some(text), "{held:?}");
        }
    }

    proptest! {
        #[test]
        fn the_edits_make_exactly_the_other_text(
            held in "([ab😀]{0,2}\r?\n){0,9}[ab]{0,2}",
            text in "([ab😀]{0,2}\r?\n){0,9}[ab]{0,2}",
        ) {
            prop_assert_eq!(applied(&held, ranges(&held, &text)), Some(text));
        }
    }
}
