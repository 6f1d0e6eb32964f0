//! Discovery files, by which agents find a window: their paths and contents. The hub writes, replaces and removes them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use linkspan_editor_api::wire_names::{CLAUDE_DIRECTORY, COPILOT_DIRECTORY, IDE_DIRECTORY, lock_file_name};
use serde::Serialize;

/// The facts about a window in a discovery file.
#[derive(Debug, Clone, Copy)]
pub struct WindowFacts<'a> {
    pub port: u16,
    /// The Unix socket for agents that connect to one; none if it could not be made.
    pub socket: Option<&'a Path>,
    pub token: &'a str,
    /// The editor's own process. Agents compare it with their ancestors, and consider the file stale if it is dead.
    pub pid: u32,
    pub editor_name: &'a str,
    pub folders: &'a [PathBuf],
    /// The machine or container of the port, as `linkspan_editor_api::port_space` names it. Marks the file as ours, so
    /// that it can be removed after the hub was killed.
    pub port_space: Option<&'a str>,
    /// An id by which a file without a token is recognised as this window's. It reveals nothing about the token.
    pub mark: &'a str,
    /// The current time, since 1970.
    pub unix_ms: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscoveryFile {
    pub directory: PathBuf,
    pub file_name: String,
    pub contents: Vec<u8>,
    /// There is only one such file, for the window that had the focus last.
    pub shared: bool,
}

impl DiscoveryFile {
    pub fn path(&self) -> PathBuf {
        self.directory.join(&self.file_name)
    }
}

/// The environment, injected so that nothing here reads the real one.
pub(crate) type Lookup<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// A directory that a variable names. Unset, empty and relative values count as none: a relative path would be a
/// different directory for the hub than for the agent.
pub(crate) fn directory(lookup: Lookup<'_>, variable: &str) -> Option<PathBuf> {
    lookup(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// The directories of discovery files, including those of other programs. They hold the tokens of windows.
pub fn discovery_folders(lookup: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let nobody = WindowFacts {
        port: 0,
        // Any: without one, some dialects have no file.
        socket: Some(Path::new("")),
        token: "",
        pid: 0,
        editor_name: "",
        folders: &[],
        port_space: None,
        mark: "",
        unix_ms: 0,
    };
    let files = crate::ALL.iter().flat_map(|dialect| dialect.discovery_files(&nobody, &lookup));
    let home = directory(&lookup, "HOME");
    // Also the directories that are used without the environment variables of this process.
    let usual = home.iter().flat_map(|home| {
        [CLAUDE_DIRECTORY, COPILOT_DIRECTORY].map(|name| home.join(name).join(IDE_DIRECTORY))
    });
    files.map(|file| file.directory).chain(usual).collect()
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Lock<'a> {
    pid: u32,
    workspace_folders: Vec<&'a str>,
    ide_name: &'a str,
    transport: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    running_in_windows: Option<bool>,
    auth_token: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    linkspan: Option<&'a str>,
}

/// The lock file of the claude dialect, which nexus3 copied except for one key.
pub(crate) fn lock_file(
    directory: PathBuf,
    window: &WindowFacts<'_>,
    running_in_windows: Option<bool>,
) -> DiscoveryFile {
    let lock = Lock {
        pid: window.pid,
        // JSON cannot name a folder that is not UTF-8, and a garbled name could match a different folder.
        workspace_folders: window.folders.iter().map(PathBuf::as_path).filter_map(Path::to_str).collect(),
        ide_name: window.editor_name,
        transport: "ws",
        running_in_windows,
        auth_token: window.token,
        linkspan: window.port_space,
    };
    DiscoveryFile {
        directory,
        file_name: lock_file_name(window.port),
        contents: crate::mcp::json(&lock).into_bytes(),
        shared: false,
    }
}
