//! The hub's own terminals, and each job that the core requests as a closure for a thread.

use std::collections::HashMap;
use std::sync::Arc;

use linkspan_workspace::terminal::{Size, Terminal};
use linkspan_workspace::{Cancel, WorkspaceError};

use crate::core::contract::{AgentJob, JobOutput, TerminalId, TerminalSetup};
use crate::edge::jobs::run_job;

#[derive(Debug, Default)]
pub(crate) struct Terminals(HashMap<TerminalId, Arc<Terminal>>);

type Runnable = Box<dyn FnOnce() -> Result<JobOutput, WorkspaceError> + Send>;

impl Terminals {
    pub(crate) fn job(&mut self, tool: AgentJob, cancel: Cancel) -> Runnable {
        match tool {
            AgentJob::Workspace { workspace, request } => {
                Box::new(move || run_job(&workspace, &request, &cancel))
            }
            AgentJob::RunCommand { terminal, setup, command, cwd, timeout } => {
                let TerminalSetup { name, cwd: home, environment } = setup;
                let open = || Arc::new(Terminal::open(name, home, environment, Size::default()));
                let terminal = Arc::clone(self.0.entry(terminal).or_insert_with(open));
                Box::new(move || terminal.run(&command, cwd.as_deref(), timeout, &cancel).map(JobOutput::Ran))
            }
            AgentJob::ShowTerminal { terminal } => {
                let terminal = self.0.get(&terminal).cloned();
                // Nothing ever ran in a terminal that is not open.
                Box::new(move || {
                    Ok(JobOutput::Printed(terminal.map(|terminal| terminal.output()).unwrap_or_default()))
                })
            }
        }
    }

    /// Ends what runs in it.
    pub(crate) fn close(&mut self, terminal: TerminalId) {
        if let Some(terminal) = self.0.remove(&terminal) {
            terminal.stop();
        }
    }
}
