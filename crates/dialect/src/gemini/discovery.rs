//! The discovery files of the two agents: each has its own directory and JSON.

use std::path::{Path, PathBuf};

use linkspan_editor_api::wire_names::{
    GEMINI_DIRECTORY, IDE_DIRECTORY, QWEN_DIRECTORY, env, gemini_file_name, lock_file_name,
};
use serde::Serialize;

use crate::discovery::{DiscoveryFile, Lookup, WindowFacts, directory};
use crate::mcp::json;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GeminiFile<'a> {
    port: u16,
    workspace_path: &'a str,
    auth_token: &'a str,
    /// Without it, Gemini CLI connects only in a terminal of an editor that it knows.
    ide_info: IdeInfo<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    linkspan: Option<&'a str>,
}

#[derive(Serialize, Clone, Copy)]
#[serde(rename_all = "camelCase")]
struct IdeInfo<'a> {
    name: &'static str,
    display_name: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct QwenLock<'a> {
    port: u16,
    workspace_path: &'a str,
    auth_token: &'a str,
    /// Qwen Code removes the file if this process is dead.
    ppid: u32,
    ide_name: &'a str,
    /// Without it, Qwen Code connects only in a terminal of VS Code.
    ide_info: IdeInfo<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    linkspan: Option<&'a str>,
}

pub(super) fn files(window: &WindowFacts<'_>, lookup: Lookup<'_>) -> Vec<DiscoveryFile> {
    let folders = workspace_path(window);
    let temporary = directory(lookup, "TMPDIR").unwrap_or_else(|| PathBuf::from("/tmp"));
    let ide_info = IdeInfo { name: "linkspan", display_name: window.editor_name };
    let gemini = GeminiFile {
        port: window.port,
        workspace_path: &folders,
        auth_token: window.token,
        ide_info,
        linkspan: window.port_space,
    };
    let qwen = QwenLock {
        port: window.port,
        workspace_path: &folders,
        auth_token: window.token,
        ppid: window.pid,
        ide_name: window.editor_name,
        ide_info,
        linkspan: window.port_space,
    };
    let gemini = DiscoveryFile {
        directory: temporary.join(GEMINI_DIRECTORY).join(IDE_DIRECTORY),
        file_name: gemini_file_name(window.pid, window.port),
        contents: json(&gemini).into_bytes(),
        shared: false,
    };
    let qwen = directory(lookup, "HOME").map(|home| DiscoveryFile {
        directory: home.join(QWEN_DIRECTORY).join(IDE_DIRECTORY),
        file_name: lock_file_name(window.port),
        contents: json(&qwen).into_bytes(),
        shared: false,
    });
    std::iter::once(gemini).chain(qwen).collect()
}

/// The token is not included: both read it from the file, and every process of the terminal could read a variable.
pub(super) fn terminal_environment(window: &WindowFacts<'_>) -> Vec<(String, String)> {
    let (port, folders) = (window.port.to_string(), workspace_path(window));
    let variables = [
        (env::GEMINI_PORT, port.clone()),
        (env::GEMINI_WORKSPACE_PATH, folders.clone()),
        // Selects the file if the ancestors of the terminal's processes do not.
        (env::GEMINI_PID, window.pid.to_string()),
        (env::QWEN_PORT, port),
        (env::QWEN_WORKSPACE_PATH, folders),
    ];
    variables.map(|(name, value)| (name.to_owned(), value)).into()
}

/// A folder that this list cannot express is left out: a garbled name could match a different folder.
fn workspace_path(window: &WindowFacts<'_>) -> String {
    let folders = window.folders.iter().map(PathBuf::as_path).filter_map(Path::to_str);
    folders.filter(|folder| !folder.contains(':')).collect::<Vec<_>>().join(":")
}
