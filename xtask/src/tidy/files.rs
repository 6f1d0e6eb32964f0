//! Which files there are, and what they may be called.
//!
//! Walks the tree itself: a source archive without git is checked like a checkout.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::Finding;

const NAMES_WITHOUT_MEANING: [&str; 6] = ["common", "helper", "helpers", "manager", "util", "utils"];

/// Every file that is not ignored, as sorted paths relative to the root, with `/` between the parts.
pub(super) fn listed(root: &Path) -> Result<Vec<String>> {
    let mut paths = Vec::new();
    walk(root, "", &[".git".to_owned()], &mut paths)?;
    paths.sort();
    Ok(paths)
}

fn walk(root: &Path, folder: &str, ignored: &[String], paths: &mut Vec<String>) -> Result<()> {
    let mut ignored = ignored.to_vec();
    let at = root.join(folder);
    if let Ok(text) = fs::read_to_string(at.join(".gitignore")) {
        ignored.extend(plain_names(&text));
    }
    for entry in fs::read_dir(&at).with_context(|| format!("could not list {}", at.display()))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if ignored.contains(&name) {
            continue;
        }
        let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
        if entry.file_type()?.is_dir() {
            walk(root, &path, &ignored, paths)?;
        } else {
            paths.push(path);
        }
    }
    Ok(())
}

/// The entries of a `.gitignore` that are names; patterns are no concern of these checks.
fn plain_names(gitignore: &str) -> Vec<String> {
    let names = gitignore.lines().map(|line| line.trim().trim_matches('/'));
    names.filter(|name| !name.is_empty() && !name.contains(['#', '!', '*', '/'])).map(str::to_owned).collect()
}

pub(super) fn check_name(path: &str) -> Option<Finding> {
    let stems = path.split('/').filter_map(|part| part.split('.').next());
    let mut bad = stems.filter(|stem| NAMES_WITHOUT_MEANING.contains(stem));
    let stem = bad.next()?;
    Some(Finding::new(path, 1, format!("`{stem}` says nothing"), "name it after the one thing it holds"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_without_meaning_is_found_in_files_and_folders() {
        assert!(check_name("crates/hub/src/utils.rs").is_some());
        assert!(check_name("crates/hub/tests/common/mod.rs").is_some());
        assert!(check_name("crates/hub/src/uncommon.rs").is_none());
    }

    #[test]
    fn gitignore_names_are_read_and_patterns_left_alone() {
        assert_eq!(
            plain_names("# built\n/target\nnode_modules/\n*.vsix\n\n!keep\n"),
            ["target", "node_modules"]
        );
    }
}
