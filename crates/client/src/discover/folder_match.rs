//! Whether a window's folder fits a working directory, by paths alone. Reads no file.

use std::path::{Path, PathBuf};

use super::candidate::Match;

/// A working directory under all its names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FolderMatcher {
    /// With symlinks resolved, as given, and as the shell names it.
    pub(super) names: Vec<PathBuf>,
    /// Where it would be in other worktrees of its repository.
    pub(super) twins: Vec<Twin>,
    /// The home directory, which contains everything of a user.
    pub(super) home: PathBuf,
}

/// The same place in another worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Twin {
    pub(super) root: PathBuf,
    pub(super) cwd: PathBuf,
}

impl FolderMatcher {
    /// The best match of a folder with any of the names.
    pub(super) fn matches(&self, folder: &Path) -> Option<Match> {
        // A relative path would mean another directory to its writer.
        if !folder.is_absolute() {
            return None;
        }
        let within = self.names.iter().filter_map(|cwd| below(cwd, folder)).min();
        let folder_match = within.map(|depth| Match::Folder { depth });
        folder_match.or_else(|| self.worktree(folder)).or_else(|| self.parent(folder))
    }

    /// Only folders inside the other worktree: a window on a folder that contains the worktree was opened for another
    /// purpose.
    fn worktree(&self, folder: &Path) -> Option<Match> {
        let inside = self.twins.iter().filter(|twin| folder.starts_with(&twin.root));
        let depth = inside.filter_map(|twin| below(&twin.cwd, folder)).min()?;
        Some(Match::Worktree { depth })
    }

    /// Every window is below `/`, and most are below the home directory: a working directory there does not select one.
    fn parent(&self, folder: &Path) -> Option<Match> {
        let telling = self.names.iter().filter(|cwd| !self.home.starts_with(cwd));
        let depth = telling.filter_map(|cwd| below(folder, cwd)).min()?;
        Some(Match::Parent { depth })
    }
}

/// How far below; component by component, so that `/a/bc` is not below `/a/b`.
fn below(path: &Path, folder: &Path) -> Option<usize> {
    path.strip_prefix(folder).ok().map(|rest| rest.components().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(names: &[&str]) -> FolderMatcher {
        let names = names.iter().map(PathBuf::from).collect();
        FolderMatcher { names, twins: Vec::new(), home: "/home/ada".into() }
    }

    #[track_caller]
    fn check(cwd: &str, folder: &str, expected: Option<Match>) {
        assert_eq!(at(&[cwd]).matches(Path::new(folder)), expected, "{cwd} in {folder}");
    }

    #[test]
    fn a_folder_matches_what_lies_in_it() {
        check("/w/a", "/w/a", Some(Match::Folder { depth: 0 }));
        check("/w/a/b/c", "/w/a", Some(Match::Folder { depth: 2 }));
        check("/w/a/b", "/w/a/", Some(Match::Folder { depth: 1 }));
        check("/w/a/", "/w/a", Some(Match::Folder { depth: 0 }));
        check("/w//a/./b", "/w/a", Some(Match::Folder { depth: 1 }));
    }

    #[test]
    fn names_that_begin_alike_are_different_folders() {
        check("/w/abc", "/w/ab", None);
        check("/w/ab", "/w/abc", None);
    }

    #[test]
    fn root_and_home_match_as_folders_and_not_as_parents() {
        check("/w/a", "/", Some(Match::Folder { depth: 2 }));
        check("/home/ada/x", "/home/ada", Some(Match::Folder { depth: 1 }));
        check("/", "/", Some(Match::Folder { depth: 0 }));
        check("/", "/w/a", None);
        check("/home", "/home/ada/x", None);
        check("/home/ada", "/home/ada/x", None);
    }

    #[test]
    fn a_folder_below_is_a_parent_match() {
        check("/w", "/w/a/b", Some(Match::Parent { depth: 2 }));
        check("/home/ada/src", "/home/ada/src/x", Some(Match::Parent { depth: 1 }));
    }

    #[test]
    fn a_path_that_is_not_absolute_matches_nothing() {
        for folder in ["", ".", "w", "C:\\w"] {
            check("/w", folder, None);
        }
    }

    #[test]
    fn the_nearest_of_several_names_counts() {
        let here = at(&["/real/deep/down/a", "/link/a"]);
        assert_eq!(here.matches(Path::new("/link")), Some(Match::Folder { depth: 1 }));
        assert_eq!(here.matches(Path::new("/real")), Some(Match::Folder { depth: 3 }));
    }

    #[test]
    fn another_worktree_matches_where_its_part_of_the_tree_does() {
        let mut here = at(&["/wt/fix/src/x"]);
        here.twins = vec![Twin { root: "/repo".into(), cwd: "/repo/src/x".into() }];
        assert_eq!(here.matches(Path::new("/repo")), Some(Match::Worktree { depth: 2 }));
        assert_eq!(here.matches(Path::new("/repo/src")), Some(Match::Worktree { depth: 1 }));
        assert_eq!(here.matches(Path::new("/repo/docs")), None);
        assert_eq!(here.matches(Path::new("/")), Some(Match::Folder { depth: 4 }));
    }
}
