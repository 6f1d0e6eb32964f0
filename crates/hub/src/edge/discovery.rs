//! Discovery files: written whole or not at all, readable by their owner only, and only ever our own removed.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::Path;

use linkspan_dialect::DiscoveryFile;

use crate::token::Token;

/// Agents read these files at any moment, so a new content appears by rename.
pub(crate) fn write(file: &DiscoveryFile) -> io::Result<()> {
    private_file(&file.directory, &file.file_name, &file.contents)
}

/// A file that only its owner can read, with all of its content or not there.
pub(crate) fn private_file(folder: &Path, name: &str, contents: &[u8]) -> io::Result<()> {
    private_folder(folder)?;
    let mut temporary = tempfile::Builder::new()
        .prefix(".linkspan-")
        .permissions(fs::Permissions::from_mode(0o600))
        .tempfile_in(folder)?;
    temporary.write_all(contents)?;
    temporary.persist(folder.join(name))?;
    Ok(())
}

/// Removes the file if it still holds our token, or its mark: by now the port may be somebody else's.
pub(crate) fn remove(path: &Path, token: &Token) {
    let marks = [token.secret(), &token.mark()];
    let holds = |text: &str| marks.iter().any(|mark| text.contains(mark));
    let ours = fs::read(path).is_ok_and(|bytes| holds(&String::from_utf8_lossy(&bytes)));
    if ours && let Err(error) = fs::remove_file(path) {
        tracing::warn!("cannot remove {}: {error}", path.display());
    }
}

/// A folder that only its owner can enter; an existing one of ours is tightened.
pub(crate) fn private_folder(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let metadata = fs::metadata(folder)?;
    if metadata.uid() == rustix::process::getuid().as_raw() && metadata.mode() & 0o077 != 0 {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// The same for what is in it: an older version made files that others could read.
pub(crate) fn private_contents(folder: &Path) -> io::Result<()> {
    let ours = rustix::process::getuid().as_raw();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        // Of a link, its own.
        let Ok(found) = entry.metadata() else { continue };
        if found.is_file() && found.uid() == ours && found.mode() & 0o077 != 0 {
            fs::set_permissions(entry.path(), fs::Permissions::from_mode(found.mode() & 0o700))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_discovery_file_is_private_and_another_ones_is_never_removed() {
        let home = tempfile::tempdir().unwrap();
        let directory = home.path().join(".claude/ide");
        let file = DiscoveryFile {
            directory,
            file_name: "5.lock".into(),
            contents: b"{\"t\":\"mine\"}".to_vec(),
            shared: false,
        };
        write(&file).unwrap();
        let path = file.directory.join("5.lock");
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(&file.directory).unwrap().mode() & 0o777, 0o700);
        assert_eq!(fs::read_dir(&file.directory).unwrap().count(), 1, "no temporary file stays");
        let [mine, theirs] = ["mine", "theirs"].map(|token| Token::remembered(token.to_owned()));
        remove(&path, &theirs);
        assert!(path.exists());
        remove(&path, &mine);
        assert!(!path.exists());
        fs::write(&path, mine.mark()).unwrap();
        remove(&path, &theirs);
        assert!(path.exists());
        remove(&path, &mine);
        assert!(!path.exists(), "a file without the token is known by its mark");
    }
}
