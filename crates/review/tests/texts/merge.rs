//! Three-way merging over random texts.

use linkspan_review::{hunks, merge};
use proptest::prelude::*;

use crate::generate;

proptest! {
    #![proptest_config(generate::cases())]

    #[test]
    fn a_side_that_changed_nothing_gives_the_other_side((base, other) in generate::pair()) {
        prop_assert_eq!(merge(&base, &base, &other).text, other.clone());
        prop_assert_eq!(merge(&base, &other, &base).text, other);
    }

    #[test]
    fn two_sides_that_agree_merge_cleanly((base, same) in generate::pair()) {
        let merged = merge(&base, &same, &same);
        prop_assert!(merged.conflicts.is_empty());
        prop_assert_eq!(merged.text, same);
    }

    #[test]
    fn whether_it_is_clean_does_not_depend_on_who_is_who((base, ours, theirs) in generate::triple()) {
        let (one, other) = (merge(&base, &ours, &theirs), merge(&base, &theirs, &ours));
        prop_assert_eq!(one.conflicts.len(), other.conflicts.len());
        if one.conflicts.is_empty() {
            prop_assert_eq!(one.text, other.text);
        }
    }

    #[test]
    fn a_clean_merge_holds_every_line_either_side_added((base, ours, theirs) in generate::triple()) {
        let merged = merge(&base, &ours, &theirs);
        let sides = if merged.conflicts.is_empty() { vec![&ours, &theirs] } else { Vec::new() };
        for side in sides {
            let lines: Vec<&str> = side.split_inclusive('\n').collect();
            for hunk in hunks(&base, side) {
                let added = lines[hunk.after.start as usize..hunk.after.end as usize].concat();
                prop_assert!(merged.text.contains(&added));
            }
        }
    }

    #[test]
    fn a_conflict_names_the_lines_of_all_four_texts((base, ours, theirs) in generate::triple()) {
        let merged = merge(&base, &ours, &theirs);
        let slice = |text: &str, range: std::ops::Range<u32>| {
            text.split_inclusive('\n').collect::<Vec<_>>()[range.start as usize..range.end as usize].concat()
        };
        for conflict in &merged.conflicts {
            let wanted = slice(&theirs, conflict.theirs.clone());
            prop_assert_eq!(&slice(&merged.text, conflict.merged.clone()), &wanted);
            prop_assert_ne!(&slice(&ours, conflict.ours.clone()), &wanted);
            prop_assert!(conflict.base.end as usize <= base.split_inclusive('\n').count());
        }
    }

    /// Edits three lines apart over distinct lines never touch.
    #[test]
    fn changes_apart_from_each_other_are_all_in(who in prop::collection::vec(0..4_u8, 1..30)) {
        let text = |ours: bool, theirs: bool| {
            let lines = who.iter().enumerate().map(|(at, who)| {
                let changed = (who & 1 == 1 && ours) || (who & 2 == 2 && theirs);
                format!("{} {at}\nkeep {at}\n", if changed { "new" } else { "old" })
            });
            lines.collect::<String>()
        };
        let merged = merge(&text(false, false), &text(true, false), &text(false, true));
        prop_assert!(merged.conflicts.is_empty());
        prop_assert_eq!(merged.text, text(true, true));
    }
}
