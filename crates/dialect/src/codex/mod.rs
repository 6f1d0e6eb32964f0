//! The dialect of Codex's own daemon, to which the hub connects as a second client: JSON-RPC without `jsonrpc`, several
//! threads on one connection. Owns Codex's JSON; must not know the socket, nor other dialects.

mod approval;
mod conversation;
mod frames;
pub(crate) mod hunks;
mod ide_context;
mod threads;
pub(crate) mod words;

use linkspan_review::Writer;

use crate::dialect::{Dialect, Endpoint};
use crate::receives::DialectReceives;

pub use ide_context::{IdeContext, IdeFile, IdeRequest};

pub(crate) static DIALECT: Dialect = Dialect {
    name: "codex",
    endpoint: Endpoint::Daemon,
    // A whole patch that is accepted as proposed. The hub writes any other accepted text, after Codex heard a no.
    writer: Writer::Agent,
    relative_paths: false,
    // A message in the same turn says what was decided.
    receives: DialectReceives::EVERYTHING,
    converse: |_dialect, server| Box::new(conversation::CodexConversation::new(server)),
    discovery: |_window, _lookup| Vec::new(),
    terminal_environment: |_window| Vec::new(),
};
