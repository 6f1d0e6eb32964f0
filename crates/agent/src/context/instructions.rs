//! The project's instructions (`AGENTS.md`, `CLAUDE.md`, `NEXUS.md`) around a folder, and the state of its repository.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
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
/// `may_read` decides about each file with all its links resolved: a repository may link anything. A link out of the
/// repository is followed only to a file of the user that is itself named like instructions.
pub(super) fn find(cwd: &Path, home: Option<&Path>, may_read: impl Fn(&Path) -> bool) -> Vec<Instructions> {
    let root = cwd.ancestors().find(|folder| folder.join(".git").exists());
    let home = home.filter(|home| cwd.starts_with(home));
    let last = root.or(home).unwrap_or(cwd);
    let mut found: Vec<Instructions> = Vec::new();
    let mut left = MOST;
    for folder in cwd.ancestors() {
        let here = NAMES.iter().find_map(|name| {
            let path = folder.join(name);
            let inside = root.unwrap_or(folder);
            path.canonicalize().ok().filter(|real| may_read(real) && may_follow(real, inside))?;
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

/// Whether `real`, to which a file of instructions leads, may be read for one of the folder `inside`.
fn may_follow(real: &Path, inside: &Path) -> bool {
    if inside.canonicalize().is_ok_and(|inside| real.starts_with(inside)) {
        return true;
    }
    let is_named_so = real.file_name().is_some_and(|name| NAMES.iter().any(|known| name == *known));
    let user = rustix::process::geteuid().as_raw();
    is_named_so && real.metadata().is_ok_and(|about| about.uid() == user)
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
            find(&path(cwd), home.as_deref(), |_| true).into_iter().map(|found| found.text).collect()
        };
        assert_eq!(texts("repo/a/b", None), ["a", "root agents"]);
        fs::remove_dir(path("repo/.git")).unwrap();
        assert_eq!(texts("repo/a", None), ["a"]);
        assert_eq!(texts("repo/a", Some("")), ["a", "root agents", "outside"]);
    }

    #[test]
    fn a_link_out_of_the_repository_leads_only_to_instructions_of_the_user() {
        let top = tempfile::tempdir().unwrap();
        let path = |name: &str| top.path().join(name);
        for folder in ["repo/.git", "repo/docs", "repo/a", "repo/b", "dotfiles", "unpacked"] {
            fs::create_dir_all(path(folder)).unwrap();
        }
        fs::write(path("secret"), "a secret of the user").unwrap();
        fs::write(path("dotfiles/CLAUDE.md"), "of the user").unwrap();
        fs::write(path("repo/docs/agents.txt"), "inside").unwrap();
        let link = |to: &str, at: &str| std::os::unix::fs::symlink(path(to), path(at)).unwrap();
        link("repo/docs/agents.txt", "repo/AGENTS.md");
        link("secret", "repo/a/AGENTS.md");
        link("dotfiles/CLAUDE.md", "repo/b/AGENTS.md");
        link("secret", "unpacked/AGENTS.md");
        let texts = |cwd: &str| -> Vec<String> {
            let found = find(&path(cwd), Some(top.path()), |_| true);
            found.into_iter().map(|found| found.text).collect()
        };
        assert_eq!(texts("repo/a"), ["inside"]);
        assert_eq!(texts("repo/b"), ["of the user", "inside"]);
        assert!(texts("unpacked").is_empty(), "a link out of a folder without a repository");
    }

    #[test]
    fn long_instructions_are_cut_and_say_so() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("AGENTS.md"), "ä".repeat(50_000)).unwrap();
        let found = find(folder.path(), None, |_| true);
        assert!(found[0].text.ends_with("ä\n[The rest of this file is not shown; read it.]"));
        assert!(found[0].text.len() <= LARGEST + 60);
    }
}
