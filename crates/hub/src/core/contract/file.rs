//! Reads and writes of workspace files, and their results: paths, bytes and digests. The edge decides how they are
//! carried out.

use std::path::PathBuf;

use linkspan_review::{Digest, ReviewId, SharedBytes};

/// A path inside the workspace, and what it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileState {
    /// With symlinks resolved, inside one of the folders.
    pub path: PathBuf,
    /// If not, the path is still inside the workspace.
    pub exists: bool,
    /// Empty if the file does not exist or only its path was asked for.
    pub bytes: Vec<u8>,
}

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Want {
    /// Only whether the path is a file inside the workspace.
    FilePath,
    /// Only whether the path is a folder inside the workspace.
    FolderPath,
    Bytes {
        limit_mib: usize,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    #[error("{0} is not an absolute path; send the full path of the file")]
    Relative(String),
    #[error("{0:?} holds a NUL character, which no path can; send the path as it is on disk")]
    Nul(String),
    #[error("{0} is outside the workspace folders of this window; open its folder in the editor first")]
    Outside(String),
    #[error("{0} is a symlink to nothing; create its target or remove it")]
    Dangling(String),
    #[error("{0} is a folder, not a file")]
    Folder(String),
    #[error("{0} is a file, not a folder")]
    NoFolder(String),
    #[error("{0} is not a regular file (a device, socket or pipe)")]
    Special(String),
    #[error("{path} has {mib} MiB; files over {limit} MiB are not reviewed (limits.file_mib in config.toml)")]
    TooLarge { path: String, mib: u64, limit: usize },
    #[error(
        "{path} has {links} names (hard links), and replacing it would leave the others with the old text, so it was \
         not touched; open it in an editor that is attached and try again, or make it a file of its own first"
    )]
    Linked { path: String, links: u64 },
    #[error(
        "{path} was not touched, because you may not give {what} to the file that takes its place; open it in an \
         editor that is attached and try again"
    )]
    NotKept { path: String, what: String },
    #[error("{path}: {error}")]
    Io { path: String, error: String },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WriteError {
    /// The file changed since the decision; this is what it holds now.
    BaseMoved(Option<Vec<u8>>),
    Failed(FileError),
}

impl From<FileError> for WriteError {
    fn from(error: FileError) -> WriteError {
        WriteError::Failed(error)
    }
}

/// The replacement of a whole file.
#[derive(Debug, Clone)]
pub struct Replacement {
    /// Names the temporary file, so that a second attempt finds what the first one left behind.
    pub review: ReviewId,
    pub folders: Vec<PathBuf>,
    /// As resolved when the review began; if it resolves elsewhere now, nothing is written.
    pub path: PathBuf,
    pub bytes: SharedBytes,
    /// Digest of the bytes the decision was about; `None`: the file must not exist.
    pub expect: Option<Digest>,
    /// The mode for a file that does not exist, if it is known.
    pub mode: Option<u32>,
    pub limit_mib: usize,
}

/// The removal of one file.
#[derive(Debug, Clone)]
pub struct Removal {
    pub folders: Vec<PathBuf>,
    pub path: PathBuf,
    /// Digest of the bytes that the file must hold.
    pub expect: Digest,
    pub limit_mib: usize,
}

/// How a file is restored.
#[derive(Debug, Clone)]
pub enum Restoration {
    Replace(Replacement),
    Remove(Removal),
}
