//! The folders of a window, and paths relative to them.

use std::path::{Path, PathBuf};

/// As the editor names them, and with symlinks resolved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WindowFolders {
    pub named: Vec<PathBuf>,
    pub real: Vec<PathBuf>,
}

impl WindowFolders {
    /// The path relative to its folder, as VS Code's `asRelativePath` writes it: with several folders, it begins with
    /// the name of the folder. A path outside all of them is kept.
    pub(crate) fn relative(&self, path: &Path) -> String {
        let inside = |(index, folder): (usize, &PathBuf)| Some((index, path.strip_prefix(folder).ok()?));
        // Folders that do not exist have no resolved name; then the two lists do not match.
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

    fn folders(named: &[&str], real: &[&str]) -> WindowFolders {
        let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect();
        WindowFolders { named: paths(named), real: paths(real) }
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
    fn with_several_folders_a_path_begins_with_the_name_of_its_folder() {
        let two = folders(&["/w/app", "/w/lib"], &["/w/app", "/data/lib-2"]);
        assert_eq!(two.relative(Path::new("/w/app/a")), "app/a");
        assert_eq!(two.relative(Path::new("/data/lib-2/a")), "lib/a");
    }
}
