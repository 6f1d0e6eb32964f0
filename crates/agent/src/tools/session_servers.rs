//! The tools of an agent that has MCP servers of its own, which its client named: those of all agents, and theirs. The
//! servers end with it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::mcp::{McpServers, Report, ServerConfig};
use super::toolbox::answered;
use super::{ToolContext, Toolbox};
use crate::message::{ModelCall, ToolResult};
use crate::models::ToolSpec;
use crate::permissions::ToolKind;

/// How long the first request to the model waits for servers that are still starting.
const FIRST_START: Duration = Duration::from_secs(3);

/// Servers of one agent, on top of the tools of all.
pub(crate) struct SessionServers {
    shared: Arc<dyn Toolbox>,
    servers: McpServers,
}

impl SessionServers {
    /// Starts them in the background.
    pub(crate) fn start(
        shared: Arc<dyn Toolbox>,
        servers: BTreeMap<String, ServerConfig>,
        report: Report,
    ) -> SessionServers {
        let servers = McpServers::new(servers);
        servers.set_report(report);
        servers.start();
        SessionServers { shared, servers }
    }
}

impl Toolbox for SessionServers {
    /// A server of the agent hides one of the same name that all agents have.
    fn specs(&self) -> Vec<ToolSpec> {
        self.servers.wait_until_started(FIRST_START);
        let mut specs = self.shared.specs();
        specs.retain(|spec| !self.servers.has_server_of(&spec.name));
        specs.extend(self.servers.specs());
        specs
    }

    fn kind(&self, name: &str) -> Option<ToolKind> {
        match self.servers.has_server_of(name) {
            true => self.servers.has(name).then_some(ToolKind::Foreign),
            false => self.shared.kind(name),
        }
    }

    fn run(&self, call: &ModelCall, context: &ToolContext) -> ToolResult {
        match self.servers.has_server_of(&call.name) {
            true => answered(call, context, |arguments| self.servers.run(&call.name, arguments, context)),
            false => self.shared.run(call, context),
        }
    }
}
