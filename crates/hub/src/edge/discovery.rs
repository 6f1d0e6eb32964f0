//! Discovery files: written completely or not at all, readable by their owner only, and removed only if they are ours.

use std::fs;
use std::io;
use std::path::Path;

use linkspan_dialect::DiscoveryFile;

use super::disk::write_private_file;
use crate::token::Token;

/// Agents may read these files at any moment, so new content appears by rename.
pub(crate) fn write(file: &DiscoveryFile) -> io::Result<()> {
    write_private_file(&file.directory, &file.file_name, &file.contents)
}

/// Removes the file if it still contains our token, or its mark: by now another process may have the port.
pub(crate) fn remove(path: &Path, token: &Token) {
    let marks = [token.secret(), &token.mark()];
    let holds = |text: &str| marks.iter().any(|mark| text.contains(mark));
    let ours = fs::read(path).is_ok_and(|bytes| holds(&String::from_utf8_lossy(&bytes)));
    if ours && let Err(error) = fs::remove_file(path) {
        tracing::warn!("cannot remove {}: {error}", path.display());
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn a_discovery_file_is_private_and_one_of_another_hub_is_never_removed() {
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
        assert_eq!(fs::read_dir(&file.directory).unwrap().count(), 1, "no temporary file is left");
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
