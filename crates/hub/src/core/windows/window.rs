//! One window: its editor, its folders under the names that the editor and the disk have for them, its rules.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use linkspan_dialect::{DiscoveryFile, WindowFolders};
use linkspan_editor_api::{Attach, Capabilities, Editor, RequestId};

use crate::config::Config;
use crate::core::contract::ConnectionId;
use crate::core::timers::TimerId;
use crate::core::windows::changed_diagnostics::ChangedDiagnostics;
use crate::core::windows::context::Context;
use crate::core::windows::policy::Policy;
use crate::token::Token;

#[derive(Debug)]
pub(in crate::core) struct Window {
    /// Same editor, same folders (or the id it gave): the same window when it comes back.
    pub(in crate::core) identity: WindowIdentity,
    pub(in crate::core) editor: Editor,
    pub(in crate::core) pid: u32,
    /// Symlinks followed: what paths are checked against.
    pub(in crate::core) folders: Vec<PathBuf>,
    pub(in crate::core) port: u16,
    /// The Unix socket for agents, or why it could not be made; `None` if no dialect needs it.
    pub(in crate::core) socket: Option<Result<PathBuf, String>>,
    pub(in crate::core) token: Token,
    /// The user's config, tightened by the workspace.
    pub(in crate::core) config: Config,
    pub(in crate::core) policy: Policy,
    pub(in crate::core) connection: Option<ConnectionId>,
    pub(in crate::core) capabilities: Capabilities,
    pub(in crate::core) discovery: Vec<(&'static str, DiscoveryFile)>,
    /// `CLAUDE_CONFIG_DIR` in the editor's process.
    pub(in crate::core) claude_config_dir: Option<String>,
    /// Files that the user was notified about as too large.
    pub(in crate::core) too_large: BTreeSet<PathBuf>,
    /// Where the user is, for agents that follow it.
    pub(in crate::core) context: Context,
    pub(in crate::core) changed_diagnostics: ChangedDiagnostics,
    pub(super) grace: Option<TimerId>,
    /// The `attach` request of an editor that waits for its answer.
    pub(in crate::core) arriving: Option<RequestId>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::core) struct WindowIdentity {
    pub(in crate::core) editor: String,
    /// As the editor names them.
    pub(in crate::core) folders: Vec<PathBuf>,
    /// The id the editor keeps over reloads, or empty.
    pub(in crate::core) key: String,
}

impl WindowIdentity {
    pub(super) fn of(attach: &Attach) -> WindowIdentity {
        WindowIdentity {
            editor: attach.editor.name.clone(),
            folders: attach.folders.iter().map(PathBuf::from).collect(),
            key: attach.window_id.clone().unwrap_or_default(),
        }
    }

    /// The editor's own id is enough; its folders may have changed.
    pub(super) fn is_same(&self, editor: &str, folders: &[PathBuf], key: &str) -> bool {
        self.editor == editor && self.key == key && (!key.is_empty() || same_folders(&self.folders, folders))
    }
}

/// Editors use the folder's own name for files, agents also its real path.
pub(super) fn both_names(named: &[impl AsRef<Path>], real: &[PathBuf]) -> Vec<PathBuf> {
    named.iter().map(|folder| folder.as_ref().to_owned()).chain(real.iter().cloned()).collect()
}

/// The same file under another name of its folder.
fn replace_folder(path: &Path, from: &Path, to: &Path) -> Option<PathBuf> {
    let rest = path.strip_prefix(from).ok()?;
    // Joining nothing would add a slash.
    Some(if rest.as_os_str().is_empty() { to.to_owned() } else { to.join(rest) })
}

impl Window {
    /// A file as the editor names it, which may have opened the folder through a symlink: under any other name
    /// it would not know its own document.
    pub(in crate::core) fn editor_path(&self, path: &Path) -> PathBuf {
        // Folders that do not exist have no real path; then the two lists do not match.
        let paired = self.identity.folders.len() == self.folders.len();
        let mut pairs = self.identity.folders.iter().zip(&self.folders).filter(|_| paired);
        let named = pairs.find_map(|(named, real)| replace_folder(path, real, named));
        named.unwrap_or_else(|| path.to_owned())
    }
}

impl Window {
    /// Where the editor has no terminals, the hub uses its own. An older editor does not say whether its folder is
    /// trusted: it has documents and no terminal where it is not.
    pub(in crate::core) fn runs_commands(&self) -> bool {
        let Capabilities { trusted, terminal, documents, .. } = self.capabilities;
        trusted.unwrap_or(terminal || !documents)
    }

    pub(in crate::core) fn both_folders(&self) -> WindowFolders {
        WindowFolders { named: self.identity.folders.clone(), real: self.folders.clone() }
    }

    /// Whether it is in one of the folders, as the editor or the disk names them.
    pub(in crate::core) fn contains(&self, path: impl AsRef<Path>) -> bool {
        let mut folders = self.identity.folders.iter().chain(&self.folders);
        folders.any(|folder| path.as_ref().starts_with(folder))
    }

    /// The real path, as far as its folder goes. The argument may be relative.
    pub(in crate::core) fn real_path(&self, path: &Path) -> PathBuf {
        let path = if path.is_relative() { self.absolute_path(path) } else { path.to_owned() };
        let paired = self.identity.folders.len() == self.folders.len();
        let mut pairs = self.identity.folders.iter().zip(&self.folders).filter(|_| paired);
        let real = pairs.find_map(|(named, real)| replace_folder(&path, named, real));
        real.unwrap_or(path)
    }

    /// A path that may be relative to the workspace.
    pub(in crate::core) fn absolute_path(&self, path: &Path) -> PathBuf {
        let folders = &self.identity.folders;
        let named = |folder: &&PathBuf| {
            folders.len() > 1 && folder.file_name().is_some_and(|name| path.starts_with(name))
        };
        // A search on the disk reports their real names.
        let inside = folders
            .iter()
            .chain(&self.folders)
            .find(named)
            .and_then(|folder| Some(folder.parent()?.join(path)));
        inside.or_else(|| folders.first().map(|folder| folder.join(path))).unwrap_or_else(|| path.to_owned())
    }
}

fn same_folders(a: &[PathBuf], b: &[PathBuf]) -> bool {
    a.len() == b.len() && a.iter().all(|folder| b.contains(folder))
}
