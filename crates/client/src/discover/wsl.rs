//! An agent in WSL, an editor on Windows: where its lock files may be, and the names of its folders in WSL. Translates
//! names; reads nothing except WSL's own configuration.

use std::path::{Path, PathBuf};

const CONFIGURATION: &str = "/etc/wsl.conf";

/// The Windows system around a WSL distribution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wsl {
    /// The name of the distribution, such as `Ubuntu`.
    pub distro: String,
    /// Where the Windows drives are mounted; usually `/mnt`.
    pub drives: PathBuf,
    /// The Windows user's home directory as named in WSL, if known.
    pub profile: Option<PathBuf>,
}

impl Wsl {
    /// From the variables that WSL sets.
    pub(super) fn of_this_machine(distro: &str, profile: Option<&str>) -> Wsl {
        let configuration = std::fs::read_to_string(CONFIGURATION).unwrap_or_default();
        let drives = automount_root(&configuration).unwrap_or_else(|| "/mnt".into());
        let mut wsl = Wsl { distro: distro.to_owned(), drives, profile: None };
        wsl.profile = profile.and_then(|profile| wsl.here(profile));
        wsl
    }

    /// The directory of the Windows users' home directories.
    pub(super) fn users(&self) -> PathBuf {
        self.drives.join("c/Users")
    }

    /// The name in WSL of a folder of a Windows program; `None` if it is not reachable.
    pub(super) fn here(&self, folder: &str) -> Option<PathBuf> {
        let folder = folder.replace('\\', "/");
        let folder = strip_prefix(&folder, "//?/unc/").map_or(folder.clone(), |rest| format!("//{rest}"));
        let folder = strip_prefix(&folder, "//?/").unwrap_or(&folder);
        let shared = ["//wsl.localhost/", "//wsl$/"].iter().find_map(|share| strip_prefix(folder, share));
        if let Some(shared) = shared {
            let (distro, rest) = shared.split_once('/').unwrap_or((shared, ""));
            return distro.eq_ignore_ascii_case(&self.distro).then(|| Path::new("/").join(relative(rest)));
        }
        if let Some((drive, rest)) = folder.split_once(':') {
            let letter = drive.chars().next().filter(|letter| letter.is_ascii_alphabetic())?;
            let absolute = drive.len() == 1 && (rest.is_empty() || rest.starts_with('/'));
            let drive = self.drives.join(letter.to_ascii_lowercase().to_string());
            return absolute.then(|| drive.join(relative(rest)));
        }
        // Editors with WSL support name folders as we do.
        (folder.starts_with('/') && !folder.starts_with("//")).then(|| folder.into())
    }
}

/// Joining an absolute path would drop the base path.
fn relative(rest: &str) -> &str {
    rest.trim_start_matches('/')
}

fn strip_prefix<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let (start, rest) = text.split_at_checked(prefix.len())?;
    start.eq_ignore_ascii_case(prefix).then_some(rest)
}

/// `root` in the section `[automount]`.
fn automount_root(configuration: &str) -> Option<PathBuf> {
    let mut lines = configuration.lines().map(str::trim);
    lines.find(|line| line.eq_ignore_ascii_case("[automount]"))?;
    let section = lines.take_while(|line| !line.starts_with('['));
    let mut entries = section.filter_map(|line| line.split_once('='));
    let (_, root) = entries.find(|(key, _)| key.trim() == "root")?;
    Some(PathBuf::from(root.trim().trim_matches('"'))).filter(|root| root.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(folder: &str, expected: Option<&str>) {
        let wsl = Wsl { distro: "Ubuntu".into(), drives: "/mnt".into(), profile: None };
        assert_eq!(wsl.here(folder), expected.map(PathBuf::from), "{folder}");
    }

    #[test]
    fn a_folder_of_this_linux_seen_from_windows_is_here() {
        check(r"\\wsl.localhost\Ubuntu\home\me", Some("/home/me"));
        check(r"\\wsl$\Ubuntu\home\me\a b", Some("/home/me/a b"));
        check("//wsl.localhost/Ubuntu/home/me/", Some("/home/me"));
        check(r"\\WSL.LOCALHOST\ubuntu\home\me", Some("/home/me"));
        check(r"\\?\UNC\wsl.localhost\Ubuntu\home\me", Some("/home/me"));
        check(r"\\wsl.localhost\Ubuntu", Some("/"));
        check(r"\\wsl.localhost\Ubuntu\\home", Some("/home"));
    }

    #[test]
    fn a_folder_of_another_linux_or_machine_is_not() {
        check(r"\\wsl.localhost\Debian\home\me", None);
        check(r"\\wsl.localhost\Ubuntu-22.04\home\me", None);
        check(r"\\server\share\x", None);
    }

    #[test]
    fn a_windows_drive_is_mounted_here() {
        check(r"C:\Users\me\x", Some("/mnt/c/Users/me/x"));
        check(r"c:\Users\me\x", Some("/mnt/c/Users/me/x"));
        check("D:/", Some("/mnt/d"));
        check("D:", Some("/mnt/d"));
        check(r"\\?\C:\x", Some("/mnt/c/x"));
    }

    #[test]
    fn a_path_that_says_too_little_is_nowhere() {
        for folder in ["", "x", r"C:x", r"\\", "1:/x", "CD:/x", "ü:/x"] {
            check(folder, None);
        }
        check("/home/me", Some("/home/me"));
    }

    #[test]
    fn the_drives_are_where_wsl_was_told_to_mount_them() {
        assert_eq!(
            automount_root("[boot]\nroot = /no\n[automount]\n enabled=true\nroot = /\n"),
            Some("/".into())
        );
        assert_eq!(automount_root("[automount]\n[network]\nroot=/no\n"), None);
        assert_eq!(automount_root("[automount]\nroot=win\n"), None);
        assert_eq!(automount_root(""), None);
    }
}
