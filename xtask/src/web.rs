//! `cargo xtask web`: builds the browser page. What is built is checked in, so that `cargo build` needs no Node;
//! `--check` builds it elsewhere and compares, so that it stays what the sources say, and tests what needs no browser.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::npm::Package;
use crate::workspace::tools;

pub(crate) fn run(args: &[String]) -> Result<()> {
    if crate::flag(args, "--check")? { check() } else { build(&PAGE.path().join("dist")) }
}

/// The npm packages with which it is built.
pub(crate) fn install() -> Result<()> {
    PAGE.install()
}

pub(crate) fn check() -> Result<()> {
    let fresh = tools().join("web");
    if fresh.exists() {
        fs::remove_dir_all(&fresh).with_context(|| format!("could not empty {}", fresh.display()))?;
    }
    build(&fresh)?;
    PAGE.script("check", &[]).context("the page's types do not fit")?;
    PAGE.script("test", &[])
        .context("the page's own tests fail; repeat them with `npm test` in editors/web")?;
    let stale = differing(&contents(&PAGE.path().join("dist"))?, &contents(&fresh)?);
    if !stale.is_empty() {
        bail!(
            "stale in editors/web/dist: {}; build it again with `cargo xtask web` and commit it",
            stale.join(", ")
        );
    }
    Ok(())
}

const PAGE: Package = Package::at("editors/web");

fn build(into: &Path) -> Result<()> {
    PAGE.install()?;
    let into = into.to_str().context("the folder to build into has a name that is not valid Unicode")?;
    PAGE.script("build", &["--outdir", into]).context("the page does not build")
}

fn contents(folder: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut files = BTreeMap::new();
    let entries = fs::read_dir(folder).with_context(|| format!("could not list {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        files.insert(name, fs::read(&path).with_context(|| format!("could not read {}", path.display()))?);
    }
    Ok(files)
}

/// The names of what is in one only, or not the same in both.
fn differing(kept: &BTreeMap<String, Vec<u8>>, fresh: &BTreeMap<String, Vec<u8>>) -> Vec<String> {
    let mut names: Vec<&String> = kept.keys().chain(fresh.keys()).collect();
    names.sort();
    names.dedup();
    names.into_iter().filter(|name| kept.get(*name) != fresh.get(*name)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_or_more_or_other_is_stale() {
        let files = |list: &[(&str, &str)]| {
            list.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect()
        };
        let kept = files(&[("a.js", "1"), ("b.js", "2"), ("old.js", "3")]);
        let fresh = files(&[("a.js", "1"), ("b.js", "other"), ("new.js", "4")]);
        assert_eq!(differing(&kept, &fresh), ["b.js", "new.js", "old.js"]);
        assert_eq!(differing(&kept, &kept), Vec::<String>::new());
    }
}
