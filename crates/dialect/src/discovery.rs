//! The files by which agents find a window: their place, name and contents.
//! Writing, replacing and removing them is the hub's.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::Serialize;

/// What a discovery file tells about a window.
#[derive(Debug, Clone, Copy)]
pub struct WindowFacts<'a> {
    pub port: u16,
    pub token: &'a str,
    /// The editor's own process: agents take a dead one for a stale file, and compare it with their ancestors.
    pub pid: u32,
    pub editor_name: &'a str,
    pub folders: &'a [PathBuf],
    /// Where the port is a port, as `linkspan_editor_api::port_space` names it: marks the file as ours, for who
    /// finds it after the hub was killed.
    pub port_space: Option<&'a str>,
    /// A word by which a file without the token is known to be this window's; it tells nothing of the token.
    pub mark: &'a str,
    /// Now, since 1970.
    pub unix_ms: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscoveryFile {
    pub directory: PathBuf,
    pub file_name: String,
    pub contents: Vec<u8>,
    /// There is only one such file, for the window that was focused last.
    pub shared: bool,
}

impl DiscoveryFile {
    pub fn path(&self) -> PathBuf {
        self.directory.join(&self.file_name)
    }
}

/// The environment, injected so that nothing here reads the real one.
pub(crate) type Lookup<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// A directory that a variable names. Unset, empty and relative mean that there is none: a relative one
/// would be another place for the hub than for the agent.
pub(crate) fn directory(lookup: Lookup<'_>, variable: &str) -> Option<PathBuf> {
    lookup(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// The folders in which discovery files stand, those of other programs among them. They hold the tokens of windows.
pub fn discovery_folders(lookup: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let nobody = WindowFacts {
        port: 0,
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
    // Also where they would be without the variables that this process happens to have.
    let usual = home.iter().flat_map(|home| [".claude", ".copilot"].map(|name| home.join(name).join("ide")));
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

/// The lock file that the claude dialect began and nexus3 took over, but for one key.
pub(crate) fn lock_file(
    directory: PathBuf,
    window: &WindowFacts<'_>,
    running_in_windows: Option<bool>,
) -> DiscoveryFile {
    let lock = Lock {
        pid: window.pid,
        // JSON cannot name a folder that is not UTF-8, and a garbled name could match someone else's.
        workspace_folders: window.folders.iter().map(PathBuf::as_path).filter_map(Path::to_str).collect(),
        ide_name: window.editor_name,
        transport: "ws",
        running_in_windows,
        auth_token: window.token,
        linkspan: window.port_space,
    };
    DiscoveryFile {
        directory,
        file_name: format!("{}.lock", window.port),
        contents: crate::mcp::json(&lock).into_bytes(),
        shared: false,
    }
}
