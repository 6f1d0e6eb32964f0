//! A settings file of an agent on disk: where it is, reading it, its backup, and replacing it as a whole only if it
//! still holds what was read. Knows nothing of what is in it.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use linkspan_hub::disk::{self, FileError, Removal, Replacement, Want, WriteError};
use linkspan_review::{Digest, ReviewId};

use super::agent_row::{AgentRow, SettingsFolder, SettingsForm};
use super::json_text::JsonTextError;

/// Far more than any settings file has.
const LIMIT_MIB: usize = 4;

#[derive(Debug)]
pub(super) struct SettingsFile {
    /// As the agent names it.
    pub(super) path: PathBuf,
    /// The file that is read and written: symlinks are followed.
    pub(super) target: PathBuf,
    pub(super) bytes: Option<Vec<u8>>,
    /// Whether a symlink leads somewhere else.
    pub(super) is_elsewhere: bool,
}

/// Why a file was not written.
#[derive(Debug)]
pub(super) enum SaveError {
    /// Somebody else changed it since it was read.
    Changed,
    Failed(String),
}

impl SettingsFile {
    pub(super) fn path_of(row: &AgentRow, home: &Path) -> PathBuf {
        let SettingsFolder { variable, below_variable, home: below_home } = row.folder;
        let named = std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
        let folder = match named {
            Some(folder) => match folder.strip_prefix("~") {
                Ok(below) => home.join(below).join(below_variable),
                Err(_) => std::path::absolute(&folder).unwrap_or(folder).join(below_variable),
            },
            None => home.join(below_home),
        };
        // Joining an empty path leaves a slash at the end.
        folder.components().collect::<PathBuf>().join(row.file)
    }

    pub(super) fn read(path: PathBuf, home: &Path) -> Result<SettingsFile, FileError> {
        let found = disk::look(&everywhere(), &path, Want::Bytes { limit_mib: LIMIT_MIB })?;
        // The home directory itself may be behind a symlink, which surprises nobody.
        let expected = match (path.strip_prefix(home), home.canonicalize()) {
            (Ok(below), Ok(home)) => home.join(below),
            _ => path.clone(),
        };
        let is_elsewhere = found.path != expected;
        let bytes = found.exists.then_some(found.bytes);
        Ok(SettingsFile { path, target: found.path, bytes, is_elsewhere })
    }

    pub(super) fn text(&self) -> Result<Option<&str>, JsonTextError> {
        self.bytes.as_deref().map(utf8).transpose()
    }

    pub(super) fn backup_path(&self) -> PathBuf {
        let mut path = self.path.clone().into_os_string();
        path.push(".linkspan-backup");
        path.into()
    }

    /// The backup, if there is one that can be read.
    pub(super) fn backup(&self) -> Option<String> {
        let found =
            disk::look(&everywhere(), &self.backup_path(), Want::Bytes { limit_mib: LIMIT_MIB }).ok()?;
        found.exists.then_some(found.bytes).and_then(|bytes| String::from_utf8(bytes).ok())
    }

    /// Keeps the bytes of the file beside it, as private as the file is. Returns whether there is a new backup.
    pub(super) fn save_backup(&self) -> Result<bool, SaveError> {
        let Some(bytes) = &self.bytes else { return Ok(false) };
        let path = self.backup_path();
        if self.backup().is_some_and(|backup| backup.as_bytes() == bytes) {
            return Ok(false);
        }
        let failed =
            |error: io::Error| SaveError::Failed(format!("cannot write {}: {error}", path.display()));
        let mode = fs::metadata(&self.target).map_err(failed)?.permissions().mode() & 0o777;
        if let Err(error) = fs::remove_file(&path)
            && error.kind() != io::ErrorKind::NotFound
        {
            return Err(failed(error));
        }
        let folder = path.parent().unwrap_or(Path::new("/")).canonicalize().map_err(failed)?;
        let place = path.file_name().map_or(path.clone(), |name| folder.join(name));
        replace(&place, None, bytes, Some(mode))?;
        Ok(true)
    }

    pub(super) fn remove_backup(&self) {
        // The user can remove it as well.
        let _ = fs::remove_file(self.backup_path());
    }

    /// Writes the new text, or removes the file.
    pub(super) fn save(&self, text: Option<&str>, form: SettingsForm) -> Result<(), SaveError> {
        match (text, &self.bytes) {
            (Some(text), before) => replace(&self.target, before.as_deref(), text.as_bytes(), None),
            (None, None) => Ok(()),
            (None, Some(before)) => {
                let removal = Removal {
                    folders: everywhere(),
                    path: self.target.clone(),
                    expect: Digest::of(before),
                    limit_mib: LIMIT_MIB,
                };
                disk::remove(&removal).map_err(|error| save_error(&self.target, error))?;
                // The folder of files that are ours alone; it stays if anything else is in it.
                if let (SettingsForm::Flat | SettingsForm::Plugin, Some(folder)) = (form, self.path.parent())
                {
                    let _ = fs::remove_dir(folder);
                }
                Ok(())
            }
        }
    }
}

fn everywhere() -> Vec<PathBuf> {
    vec![PathBuf::from("/")]
}

fn replace(path: &Path, before: Option<&[u8]>, bytes: &[u8], mode: Option<u32>) -> Result<(), SaveError> {
    let order = Replacement {
        // Used only for the name of the temporary file.
        review: ReviewId(u64::from(std::process::id())),
        folders: everywhere(),
        path: path.to_owned(),
        bytes: bytes.to_vec().into(),
        expect: before.map(Digest::of),
        mode,
        limit_mib: LIMIT_MIB,
    };
    disk::replace(&order).map_err(|error| save_error(path, error))
}

fn save_error(path: &Path, error: WriteError) -> SaveError {
    match error {
        WriteError::BaseMoved(_) => SaveError::Changed,
        WriteError::Failed(error) => SaveError::Failed(format!("cannot write {}: {error}", path.display())),
    }
}

fn utf8(bytes: &[u8]) -> Result<&str, JsonTextError> {
    std::str::from_utf8(bytes).map_err(|error| {
        let good = String::from_utf8_lossy(bytes.get(..error.valid_up_to()).unwrap_or_default());
        let line = good.matches('\n').count() + 1;
        let column = good.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        JsonTextError { line, column, what: "Expected UTF-8".to_owned() }
    })
}
