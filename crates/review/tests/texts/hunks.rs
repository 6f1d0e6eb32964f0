//! Composing hunks over random texts: all, none, some, and their ids.

use linkspan_review::{Hunk, HunkId, compose, hunks};
use proptest::prelude::*;

use crate::generate;

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// The base's lines that no hunk of `taken` touches, and the composed text's lines that none of them brought.
fn untouched<'a>(base: &'a str, composed: &'a str, taken: &[&Hunk]) -> (Vec<&'a str>, Vec<&'a str>) {
    let (mut base, mut composed) = (lines(base), lines(composed));
    // From the end, so that earlier positions hold.
    let mut grown: i64 = taken.iter().map(|hunk| hunk.after.len() as i64 - hunk.before.len() as i64).sum();
    for hunk in taken.iter().rev() {
        grown -= hunk.after.len() as i64 - hunk.before.len() as i64;
        let start = usize::try_from(i64::from(hunk.before.start) + grown).unwrap();
        composed.drain(start..start + hunk.after.len());
        base.drain(hunk.before.start as usize..hunk.before.end as usize);
    }
    (base, composed)
}

proptest! {
    #![proptest_config(generate::cases())]

    #[test]
    fn all_hunks_give_the_proposal_and_none_the_base((base, proposed) in generate::pair()) {
        let hunks = hunks(&base, &proposed);
        prop_assert_eq!(compose(&base, &proposed, &hunks, |_| true), proposed.clone());
        prop_assert_eq!(compose(&base, &proposed, &hunks, |_| false), base.clone());
        prop_assert_eq!(hunks.is_empty(), base == proposed);
    }

    #[test]
    fn some_hunks_leave_every_line_outside_of_them_as_it_was((base, proposed) in generate::pair(), mask: u64) {
        let hunks = hunks(&base, &proposed);
        let taken: Vec<&Hunk> =
            hunks.iter().enumerate().filter(|(at, _)| mask >> (at % 64) & 1 == 1).map(|(_, hunk)| hunk).collect();
        let ids: Vec<HunkId> = taken.iter().map(|hunk| hunk.id).collect();
        let composed = compose(&base, &proposed, &hunks, |id| ids.contains(id));
        let (kept, left) = untouched(&base, &composed, &taken);
        prop_assert_eq!(kept, left);
    }

    #[test]
    fn no_two_hunks_share_a_name_and_every_name_can_be_read_back((base, proposed) in generate::pair()) {
        let hunks = hunks(&base, &proposed);
        let names: std::collections::BTreeSet<String> = hunks.iter().map(|hunk| hunk.id.to_string()).collect();
        prop_assert_eq!(names.len(), hunks.len());
        for hunk in &hunks {
            prop_assert_eq!(hunk.id.to_string().parse(), Ok(hunk.id));
        }
    }

    #[test]
    fn at_least_one_common_line_lies_between_two_hunks((base, proposed) in generate::pair()) {
        for pair in hunks(&base, &proposed).windows(2) {
            prop_assert!(pair[0].before.end < pair[1].before.start);
            prop_assert!(pair[0].after.end < pair[1].after.start);
        }
    }

    #[test]
    fn words_name_all_that_differs_and_cut_no_character((base, proposed) in generate::pair()) {
        let (base_lines, proposed_lines) = (lines(&base), lines(&proposed));
        for hunk in hunks(&base, &proposed) {
            let removed = base_lines[hunk.before.start as usize..hunk.before.end as usize].concat();
            let added = proposed_lines[hunk.after.start as usize..hunk.after.end as usize].concat();
            prop_assert_eq!(hunk.words.is_empty(), removed.is_empty() || added.is_empty());
            let mut rebuilt = removed.clone();
            for word in hunk.words.iter().rev() {
                rebuilt.replace_range(word.before.clone(), added.get(word.after.clone()).unwrap());
            }
            if !hunk.words.is_empty() {
                prop_assert_eq!(rebuilt, added);
            }
        }
    }

    /// Over distinct lines, where the difference is unambiguous.
    #[test]
    fn undoing_one_hunk_renames_no_other(changed in prop::collection::vec(0..3_u8, 1..40), undo: prop::sample::Index) {
        let base: String = (0..changed.len()).map(|at| format!("line {at}\n")).collect();
        let proposed: String = changed
            .iter()
            .enumerate()
            .map(|(at, kind)| match kind {
                0 => format!("line {at}\n"),
                1 => format!("other {at}\n"),
                _ => format!("line {at}\nmore {at}\n"),
            })
            .collect();
        let before = hunks(&base, &proposed);
        prop_assume!(!before.is_empty());
        let undone = undo.get(&before).id;
        let rest = compose(&base, &proposed, &before, |id| *id != undone);
        let names = |hunks: Vec<Hunk>| hunks.into_iter().map(|hunk| hunk.id).collect::<Vec<_>>();
        let mut expect = names(before);
        expect.retain(|id| *id != undone);
        prop_assert_eq!(names(hunks(&base, &rest)), expect);
    }
}

#[test]
fn hunks_of_identical_content_have_different_ids() {
    let hunks = hunks("a\n1\nb\n1\nc\n1\n", "a\n2\nb\n2\nc\n2\n");
    assert_eq!(hunks.len(), 3);
    assert!(hunks[0].id != hunks[1].id && hunks[1].id != hunks[2].id && hunks[0].id != hunks[2].id);
}

#[test]
fn invalid_hunk_ids_are_refused() {
    for text in ["", "h", "h123", "h00000000zz", "x0123456789", "h+123456789", "hABCDEF0123", "h0123456789a"]
    {
        assert!(text.parse::<HunkId>().is_err(), "{text}");
    }
}

/// A file with more lines than the histogram algorithm is used for, with more hunks than a recursion could handle.
#[test]
fn every_second_line_of_a_large_file_may_differ() {
    let side = |word: &str| (0..50_000).map(|at| format!("common {at}\n{word} {at}\n")).collect::<String>();
    let (base, proposed) = (side("old"), side("new"));
    let hunks = hunks(&base, &proposed);
    assert_eq!(hunks.len(), 50_000);
    assert!(compose(&base, &proposed, &hunks, |_| true) == proposed);
}
