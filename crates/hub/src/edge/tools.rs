//! The hub's own terminals, and the work that is done for agents: what each is, made ready for a thread of its own.

use std::collections::HashMap;
use std::sync::Arc;

use linkspan_workspace::terminal::{Size, Terminal};
use linkspan_workspace::{Cancel, WorkspaceError};

use crate::core::{Opening, TerminalId, Tool};
use crate::work::{Done, carry_out};

#[derive(Debug, Default)]
pub(super) struct Terminals(HashMap<TerminalId, Arc<Terminal>>);

type Job = Box<dyn FnOnce() -> Result<Done, WorkspaceError> + Send>;

impl Terminals {
    pub(super) fn job(&mut self, tool: Tool, cancel: Cancel) -> Job {
        match tool {
            Tool::Work { workspace, work } => Box::new(move || carry_out(&workspace, &work, &cancel)),
            Tool::Run { terminal, opening, command, cwd, timeout } => {
                let Opening { name, cwd: home, environment } = opening;
                let open = || Arc::new(Terminal::open(name, home, environment, Size::default()));
                let terminal = Arc::clone(self.0.entry(terminal).or_insert_with(open));
                Box::new(move || terminal.run(&command, cwd.as_deref(), timeout, &cancel).map(Done::Ran))
            }
            Tool::Show { terminal } => {
                let terminal = self.0.get(&terminal).cloned();
                // Nothing ever ran in one that is not open.
                Box::new(move || {
                    Ok(Done::Printed(terminal.map(|terminal| terminal.output()).unwrap_or_default()))
                })
            }
        }
    }

    /// What runs there is ended.
    pub(super) fn close(&mut self, terminal: TerminalId) {
        if let Some(terminal) = self.0.remove(&terminal) {
            terminal.stop();
        }
    }
}
