//! Everything the targets do; a program or test only says which. `targets` has one file for each, the rest is what
//! several share: how an input is cut, and the surroundings that inputs are fed to.

#![expect(clippy::expect_used, clippy::panic, reason = "a panic is how a promise is broken")]
#![expect(
    clippy::cast_possible_truncation,
    clippy::string_slice,
    reason = "inputs are small, and a panic is a finding"
)]

mod conversation;
mod events;
mod hub;
mod messages;
mod mutate;
mod questions;
mod requests;
mod targets;

use std::path::Path;
use std::sync::OnceLock;

use hyper::header::{HeaderName, HeaderValue};

use conversation::conversation;
use messages::messages;
pub use mutate::Mutator;
use requests::requests;
pub use targets::{names, run};

/// The input as texts with NUL between them, so that a seed can be read and written by hand; missing ones
/// are empty. `None` if it is not UTF-8.
fn texts<const N: usize>(data: &[u8]) -> Option<[&str; N]> {
    let mut parts = str::from_utf8(data).ok()?.splitn(N, '\0');
    Some(std::array::from_fn(|_| parts.next().unwrap_or_default()))
}

/// Lines with their endings.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Some of the lines, as text.
fn slice(lines: &[&str], range: &std::ops::Range<u32>) -> String {
    lines[range.start as usize..range.end as usize].concat()
}

/// A header from a line, if it can be one.
fn header(line: &str) -> Option<(HeaderName, HeaderValue)> {
    let (name, value) = line.split_once(": ")?;
    Some((name.parse().ok()?, HeaderValue::from_str(value).ok()?))
}

/// A folder of this process, for parsers that read files. xtask removes it, with all temporary files.
fn scratch() -> &'static Path {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    FOLDER.get_or_init(|| tempfile::tempdir().expect("a temporary folder")).path()
}
