//! The dialect of Gemini CLI and Qwen Code: MCP over Streamable HTTP; the agent writes accepted changes. A proposal is
//! answered once it is shown; the decision is sent later, on the stream of the session. Owns both agents' JSON and
//! discovery files; must not know HTTP or streams.

mod discovery;
mod encode;
mod events;
mod tools;

use linkspan_editor_api::Receives;
use linkspan_review::Writer;

use crate::dialect::{Dialect, Endpoint};
use crate::mcp::{Later, Mcp, McpClient, McpSession, ToolList};
use crate::receives::{DialectReceives, KnownAgent};

pub(crate) static DIALECT: Dialect = Dialect {
    name: "gemini",
    endpoint: Endpoint::Stream { path: "/mcp" },
    writer: Writer::Agent,
    relative_paths: false,
    receives: RECEIVES,
    converse: |_dialect, server| Box::new(McpSession::new(&MCP, server)),
    discovery: discovery::files,
    terminal_environment: discovery::terminal_environment,
};

/// After an accept Gemini CLI tells its model the text if the user changed it; Qwen Code does so for whole files only.
/// A rejection ends the turn of both without a word to the model.
const RECEIVES: DialectReceives = DialectReceives {
    others: Receives::NOTHING,
    known: &[
        KnownAgent {
            name: GEMINI_CLI,
            title: GEMINI_CLI,
            receives: Receives { reason: false, comments: false, hunks: true, edited: true },
            limit: None,
            hook: Some("gemini"),
        },
        KnownAgent {
            name: QWEN_CODE,
            title: QWEN_CODE,
            receives: Receives::NOTHING,
            limit: None,
            hook: Some("qwen"),
        },
    ],
};

const GEMINI_CLI: &str = "Gemini CLI";
const QWEN_CODE: &str = "Qwen Code";

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

/// Both report the same name. Gemini CLI reports its version and does not support the newest protocol; Qwen Code
/// reports "1.0.0", as the first Gemini CLIs did, and asks for the newest. A value that is not a version of the program
/// is dropped.
fn known_as(client: &McpClient, protocol: &str) -> McpClient {
    let known = |name: &str, version: &str| McpClient { name: name.to_owned(), version: version.to_owned() };
    match (client.name.as_str(), client.version.as_str()) {
        ("streamable-http-client", "1.0.0") if protocol >= "2025-11-25" => known(QWEN_CODE, ""),
        ("streamable-http-client", "1.0.0") => known("Gemini CLI or Qwen Code", ""),
        ("streamable-http-client", version) => known(GEMINI_CLI, version),
        (name, version) => known(name, version),
    }
}
