//! The dialect of Claude Code, and of what speaks its protocol: MCP over WebSocket, the agent writes.

mod encode;
mod events;
mod shapes;
pub(crate) mod tools;

use linkspan_review::Writer;

use crate::dialect::Dialect;
use crate::discovery::{DiscoveryFile, Lookup, WindowFacts, directory, lock_file};
use crate::mcp::{Mcp, ToolList};

pub(crate) static DIALECT: Dialect = Dialect {
    name: "claude",
    token_header: "x-claude-code-ide-authorization",
    subprotocol: Some("mcp"),
    writer: Writer::Agent,
    discovery,
    terminal_environment,
    mcp: Mcp {
        tools: tools::TOOLS,
        list: ToolList::new(),
        frame_limit: None,
        encode: encode::encode,
        event: events::event,
        goodbye: None,
        answers_cancelled: false,
    },
};

fn discovery(window: &WindowFacts<'_>, lookup: Lookup<'_>) -> Option<DiscoveryFile> {
    let config = directory(lookup, "CLAUDE_CONFIG_DIR")
        .or_else(|| directory(lookup, "HOME").map(|home| home.join(".claude")))?;
    Some(lock_file(config.join("ide"), window, Some(false)))
}

/// The port makes the agent connect by itself. The token is not among them: the agent reads it in the
/// lock file, and a variable would be seen by every process of the terminal.
fn terminal_environment(port: u16) -> Vec<(String, String)> {
    vec![
        ("CLAUDE_CODE_SSE_PORT".to_owned(), port.to_string()),
        ("ENABLE_IDE_INTEGRATION".to_owned(), "true".to_owned()),
    ]
}
