//! Files and folders of our own that only their owner may read. Knows nothing about their content.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::Path;

/// A file that only its owner can read. It appears with all of its content, or not at all.
pub(crate) fn write_private_file(folder: &Path, name: &str, contents: &[u8]) -> io::Result<()> {
    make_private_folder(folder)?;
    let mut temporary = tempfile::Builder::new()
        .prefix(".linkspan-")
        .permissions(fs::Permissions::from_mode(0o600))
        .tempfile_in(folder)?;
    temporary.write_all(contents)?;
    temporary.persist(folder.join(name))?;
    Ok(())
}

/// A folder that only its owner can enter; the mode of an existing one of ours is tightened.
pub(crate) fn make_private_folder(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let metadata = fs::metadata(folder)?;
    if metadata.uid() == rustix::process::getuid().as_raw() && metadata.mode() & 0o077 != 0 {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// Tightens the files in a folder: an older version created files that others could read.
pub(crate) fn make_contents_private(folder: &Path) -> io::Result<()> {
    let ours = rustix::process::getuid().as_raw();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        // Of a symlink itself, not its target.
        let Ok(found) = entry.metadata() else { continue };
        if found.is_file() && found.uid() == ours && found.mode() & 0o077 != 0 {
            fs::set_permissions(entry.path(), fs::Permissions::from_mode(found.mode() & 0o700))?;
        }
    }
    Ok(())
}
