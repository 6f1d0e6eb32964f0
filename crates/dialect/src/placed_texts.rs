//! Where the texts of a change belong in a file: agents send whole texts, a diff, or only the part that they replace.
//! Nothing is guessed: what has no place, or several, is shown as it was sent.

use std::borrow::Cow;

use crate::codex::hunks::apply_hunks;
use crate::patch::{PatchedText, TextEdit};

/// What is shown of a change that has no place in the file.
const SEPARATOR: &str = "\n⋯\n";

/// The text after the edits; if they have no place, both sides as they were sent.
pub(crate) fn placed(before: Option<&str>, edits: &[TextEdit], diff: Option<&str>) -> PatchedText {
    let whole = |text| PatchedText { text, compared: false, left: None, may_be_whole: false };
    if let Some(text) = as_whole(before, edits) {
        return whole(text);
    }
    let hunks = diff.and_then(|diff| diff.find("@@").and_then(|at| diff.get(at..)));
    if let Some(text) = hunks.and_then(|hunks| apply_hunks(before.unwrap_or_default(), hunks).ok()) {
        return whole(text);
    }
    if let Some(text) = (!edits.is_empty()).then(|| in_turn(before, edits)).flatten() {
        return PatchedText { may_be_whole: may_be_whole(before, edits), ..whole(text) };
    }
    let side = |texts: Vec<&str>| texts.join(SEPARATOR);
    match (edits, diff) {
        ([], diff) => {
            let text = diff.unwrap_or_default().to_owned();
            PatchedText { text, compared: true, left: Some(String::new()), may_be_whole: false }
        }
        (edits, _) => {
            let left = side(edits.iter().map(|edit| edit.old.as_deref().unwrap_or_default()).collect());
            let text = side(edits.iter().map(|edit| edit.new.as_str()).collect());
            PatchedText { text, compared: true, left: Some(left), may_be_whole: false }
        }
    }
}

/// The only edit has the whole text of the file on both sides.
fn as_whole(before: Option<&str>, edits: &[TextEdit]) -> Option<String> {
    let [TextEdit { old, new, .. }] = edits else { return None };
    match (before, old.as_deref()) {
        (Some(before), Some(old)) if before == with_ends_of(before, old) => {
            Some(with_ends_of(before, new).into_owned())
        }
        _ => None,
    }
}

/// The only edit has whole lines from the beginning of the file or to its end: a part, or all of what the file held before
/// somebody added to it.
fn may_be_whole(before: Option<&str>, edits: &[TextEdit]) -> bool {
    let [TextEdit { old: Some(old), .. }] = edits else { return false };
    let file = before.unwrap_or_default();
    let old = with_ends_of(file, old);
    let at_end = file.strip_suffix(&*old).is_some_and(|head| head.is_empty() || head.ends_with('\n'));
    at_end || old.ends_with('\n') && file.starts_with(&*old)
}

/// Each edit where its old text is, after those before it.
fn in_turn(before: Option<&str>, edits: &[TextEdit]) -> Option<String> {
    let mut text = before.map(str::to_owned);
    for TextEdit { old, new, all } in edits {
        text = Some(match (text, old.as_deref()) {
            (None, None | Some("")) => new.clone(),
            // A file that is there is replaced as a whole.
            (Some(now), None) => with_ends_of(&now, new).into_owned(),
            (Some(now), Some("")) if now.is_empty() => new.clone(),
            (None, Some(_)) | (Some(_), Some("")) => return None,
            (Some(now), Some(old)) => {
                let (old, new) = (with_ends_of(&now, old), with_ends_of(&now, new));
                let mut places = now.match_indices(&*old).map(|(at, _)| at);
                let first = places.next()?;
                match places.next() {
                    None => {
                        let (head, rest) = (now.get(..first)?, now.get(first + old.len()..)?);
                        [head, &new, rest].concat()
                    }
                    Some(_) if *all => now.replace(&*old, &new),
                    Some(_) => return None,
                }
            }
        });
    }
    text
}

