//! The dialect of Claude Code, and of other agents that use its protocol: MCP over WebSocket; the agent writes accepted
//! changes. Owns Claude Code's JSON, lock files and variables; must not know the other dialects.

mod encode;
mod events;
mod payload;
mod tools;

use linkspan_editor_api::Receives;
use linkspan_editor_api::wire_names::{CLAUDE_DIRECTORY, IDE_DIRECTORY, env, header};
use linkspan_review::Writer;

use crate::dialect::{Dialect, Endpoint};
use crate::discovery::{DiscoveryFile, Lookup, WindowFacts, directory, lock_file};
use crate::mcp::{Mcp, McpClient, McpSession, ToolList};
use crate::receives::{DialectReceives, KnownAgent};

pub(crate) static DIALECT: Dialect = Dialect {
    name: "claude",
    endpoint: Endpoint::WebSocket { token_header: header::CLAUDE_TOKEN, subprotocol: Some("mcp") },
    writer: Writer::Agent,
    relative_paths: false,
    receives: RECEIVES,
    converse: |_dialect, server| Box::new(McpSession::new(&MCP, server)),
    discovery,
    terminal_environment,
};

/// Claude Code writes the final text, but its model hears of a partial accept at most that the user changed something,
/// and of a rejection nothing but that.
const RECEIVES: DialectReceives = DialectReceives {
    others: Receives::NOTHING,
    known: &[KnownAgent {
        name: "claude-code",
        title: "Claude Code",
        receives: Receives::NOTHING,
        limit: None,
        hook: Some("claude"),
    }],
};

static MCP: Mcp = Mcp {
    tools: tools::TOOLS,
    list: ToolList::new(),
    frame_limit: None,
    encode: encode::encode,
    event: events::event,
    goodbye: None,
    answers_cancelled: false,
    known_as: McpClient::as_it_says,
    later: None,
    own_tool: None,
};

fn discovery(window: &WindowFacts<'_>, lookup: Lookup<'_>) -> Vec<DiscoveryFile> {
    let named = directory(lookup, env::CLAUDE_CONFIG_DIR);
    let usual = directory(lookup, "HOME").map(|home| home.join(CLAUDE_DIRECTORY));
    // An agent in another terminal may have the variable although we do not, or the other way round.
    let usual = usual.filter(|usual| named.as_ref() != Some(usual));
    let folders = named.into_iter().chain(usual);
    folders.map(|folder| lock_file(folder.join(IDE_DIRECTORY), window, Some(false))).collect()
}

/// With the port, the agent connects by itself. The token is not included: the agent reads it from the lock file, and
/// every process of the terminal could read a variable.
fn terminal_environment(window: &WindowFacts<'_>) -> Vec<(String, String)> {
    vec![
        (env::CLAUDE_CODE_SSE_PORT.to_owned(), window.port.to_string()),
        (env::ENABLE_IDE_INTEGRATION.to_owned(), "true".to_owned()),
    ]
}
