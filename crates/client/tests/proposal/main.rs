//! The six editing tools over random files: what is outside the edit keeps its bytes, and where another
//! program does the same job, both do the same.

#![expect(clippy::unwrap_used, clippy::string_slice, reason = "a test that cannot go on has failed")]

mod bytes;
mod generate;
mod patch;