/// With CRLF where the file has only those and the agent sends none.
fn with_ends_of<'t>(file: &str, text: &'t str) -> Cow<'t, str> {
    let is_crlf = file.contains("\r\n") && file.matches('\n').count() == file.matches("\r\n").count();
    match is_crlf && !text.contains('\r') {
        true => Cow::Owned(text.replace('\n', "\r\n")),
        false => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn edit(old: Option<&str>, new: &str) -> TextEdit {
        TextEdit { old: old.map(str::to_owned), new: new.to_owned(), all: false }
    }

    fn text(before: Option<&str>, edits: &[TextEdit]) -> Option<String> {
        let placed = placed(before, edits, None);
        (!placed.compared).then_some(placed.text)
    }

    #[test]
    fn whole_texts_and_parts_of_them_are_placed() {
        let file = Some("one\ntwo\nthree\n");
        assert_eq!(text(file, &[edit(file, "one\nTWO\n")]).as_deref(), Some("one\nTWO\n"));
        assert_eq!(text(file, &[edit(Some("two"), "TWO")]).as_deref(), Some("one\nTWO\nthree\n"));
        let both = [edit(Some("two"), "2"), edit(Some("2\nthree"), "2\n3")];
        assert_eq!(text(file, &both).as_deref(), Some("one\n2\n3\n"));
        assert_eq!(text(None, &[edit(None, "new\n")]).as_deref(), Some("new\n"));
        assert_eq!(text(file, &[edit(None, "new\n")]).as_deref(), Some("new\n"));
    }

    #[test]
    fn a_part_that_may_have_been_the_whole_file_is_told_from_others() {
        let file = Some("one\r\ntwo\r\nthree\r\n");
        let may_be = |old: &str| placed(file, &[edit(Some(old), "new")], None).may_be_whole;
        assert!(may_be("one\ntwo\n") && may_be("two\nthree\n") && may_be("three\r\n"));
        assert!(!may_be("one\ntwo") && !may_be("two\n") && !may_be("o\nthree\n"), "these were no file");
        assert!(!may_be("one\ntwo\nthree\n"), "it is");
    }

    #[test]
    fn what_is_found_nowhere_or_twice_is_shown_as_it_was_sent() {
        for file in ["x\ntwo\ntwo\n", "other\n"] {
            let placed = placed(Some(file), &[edit(Some("two"), "TWO")], None);
            assert!(placed.compared, "{file}");
            assert_eq!((placed.left.as_deref(), placed.text.as_str()), (Some("two"), "TWO"));
        }
        let everywhere = TextEdit { all: true, ..edit(Some("two"), "2") };
        assert_eq!(text(Some("two\ntwo\n"), &[everywhere]).as_deref(), Some("2\n2\n"));
    }

    #[test]
    fn a_diff_goes_before_a_part_that_is_there_twice() {
        let diff = "Index: a\n--- a\n+++ a\n@@ -2,2 +2,2 @@\n x\n-two\n+TWO\n";
        let placed = placed(Some("two\nx\ntwo\n"), &[edit(Some("two"), "TWO")], Some(diff));
        assert_eq!((placed.compared, placed.text.as_str()), (false, "two\nx\nTWO\n"));
    }

    #[test]
    fn a_file_keeps_its_carriage_returns() {
        let file = Some("one\r\ntwo\r\n");
        assert_eq!(text(file, &[edit(Some("one\ntwo"), "1\n2")]).as_deref(), Some("1\r\n2\r\n"));
        assert_eq!(text(file, &[edit(Some("one\ntwo\n"), "1\n")]).as_deref(), Some("1\r\n"));
    }

    proptest! {
        #[test]
        fn a_change_is_placed_or_shown_and_never_panics(
            file in proptest::option::of("[ab\r\n]{0,12}"),
            edits in proptest::collection::vec((proptest::option::of("[ab\n]{0,4}"), "[abc\n]{0,4}"), 0..3),
            diff in proptest::option::of("(@@ -[0-9],[0-9] \\+1 @@\n|[ +-][ab]?\n){0,4}"),
        ) {
            let edits: Vec<TextEdit> = edits.iter().map(|(old, new)| edit(old.as_deref(), new)).collect();
            let placed = placed(file.as_deref(), &edits, diff.as_deref());
            prop_assert_eq!(placed.compared, placed.left.is_some());
        }
    }
}
