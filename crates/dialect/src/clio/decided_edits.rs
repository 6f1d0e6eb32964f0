//! Which edits of a file are decided. Clio's `edit_file` sends all edits of a file once more with each new one, and
//! nobody is asked twice about the same.

use std::collections::VecDeque;

use linkspan_review::{Digest, Splice, digest_of_splices};

/// Of more files nothing is remembered; the one that was not heard of for longest goes first.
const MOST_FILES: usize = 256;

/// How many edits there were, and which.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Edits {
    count: usize,
    digest: Digest,
}

impl Edits {
    pub(super) fn of(edits: &[Splice]) -> Edits {
        Edits { count: edits.len(), digest: digest_of_splices(edits) }
    }
}

/// The edits of each file that were decided last.
#[derive(Debug, Default)]
pub(super) struct DecidedEdits(VecDeque<(String, Edits)>);

impl DecidedEdits {
    pub(super) fn note(&mut self, file: &str, edits: Edits) {
        self.0.retain(|(known, _)| known != file);
        if self.0.len() >= MOST_FILES {
            self.0.pop_front();
        }
        self.0.push_back((file.to_owned(), edits));
    }

    /// Those that come after the decided ones; all of them where nothing comes after.
    pub(super) fn rest(&self, file: &str, mut edits: Vec<Splice>) -> Vec<Splice> {
        let known = self.0.iter().find(|(known, _)| known == file).map(|(_, known)| *known);
        match known.filter(|known| known.count < edits.len()) {
            Some(known) if edits.get(..known.count).map(Edits::of) == Some(known) => {
                edits.split_off(known.count)
            }
            _ => edits,
        }
    }
}

#[cfg(test)]
mod tests {
    use linkspan_review::Place;

    use super::*;

    fn edits(texts: &[&str]) -> Vec<Splice> {
        let at = Place { line: 0, character: 0 };
        texts
            .iter()
            .map(|text| Splice { from: at, to: at, text: (*text).to_owned(), expects: None })
            .collect()
    }

    #[test]
    fn what_is_decided_is_left_out_where_more_comes_after_it() {
        let mut decided = DecidedEdits::default();
        decided.note("a", Edits::of(&edits(&["1", "2"])));
        assert_eq!(decided.rest("a", edits(&["1", "2", "3"])), edits(&["3"]));
        for all in [&["1", "2"][..], &["1", "x", "3"], &["1"]] {
            assert_eq!(decided.rest("a", edits(all)), edits(all));
        }
        assert_eq!(decided.rest("b", edits(&["1", "2", "3"])), edits(&["1", "2", "3"]));
    }

    #[test]
    fn only_so_many_files_are_remembered() {
        let mut decided = DecidedEdits::default();
        for file in 0..=MOST_FILES {
            decided.note(&file.to_string(), Edits::of(&edits(&["1"])));
        }
        assert_eq!(decided.0.len(), MOST_FILES);
        assert_eq!(decided.rest("0", edits(&["1", "2"])), edits(&["1", "2"]));
    }
}
