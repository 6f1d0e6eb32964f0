//! The repository that contains a folder of the workspace, checked before anything else uses it.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::program::Git;
use super::repository_ownership::GitDirs;
use crate::cancel::Cancel;
use crate::error::WorkspaceError;
use crate::folders::Workspace;

/// A folder of the workspace that git manages.
#[derive(Debug)]
pub(super) struct Repository<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) folder: PathBuf,
    /// The folder's path in its repository: empty, or with a trailing slash.
    prefix: Vec<u8>,
    /// Settings that keep programs configured by the repository from running.
    harmless: Vec<(OsString, &'static str)>,
}

impl<'a> Repository<'a> {
    pub(super) fn open(
        workspace: &'a Workspace,
        folder: &Path,
        cancel: &Cancel,
    ) -> Result<Repository<'a>, WorkspaceError> {
        let main = workspace.folders.first().ok_or(WorkspaceError::NoFolder)?;
        let folder = workspace.inside(main, folder)?;
        let asked = [
            "--is-inside-work-tree",
            "--show-toplevel",
            "--show-prefix",
            "--absolute-git-dir",
            "--git-common-dir",
        ];
        let ran = Git::reading(&folder, "rev-parse").args(asked).run(cancel)?;
        if !ran.status.success() {
            let elsewhere = ran.errors.contains("must be run in a work tree");
            let missing = ran.errors.contains("not a git repository");
            return Err(match () {
                () if missing => WorkspaceError::NoRepository(folder),
                () if elsewhere => WorkspaceError::FilesElsewhere(folder),
                () => ran.failure(),
            });
        }
        let mut lines = ran.output.split(|byte| *byte == b'\n');
        let is_inside = lines.next() == Some(b"true");
        let top = PathBuf::from(OsStr::from_bytes(lines.next().unwrap_or_default()));
        let prefix = lines.next().unwrap_or_default().to_vec();
        // A name with a line break would be parsed wrongly; it is trusted only if it leads back here.
        if !is_inside || top.join(OsStr::from_bytes(&prefix)).components().ne(folder.components()) {
            return Err(WorkspaceError::FilesElsewhere(folder));
        }
        let mut place = || Some(folder.join(OsStr::from_bytes(lines.next()?)));
        let (git_dir, common_dir) = (place(), place());
        // Here too, a line break in a name would produce extra lines.
        let is_all = lines.next().is_some_and(<[u8]>::is_empty) && lines.next().is_none();
        let origin = git_dir.zip(common_dir).and_then(|(git_dir, common)| GitDirs::of(&git_dir, &common));
        let origin = origin.filter(|_| is_all);
        if !origin.is_some_and(|origin| origin.belongs_to(&top, &workspace.folders, cancel)) {
            return Err(WorkspaceError::RepositoryElsewhere(folder));
        }
        let harmless = harmless(&folder, cancel)?;
        Ok(Repository { workspace, folder, prefix, harmless })
    }

    /// A subcommand that runs no code of the repository.
    pub(super) fn reading(&self, what: &'static str) -> Git {
        Git::reading(&self.folder, what).settings(&self.harmless)
    }

    pub(super) fn writing(&self, what: &'static str) -> Git {
        Git::writing(&self.folder, what)
    }

    /// Whether the folder is only a part of its repository.
    pub(super) fn is_part(&self) -> bool {
        !self.prefix.is_empty()
    }

    /// The file that git names relative to the repository's root; `None` if it is outside the folder or denied.
    pub(super) fn shown(&self, from_top: &[u8]) -> Option<PathBuf> {
        let path = PathBuf::from(OsString::from_vec(from_top.strip_prefix(&*self.prefix)?.to_vec()));
        let file = self.folder.join(&path);
        (!self.workspace.denies(&file)).then_some(path)
    }

    /// A requested path as git reads it in the folder.
    pub(super) fn named(&self, path: &Path) -> Result<PathBuf, WorkspaceError> {
        let file = self.workspace.inside(&self.folder, path)?;
        let inside = file.strip_prefix(&self.folder).map_err(|_| WorkspaceError::outside(path))?;
        Ok(if inside.as_os_str().is_empty() { PathBuf::from(".") } else { inside.to_owned() })
    }
}

/// A pathspec that matches only this path, whatever characters are in it.
pub(super) fn literal(path: &Path) -> OsString {
    let mut literal = OsString::from(":(literal)");
    literal.push(path);
    literal
}

/// A literal pathspec for a file from which git reads paths.
pub(super) fn literal_list<'a>(paths: impl IntoIterator<Item = &'a PathBuf>) -> Vec<u8> {
    let paths = paths.into_iter().map(|path| literal(path).into_vec());
    paths.flat_map(|path| path.into_iter().chain([0])).collect()
}

/// Filters run when git compares files. Those in the user's own configuration stay; those configured by the repository
/// are turned off for reading.
fn harmless(folder: &Path, cancel: &Cancel) -> Result<Vec<(OsString, &'static str)>, WorkspaceError> {
    // Not requested by a regular expression: in git, names that are not valid text match none.
    let listed = Git::reading(folder, "config").args(["--show-scope", "--null", "--name-only", "--list"]);
    let listed = listed.output(cancel)?;
    let mut parts = listed.split(|byte| *byte == 0);
    let mut settings = Vec::new();
    while let (Some(scope), Some(key)) = (parts.next(), parts.next()) {
        let is_the_repositorys = scope == b"local" || scope == b"worktree";
        let of_filter =
            [b".clean".as_slice(), b".smudge", b".process"].iter().find_map(|end| key.strip_suffix(*end));
        let of_filter = of_filter.filter(|_| is_the_repositorys && key.starts_with(b"filter."));
        if let Some(filter) = of_filter {
            settings.push((OsString::from_vec([filter, b".required"].concat()), "false"));
            settings.push((OsString::from_vec(key.to_vec()), ""));
        }
    }
    Ok(settings)
}
