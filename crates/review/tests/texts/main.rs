//! Properties of any text: decoding, hunks, composing, merging, endings, patches.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod bytes;
mod endings;
mod generate;
mod hunks;
mod merge;
mod patch;
