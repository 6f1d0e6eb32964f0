//! The names that other programs fixed: headers, words in answers, variables, and where discovery files are. Each is
//! spelled once, here; how they are used is decided by the dialects and the client.
//!
//! Tests, `testkit`, `proof`, `benches` and `fuzz` spell them again on purpose: they stand for the other side of the
//! wire, and would not notice a typo here otherwise.

/// Headers, in lower case as HTTP libraries compare them.
pub mod header {
    /// A bearer token.
    pub const AUTHORIZATION: &str = "authorization";
    /// The token of a window, from Claude Code.
    pub const CLAUDE_TOKEN: &str = "x-claude-code-ide-authorization";
    /// The token of a window, from NEXUS3.
    pub const NEXUS3_TOKEN: &str = "x-nexus3-ide-authorization";
    /// The token of a bridge, from clients of ppxai.
    pub const PPXAI_TOKEN: &str = "x-ppxai-token";
    /// The session of MCP over Streamable HTTP.
    pub const MCP_SESSION_ID: &str = "mcp-session-id";
    /// The revision of MCP that a session agreed on.
    pub const MCP_PROTOCOL_VERSION: &str = "mcp-protocol-version";
    /// The last event that the reader of a broken stream received.
    pub const LAST_EVENT_ID: &str = "last-event-id";
    /// The session id that Copilot CLI chooses for itself.
    pub const COPILOT_SESSION_ID: &str = "x-copilot-session-id";
}

/// First text of the answer to `openDiff`.
pub mod diff_answer {
    /// The user accepted.
    pub const FILE_SAVED: &str = "FILE_SAVED";
    /// The user rejected.
    pub const DIFF_REJECTED: &str = "DIFF_REJECTED";
}

/// The decision in Copilot CLI's answer to `open_diff`.
pub mod copilot_answer {
    /// The agent writes its own proposal.
    pub const SAVED: &str = "SAVED";
    /// The agent writes nothing, and ends its turn.
    pub const REJECTED: &str = "REJECTED";
}

/// Environment variables that agents and editors read.
pub mod env {
    /// Claude Code's own directory, in place of [`CLAUDE_DIRECTORY`](super::CLAUDE_DIRECTORY) in the home directory.
    pub const CLAUDE_CONFIG_DIR: &str = "CLAUDE_CONFIG_DIR";
    /// The port of the window that a terminal belongs to, for Claude Code.
    pub const CLAUDE_CODE_SSE_PORT: &str = "CLAUDE_CODE_SSE_PORT";
    /// Makes Claude Code connect to an editor on its own.
    pub const ENABLE_IDE_INTEGRATION: &str = "ENABLE_IDE_INTEGRATION";
    /// Copilot CLI's own directory, in place of [`COPILOT_DIRECTORY`](super::COPILOT_DIRECTORY) in the home directory.
    pub const COPILOT_HOME: &str = "COPILOT_HOME";
    /// The port of the window that a terminal belongs to, for Clio.
    pub const CLIO_IDE_PORT: &str = "CLIO_IDE_PORT";
    /// The port of the window that a terminal belongs to, for Gemini CLI.
    pub const GEMINI_PORT: &str = "GEMINI_CLI_IDE_SERVER_PORT";
    /// Its token, where an editor puts it there; ours does not.
    pub const GEMINI_TOKEN: &str = "GEMINI_CLI_IDE_AUTH_TOKEN";
    /// The workspace folders of that window, separated by colons.
    pub const GEMINI_WORKSPACE_PATH: &str = "GEMINI_CLI_IDE_WORKSPACE_PATH";
    /// The process in the name of that window's discovery file.
    pub const GEMINI_PID: &str = "GEMINI_CLI_IDE_PID";
    /// The port of the window that a terminal belongs to, for Qwen Code.
    pub const QWEN_PORT: &str = "QWEN_CODE_IDE_SERVER_PORT";
    /// The workspace folders of that window, separated by colons.
    pub const QWEN_WORKSPACE_PATH: &str = "QWEN_CODE_IDE_WORKSPACE_PATH";
    /// The window that a terminal belongs to, for `linkspan` commands.
    pub const LINKSPAN_WINDOW: &str = "LINKSPAN_WINDOW";
    /// Set for agents whose requests for permission to edit become reviews, by the hub and `linkspan acp`: an agent that
    /// knows Linkspan does not ask in the editor as well.
    pub const LINKSPAN_ACP_REVIEWS: &str = "LINKSPAN_ACP_REVIEWS";
    /// The token of a bridge of ppxai.
    pub const PPXAI_BRIDGE_TOKEN: &str = "PPXAI_BRIDGE_TOKEN";
}

/// Claude Code's directory in the home directory.
pub const CLAUDE_DIRECTORY: &str = ".claude";
/// GitHub Copilot CLI's directory in the home directory.
pub const COPILOT_DIRECTORY: &str = ".copilot";
/// NEXUS3's directory in the home directory.
pub const NEXUS3_DIRECTORY: &str = ".nexus3";
/// Qwen Code's directory in the home directory.
pub const QWEN_DIRECTORY: &str = ".qwen";
/// Clio's directory in the home directory.
pub const CLIO_DIRECTORY: &str = ".clio";
/// Gemini CLI's directory in the directory of temporary files.
pub const GEMINI_DIRECTORY: &str = "gemini";
/// The directory of discovery files in each of these.
pub const IDE_DIRECTORY: &str = "ide";

/// Clio's only discovery file.
pub const CLIO_BRIDGE_FILE: &str = "bridge.json";
/// How the discovery files of Claude Code, NEXUS3 and Qwen Code end, after the port; and Copilot CLI's, after an id.
pub const LOCK_SUFFIX: &str = ".lock";
/// How the discovery files of Gemini CLI begin, before the process id.
pub const GEMINI_FILE_PREFIX: &str = "gemini-ide-server-";
/// How they end, after the port.
pub const GEMINI_FILE_SUFFIX: &str = ".json";

/// The discovery file of a window in a directory of Claude Code, NEXUS3 or Qwen Code.
pub fn lock_file_name(port: u16) -> String {
    format!("{port}{LOCK_SUFFIX}")
}

/// The discovery file of a window for Gemini CLI.
pub fn gemini_file_name(pid: u32, port: u16) -> String {
    format!("{GEMINI_FILE_PREFIX}{pid}-{port}{GEMINI_FILE_SUFFIX}")
}
