//! The dialect of GitHub Copilot CLI: MCP over Streamable HTTP on a Unix socket. After an accept the agent writes its own
//! proposal, whatever the answer says, so the hub writes any other text that the user accepts and answers "rejected".
//! Owns Copilot's JSON and lock file; must not know sockets or HTTP.

mod discovery;
mod encode;
mod events;
mod payload;
mod tools;

use linkspan_editor_api::Receives;
use linkspan_review::Writer;

use crate::dialect::{Dialect, Endpoint};
use crate::mcp::{Mcp, McpClient, McpSession, ToolList};
use crate::receives::{DialectReceives, KnownAgent};

pub(crate) static DIALECT: Dialect = Dialect {
    name: "copilot",
    endpoint: Endpoint::SocketStream { path: "/mcp" },
    writer: Writer::AgentAsProposed,
    relative_paths: false,
    receives: RECEIVES,
    converse: |_dialect, server| Box::new(McpSession::new(&MCP, server)),
    discovery: discovery::files,
    terminal_environment: |_window| Vec::new(),
};

/// The `message` of an answer reaches neither its model nor its terminal.
const RECEIVES: DialectReceives = DialectReceives {
    others: Receives::NOTHING,
    known: &[KnownAgent {
        name: COPILOT_CLI,
        title: COPILOT_CLI,
        receives: Receives::NOTHING,
        limit: None,
        hook: Some("copilot"),
    }],
};

const COPILOT_CLI: &str = "Copilot CLI";

static MCP: Mcp = Mcp {
    tools: tools::TOOLS,
    list: ToolList::new(),
    frame_limit: None,
    encode: encode::encode,
    event: events::event,
    goodbye: None,
    answers_cancelled: false,
    known_as,
    later: None,
    own_tool: None,
};

fn known_as(client: &McpClient, _protocol: &str) -> McpClient {
    let name = if client.name == "copilot-cli" { COPILOT_CLI } else { client.name.as_str() };
    McpClient { name: name.to_owned(), version: client.version.clone() }
}
