//! Writes an accepted change for editors that leave the writing to the agent.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use linkspan_review::{Text, decode, to_file_conventions};

/// Replaces `before` by `after`, with the line endings and the encoding of the file. Writes nothing if the file holds
/// another text.
pub(super) fn replace(path: &Path, before: &str, after: &str) -> Result<(), String> {
    let shown = path.display();
    let why = |error: io::Error| format!("accepted, but {shown} could not be written: {error}");
    let moved = || {
        format!("accepted, but {shown} changed in the meantime and was not written; propose the change again")
    };
    // A link is followed: the file is replaced, not the link.
    let real = match path.canonicalize() {
        Ok(real) => real,
        Err(error) if error.kind() == io::ErrorKind::NotFound && before.is_empty() => {
            let mut file = OpenOptions::new().write(true).create_new(true).open(path).map_err(why)?;
            return file.write_all(after.as_bytes()).and_then(|()| file.sync_all()).map_err(why);
        }
        Err(error) => return Err(why(error)),
    };
    let held = fs::read(&real).map_err(why)?;
    if held != before.as_bytes() {
        return Err(moved());
    }
    let not_text = |error| format!("accepted, but {shown} could not be written: {error}");
    let text = decode(&held).map_err(not_text)?;
    let (new, _) = to_file_conventions(Some(&text), after);
    let bytes = Text { format: text.format, text: new.into() }.encode().map_err(not_text)?;
    let found = real.metadata().map_err(why)?;
    if stays_itself(&real, &found) { overwrite(&real, &bytes) } else { swap(&real, &bytes, &found) }
        .map_err(why)
}

/// Whether a new file in its place would lose something: other hard links, another owner, or attributes such as access
/// control lists.
fn stays_itself(path: &Path, found: &Metadata) -> bool {
    let mut names = [0_u8; 4096];
    let attributes = rustix::fs::listxattr(path, &mut names[..]);
    let plain = match attributes {
        // The system puts it on every file, including the new one.
        Ok(length) => names.get(..length).is_some_and(|names| {
            names.split(|byte| *byte == 0).all(|name| name.is_empty() || name == b"security.selinux")
        }),
        Err(error) => error == rustix::io::Errno::NOTSUP,
    };
    found.nlink() > 1 || found.uid() != rustix::process::geteuid().as_raw() || !plain
}

fn overwrite(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).open(path)?;
    file.write_all(bytes)?;
    file.set_len(bytes.len() as u64)?;
    file.sync_all()
}

/// All of the old bytes or all of the new.
fn swap(path: &Path, bytes: &[u8], found: &Metadata) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let draft = path.with_file_name(format!(".{name}.linkspan-{}", std::process::id()));
    let write = || {
        let mut file = File::create_new(&draft)?;
        file.set_permissions(found.permissions())?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&draft, path)
    };
    write().inspect_err(|error| {
        if error.kind() != io::ErrorKind::AlreadyExists {
            let _ = fs::remove_file(&draft);
        }
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_file_gets_the_new_text_in_its_own_terms_and_keeps_its_mode() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("a"), folder.path().join("link"));
        fs::write(&path, "\u{feff}a\r\nb\r\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o750)).unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        replace(&link, "\u{feff}a\r\nb\r\n", "a\n2\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "\u{feff}a\r\n2\r\n");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o750);
        assert!(link.is_symlink());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing is left behind");
    }

    #[test]
    fn other_names_of_the_file_see_the_change() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("a"), folder.path().join("b"));
        fs::write(&path, "longer\n").unwrap();
        fs::hard_link(&path, &other).unwrap();
        replace(&path, "longer\n", "new\n").unwrap();
        assert_eq!(fs::read_to_string(&other).unwrap(), "new\n");
    }

    #[test]
    fn a_file_that_changed_is_left_alone_and_one_that_was_not_there_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        replace(&path, "", "new\n").unwrap();
        let error = replace(&path, "old\n", "newer\n").unwrap_err();
        assert!(error.contains("changed in the meantime"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "new\n");
    }
}
