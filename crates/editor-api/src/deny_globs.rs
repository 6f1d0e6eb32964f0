//! Deny globs: which files agents cannot see. One implementation for every place that passes files on to agents.

use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// Globs of files that no agent may see or change. The default denies nothing.
#[derive(Debug, Clone, Default)]
pub struct DenyGlobs(GlobSet);

/// Why a glob is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{glob}` is not a glob: {reason}")]
pub struct DenyGlobError {
    /// As it was written; empty when all globs together are too large.
    pub glob: String,
    /// What is wrong with it.
    pub reason: String,
}

impl DenyGlobs {
    /// Compiles the globs.
    pub fn new(globs: &[String]) -> Result<DenyGlobs, DenyGlobError> {
        build(globs).map(DenyGlobs).map_err(|error| DenyGlobError {
            glob: error.glob().unwrap_or_default().to_owned(),
            reason: error.kind().to_string(),
        })
    }

    /// Whether exactly this path is denied: relative to a workspace folder, or from the root without its slash.
    pub fn is_match(&self, path: impl AsRef<Path>) -> bool {
        self.0.is_match(path)
    }

    /// Whether a file is denied, matched both relative to each workspace folder and from the root.
    pub fn denies(&self, folders: &[PathBuf], path: &Path) -> bool {
        let inside = folders.iter().filter_map(|folder| path.strip_prefix(folder).ok());
        let from_root = path.strip_prefix("/").unwrap_or(path);
        // Denying a folder denies everything in it.
        inside.chain([from_root]).flat_map(Path::ancestors).any(|path| self.is_match(path))
    }
}

fn build(globs: &[String]) -> Result<GlobSet, globset::Error> {
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        // A path from the root is matched without its first slash, and a folder without its last.
        let plain = glob.trim_start_matches("./").trim_matches('/');
        // `.env` alone matches the name anywhere, as users expect.
        let anywhere = if glob.contains('/') { plain.to_owned() } else { format!("**/{plain}") };
        set.add(GlobBuilder::new(&anywhere).literal_separator(true).case_insensitive(true).build()?);
    }
    set.build()
}
