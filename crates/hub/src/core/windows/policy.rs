//! Which files must not leave a window: its deny globs, and Linkspan's own files. The edge has resolved symlinks.

use std::path::{Path, PathBuf};

use linkspan_editor_api::DenyGlobs;

#[derive(Debug, Default)]
pub(in crate::core) struct Policy {
    folders: Vec<PathBuf>,
    deny: DenyGlobs,
    /// Linkspan's own files, and the folders with the tokens of windows.
    own: Vec<PathBuf>,
}

impl Policy {
    pub(in crate::core) fn new(folders: Vec<PathBuf>, deny: DenyGlobs, own: &[PathBuf]) -> Policy {
        Policy { folders, deny, own: own.to_vec() }
    }

    pub(in crate::core) fn everything(folders: Vec<PathBuf>) -> Policy {
        Policy { folders, deny: DenyGlobs::new(&["**".to_owned()]).unwrap_or_default(), own: Vec::new() }
    }

    /// Keeps one more folder from agents.
    pub(in crate::core) fn keep(&mut self, place: PathBuf) {
        self.own.push(place);
    }

    pub(in crate::core) fn globs(&self) -> DenyGlobs {
        self.deny.clone()
    }

    pub(in crate::core) fn denies(&self, path: impl AsRef<Path>) -> bool {
        let path = path.as_ref();
        // They contain what an agent may do: an agent must not write them.
        self.own.iter().any(|own| path.starts_with(own)) || self.deny.denies(&self.folders, path)
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
            let policy = Policy::new(vec!["/home/me/ws".into()], config.deny_globs(), &[]);
            assert!(policy.denies("/home/me/ws/secrets/deep/key.txt"), "{glob}");
            assert!(!policy.denies("/home/me/ws/src/secrets.rs"), "{glob}");
            assert!(!policy.denies("/home/me/ws/a.txt"), "{glob}");
        }
    }

    #[test]
    fn what_is_linkspans_own_is_denied_in_every_workspace() {
        let own = ["/home/me/.config/linkspan".into(), "/home/me/dotfiles/clients.toml".into()];
        for folder in ["/home/me", "/home/me/.config", "/home/me/.config/linkspan", "/home/me/dotfiles"] {
            let policy = Policy::new(vec![folder.into()], DenyGlobs::default(), &own);
            for path in [".config/linkspan/clients.toml", ".config/linkspan/new/x", "dotfiles/clients.toml"] {
                assert!(policy.denies(Path::new("/home/me").join(path)), "{folder} {path}");
            }
            assert!(!policy.denies("/home/me/.config/linkspan2/a"), "{folder}");
            assert!(!policy.denies("/home/me/dotfiles/a"), "{folder}");
        }
    }
}
