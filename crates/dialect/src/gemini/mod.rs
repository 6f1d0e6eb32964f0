//! The dialect of Gemini CLI and Qwen Code: MCP over Streamable HTTP, the agent writes. A proposal is answered once
//! it is shown; what the person decides is told later, on the stream of the session that asked.

mod discovery;
mod encode;
mod events;
mod tools;

use linkspan_review::Writer;

use crate::dialect::{Dialect, Door};
use crate::mcp::{Client, Later, Mcp, Session, ToolList};

pub(crate) static DIALECT: Dialect = Dialect {
    name: "gemini",
    door: Door::Stream { path: "/mcp" },
    writer: Writer::Agent,
    relative_paths: false,
    converse: |_dialect, server| Box::new(Session::new(&MCP, server)),
    discovery: discovery::files,
    terminal_environment: discovery::terminal_environment,
};

static MCP: Mcp = Mcp {
    tools: tools::TOOLS,
    list: ToolList::new(),
    frame_limit: None,
    encode: encode::encode,
    event: events::event,
    goodbye: None,
    answers_cancelled: false,
    known_as,
    later: Some(Later { tell: encode::tell, unless: "suppressNotification" }),
    own_tool: None,
};

/// Both call themselves the same. Gemini CLI says its version and refuses the newest protocol; Qwen Code says
/// "1.0.0", as the first Gemini CLIs did, and asks for the newest. What is no version of the program is not repeated.
fn known_as(client: &Client, protocol: &str) -> Client {
    let known = |name: &str, version: &str| Client { name: name.to_owned(), version: version.to_owned() };
    match (client.name.as_str(), client.version.as_str()) {
        ("streamable-http-client", "1.0.0") if protocol >= "2025-11-25" => known("Qwen Code", ""),
        ("streamable-http-client", "1.0.0") => known("Gemini CLI or Qwen Code", ""),
        ("streamable-http-client", version) => known("Gemini CLI", version),
        (name, version) => known(name, version),
    }
}
