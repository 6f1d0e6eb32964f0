//! The dialect of NEXUS3: MCP over WebSocket. The editor side writes, but for NEXUS3 itself, which runs its own tool
//! after a yes. It has no events of its own: the agent discards what it did not ask for.

mod encode;
mod notes;
mod tools;

use linkspan_review::Writer;

use crate::dialect::{Dialect, Door};
use crate::discovery::{DiscoveryFile, Lookup, WindowFacts, directory, lock_file};
use crate::mcp::{Client, Mcp, OwnTool, Session, ToolList, tools_changed};
use crate::meaning::EditorEvent;

pub(crate) static DIALECT: Dialect = Dialect {
    name: "nexus3",
    door: Door::WebSocket { token_header: "x-nexus3-ide-authorization", subprotocol: None },
    writer: Writer::Editor,
    relative_paths: false,
    converse: |_dialect, server| Box::new(Session::new(&MCP, server)),
    discovery,
    terminal_environment: |_window| Vec::new(),
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
    known_as: Client::as_it_says,
    later: None,
    own_tool: Some(OwnTool { is_run_by: notes::is_nexus3_itself, note: notes::note }),
};

fn discovery(window: &WindowFacts<'_>, lookup: Lookup<'_>) -> Vec<DiscoveryFile> {
    let home = directory(lookup, "HOME").into_iter();
    home.map(|home| lock_file(home.join(".nexus3").join("ide"), window, None)).collect()
}

fn event(event: &EditorEvent) -> Option<String> {
    matches!(event, EditorEvent::ToolsChanged).then(tools_changed)
}
