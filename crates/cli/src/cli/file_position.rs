//! Files and positions in them, as the user writes them on the command line and as they are printed. Lines and columns
//! count from 1 here, and from 0 on every wire.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::cli::exit::Failure;
use crate::cli::output::relative;

/// A file and a position in it; line and character count from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FilePosition {
    pub(crate) path: PathBuf,
    pub(crate) line: Option<u32>,
    pub(crate) character: u32,
}

impl FilePosition {
    /// `FILE`, `FILE:LINE` or `FILE:LINE:COL`. An existing file whose name is the whole argument wins:
    /// names may have colons.
    pub(crate) fn parse(argument: &OsStr) -> Result<FilePosition, Failure> {
        let at = |path: &OsStr, line, character| FilePosition { path: path.into(), line, character };
        if Path::new(argument).exists() {
            return Ok(at(argument, None, 0));
        }
        // Compilers print a colon after a position, and it is copied along.
        let trimmed = argument.as_bytes().strip_suffix(b":").unwrap_or(argument.as_bytes());
        let Some((rest, last)) = number_at_end(trimmed) else { return Err(no_such_file(argument)) };
        let place = match number_at_end(rest.as_bytes()) {
            _ if Path::new(&rest).exists() => at(&rest, Some(last), 0),
            Some((file, line)) => at(&file, Some(line), last),
            None => at(&rest, Some(last), 0),
        };
        if !place.path.exists() {
            return Err(no_such_file(place.path.as_os_str()));
        }
        Ok(place)
    }
}

/// Splits `NAME:12` into the name and the number, counted from 0. A 0 is read as a 1.
fn number_at_end(text: &[u8]) -> Option<(OsString, u32)> {
    let colon = text.iter().rposition(|byte| *byte == b':').filter(|colon| *colon > 0)?;
    let (name, number) = text.split_at_checked(colon)?;
    let number: u32 = std::str::from_utf8(number.strip_prefix(b":")?).ok()?.parse().ok()?;
    Some((OsString::from_vec(name.to_vec()), number.saturating_sub(1)))
}

/// The path as every editor knows it: absolute, its folder without symlinks and dots. The file itself may be a symlink,
/// and need not exist.
pub(crate) fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    let wrong = |error| Failure::usage(format!("{} is not a usable path: {error}", path.display()));
    let path = std::path::absolute(path).map_err(wrong)?;
    match (path.parent().map(Path::canonicalize), path.file_name()) {
        (Some(Ok(folder)), Some(name)) => Ok(folder.join(name)),
        // `..` at the end, the root, or a folder that does not exist.
        _ => Ok(path.canonicalize().unwrap_or(path)),
    }
}

/// The absolute path of a file that exists.
pub(crate) fn existing_file(path: &Path) -> Result<PathBuf, Failure> {
    if path.is_dir() {
        return Err(Failure::usage(format!("{} is a folder; name a file", path.display())));
    }
    if !path.exists() {
        return Err(no_such_file(path.as_os_str()));
    }
    absolute(path)
}

pub(crate) fn no_such_file(path: &OsStr) -> Failure {
    Failure::usage(format!("there is no file {}; check the name, or create it first", path.display()))
}

/// A path relative to the current folder, safe to print.
pub(crate) fn from_here(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default().to_string_lossy().into_owned();
    relative(&path.to_string_lossy(), [&here])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(folder: &Path, argument: &str, file: &str, line: Option<u32>, character: u32) {
        let argument = folder.join(argument);
        let place = FilePosition::parse(argument.as_os_str()).unwrap();
        assert_eq!(
            place,
            FilePosition { path: folder.join(file), line, character },
            "{}",
            argument.display()
        );
    }

    #[test]
    fn a_position_is_a_file_with_a_line_and_a_column() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        for name in ["a.rs", "a.rs:1", "b:2:3"] {
            std::fs::write(folder.join(name), "").unwrap();
        }
        check(folder, "a.rs", "a.rs", None, 0);
        check(folder, "a.rs:12", "a.rs", Some(11), 0);
        check(folder, "a.rs:12:3", "a.rs", Some(11), 2);
        check(folder, "a.rs:12:", "a.rs", Some(11), 0);
        check(folder, "a.rs:0:0", "a.rs", Some(0), 0);
        // The file of that very name wins, then the longest.
        check(folder, "a.rs:1", "a.rs:1", None, 0);
        check(folder, "a.rs:1:5", "a.rs:1", Some(4), 0);
        check(folder, "a.rs:1:5:7", "a.rs:1", Some(4), 6);
        check(folder, "b:2:3", "b:2:3", None, 0);
        for wrong in ["none.rs", "none.rs:3", "a.rs:x", "a.rs:-1", "a.rs:99999999999"] {
            let failure = FilePosition::parse(folder.join(wrong).as_os_str()).unwrap_err();
            assert!(failure.message.starts_with("there is no file"), "{wrong}: {}", failure.message);
        }
    }

    #[test]
    fn a_file_keeps_its_name_and_its_folder_loses_dots_and_links() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        std::fs::create_dir(real.join("deep")).unwrap();
        std::os::unix::fs::symlink("deep", real.join("link")).unwrap();
        std::os::unix::fs::symlink("/etc/hostname", real.join("deep/name")).unwrap();
        assert_eq!(absolute(&real.join("link/../deep/./name")).unwrap(), real.join("deep/name"));
        assert_eq!(absolute(&real.join("link/new.txt")).unwrap(), real.join("deep/new.txt"));
        assert_eq!(absolute(&real.join("none/new.txt")).unwrap(), real.join("none/new.txt"));
    }
}
