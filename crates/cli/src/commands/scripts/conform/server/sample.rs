//! The files that an agent proposes to change: a new folder inside the server's workspace, because servers refuse paths
//! outside, or in the temporary folder if no workspace is known. It is removed at the end.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::cli::exit::Failure;
use crate::visible::name;

/// What the sample file holds.
pub(crate) const BEFORE: &str = "one\ntwo\nthree\n";
/// What is proposed instead.
pub(crate) const AFTER: &str = "one\nTWO\nthree\n";

pub(crate) struct Sample {
    folder: TempDir,
    pub(crate) path: PathBuf,
}

impl Sample {
    pub(crate) fn create(workspace: Option<&Path>) -> Result<Sample, Failure> {
        let mut builder = tempfile::Builder::new();
        let builder = builder.prefix("linkspan-conform-");
        let folder = match workspace {
            Some(workspace) => builder.tempdir_in(workspace),
            None => builder.tempdir(),
        };
        let at = workspace.map_or_else(std::env::temp_dir, Path::to_path_buf);
        let failed = |error: std::io::Error| {
            Failure::usage(format!(
                "cannot write a sample file below {}: {error}; name another folder of the server's workspace with \
                 --workspace",
                name(&at.to_string_lossy())
            ))
        };
        let folder = folder.map_err(failed)?;
        let root = folder.path().canonicalize().map_err(failed)?;
        let path = root.join("sample.txt");
        fs::write(&path, BEFORE).map_err(failed)?;
        Ok(Sample { folder, path })
    }

    /// From now on another file is the sample, about which nothing was proposed.
    pub(crate) fn renew(&mut self, file_name: &str) {
        self.path.set_file_name(file_name);
        self.restore();
    }

    pub(crate) fn path_text(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    /// The path of a file that does not exist.
    pub(crate) fn new_file(&self) -> PathBuf {
        self.path.with_file_name("new.txt")
    }

    /// Writes the text that an accepted change replaced.
    pub(crate) fn restore(&self) {
        // The next point reads the file and reports what it holds.
        let _ = fs::write(&self.path, BEFORE);
    }

    pub(crate) fn holds(&self) -> String {
        fs::read_to_string(&self.path).unwrap_or_else(|error| format!("({error})"))
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.folder.path().to_path_buf()
    }

    pub(crate) fn note(&self) -> String {
        format!(
            "wrote a sample file into {}, which is removed again; nothing else was written by this check",
            self.folder.path().display()
        )
    }
}
