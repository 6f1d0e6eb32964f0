//! The pictures in the docs, made from the real binary: `cargo xtask pictures`. Fonts and ages differ from machine to
//! machine, so no test compares them; look at them before you commit them.
//!
//! Arguments: which to make, of `terminal`, `page`, `chat`, `neovim`, `emacs` and `vscode`; without any, all.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a panic is how a picture fails")]

mod chat;
mod emacs;
mod neovim;
mod page;
mod terminal;
mod vscode;

use std::fs;
use std::path::Path;

use linkspan_testkit::paths;

const LIMITER: &str = include_str!("limiter_before.txt");
const LIMITER_AFTER: &str = include_str!("limiter_after.txt");

/// A picture in a README has to load quickly.
const MAX_BYTES: u64 = 180_000;

fn main() {
    let kinds: [(&str, fn()); 6] = [
        ("terminal", terminal::make),
        ("page", page::make),
        ("chat", chat::make),
        ("neovim", neovim::make),
        ("emacs", emacs::make),
        ("vscode", vscode::make),
    ];
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    for name in &wanted {
        assert!(kinds.iter().any(|(kind, _)| kind == name), "there are no pictures of `{name}`");
    }
    for (_, make) in
        kinds.iter().filter(|(kind, _)| wanted.is_empty() || wanted.iter().any(|name| name == kind))
    {
        make();
    }
}

/// Writes a picture to `docs/pictures`.
fn write(name: &str, draw: impl FnOnce(&Path)) {
    let path = paths::root().join("docs/pictures").join(name);
    draw(&path);
    let size = fs::metadata(&path).unwrap().len();
    assert!(size < MAX_BYTES, "{name} has {size} bytes, at most {MAX_BYTES}");
    eprintln!("docs/pictures/{name}: {size} bytes");
}
