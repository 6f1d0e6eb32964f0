//! Pictures for the docs. Fonts and ages differ from machine to machine, so they are not compared; that each is there
//! is. `LINKSPAN_KEEP_PICTURES=1` takes the new ones, after a look at them.

use std::fs;
use std::path::Path;

use super::place;

/// A picture in a README has to come quickly.
const MOST_BYTES: u64 = 160_000;

#[track_caller]
pub fn keep(name: &str, draw: impl Fn(&Path)) {
    let fresh = place::scratch().join(name);
    draw(&fresh);
    let size = fs::metadata(&fresh).unwrap().len();
    assert!(size < MOST_BYTES, "{name} has {size} bytes");
    let kept = place::root().join("docs/pictures").join(name);
    if std::env::var_os("LINKSPAN_KEEP_PICTURES").is_some() {
        fs::copy(&fresh, &kept).unwrap();
    }
    assert!(kept.exists(), "docs/pictures/{name} is missing; look at {} and copy it there", fresh.display());
}
