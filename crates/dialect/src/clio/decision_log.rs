//! The edits of each file that were decided. Clio's `edit_file` sends all edits of a file again with each new one, and
//! the user must not be asked twice about the same edit.

use std::collections::VecDeque;

use linkspan_review::{Digest, Splice, splices_digest};

/// The most files to remember; the one that was edited longest ago is dropped first.
const MOST_FILES: usize = 256;

/// The number of edits and their digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EditsDigest {
    count: usize,
    digest: Digest,
}

impl EditsDigest {
    pub(super) fn of(edits: &[Splice]) -> EditsDigest {
        EditsDigest { count: edits.len(), digest: splices_digest(edits) }
    }
}

/// The last decided edits of each file.
#[derive(Debug, Default)]
pub(super) struct DecisionLog(VecDeque<(String, EditsDigest)>);

impl DecisionLog {
    pub(super) fn note(&mut self, file: &str, edits: EditsDigest) {
        self.0.retain(|(known, _)| known != file);
        if self.0.len() >= MOST_FILES {
            self.0.pop_front();
        }
        self.0.push_back((file.to_owned(), edits));
    }

    /// The edits after the decided ones; all of them if there are none after.
    pub(super) fn rest(&self, file: &str, mut edits: Vec<Splice>) -> Vec<Splice> {
        let known = self.0.iter().find(|(known, _)| known == file).map(|(_, known)| *known);
        match known.filter(|known| known.count < edits.len()) {
            Some(known) if edits.get(..known.count).map(EditsDigest::of) == Some(known) => {
                edits.split_off(known.count)
            }
            _ => edits,
        }
    }
}

#[cfg(test)]
mod tests {
    use linkspan_review::TextPosition;

    use super::*;

    fn edits(texts: &[&str]) -> Vec<Splice> {
        let at = TextPosition { line: 0, character: 0 };
        texts
            .iter()
            .map(|text| Splice { from: at, to: at, text: (*text).to_owned(), expects: None })
            .collect()
    }

    #[test]
    fn what_is_decided_is_left_out_where_more_comes_after_it() {
        let mut decided = DecisionLog::default();
        decided.note("a", EditsDigest::of(&edits(&["1", "2"])));
        assert_eq!(decided.rest("a", edits(&["1", "2", "3"])), edits(&["3"]));
        for all in [&["1", "2"][..], &["1", "x", "3"], &["1"]] {
            assert_eq!(decided.rest("a", edits(all)), edits(all));
        }
        assert_eq!(decided.rest("b", edits(&["1", "2", "3"])), edits(&["1", "2", "3"]));
    }

    #[test]
    fn only_so_many_files_are_remembered() {
        let mut decided = DecisionLog::default();
        for file in 0..=MOST_FILES {
            decided.note(&file.to_string(), EditsDigest::of(&edits(&["1"])));
        }
        assert_eq!(decided.0.len(), MOST_FILES);
        assert_eq!(decided.rest("0", edits(&["1", "2"])), edits(&["1", "2"]));
    }
}
