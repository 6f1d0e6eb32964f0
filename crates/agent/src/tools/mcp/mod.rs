//! The user's MCP servers: started in the background when they are first wanted, their tools named `server.tool`. Owns
//! which servers run; must not know how messages travel.

mod config;
mod http;
mod rpc;
mod server;
mod stdio;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::ToolContext;
use super::answer::Answer;
use crate::models::ToolSpec;
use server::Server;

pub(crate) use config::name_of;
pub use config::{McpConfigError, ServerConfig, read_servers};

const LOOK: Duration = Duration::from_millis(10);

/// Receives one line for the user when a server fails.
pub type Report = Arc<dyn Fn(&str) + Send + Sync>;

pub(crate) struct McpServers {
    servers: BTreeMap<String, Arc<Server>>,
    report: Arc<Mutex<Option<Report>>>,
}

impl McpServers {
    pub(crate) fn new(configs: BTreeMap<String, ServerConfig>) -> McpServers {
        let report = Arc::<Mutex<Option<Report>>>::default();
        let servers = configs.into_iter().filter(|(_, config)| !config.disabled).map(|(name, config)| {
            let server = Server::new(name.clone(), config, Arc::clone(&report));
            (name, Arc::new(server))
        });
        McpServers { servers: servers.collect(), report }
    }

    pub(crate) fn set_report(&self, report: Report) {
        *self.report.lock().unwrap_or_else(PoisonError::into_inner) = Some(report);
    }

    /// Starts those that were never started, in the background.
    pub(crate) fn start(&self) {
        self.servers.values().for_each(Server::start);
    }

    /// Of the servers that run by now.
    pub(crate) fn specs(&self) -> Vec<ToolSpec> {
        self.start();
        self.servers.values().flat_map(|server| server.specs()).collect()
    }

    /// Waits until each runs or cannot be started, but at most this long.
    pub(crate) fn wait_until_started(&self, patience: Duration) {
        let until = Instant::now() + patience;
        while self.servers.values().any(|server| server.is_starting()) && Instant::now() < until {
            thread::sleep(LOOK);
        }
    }

    /// Whether the tool would be one of these servers, by its name.
    pub(crate) fn has_server_of(&self, tool: &str) -> bool {
        self.of_tool(tool).is_some()
    }

    pub(crate) fn has(&self, tool: &str) -> bool {
        self.of_tool(tool).is_some_and(|(server, tool)| server.has(tool))
    }

    /// `None`: there is no such tool.
    pub(crate) fn run(&self, name: &str, arguments: &Value, context: &ToolContext) -> Option<Answer> {
        let (server, tool) = self.of_tool(name)?;
        server.has(tool).then(|| server.call(tool, arguments, context))
    }

    pub(crate) fn status(&self) -> Vec<(String, String)> {
        self.servers.iter().map(|(name, server)| (name.clone(), server.status())).collect()
    }

    /// The server, and the name that the tool has there. The name of a server has no dot.
    fn of_tool<'t>(&self, name: &'t str) -> Option<(&Arc<Server>, &'t str)> {
        let (server, tool) = name.split_once('.')?;
        Some((self.servers.get(server)?, tool))
    }
}

#[cfg(test)]
mod tests;
