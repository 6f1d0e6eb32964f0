//! Where a working directory would be in the other worktrees of its git repository. Reads git's own small files,
//! runs nothing, and trusts a link between two directories only if both ends have it.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use super::folder_match::Twin;

const FILE_BYTES: u64 = 8 * 1024;
const WORKTREES: usize = 256;

/// The same directory in each other worktree; `cwd` has no symlinks.
pub(super) fn twins(cwd: &Path) -> Vec<Twin> {
    let Some(root) = cwd.ancestors().find(|folder| folder.join(".git").symlink_metadata().is_ok()) else {
        return Vec::new();
    };
    let Some(common) = common_directory(root) else { return Vec::new() };
    let roots = roots(&common);
    // A `.git` file can name any repository; only the repository lists its worktrees.
    if !roots.iter().any(|known| known == root) {
        return Vec::new();
    }
    let Ok(rest) = cwd.strip_prefix(root) else { return Vec::new() };
    let others = roots.into_iter().filter(|other| other != root);
    others.map(|other| Twin { cwd: other.join(rest), root: other }).collect()
}

/// The directory that all worktrees of a repository share.
fn common_directory(root: &Path) -> Option<PathBuf> {
    let git = root.join(".git");
    if git.is_dir() {
        return git.canonicalize().ok();
    }
    let directory = root.join(read(&git)?.strip_prefix("gitdir:")?.trim());
    let common = read(&directory.join("commondir"))?;
    directory.join(common.trim()).canonicalize().ok()
}

/// The main worktree, if there is one, and those linked to it.
fn roots(common: &Path) -> Vec<PathBuf> {
    let is_main = common.file_name().is_some_and(|name| name == ".git");
    let main = common.parent().filter(|_| is_main).map(Path::to_owned);
    let entries = fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten();
    let linked = entries.take(WORKTREES).filter_map(|entry| linked(&entry.path()));
    main.into_iter().chain(linked).collect()
}

/// The worktree of an entry of `worktrees`.
fn linked(entry: &Path) -> Option<PathBuf> {
    let git = entry.join(read(&entry.join("gitdir"))?.trim());
    git.parent()?.canonicalize().ok()
}

fn read(path: &Path) -> Option<String> {
    // A pipe in its place must not block us.
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    File::open(path).ok()?.take(FILE_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A repository with one linked worktree, as git lays them out.
    struct Repository {
        _root: tempfile::TempDir,
        main: PathBuf,
        linked: PathBuf,
    }

    fn write(path: impl AsRef<Path>, text: &str) {
        fs::create_dir_all(path.as_ref().parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn repository(relative: bool) -> Repository {
        let root = tempfile::tempdir().unwrap();
        let base = root.path().canonicalize().unwrap();
        let (main, linked) = (base.join("repo"), base.join("wt/fix"));
        for folder in [main.join("src/deep"), linked.join("src/deep")] {
            fs::create_dir_all(folder).unwrap();
        }
        let entry = main.join(".git/worktrees/fix");
        write(entry.join("commondir"), "../..\n");
        if relative {
            write(entry.join("gitdir"), "../../../../wt/fix/.git\n");
            write(linked.join(".git"), "gitdir: ../../repo/.git/worktrees/fix\n");
        } else {
            write(entry.join("gitdir"), &format!("{}\n", linked.join(".git").display()));
            write(linked.join(".git"), &format!("gitdir: {}\n", entry.display()));
        }
        Repository { _root: root, main, linked }
    }

    #[test]
    fn a_linked_worktree_and_its_main_checkout_know_each_other() {
        for relative in [false, true] {
            let Repository { main, linked, _root } = repository(relative);
            let there = Twin { root: main.clone(), cwd: main.join("src/deep") };
            assert_eq!(twins(&linked.join("src/deep")), [there]);
            let there = Twin { root: linked.clone(), cwd: linked.join("src") };
            assert_eq!(twins(&main.join("src")), [there]);
        }
    }

    #[test]
    fn a_git_file_that_claims_someone_elses_repository_is_not_believed() {
        let Repository { main, _root, .. } = repository(false);
        let stranger = main.parent().unwrap().join("stranger");
        write(stranger.join(".git"), &format!("gitdir: {}\n", main.join(".git/worktrees/fix").display()));
        assert_eq!(twins(&stranger), []);
    }

    #[test]
    fn no_repository_and_a_broken_one_have_no_other_worktrees() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        assert_eq!(twins(&root), []);
        for text in ["", "gitdir:", "gitdir: /none", "\u{0}"] {
            write(root.join(".git"), text);
            assert_eq!(twins(&root), []);
        }
    }
}
