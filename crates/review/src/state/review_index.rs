//! All reviews, indexed by id, path and window: the lookups for each new change must not slow down with the number of
//! reviews. Knows nothing of their content.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::{Review, ReviewId, WindowId};

/// The path and the window of a review must not change after it was inserted.
#[derive(Clone, Debug, Default)]
pub(super) struct ReviewIndex {
    reviews: BTreeMap<ReviewId, Review>,
    by_path: BTreeMap<PathBuf, BTreeSet<ReviewId>>,
    by_window: BTreeMap<WindowId, BTreeSet<ReviewId>>,
}

impl ReviewIndex {
    pub(super) fn get(&self, id: ReviewId) -> Option<&Review> {
        self.reviews.get(&id)
    }

    pub(super) fn get_mut(&mut self, id: ReviewId) -> Option<&mut Review> {
        self.reviews.get_mut(&id)
    }

    /// In the order of their ids, like the other iterators.
    pub(super) fn all(&self) -> impl Iterator<Item = &Review> {
        self.reviews.values()
    }

    pub(super) fn all_mut(&mut self) -> impl Iterator<Item = &mut Review> {
        self.reviews.values_mut()
    }

    pub(super) fn of_path(&self, path: &Path) -> impl DoubleEndedIterator<Item = &Review> {
        self.by_path.get(path).into_iter().flatten().filter_map(|id| self.reviews.get(id))
    }

    pub(super) fn of_window(&self, window: WindowId) -> impl DoubleEndedIterator<Item = &Review> {
        self.by_window.get(&window).into_iter().flatten().filter_map(|id| self.reviews.get(id))
    }

    pub(super) fn insert(&mut self, review: Review) {
        self.by_path.entry(review.path.clone()).or_default().insert(review.id);
        self.by_window.entry(review.window).or_default().insert(review.id);
        self.reviews.insert(review.id, review);
    }

    pub(super) fn remove(&mut self, id: ReviewId) -> Option<Review> {
        let review = self.reviews.remove(&id)?;
        leave(&mut self.by_path, &review.path, id);
        leave(&mut self.by_window, &review.window, id);
        Some(review)
    }
}

fn leave<K: Ord>(places: &mut BTreeMap<K, BTreeSet<ReviewId>>, place: &K, id: ReviewId) {
    if let Some(there) = places.get_mut(place) {
        there.remove(&id);
        if there.is_empty() {
            places.remove(place);
        }
    }
}
