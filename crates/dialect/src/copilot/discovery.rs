//! The lock file by which Copilot CLI finds a window's socket.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use linkspan_editor_api::wire_names::{COPILOT_DIRECTORY, IDE_DIRECTORY, LOCK_SUFFIX, env};
use serde::Serialize;

use crate::discovery::{DiscoveryFile, Lookup, WindowFacts, directory};
use crate::mcp::json;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CopilotLock<'a> {
    socket_path: &'a str,
    scheme: &'static str,
    /// Sent with every request, exactly so.
    headers: BTreeMap<&'static str, String>,
    /// Copilot CLI ignores the file if this process is dead.
    pid: u32,
    ide_name: &'a str,
    timestamp: u64,
    workspace_folders: Vec<&'a str>,
    /// Always true: an untrusted folder has no window here.
    is_trusted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    linkspan: Option<&'a str>,
}

/// None without a socket. JSON cannot name a path that is not UTF-8.
pub(super) fn files(window: &WindowFacts<'_>, lookup: Lookup<'_>) -> Vec<DiscoveryFile> {
    let Some(socket_path) = window.socket.and_then(Path::to_str) else { return Vec::new() };
    let lock = CopilotLock {
        socket_path,
        scheme: "unix",
        headers: BTreeMap::from([("Authorization", format!("Nonce {}", window.token))]),
        pid: window.pid,
        ide_name: window.editor_name,
        timestamp: window.unix_ms,
        // A garbled name could match a different folder.
        workspace_folders: window.folders.iter().map(PathBuf::as_path).filter_map(Path::to_str).collect(),
        is_trusted: true,
        linkspan: window.port_space,
    };
    let contents = json(&lock).into_bytes();
    let named = directory(lookup, env::COPILOT_HOME);
    let usual = directory(lookup, "HOME").map(|home| home.join(COPILOT_DIRECTORY));
    // An agent in another terminal may have the variable although we do not, or the other way round.
    let usual = usual.filter(|usual| named.as_ref() != Some(usual));
    let folders = named.into_iter().chain(usual);
    let file = |folder: PathBuf| DiscoveryFile {
        directory: folder.join(IDE_DIRECTORY),
        file_name: file_name(window),
        contents: contents.clone(),
        shared: false,
    };
    folders.map(file).collect()
}

/// In the form of a UUID, as Copilot's own editors name it. The mark tells windows apart and reveals nothing.
fn file_name(window: &WindowFacts<'_>) -> String {
    let digits = window.mark.chars().chain(std::iter::repeat('0'));
    let mark: String = digits.filter(char::is_ascii_hexdigit).take(16).collect();
    let part = |from: usize, to: usize| mark.get(from..to).unwrap_or_default();
    format!("{}-{}-4{}-8000-{:012x}{LOCK_SUFFIX}", part(0, 8), part(8, 12), part(13, 16), window.port)
}
