//! Base, proposal and which hunks to take (each byte's lowest bit): what is taken is in, the rest is as it was.

use crate::{lines, slice, texts};
use linkspan_review::{HunkId, compose, hunks};

pub(crate) fn run(data: &[u8]) {
    let Some([base, proposed, take]) = texts(data) else { return };
    let hunks = hunks(base, proposed);
    assert_eq!(compose(base, proposed, &hunks, |_| true), proposed);
    assert_eq!(compose(base, proposed, &hunks, |_| false), base);
    assert_eq!(hunks.is_empty(), base == proposed);

    let wanted = hunks.iter().zip(take.bytes()).filter(|(_, byte)| byte & 1 == 1);
    let taken: Vec<HunkId> = wanted.map(|(hunk, _)| hunk.id).collect();
    let composed = compose(base, proposed, &hunks, |id| taken.contains(id));
    let (base, proposed) = (lines(base), lines(proposed));
    let (mut rest, mut at) = (composed.as_str(), 0);
    let mut read = |text: String| rest = rest.strip_prefix(&text).expect("a line was lost or moved");
    for hunk in &hunks {
        assert!(at == 0 || at < hunk.before.start, "two hunks touch");
        read(slice(&base, &(at..hunk.before.start)));
        let (removed, added) = (slice(&base, &hunk.before), slice(&proposed, &hunk.after));
        let mut rebuilt = removed.clone();
        for word in hunk.words.iter().rev() {
            rebuilt.replace_range(word.before.clone(), &added[word.after.clone()]);
        }
        assert!(hunk.words.is_empty() || rebuilt == added);
        read(if taken.contains(&hunk.id) { added } else { removed });
        at = hunk.before.end;
    }
    read(base[at as usize..].concat());
    assert_eq!(rest, "");
}
