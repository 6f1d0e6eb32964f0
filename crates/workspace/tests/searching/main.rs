//! Listing and searching: the same answers as `rg` and `git ls-files` on a large tree, and each rule on its own.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod bounds;
mod large;
mod listing;
mod matching;
mod tree;
