//! What the model may call. One file per tool or small group; each has a table of its tools and functions that run them
//! on a blocking thread. The tools of the editor (`ide.*`) and of MCP servers come from tables that change while we run.

mod answer;
mod arguments;
mod calculate;
mod changes;
mod command;
mod editor;
pub mod fetch;
mod files;
mod git;
mod http;
pub mod mcp;
mod paths;
pub(crate) mod plan;
mod session_servers;
pub mod spawn;
#[cfg(test)]
pub(crate) mod testing;
mod toolbox;

use std::path::PathBuf;
use std::sync::Arc;

use linkspan_client::Bridge;
use linkspan_client::confirm::{Cancellation, FileChange, TerminalPrompt};

use crate::message::{ModelCall, ToolResult};
use crate::models::ToolSpec;
use crate::permissions::{PermissionMode, ToolKind};

pub(crate) use editor::kind_elsewhere;
pub(crate) use files::read_text as read_text_of;
pub(crate) use paths::OwnFiles;
pub(crate) use session_servers::SessionServers;
pub use toolbox::{AgentTools, ToolsConfig};

/// What a running call may use. Cheap to clone.
#[derive(Clone)]
pub struct ToolContext {
    /// The agent's folder: relative paths start here.
    pub cwd: PathBuf,
    /// The agent's name, which reviews show.
    pub agent: String,
    /// The one bridge of the process.
    pub bridge: Arc<Bridge>,
    /// Called with a change before anybody is asked about it; returns when it is recorded, or never will be.
    pub propose: Arc<dyn Fn(&FileChange) + Send + Sync>,
    /// Where to ask about a change if no editor can show it, or at the same time.
    pub prompt: Arc<dyn TerminalPrompt + Send + Sync>,
    /// Ends the call early.
    pub cancelled: Arc<Cancellation>,
    /// The mode of the conversation.
    pub mode: PermissionMode,
    /// Receives output while the tool runs.
    pub output: Arc<dyn Fn(&str) + Send + Sync>,
}

impl std::fmt::Debug for ToolContext {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("ToolContext")
            .field("agent", &self.agent)
            .field("cwd", &self.cwd)
            .finish_non_exhaustive()
    }
}

/// All tools that can be called now.
pub trait Toolbox: Send + Sync {
    /// For the model.
    fn specs(&self) -> Vec<ToolSpec>;

    /// What kind a tool is. `None`: there is no such tool, and the error for the model names the nearest.
    fn kind(&self, name: &str) -> Option<ToolKind>;

    /// Runs it; blocks. Never panics on odd arguments.
    fn run(&self, call: &ModelCall, context: &ToolContext) -> ToolResult;
}
