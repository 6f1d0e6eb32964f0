//! Base, ours and theirs: a side that changed nothing yields, a clean merge loses nothing, and a conflict
//! says where it is.

use crate::{lines, slice, texts};
use linkspan_review::{hunks, merge};

pub(crate) fn run(data: &[u8]) {
    let Some([base, ours, theirs]) = texts(data) else { return };
    for (one, other, expect) in [(base, theirs, theirs), (ours, base, ours), (ours, ours, ours)] {
        let merged = merge(base, one, other);
        assert_eq!((merged.text.as_str(), merged.conflicts.len()), (expect, 0));
    }

    let (merged, swapped) = (merge(base, ours, theirs), merge(base, theirs, ours));
    assert_eq!(merged.conflicts.len(), swapped.conflicts.len());
    if merged.conflicts.is_empty() {
        assert_eq!(merged.text, swapped.text);
        for side in [ours, theirs] {
            for hunk in hunks(base, side) {
                assert!(merged.text.contains(&slice(&lines(side), &hunk.after)));
            }
        }
    }
    for conflict in &merged.conflicts {
        let wanted = slice(&lines(theirs), &conflict.theirs);
        assert_eq!(slice(&lines(&merged.text), &conflict.merged), wanted);
        assert_ne!(slice(&lines(ours), &conflict.ours), wanted);
        slice(&lines(base), &conflict.base);
    }
}
