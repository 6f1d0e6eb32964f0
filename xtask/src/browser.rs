//! The browser that the tests of the page drive: Chromium, found on the machine or installed by its package manager.
//! What drives it comes with the other npm packages (`peers.rs`).

use std::env;
use std::ffi::OsStr;
use std::path::PathBuf;

use anyhow::{Result, bail};

use crate::workspace::apt_install;

pub(crate) const VARIABLE: &str = "LINKSPAN_TEST_BROWSER";

const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];

pub(crate) fn chromium() -> Result<PathBuf> {
    if let Some(chosen) = env::var_os(VARIABLE) {
        return Ok(chosen.into());
    }
    let found = || on_path(&env::var_os("PATH").unwrap_or_default());
    if let Some(chromium) = found() {
        return Ok(chromium);
    }
    apt_install(&["chromium"]);
    match found() {
        Some(chromium) => Ok(chromium),
        None => bail!(
            "missing: Chromium, and apt could not install it. Install the package chromium, or set {VARIABLE} to \
             the path of a Chromium, or skip with `cargo xtask test --fast`"
        ),
    }
}

fn on_path(path: &OsStr) -> Option<PathBuf> {
    env::split_paths(path).flat_map(|folder| NAMES.map(|name| folder.join(name))).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_a_browser_has_none_on_its_path() {
        assert_eq!(on_path(OsStr::new("")), None);
        assert_eq!(on_path(env!("CARGO_MANIFEST_DIR").as_ref()), None);
    }
}
