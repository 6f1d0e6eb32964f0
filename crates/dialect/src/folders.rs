//! The folders of a window, and how paths are written from them.

use std::path::{Path, PathBuf};

/// As the editor names them and, symlinks followed, as they really are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Folders {
    pub named: Vec<PathBuf>,
    pub real: Vec<PathBuf>,
}

impl Folders {
    /// From its folder, as VS Code's `asRelativePath` has it: with several folders, the folder's name stands before.
    /// What is in none of them stays as it is.
    pub(crate) fn relative(&self, path: &Path) -> String {
        let inside = |(index, folder): (usize, &PathBuf)| Some((index, path.strip_prefix(folder).ok()?));
        // Folders that are not there have no real name; then the two lists do not pair up.
        let paired = self.named.len() == self.real.len();
        let named = self.named.iter().enumerate().find_map(inside);
        let found = named.or_else(|| self.real.iter().enumerate().filter(|_| paired).find_map(inside));
        let Some((index, rest)) = found else { return path.to_string_lossy().into_owned() };
        let name =
            self.named.get(index).and_then(|folder| folder.file_name()).filter(|_| self.named.len() > 1);
        let relative = name.map_or_else(|| rest.to_owned(), |name| Path::new(name).join(rest));
        match relative.as_os_str().is_empty() {
            true => ".".to_owned(),
            false => relative.to_string_lossy().into_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folders(named: &[&str], real: &[&str]) -> Folders {
        let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect();
        Folders { named: paths(named), real: paths(real) }
    }

    #[test]
    fn a_path_is_written_from_its_folder_under_either_of_its_names() {
        let one = folders(&["/home/me/link"], &["/data/real"]);
        for (path, relative) in [
            ("/home/me/link/src/a.rs", "src/a.rs"),
            ("/data/real/src/a.rs", "src/a.rs"),
            ("/usr/lib/x.rs", "/usr/lib/x.rs"),
            ("/home/me/link", "."),
            ("src/a.rs", "src/a.rs"),
        ] {
            assert_eq!(one.relative(Path::new(path)), relative);
        }
    }

    #[test]
    fn with_several_folders_the_name_of_the_folder_stands_before() {
        let two = folders(&["/w/app", "/w/lib"], &["/w/app", "/data/lib-2"]);
        assert_eq!(two.relative(Path::new("/w/app/a")), "app/a");
        assert_eq!(two.relative(Path::new("/data/lib-2/a")), "lib/a");
    }
}
