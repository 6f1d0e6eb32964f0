//! The Agent Client Protocol, version 1: the hub starts the agent and is its client. Owns the protocol's JSON; must not
//! know processes, files, time, nor other dialects.
//!
//! The agent writes what is accepted as proposed, and the hub everything else: only `readTextFile` is offered, and a
//! `fs/write_text_file` that comes nevertheless is answered and never obeyed. Where the client is another program,
//! `proxied` sits between the two.

mod begin;
mod content;
mod conversation;
mod frames;
mod permission;
mod proxied;
mod questions;
mod tool_calls;
mod turn;
mod updates;
mod words;

pub use words::{
    after_accept as told_after_accept, after_decline as told_after_decline, in_doubt as told_in_doubt,
};

use linkspan_review::Writer;

use crate::dialect::{Dialect, Endpoint};
use crate::receives::DialectReceives;

pub(crate) static DIALECT: Dialect = Dialect {
    name: "acp",
    endpoint: Endpoint::Child,
    // The whole of a permission request that is accepted as proposed. Any other accepted text is written by the hub,
    // after the agent heard a no.
    writer: Writer::Agent,
    relative_paths: false,
    // A message at the end of the turn says what was decided.
    receives: DialectReceives::EVERYTHING,
    converse: |_dialect, server| Box::new(conversation::AcpConversation::new(server)),
    discovery: |_window, _lookup| Vec::new(),
    terminal_environment: |_window| Vec::new(),
};

/// Between an agent and a client of its own, as `linkspan acp`. One table row for both: what a review says about its
/// agent is the same.
pub(crate) static PROXIED: Dialect = Dialect {
    endpoint: Endpoint::Local,
    converse: |_dialect, server| Box::new(proxied::ProxiedConversation::new(server)),
    ..DIALECT
};
