//! What may leave a window: its workspace folders and deny globs. Pure; symlinks were followed by the edge.

use std::path::{Path, PathBuf};

use linkspan_editor_api::DenyGlobs;

#[derive(Debug, Default)]
pub(super) struct Policy {
    folders: Vec<PathBuf>,
    deny: DenyGlobs,
}

impl Policy {
    pub(super) fn new(folders: Vec<PathBuf>, deny: DenyGlobs) -> Policy {
        Policy { folders, deny }
    }

    pub(super) fn everything(folders: Vec<PathBuf>) -> Policy {
        Policy { folders, deny: DenyGlobs::new(&["**".to_owned()]).unwrap_or_default() }
    }

    pub(super) fn globs(&self) -> DenyGlobs {
        self.deny.clone()
    }

    pub(super) fn denies(&self, path: impl AsRef<Path>) -> bool {
        self.deny.denies(&self.folders, path.as_ref())
    }

    pub(super) fn denied(path: &Path) -> String {
        format!("{} is kept from agents by `deny` in config.toml or .linkspan.toml", path.display())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn a_denied_folder_is_denied_with_all_that_is_in_it_however_it_is_written() {
        for glob in ["secrets", "secrets/", "./secrets/**", "/home/me/ws/secrets", "/home/me/ws/secrets/**"] {
            let config = Config { deny: vec![glob.to_owned()], ..Config::default() };
            let policy = Policy::new(vec!["/home/me/ws".into()], config.deny_globs());
            assert!(policy.denies("/home/me/ws/secrets/deep/key.txt"), "{glob}");
            assert!(!policy.denies("/home/me/ws/src/secrets.rs"), "{glob}");
            assert!(!policy.denies("/home/me/ws/a.txt"), "{glob}");
        }
    }
}
