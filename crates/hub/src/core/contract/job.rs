//! Jobs that the hub runs for agents without an editor, and their results.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use linkspan_dialect::WorkspaceRequest;
use linkspan_workspace::Workspace;
use linkspan_workspace::terminal::{CommandReport, Output};

/// One of the hub's own terminals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TerminalId(pub u64);

/// How a terminal is started.
#[derive(Debug, Clone)]
pub struct TerminalSetup {
    pub name: String,
    pub cwd: PathBuf,
    pub environment: BTreeMap<String, String>,
}

/// A job for an agent that needs no editor.
#[derive(Debug)]
pub enum AgentJob {
    Workspace {
        workspace: Workspace,
        /// Its paths are absolute.
        request: WorkspaceRequest,
    },
    /// Runs a command in one of the hub's own terminals, which is opened if necessary.
    RunCommand {
        terminal: TerminalId,
        setup: TerminalSetup,
        command: String,
        cwd: Option<PathBuf>,
        timeout: Duration,
    },
    /// Reads the output of one of the hub's own terminals.
    ShowTerminal { terminal: TerminalId },
}

/// The result of a job.
#[derive(Debug)]
pub enum JobOutput {
    /// As JSON.
    Data {
        json: String,
        truncated: bool,
    },
    Ran(CommandReport),
    Printed(Output),
}
