//! The dialect of NEXUS3: MCP over WebSocket, the editor side writes. It has no events of its own: the
//! agent discards what it did not ask for.

mod encode;
mod tools;

use linkspan_review::Writer;

use crate::dialect::Dialect;
use crate::discovery::{DiscoveryFile, Lookup, WindowFacts, directory, lock_file};
use crate::mcp::{Mcp, ToolList, tools_changed};
use crate::meaning::EditorEvent;

pub(crate) static DIALECT: Dialect = Dialect {
    name: "nexus3",
    token_header: "x-nexus3-ide-authorization",
    subprotocol: None,
    writer: Writer::Editor,
    discovery,
    terminal_environment: |_port| Vec::new(),
    mcp: Mcp {
        tools: tools::TOOLS,
        list: ToolList::new(),
        // The agent's WebSocket library drops the connection at anything larger.
        frame_limit: Some(1 << 20),
        encode: encode::encode,
        event,
        goodbye: None,
        answers_cancelled: false,
    },
};

fn discovery(window: &WindowFacts<'_>, lookup: Lookup<'_>) -> Option<DiscoveryFile> {
    let home = directory(lookup, "HOME")?;
    Some(lock_file(home.join(".nexus3").join("ide"), window, None))
}

fn event(event: &EditorEvent) -> Option<String> {
    matches!(event, EditorEvent::ToolsChanged).then(tools_changed)
}
