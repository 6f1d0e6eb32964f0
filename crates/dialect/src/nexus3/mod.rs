//! The dialect of NEXUS3: MCP over WebSocket. The hub writes accepted changes, except for NEXUS3 itself, which runs its
//! own tool after an accept. It has no notifications of its own: the agent discards them. Owns NEXUS3's texts and lock
//! files, and the notes for its model; must not know the other dialects.

mod encode;
mod notes;
mod tools;

use linkspan_editor_api::Receives;
use linkspan_editor_api::wire_names::{IDE_DIRECTORY, NEXUS3_DIRECTORY, header};
use linkspan_review::Writer;

use crate::answer::EditorEvent;
use crate::dialect::{Dialect, Endpoint};
use crate::discovery::{DiscoveryFile, Lookup, WindowFacts, directory, lock_file};
use crate::mcp::{Mcp, McpClient, McpSession, OwnTool, ToolList, tools_changed};
use crate::receives::{DialectReceives, KnownAgent};

pub(crate) static DIALECT: Dialect = Dialect {
    name: "nexus3",
    endpoint: Endpoint::WebSocket { token_header: header::NEXUS3_TOKEN, subprotocol: None },
    writer: Writer::Hub,
    relative_paths: false,
    receives: RECEIVES,
    converse: |_dialect, server| Box::new(McpSession::new(&MCP, server)),
    discovery,
    terminal_environment: |_window| Vec::new(),
};

/// The answer has everything as texts. NEXUS3 itself ignores them: its model gets our note among the diagnostics.
const RECEIVES: DialectReceives = DialectReceives {
    others: Receives::EVERYTHING,
    known: &[KnownAgent {
        name: notes::NEXUS3,
        title: "NEXUS3",
        receives: Receives { reason: true, comments: true, hunks: false, edited: false },
        limit: Some(notes::LIMIT),
        hook: None,
    }],
};

static MCP: Mcp = Mcp {
    tools: tools::TOOLS,
    list: ToolList::new(),
    // The agent's WebSocket library drops the connection at anything larger.
    frame_limit: Some(1 << 20),
    encode: encode::encode,
    event,
    goodbye: None,
    answers_cancelled: false,
    known_as: McpClient::as_it_says,
    later: None,
    own_tool: Some(OwnTool { is_run_by: notes::is_nexus3_itself, note: notes::note }),
};

fn discovery(window: &WindowFacts<'_>, lookup: Lookup<'_>) -> Vec<DiscoveryFile> {
    let home = directory(lookup, "HOME").into_iter();
    home.map(|home| lock_file(home.join(NEXUS3_DIRECTORY).join(IDE_DIRECTORY), window, None)).collect()
}

fn event(event: &EditorEvent) -> Option<String> {
    matches!(event, EditorEvent::ToolsChanged).then(tools_changed)
}
