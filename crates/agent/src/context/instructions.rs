//! The project's instructions (`AGENTS.md`, `CLAUDE.md`, `NEXUS.md`) around a folder, and the state of its repository.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use linkspan_editor_api::DenyGlobs;
use linkspan_workspace::{Cancel, Workspace, git};

/// In one folder, the first that exists counts, so that a project with all three is not read three times.
const NAMES: [&str; 3] = ["AGENTS.md", "CLAUDE.md", "NEXUS.md"];
const LARGEST: usize = 32 * 1024;
/// Of all together.
const MOST: usize = 64 * 1024;
const MOST_CHANGED: usize = 20;

/// One file of instructions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instructions {
    /// Where it is.
    pub path: PathBuf,
    /// What it says.
    pub text: String,
}

/// From the folder upwards: up to the repository's root, or to the home folder, or else only the folder itself.
pub(super) fn find(cwd: &Path, home: Option<&Path>) -> Vec<Instructions> {
    let root = cwd.ancestors().find(|folder| folder.join(".git").exists());
    let home = home.filter(|home| cwd.starts_with(home));
    let last = root.or(home).unwrap_or(cwd);
    let mut found: Vec<Instructions> = Vec::new();
    let mut left = MOST;
    for folder in cwd.ancestors() {
        let here = NAMES.iter().find_map(|name| {
            let path = folder.join(name);
            let text = read(&path, LARGEST.min(left))?;
            Some(Instructions { path, text })
        });
        if let Some(here) = here {
            left = left.saturating_sub(here.text.len());
            found.push(here);
        }
        if folder == last || left == 0 {
            break;
        }
    }
    found
}

/// The beginning of a text file; says so if there is more. `None` if it does not exist or is blank.
fn read(path: &Path, longest: usize) -> Option<String> {
    let file = File::open(path).ok().filter(|file| file.metadata().is_ok_and(|about| about.is_file()))?;
    let mut bytes = Vec::new();
    file.take(u64::try_from(longest).ok()? + 1).read_to_end(&mut bytes).ok()?;
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    if bytes.len() > longest {
        text.truncate(text.floor_char_boundary(longest));
        text += "\n[The rest of this file is not shown; read it.]";
    }
    (!text.trim().is_empty()).then_some(text)
}

/// The branch, and which files are changed. `None` without a repository.
pub(super) fn git(cwd: &Path, deny: &DenyGlobs, own: &[PathBuf]) -> Option<String> {
    let folder = cwd.canonicalize().ok()?;
    let workspace = Workspace { folders: vec![folder.clone()], deny: deny.clone(), kept: own.to_vec() };
    let status = git::status(&workspace, &folder, &Cancel::new()).ok()?;
    let mut text = match &status.branch {
        Some(branch) => format!("Git: branch {branch}"),
        None => "Git: no branch".to_owned(),
    };
    let changed = [&status.staged, &status.modified, &status.untracked, &status.conflicted];
    let mut paths: Vec<&str> = changed.into_iter().flatten().map(String::as_str).collect();
    paths.sort_unstable();
    paths.dedup();
    match paths.len() {
        0 => text += ", nothing is changed",
        count => {
            let shown = paths.get(..count.min(MOST_CHANGED)).unwrap_or_default().join(", ");
            let more = if count > MOST_CHANGED { ", …" } else { "" };
            text += &format!(", {count} changed: {shown}{more}");
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_nearest_come_first_up_to_the_root_of_the_repository() {
        let top = tempfile::tempdir().unwrap();
        let path = |name: &str| top.path().join(name);
        fs::create_dir_all(path("repo/.git")).unwrap();
        fs::create_dir_all(path("repo/a/b")).unwrap();
        fs::write(path("CLAUDE.md"), "outside").unwrap();
        fs::write(path("repo/CLAUDE.md"), "root claude").unwrap();
        fs::write(path("repo/AGENTS.md"), "root agents").unwrap();
        fs::write(path("repo/a/NEXUS.md"), "a").unwrap();
        fs::write(path("repo/a/b/AGENTS.md"), "  \n").unwrap();
        let texts = |cwd: &str, home: Option<&str>| -> Vec<String> {
            let home = home.map(path);
            find(&path(cwd), home.as_deref()).into_iter().map(|found| found.text).collect()
        };
        assert_eq!(texts("repo/a/b", None), ["a", "root agents"]);
        fs::remove_dir(path("repo/.git")).unwrap();
        assert_eq!(texts("repo/a", None), ["a"]);
        assert_eq!(texts("repo/a", Some("")), ["a", "root agents", "outside"]);
    }

    #[test]
    fn long_instructions_are_cut_and_say_so() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("AGENTS.md"), "ä".repeat(50_000)).unwrap();
        let found = find(folder.path(), None);
        assert!(found[0].text.ends_with("ä\n[The rest of this file is not shown; read it.]"));
        assert!(found[0].text.len() <= LARGEST + 60);
    }
}
