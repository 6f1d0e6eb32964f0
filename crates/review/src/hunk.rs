//! One contiguous difference between base and proposal, which can be decided on its own, and its id.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use crate::diff::changed_lines;
use crate::digest::Digest;
use crate::lines::Lines;
use crate::words::{WordChange, word_changes};

/// The id of a hunk, derived from the text it removes and adds: another hunk that appears or disappears elsewhere in the
/// file does not change it. Only hunks of identical content are numbered.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HunkId(u64);

/// Long enough that a collision is rare, short enough to read aloud.
const ID_HEX_DIGITS: usize = 10;

impl HunkId {
    fn new(content: &Digest, ordinal: u64) -> HunkId {
        let digest = Digest::of_parts(&[content.as_bytes(), &ordinal.to_le_bytes()]);
        let [a, b, c, d, e, ..] = *digest.as_bytes();
        HunkId(u64::from_be_bytes([0, 0, 0, a, b, c, d, e]))
    }
}

impl fmt::Display for HunkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "h{:0width$x}", self.0, width = ID_HEX_DIGITS)
    }
}

impl fmt::Debug for HunkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The text is not a hunk id.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is not a hunk id; one looks like h03f9a2c17e, as in the list of hunks")]
pub struct HunkIdError(String);

impl FromStr for HunkId {
    type Err = HunkIdError;

    fn from_str(text: &str) -> Result<HunkId, HunkIdError> {
        text.strip_prefix('h')
            .filter(|hex| hex.len() == ID_HEX_DIGITS)
            .filter(|hex| hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')))
            .and_then(|hex| u64::from_str_radix(hex, 16).ok())
            .map(HunkId)
            .ok_or_else(|| HunkIdError(text.to_owned()))
    }
}

/// Lines `before` of the base become lines `after` of the proposal; both counted from 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hunk {
    pub id: HunkId,
    pub before: Range<u32>,
    pub after: Range<u32>,
    /// Which words differ. Empty if the hunk only adds or only removes, or is too large for words to help.
    pub words: Vec<WordChange>,
}

/// The differences between two texts, in order. At least one common line is between two hunks.
pub fn hunks(base: &str, proposed: &str) -> Vec<Hunk> {
    if base == proposed {
        return Vec::new();
    }
    let (base, proposed) = (Lines::new(base), Lines::new(proposed));
    let mut ordinals: HashMap<Digest, u64> = HashMap::new();
    let mut used = HashSet::new();
    changed_lines(base.iter(), proposed.iter())
        .into_iter()
        .map(|change| {
            let removed = base.slice(change.before.clone());
            let added = proposed.slice(change.after.clone());
            let content = Digest::of_parts(&[removed.as_bytes(), added.as_bytes()]);
            let ordinal = ordinals.entry(content).or_default();
            let id = loop {
                let id = HunkId::new(&content, *ordinal);
                *ordinal += 1;
                if used.insert(id) {
                    break id;
                }
            };
            Hunk { id, before: change.before, after: change.after, words: word_changes(removed, added) }
        })
        .collect()
}
