//! The dialect of Claude Code, and of what speaks its protocol: MCP over WebSocket, the agent writes.

mod encode;
mod events;
mod shapes;
pub(crate) mod tools;

use linkspan_review::Writer;

use crate::dialect::{Dialect, Door};
use crate::discovery::{DiscoveryFile, Lookup, WindowFacts, directory, lock_file};
use crate::mcp::{Client, Mcp, Session, ToolList};

pub(crate) static DIALECT: Dialect = Dialect {
    name: "claude",
    door: Door::WebSocket { token_header: "x-claude-code-ide-authorization", subprotocol: Some("mcp") },
    writer: Writer::Agent,
    relative_paths: false,
    converse: |_dialect, server| Box::new(Session::new(&MCP, server)),
    discovery,
    terminal_environment,
};

static MCP: Mcp = Mcp {
    tools: tools::TOOLS,
    list: ToolList::new(),
    frame_limit: None,
    encode: encode::encode,
    event: events::event,
    goodbye: None,
    answers_cancelled: false,
    known_as: Client::as_it_says,
    later: None,
    own_tool: None,
};

fn discovery(window: &WindowFacts<'_>, lookup: Lookup<'_>) -> Vec<DiscoveryFile> {
    let named = directory(lookup, "CLAUDE_CONFIG_DIR");
    let usual = directory(lookup, "HOME").map(|home| home.join(".claude"));
    // An agent in another terminal may have the variable where we have not, or the other way round.
    let usual = usual.filter(|usual| named.as_ref() != Some(usual));
    let folders = named.into_iter().chain(usual);
    folders.map(|folder| lock_file(folder.join("ide"), window, Some(false))).collect()
}

/// The port makes the agent connect by itself. The token is not among them: the agent reads it in the
/// lock file, and a variable would be seen by every process of the terminal.
fn terminal_environment(window: &WindowFacts<'_>) -> Vec<(String, String)> {
    vec![
        ("CLAUDE_CODE_SSE_PORT".to_owned(), window.port.to_string()),
        ("ENABLE_IDE_INTEGRATION".to_owned(), "true".to_owned()),
    ]
}
