//! ppxai's engine, which serves one conversation over HTTP and server-sent events: the hub is its client. Owns the JSON of
//! its requests and events. Its changes are reviewed over its own bridge, not here. Must not know sockets.
//!
//! A frame to the edge is `{id, method, path, body}`, or `{cancel: id}`; from it come `{id, status, body}` for an answer,
//! and `{id, event}` and then `{id, end}` for a stream. `end` says why it ended, if not as it should.

mod conversation;
mod events;

use linkspan_review::Writer;

use crate::dialect::{Dialect, Endpoint};
use crate::receives::DialectReceives;

pub(crate) static DIALECT: Dialect = Dialect {
    name: "engine",
    endpoint: Endpoint::Child,
    // It asks for no changes here.
    writer: Writer::Nobody,
    relative_paths: false,
    receives: DialectReceives::EVERYTHING,
    converse: |_dialect, _server| Box::new(conversation::EngineConversation::default()),
    discovery: |_window, _lookup| Vec::new(),
    terminal_environment: |_window| Vec::new(),
};
