//! What the model may call. One file per tool or small group; each has a [`ToolSpec`] and a function that runs it on a
//! blocking thread. The tools of the editor (`ide.*`) and of MCP servers come from tables that change while we run.

use std::path::PathBuf;
use std::sync::Arc;

use linkspan_client::Bridge;
use linkspan_client::confirm::{Cancellation, TerminalPrompt};

use crate::message::{ToolCall, ToolResult};
use crate::models::ToolSpec;
use crate::permissions::{PermissionMode, ToolKind};

/// What a running call may use. Cheap to clone.
#[derive(Clone)]
pub struct ToolContext {
    /// The agent's folder: relative paths start here.
    pub cwd: PathBuf,
    /// The agent's name, which reviews show.
    pub agent: String,
    /// The one bridge of the process.
    pub bridge: Arc<Bridge>,
    /// Where to ask about a change if no editor can show it, or at the same time.
    pub prompt: Arc<dyn TerminalPrompt + Send + Sync>,
    /// Ends the call early.
    pub cancelled: Arc<Cancellation>,
    /// The mode of the conversation.
    pub mode: PermissionMode,
    /// Receives output while the tool runs.
    pub output: Arc<dyn Fn(&str) + Send + Sync>,
}

/// All tools that can be called now.
pub trait Toolbox: Send + Sync {
    /// For the model.
    fn specs(&self) -> Vec<ToolSpec>;

    /// What kind a tool is. `None`: there is no such tool, and the error for the model names the nearest.
    fn kind(&self, name: &str) -> Option<ToolKind>;

    /// Runs it; blocks. Never panics on odd arguments.
    fn run(&self, call: &ToolCall, context: &ToolContext) -> ToolResult;
}
