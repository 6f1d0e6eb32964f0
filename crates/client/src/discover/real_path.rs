//! Resolves symlinks in the paths of many folders that share their upper parts: each part is read once.

use std::collections::HashMap;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The longest path of a system.
const PATH_BYTES: usize = 4096;

/// The paths that were resolved so far.
#[derive(Debug, Default)]
pub(super) struct RealPaths {
    known: HashMap<PathBuf, Option<PathBuf>>,
}

impl RealPaths {
    /// The path without symlinks, or `None` if it does not exist.
    pub(super) fn of(&mut self, path: &Path) -> Option<PathBuf> {
        if path.as_os_str().len() > PATH_BYTES {
            return None;
        }
        let unknown: Vec<&Path> =
            path.ancestors().take_while(|part| !self.known.contains_key(*part)).collect();
        let known = path.ancestors().nth(unknown.len());
        let mut real = known.and_then(|part| self.known.get(part).cloned().flatten());
        for part in unknown.into_iter().rev() {
            real = look(part, real);
            self.known.insert(part.to_owned(), real.clone());
        }
        real
    }
}

/// Resolves a path whose parent resolves to `parent`.
fn look(path: &Path, parent: Option<PathBuf>) -> Option<PathBuf> {
    // The root, or `..`, which only the system can resolve.
    let Some(Component::Normal(name)) = path.components().next_back() else {
        return path.canonicalize().ok();
    };
    let real = parent?.join(name);
    match std::fs::read_link(&real) {
        Ok(_) => real.canonicalize().ok(),
        // It exists and is not a symlink.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Some(real),
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn every_path_is_where_the_system_says() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(root.join("a/file"), "").unwrap();
        symlink("a", root.join("relative")).unwrap();
        symlink(root.join("relative/b"), root.join("absolute")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        let mut real = RealPaths::default();
        let names = [
            "",
            "a",
            "a/b",
            "relative",
            "relative/b",
            "absolute",
            "absolute/..",
            "a/b/..",
            "a/../relative/b",
            "loop",
            "loop/x",
            "none",
            "none/x",
            "a/file",
            "a/file/x",
            "a//b/",
            "./a",
        ];
        for name in names.into_iter().chain(names) {
            let path = root.join(name);
            assert_eq!(real.of(&path), path.canonicalize().ok(), "{name}");
        }
        assert_eq!(real.of(Path::new("/")), Some("/".into()));
    }

    #[test]
    fn a_very_long_path_is_just_not_there() {
        let long = format!("/{}", "none/".repeat(10_000));
        assert_eq!(RealPaths::default().of(Path::new(&long)), None);
    }
}
