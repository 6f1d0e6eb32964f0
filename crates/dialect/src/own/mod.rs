//! Our own dialect, `linkspan`: MCP in the frames of the hub's own socket, for the client library, commands and
//! `linkspan mcp`. Every result is an object for programs and a text for models; each change says who writes.

mod encode;
mod events;
mod says;
mod tools;

use linkspan_editor_api::{AgentLeave, Notification};
use linkspan_review::Writer;

use crate::dialect::Dialect;
use crate::mcp::{Mcp, ToolList};

pub(crate) static DIALECT: Dialect = Dialect {
    name: "linkspan",
    // The socket belongs to its user alone: there is no token, and nothing to find it by but the socket.
    token_header: "",
    subprotocol: None,
    writer: Writer::Editor,
    discovery: |_window, _lookup| None,
    terminal_environment: |_port| Vec::new(),
    mcp: Mcp {
        tools: tools::TOOLS,
        list: ToolList::new(),
        // What the framing of that socket takes.
        frame_limit: Some(64 << 20),
        encode: encode::encode,
        event: events::event,
        goodbye: Some(AgentLeave::METHOD),
        answers_cancelled: true,
    },
};
