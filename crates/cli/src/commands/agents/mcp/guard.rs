//! Which files an agent may use with an editor that is not attached to the hub, because such an editor checks nothing:
//! those in the workspace, links resolved, and none that `deny` names.

use std::path::{Component, Path, PathBuf};

use linkspan_editor_api::DenyGlobs;

use super::results::shown;

#[derive(Debug)]
pub(super) enum Guard {
    /// The hub checks every path itself.
    Hub,
    Here {
        folders: Vec<PathBuf>,
        deny: DenyGlobs,
    },
}

impl Guard {
    pub(super) fn check(&self, path: &Path) -> Result<(), String> {
        let Guard::Here { folders, deny } = self else { return Ok(()) };
        let outside = || {
            format!(
                "{} is outside the workspace folders of the editor; only files in them can be used",
                shown(path)
            )
        };
        let real = real(path).ok_or_else(outside)?;
        let folders: Vec<PathBuf> = folders
            .iter()
            .flat_map(|folder| [Some(folder.clone()), folder.canonicalize().ok()])
            .flatten()
            .collect();
        if !folders.iter().any(|folder| real.starts_with(folder)) {
            return Err(outside());
        }
        if [path, &real].iter().any(|path| deny.denies(&folders, path)) {
            return Err(format!("{} is kept from agents by `deny` in the configuration", shown(path)));
        }
        Ok(())
    }

    pub(super) fn allows(&self, path: &Path) -> bool {
        self.check(path).is_ok()
    }
}

/// The path without links; for a path that does not exist, from the nearest ancestor that does.
fn real(path: &Path) -> Option<PathBuf> {
    if path.components().any(|part| part == Component::ParentDir) {
        return path.canonicalize().ok();
    }
    path.ancestors().find_map(|above| Some(above.canonicalize().ok()?.join(path.strip_prefix(above).ok()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_the_workspace_that_are_not_denied_pass() {
        let home = tempfile::tempdir().unwrap();
        let (inside, outside) = (home.path().join("in"), home.path().join("out"));
        for folder in [&inside, &outside] {
            std::fs::create_dir(folder).unwrap();
        }
        std::os::unix::fs::symlink(&outside, inside.join("link")).unwrap();
        let deny = DenyGlobs::new(&[".env".to_owned()]).unwrap();
        let guard = Guard::Here { folders: vec![inside.clone()], deny };
        for yes in ["a.rs", "new/a.rs"] {
            assert_eq!(guard.check(&inside.join(yes)), Ok(()));
        }
        for no in ["../out/a", "new/../../out/a", "link/a", ".env", "sub/.env"] {
            assert!(!guard.allows(&inside.join(no)), "{no}");
        }
        assert!(!guard.allows(&outside.join("a")));
        assert!(Guard::Hub.allows(&outside.join("a")));
    }
}
